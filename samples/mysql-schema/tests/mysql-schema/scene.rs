//! A namespace, a server, and a user's actions on a schema.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Result;
use k8s_openapi::{NamespaceResourceScope, api::core::v1::Secret};
use kube::{
    Api, CustomResourceExt, Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use mysql_async::{Conn, Opts, prelude::Queryable};
use mysql_schema::{
    Databases, MySqlSchema,
    schema::{controller, name_of},
    server::Server,
};
use operator_core::{
    Operator, OperatorBuilder,
    testing::{TestCluster, TestOperator, eventually},
};
use rand::distr::{Alphanumeric, SampleString};
use serde_json::json;
use tokio::sync::OnceCell;

/// The server of all tests, except those that kill theirs.
pub(crate) async fn server() -> Result<&'static Server> {
    static SERVER: OnceCell<Result<Server, String>> = OnceCell::const_new();
    let server = SERVER.get_or_init(async || Server::start().await.map_err(|error| error.to_string())).await;
    server.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// Tries again and again until there is an answer; `what` is waited for.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> Result<T> {
    Ok(eventually(what, async || Ok(look().await)).await?)
}

/// The surroundings of a test.
pub(crate) struct Scene {
    pub(crate) cluster: TestCluster,
    pub(crate) namespace: String,
    /// The access of tests to the server.
    pub(crate) admin: Opts,
    /// The schema of the life. API servers inside the process give the same uids, and share the database server.
    pub(crate) name: String,
}

/// The content of a Secret.
pub(crate) type Credentials = BTreeMap<String, String>;

impl Scene {
    pub(crate) async fn new(cluster: &TestCluster, server: &Server) -> Result<Self> {
        cluster.install_crds([MySqlSchema::crd()]).await?;
        let namespace = cluster.namespace("schemas").await?;
        let name = Alphanumeric.sample_string(&mut rand::rng(), 12).to_lowercase();
        Ok(Self { cluster: cluster.clone(), namespace, admin: server.opts(), name })
    }

    /// The operator of this namespace, which reaches the server in this way.
    pub(crate) fn declared(&self, server: Opts) -> OperatorBuilder {
        let controller = controller(Databases::new(server), Duration::from_millis(200));
        self.cluster.connect(Operator::builder().register(controller.namespaces([&*self.namespace])))
    }

    pub(crate) async fn start(&self) -> Result<TestOperator> {
        Ok(TestOperator::start(self.declared(self.admin.clone())).await?)
    }

    pub(crate) fn api<K>(&self) -> Result<Api<K>>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Ok(Api::namespaced(self.cluster.client()?, &self.namespace))
    }

    pub(crate) async fn create(&self, name: &str) -> Result<MySqlSchema> {
        let schema = MySqlSchema::new(name, serde_json::from_value(json!({}))?);
        Ok(self.api::<MySqlSchema>()?.create(&PostParams::default(), &schema).await?)
    }

    pub(crate) async fn schema(&self, name: &str) -> Result<MySqlSchema> {
        Ok(self.api::<MySqlSchema>()?.get(name).await?)
    }

    pub(crate) async fn delete(&self, name: &str) -> Result<()> {
        self.api::<MySqlSchema>()?.delete(name, &DeleteParams::default()).await?;
        Ok(())
    }

    pub(crate) async fn is_gone(&self, name: &str) -> Result<()> {
        let schemas = self.api::<MySqlSchema>()?;
        until("the end of a schema", async || schemas.get_opt(name).await.ok()?.is_none().then_some(())).await
    }

    /// The Secret of a schema, if it exists.
    pub(crate) async fn credentials(&self, name: &str) -> Result<Option<Credentials>> {
        let secret = self.api::<Secret>()?.get_opt(&format!("{name}-credentials")).await?;
        let data = secret.and_then(|secret| secret.data).unwrap_or_default();
        let data = data.into_iter().map(|(key, value)| Ok((key, String::from_utf8(value.0)?)));
        let data: Credentials = data.collect::<Result<_>>()?;
        Ok((!data.is_empty()).then_some(data))
    }

    /// Waits until a schema can be used with the credentials in its Secret, and for a user that isn't `former`.
    pub(crate) async fn is_usable(&self, name: &str, former: Option<&Credentials>) -> Result<Credentials> {
        let schemas = self.api::<MySqlSchema>()?;
        until("a schema that can be used", async || {
            let found = self.credentials(name).await.ok()?.filter(|found| Some(found) != former)?;
            let opts = mysql_async::OptsBuilder::from_opts(self.admin.clone());
            let opts = opts.user(Some(&found["username"])).pass(Some(&found["password"]));
            let mut server = Conn::new(opts).await.ok()?;
            server
                .query_drop(format!("CREATE TABLE IF NOT EXISTS `{}`.orders (id INT)", found["database"]))
                .await
                .ok()?;
            let status = schemas.get(name).await.ok()?.status?;
            let is_ready = |one: &k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition| {
                one.type_ == "Ready" && one.status == "True"
            };
            status.conditions.iter().any(is_ready).then_some(found)
        })
        .await
    }

    /// The schema in the server: its character set, and its users.
    pub(crate) async fn in_server(&self, schema: &MySqlSchema) -> Result<(Option<String>, Vec<String>)> {
        let (name, mut server) = (name_of(schema), Conn::new(self.admin.clone()).await?);
        let query =
            "SELECT default_character_set_name FROM information_schema.schemata WHERE schema_name = ?";
        let encoding = server.exec_first(query, (&name,)).await?;
        let users = "SELECT user FROM mysql.user WHERE user LIKE ?";
        Ok((encoding, server.exec(users, (format!("{name}%"),)).await?))
    }

    /// All actions of a user on a schema during its life.
    pub(crate) async fn life(&self) -> Result<()> {
        let name = &*self.name;
        let orders = self.create(name).await?;
        let first = self.is_usable(name, None).await?;
        let patch = Patch::Merge(json!({ "spec": { "encoding": "latin1" } }));
        self.api::<MySqlSchema>()?.patch(name, &PatchParams::default(), &patch).await?;
        until("another encoding", async || {
            let (encoding, _) = self.in_server(&orders).await.ok()?;
            (encoding.as_deref() == Some("latin1")).then_some(())
        })
        .await?;
        self.api::<Secret>()?.delete(&format!("{name}-credentials"), &DeleteParams::default()).await?;
        let second = self.is_usable(name, Some(&first)).await?;
        until("the end of the former user", async || {
            let (_, users) = self.in_server(&orders).await.ok()?;
            (users == [second["username"].clone()]).then_some(())
        })
        .await?;
        self.delete(name).await?;
        self.is_gone(name).await?;
        assert_eq!(
            self.in_server(&orders).await?,
            (None, Vec::new()),
            "nothing is left of {}",
            orders.name_any()
        );
        Ok(())
    }
}

/// The same test on both API servers.
macro_rules! on_both_servers {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[tokio::test]
            async fn in_process() -> anyhow::Result<()> {
                Box::pin(super::$name(operator_core::testing::TestCluster::in_process())).await
            }

            #[tokio::test]
            async fn real() -> anyhow::Result<()> {
                Box::pin(super::$name(operator_core::testing::TestCluster::real().await?)).await
            }
        }
    )+};
}
pub(crate) use on_both_servers;
