//! Faults of the operator's process: killed, paused, told to stop while it works, and with a log that nothing reads or
//! stores. The names of the tests begin with their rows of the fault matrix.
//!
//! Each process works in a namespace of its test alone, and reaches the API server through a gateway of the test's: no
//! other process does its work, and each of its requests is known. This also holds for an existing cluster.

mod gateway;
mod killed;
mod logs;
mod namespaces;
mod paused;
mod stopped;

use std::{fmt::Debug, io::Write};

use gateway::Gateway;
use integration_tests::prelude::*;
use k8s_openapi::{NamespaceResourceScope, api::networking::v1::Ingress};
use operator_core::testing::{Error, Profile};
use serde::{Serialize, de::DeserializeOwned};
use tempfile::NamedTempFile;
use tokio::{process::Command, sync::OnceCell};
use webpage::WebPage;

use crate::support::{Running, cleaning, until, webpage};

/// The control plane of these tests, whose garbage collector knows the pages from its start.
async fn plane() -> Result<TestCluster, Error> {
    static PLANE: OnceCell<Result<TestCluster, Arc<Error>>> = OnceCell::const_new();
    let start = async || {
        let started = Profile::Controllers.builder().crds([WebPage::crd()]).start_shared().await;
        started.map(TestCluster::new).map_err(Arc::new)
    };
    PLANE.get_or_init(start).await.clone().map_err(Error::Shared)
}

/// A namespace for one test, and the connection of its operator to the API server.
struct Scene {
    cluster: TestCluster,
    client: Client,
    namespace: String,
    gateway: Gateway,
    kubeconfig: NamedTempFile,
}

impl Scene {
    async fn new() -> anyhow::Result<Self> {
        let cluster = plane().await?;
        let (client, namespace) = (cluster.client()?, cluster.namespace("process").await?);
        let (gateway, kubeconfig) = entrance(&cluster).await?;
        Ok(Self { cluster, client, namespace, gateway, kubeconfig })
    }

    /// The same namespace through a gateway of its own.
    async fn beside(&self) -> anyhow::Result<Self> {
        let (gateway, kubeconfig) = entrance(&self.cluster).await?;
        let (cluster, client) = (self.cluster.clone(), self.client.clone());
        Ok(Self { cluster, client, namespace: self.namespace.clone(), gateway, kubeconfig })
    }

    fn command(&self, binary: fn(&[&str]) -> Command, arguments: &[&str]) -> Command {
        let mut command = binary(&["run", "--namespaces", &self.namespace]);
        command.args(arguments).env("KUBECONFIG", self.kubeconfig.path()).env("RUST_LOG", "info");
        command
    }

    /// Starts the operator.
    async fn operator(&self) -> anyhow::Result<Running> {
        self.started(self.command(webpage, &[])).await
    }

    /// Starts the variant with a finalizer, and code that hangs, in this style.
    async fn cleaning(&self, style: &str) -> anyhow::Result<Running> {
        self.started(self.command(cleaning, &["--style", style])).await
    }

    async fn started(&self, command: Command) -> anyhow::Result<Running> {
        let mut run = Running::start(command)?;
        run.says("all caches are synced").await?;
        Ok(run)
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    async fn create(&self, name: &str, html: &str) -> anyhow::Result<()> {
        self.create_with(name, json!({ "html": html })).await
    }

    async fn create_with(&self, name: &str, spec: Value) -> anyhow::Result<()> {
        let page = json!({
            "apiVersion": "sample.operator-core.io/v1",
            "kind": "WebPage",
            "metadata": { "name": name },
            "spec": spec,
        });
        self.api::<WebPage>().create(&PostParams::default(), &serde_json::from_value(page)?).await?;
        Ok(())
    }

    async fn edit(&self, name: &str, html: &str) -> anyhow::Result<()> {
        self.patch(name, json!({ "html": html })).await
    }

    async fn patch(&self, name: &str, spec: Value) -> anyhow::Result<()> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        self.api::<WebPage>().patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    async fn exists<K>(&self, name: &str) -> anyhow::Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let api = self.api::<K>();
        until(&format!("{} {name}", K::kind(&())), async || api.get_opt(name).await.ok()?.map(drop)).await
    }

    async fn is_gone<K>(&self, name: &str) -> anyhow::Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let api = self.api::<K>();
        let what = format!("the end of {} {name}", K::kind(&()));
        until(&what, async || api.get_opt(name).await.ok()?.is_none().then_some(())).await
    }

    /// Waits until all children of a page are there, its html as it should be, and its status about its newest version.
    async fn is_complete(&self, name: &str, html: &str) -> anyhow::Result<()> {
        let maps = self.api::<ConfigMap>();
        until(&format!("the html of {name}"), async || {
            let map = maps.get_opt(&format!("{name}-html")).await.ok()??;
            (map.data?.get("index.html")? == html).then_some(())
        })
        .await?;
        self.exists::<Deployment>(name).await?;
        self.exists::<Service>(name).await?;
        self.is_seen(name).await
    }

    /// Waits until the status is about the newest version of the page.
    async fn is_seen(&self, name: &str) -> anyhow::Result<()> {
        let pages = self.api::<WebPage>();
        until(&format!("the status of {name}"), async || {
            let page = pages.get_opt(name).await.ok()??;
            (page.status?.observed_generation == page.metadata.generation).then_some(())
        })
        .await
    }

    /// Waits until no child has been written for a second or more.
    async fn is_calm(&self) -> anyhow::Result<()> {
        let (mut last, mut since) = ((Vec::new(), 0), Instant::now());
        until("a calm second", async || {
            let now = (self.children().await.ok()?, self.gateway.writes().len());
            if now != last {
                (last, since) = (now, Instant::now());
            }
            (since.elapsed() >= Duration::from_secs(1)).then_some(())
        })
        .await
    }

    /// The children of all pages.
    async fn children(&self) -> anyhow::Result<Vec<Value>> {
        let mut children = self.list::<ConfigMap>().await?;
        children.extend(self.list::<Deployment>().await?);
        children.extend(self.list::<Service>().await?);
        children.extend(self.list::<Ingress>().await?);
        // Each namespace has a config map of the cluster's own.
        children.retain(|child| child.pointer("/metadata/ownerReferences").is_some());
        Ok(children)
    }

    async fn list<K>(&self) -> anyhow::Result<Vec<Value>>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned
            + Serialize,
    {
        let list = self.api::<K>().list(&ListParams::default()).await?;
        let kind = K::kind(&());
        let values = list.items.into_iter().map(|object| {
            let mut value = serde_json::to_value(object)?;
            value["kind"] = json!(kind);
            anyhow::Ok(value)
        });
        values.collect()
    }

    /// The uids of all children, to find out whether one was created twice.
    async fn uids(&self) -> anyhow::Result<Vec<Value>> {
        Ok(self.children().await?.into_iter().map(|child| child["metadata"]["uid"].clone()).collect())
    }

    /// How often the operator has created each object.
    fn created(&self) -> Vec<String> {
        let writes = self.gateway.writes().into_iter();
        let mut created: Vec<String> =
            writes.filter(|write| write.code == 201).map(|write| write.path).collect();
        created.sort();
        created
    }
}

/// A gateway, and a kubeconfig that leads to it.
async fn entrance(cluster: &TestCluster) -> anyhow::Result<(Gateway, NamedTempFile)> {
    let gateway = Gateway::start(cluster.client()?).await?;
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "gateway", "cluster": { "server": gateway.url() } }],
        "users": [{ "name": "tester", "user": {} }],
        "contexts": [{ "name": "gateway", "context": { "cluster": "gateway", "user": "tester" } }],
        "current-context": "gateway",
    });
    let mut file = NamedTempFile::new()?;
    // Each text of JSON is one of YAML.
    file.write_all(config.to_string().as_bytes())?;
    Ok((gateway, file))
}
