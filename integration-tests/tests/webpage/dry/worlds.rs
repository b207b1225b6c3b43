//! Random pages with their children, in all states that a life leads to.

use std::fmt::Debug;

use fastrand::Rng;
use integration_tests::prelude::*;
use k8s_openapi::{
    NamespaceResourceScope, api::networking::v1::Ingress,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition, jiff::Timestamp,
};
use operator_core::testing::{Controllers, InProcessServer, seed_of_the_day};
use serde::{Serialize, de::DeserializeOwned};
use webpage::{WebPage, WebPageSpec};

/// A server, and the names of the pages in it.
pub(super) struct Worlds {
    server: InProcessServer,
    names: Vec<String>,
}

/// A page with its children.
type World = (String, WebPage, Vec<Value>);

impl Worlds {
    /// Most pages have been reconciled, and then something has happened to them.
    pub(super) async fn with_a_past(
        number: usize,
        connect: impl Fn(&InProcessServer) -> OperatorBuilder,
    ) -> Result<Self> {
        let server = InProcessServer::with_controllers(|| Timestamp::UNIX_EPOCH, Controllers::Stepwise);
        let names = (0..number).map(|number| format!("page-{number}")).collect();
        let (worlds, mut random) = (Self { server, names }, Rng::with_seed(seed_of_the_day()));
        let definitions = Api::<CustomResourceDefinition>::all(worlds.server.client());
        definitions.create(&PostParams::default(), &WebPage::crd()).await?;
        let (old, new) = worlds.names.split_at(number * 3 / 4);
        for name in old {
            worlds.create(name, &mut random).await?;
        }
        let operator = TestOperator::start(connect(&worlds.server)).await?;
        // Deployments become ready, and what comes after them is made.
        for _ in 0..3 {
            operator.settled().await?;
            while worlds.server.step() {}
        }
        operator.settled().await?;
        operator.stop().await;
        for name in old {
            for _ in 0..random.usize(0..4) {
                worlds.happens(name, &mut random).await?;
            }
        }
        for name in new {
            worlds.create(name, &mut random).await?;
            if random.bool() {
                worlds.is_taken(name, &mut random).await?;
            }
        }
        Ok(worlds)
    }

    pub(super) fn server(&self) -> &InProcessServer {
        &self.server
    }

    /// Each page with what exists under its name.
    pub(super) async fn read(&self) -> Result<Vec<World>> {
        let mut children = BTreeMap::<String, Vec<Value>>::new();
        let mut all = self.all::<ConfigMap>().await?;
        all.extend(self.all::<Deployment>().await?);
        all.extend(self.all::<Service>().await?);
        all.extend(self.all::<Ingress>().await?);
        for child in all {
            let name = child["metadata"]["name"].as_str().unwrap_or_default();
            let page = name.strip_suffix("-html").unwrap_or(name).to_owned();
            children.entry(page).or_default().push(child);
        }
        let pages = self.api::<WebPage>().list(&ListParams::default()).await?.items;
        ensure!(pages.len() == self.names.len(), "{} pages", pages.len());
        let world = |page: WebPage| {
            let name = page.metadata.name.clone().unwrap_or_default();
            let children = children.remove(&name).unwrap_or_default();
            (name, page, children)
        };
        Ok(pages.into_iter().map(world).collect())
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.server.client(), "default")
    }

    async fn all<K>(&self) -> Result<Vec<Value>>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned
            + Serialize,
    {
        let list = self.api::<K>().list(&ListParams::default()).await?;
        Ok(list.items.iter().map(serde_json::to_value).collect::<Result<_, _>>()?)
    }

    async fn create(&self, name: &str, random: &mut Rng) -> Result<()> {
        let parameters = PostParams { field_manager: Some("user".to_owned()), ..PostParams::default() };
        self.api().create(&parameters, &WebPage::new(name, spec(random))).await?;
        Ok(())
    }

    /// Somebody else has an object of the name of a child.
    async fn is_taken(&self, name: &str, random: &mut Rng) -> Result<()> {
        let parameters = PostParams { field_manager: Some("user".to_owned()), ..PostParams::default() };
        match random.bool() {
            true => {
                let map = json!({ "metadata": { "name": format!("{name}-html") }, "data": { "a": "b" } });
                self.api::<ConfigMap>().create(&parameters, &serde_json::from_value(map)?).await?;
            }
            false => {
                let service = json!({ "metadata": { "name": name }, "spec": { "ports": [{ "name": "other", "port": 1 }] } });
                self.api::<Service>().create(&parameters, &serde_json::from_value(service)?).await?;
            }
        }
        Ok(())
    }

    /// Something happens to a page or to a child of it; to one that is gone nothing does.
    async fn happens(&self, name: &str, random: &mut Rng) -> Result<()> {
        let html = format!("{name}-html");
        let marks = json!({ "metadata": { "labels": { "operator-core.io/controller": null } } });
        let owners = json!({ "metadata": { "ownerReferences": null } });
        let noted = json!({ "metadata": { "annotations": { "user/note": "1" } } });
        match random.usize(0..15) {
            0..3 => self.patch::<WebPage>(name, json!({ "spec": spec(random) })).await?,
            3 => self.delete::<ConfigMap>(&html).await?,
            4 => self.patch::<ConfigMap>(&html, json!({ "data": { "index.html": "defaced" } })).await?,
            5 => self.patch::<Deployment>(name, json!({ "spec": { "replicas": 2 } })).await?,
            6 => {
                let status = json!({ "status": { "readyReplicas": 0, "availableReplicas": 0 } });
                self.patch_status::<Deployment>(name, status).await?;
            }
            7 => self.patch::<Service>(name, marks).await?,
            8 => self.delete::<Service>(name).await?,
            9 => self.patch::<ConfigMap>(&html, owners).await?,
            10 => self.patch::<Deployment>(name, noted).await?,
            11 => {
                self.patch::<WebPage>(name, json!({ "metadata": { "finalizers": ["user/keeps"] } })).await?;
                self.delete::<WebPage>(name).await?;
            }
            12 => self.delete::<Deployment>(name).await?,
            13 => {
                self.delete::<ConfigMap>(&html).await?;
                self.patch::<Ingress>(name, noted).await?;
            }
            _ => {
                let status = json!({ "status": { "ready": random.bool(), "errorMessage": "it is late" } });
                self.patch_status::<WebPage>(name, status).await?;
            }
        }
        Ok(())
    }

    async fn patch<K>(&self, name: &str, patch: Value) -> Result<()>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let parameters = PatchParams { field_manager: Some("user".to_owned()), ..PatchParams::default() };
        unless_gone(self.api::<K>().patch(name, &parameters, &Patch::Merge(patch)).await)
    }

    async fn patch_status<K>(&self, name: &str, patch: Value) -> Result<()>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let parameters = PatchParams { field_manager: Some("user".to_owned()), ..PatchParams::default() };
        unless_gone(self.api::<K>().patch_status(name, &parameters, &Patch::Merge(patch)).await)
    }

    async fn delete<K>(&self, name: &str) -> Result<()>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        unless_gone(self.api::<K>().delete(name, &DeleteParams::default()).await)
    }
}

fn unless_gone<T>(done: Result<T, kube::Error>) -> Result<()> {
    match done {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        done => Ok(done.map(drop)?),
    }
}

fn spec(random: &mut Rng) -> WebPageSpec {
    let html = ["<h1>one</h1>", "<h1>two</h1>", "<h1>three</h1>", "an error"][random.usize(0..4)];
    WebPageSpec { html: html.to_owned(), exposed: random.bool() }
}
