//! Faults of the operator's process: killed, paused, told to stop while it works, and with a log that nobody reads. The names
//! of the tests begin with their rows of the fault matrix.

use anyhow::Context;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
    },
};
use kube::{
    Api, Client, CustomResourceExt, Resource,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use operator_core::testing::{Profile, TestCluster};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use webpage::WebPage;

use crate::support::{Running, until, webpage};

/// A namespace for one test, and the way to its operator's process.
struct Page {
    cluster: TestCluster,
    client: Client,
    namespace: String,
}

impl Page {
    /// None where the cluster is an existing one, which has no kubeconfig to hand over.
    async fn new() -> anyhow::Result<Option<Self>> {
        let cluster = TestCluster::shared_with(Profile::Controllers).await?;
        if cluster.control_plane()?.kubeconfig().is_none() {
            return Ok(None);
        }
        cluster.install_crds([WebPage::crd()]).await?;
        let (client, namespace) = (cluster.client()?, cluster.namespace("process").await?);
        Ok(Some(Self { cluster, client, namespace }))
    }

    /// Starts the operator. All tests of this file have one, and each sees the pages of all: they write the same.
    async fn operator(&self, filter: &str) -> anyhow::Result<Running> {
        let mut command = webpage(&["run"]);
        let kubeconfig = self.cluster.control_plane()?.kubeconfig().context("a kubeconfig")?;
        command.env("KUBECONFIG", kubeconfig).env("RUST_LOG", filter);
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
        let page = json!({ "metadata": { "name": name }, "spec": { "html": html } });
        let mut page: Value = page;
        page["apiVersion"] = "sample.operator-core.io/v1".into();
        page["kind"] = "WebPage".into();
        self.api::<WebPage>().create(&PostParams::default(), &serde_json::from_value(page)?).await?;
        Ok(())
    }

    async fn edit(&self, name: &str, html: &str) -> anyhow::Result<()> {
        let patch = json!({ "spec": { "html": html } });
        self.api::<WebPage>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    async fn exists<K>(&self, name: &str) -> anyhow::Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let api = self.api::<K>();
        until(&format!("{} {name}", K::kind(&())), async || api.get_opt(name).await.ok()?.map(drop)).await
    }

    /// Waits until all children of a page are there, its html as it should be, and its status about its newest version.
    async fn is_complete(&self, name: &str, html: &str) -> anyhow::Result<()> {
        let maps = self.api::<ConfigMap>();
        until("the html", async || {
            let map = maps.get_opt(&format!("{name}-html")).await.ok()??;
            (map.data?.get("index.html")? == html).then_some(())
        })
        .await?;
        self.exists::<Deployment>(name).await?;
        self.exists::<Service>(name).await?;
        let pages = self.api::<WebPage>();
        until("the status", async || {
            let page = pages.get_opt(name).await.ok()??;
            (page.status?.observed_generation == page.metadata.generation).then_some(())
        })
        .await
    }

    /// The uids of all children, for finding out that nothing was made twice.
    async fn children(&self) -> anyhow::Result<Vec<Option<String>>> {
        let list = ListParams::default();
        let maps = self.api::<ConfigMap>().list(&list).await?.items.into_iter().map(|map| map.metadata);
        let maps = maps.filter(|metadata| metadata.owner_references.is_some()).map(|metadata| metadata.uid);
        let services = self.api::<Service>().list(&list).await?.items.into_iter().map(|it| it.metadata.uid);
        let deployments =
            self.api::<Deployment>().list(&list).await?.items.into_iter().map(|it| it.metadata.uid);
        Ok(maps.chain(services).chain(deployments).collect())
    }
}

#[tokio::test]
async fn f16_a_process_that_is_killed_after_any_write_goes_on_where_it_was() -> anyhow::Result<()> {
    let Some(page) = Page::new().await? else { return Ok(()) };
    for (number, after) in ["config map", "deployment", "service"].into_iter().enumerate() {
        let name = format!("killed-{number}");
        let mut run = page.operator("info").await?;
        page.create(&name, "<p>first</p>").await?;
        match after {
            "config map" => page.exists::<ConfigMap>(&format!("{name}-html")).await?,
            "deployment" => page.exists::<Deployment>(&name).await?,
            _ => page.exists::<Service>(&name).await?,
        }
        run.signal("KILL").await?;
        assert_eq!(run.ended().await?.code(), None);
        // What happens while nobody looks is found out at the start.
        page.edit(&name, "<p>second</p>").await?;
        let mut run = page.operator("info").await?;
        page.is_complete(&name, "<p>second</p>")
            .await
            .with_context(|| format!("killed after the {after}"))?;
        run.signal("TERM").await?;
        assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);
    }
    assert_eq!(page.children().await?.len(), 9, "three of each, none twice");
    Ok(())
}

#[tokio::test]
async fn f33_a_process_that_was_paused_catches_up() -> anyhow::Result<()> {
    let Some(page) = Page::new().await? else { return Ok(()) };
    let mut run = page.operator("info").await?;
    page.create("paused", "<p>first</p>").await?;
    page.is_complete("paused", "<p>first</p>").await?;
    let before = page.children().await?;
    run.signal("STOP").await?;
    for number in 0..20 {
        page.edit("paused", &format!("<p>{number}</p>")).await?;
    }
    page.create("born-meanwhile", "<p>new</p>").await?;
    run.signal("CONT").await?;
    page.is_complete("paused", "<p>19</p>").await?;
    page.is_complete("born-meanwhile", "<p>new</p>").await?;
    let now = page.children().await?;
    assert!(before.iter().all(|child| now.contains(child)) && now.len() == 6, "{before:?} {now:?}");
    run.signal("TERM").await?;
    assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);
    Ok(())
}

impl Page {
    /// Starts a replica of that name, which takes part in the election of this namespace.
    fn replica(&self, name: &str) -> anyhow::Result<Running> {
        let lease = format!("{}/webpage-operator", self.namespace);
        let mut command = webpage(&["run", "--leader-election", &lease]);
        let kubeconfig = self.cluster.control_plane()?.kubeconfig().context("a kubeconfig")?;
        command.env("KUBECONFIG", kubeconfig).env("RUST_LOG", "info").env("HOSTNAME", name);
        Running::start(command)
    }

    /// How much was written in this namespace by anybody, leases not counted.
    fn writes(&self) -> anyhow::Result<usize> {
        let writes = |verb: &str| matches!(verb, "create" | "update" | "patch" | "delete");
        let log = self.cluster.audit()?.into_iter();
        Ok(log
            .filter(|event| event.namespace == self.namespace && event.resource != "leases")
            .filter(|event| writes(&event.verb) && (200..300).contains(&event.code))
            .count())
    }
}

#[tokio::test]
async fn f33_a_leader_that_was_paused_writes_nothing_when_another_leads() -> anyhow::Result<()> {
    let Some(page) = Page::new().await? else { return Ok(()) };
    let mut first = page.replica("first")?;
    first.says("this replica leads").await?;
    let mut second = page.replica("second")?;
    second.says("a new leader").await?;
    page.create("led", "<p>first</p>").await?;
    page.is_complete("led", "<p>first</p>").await?;
    first.signal("STOP").await?;
    page.edit("led", "<p>second</p>").await?;
    second.says("this replica leads").await?;
    page.is_complete("led", "<p>second</p>").await?;
    let before = page.writes()?;
    first.signal("CONT").await?;
    assert_eq!(first.ended().await?.code(), Some(75), "{:#?}", first.said);
    assert_eq!(page.writes()?, before, "its watch has brought the change, and nothing was written for it");

    // Given back, the lease is taken at once.
    let mut third = page.replica("third")?;
    third.says("a new leader").await?;
    second.signal("TERM").await?;
    assert_eq!(second.ended().await?.code(), Some(0), "{:#?}", second.said);
    let before = tokio::time::Instant::now();
    third.says("this replica leads").await?;
    assert!(before.elapsed().as_secs() < 8, "{:?}", before.elapsed());
    page.edit("led", "<p>third</p>").await?;
    page.is_complete("led", "<p>third</p>").await?;
    third.signal("TERM").await?;
    assert_eq!(third.ended().await?.code(), Some(0), "{:#?}", third.said);
    Ok(())
}

#[tokio::test]
async fn f36_a_process_under_load_ends_when_it_is_told_to_once_or_twice() -> anyhow::Result<()> {
    let Some(page) = Page::new().await? else { return Ok(()) };
    for signals in [1, 2] {
        let mut run = page.operator("info").await?;
        for number in 0..30 {
            page.create(&format!("load-{signals}-{number}"), "<p>first</p>").await?;
        }
        for _ in 0..signals {
            // The second one may find that the process has ended.
            let _ = run.signal("TERM").await;
        }
        let before = tokio::time::Instant::now();
        assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);
        assert!(before.elapsed().as_secs() < 25, "{:?}", before.elapsed());
    }
    let mut run = page.operator("info").await?;
    for signals in [1, 2] {
        for number in 0..30 {
            page.is_complete(&format!("load-{signals}-{number}"), "<p>first</p>").await?;
        }
    }
    assert_eq!(page.children().await?.len(), 3 * 60);
    run.signal("TERM").await?;
    assert_eq!(run.ended().await?.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn f42_a_log_that_nobody_reads_holds_up_no_run() -> anyhow::Result<()> {
    let Some(page) = Page::new().await? else { return Ok(()) };
    // From here on nobody reads, and a pipe holds some sixteen pages: a few requests fill it.
    let mut run = page.operator("trace").await?;
    for number in 0..20 {
        let name = format!("unread-{number}");
        page.create(&name, "<p>first</p>").await?;
        page.is_complete(&name, "<p>first</p>").await?;
    }
    run.signal("TERM").await?;
    let code = run.ended().await?.code();
    let logged: usize = run.said.iter().map(String::len).sum();
    assert!(logged > 64 * 1024, "the pipe was full: {logged} bytes");
    assert_eq!(code, Some(0));
    Ok(())
}
