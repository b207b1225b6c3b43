//! The life of a page from its creation to the end of its last child, under exactly the rights that `deploy/` gives.

use integration_tests::prelude::*;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::Pod, networking::v1::Ingress};
use kube::api::DynamicObject;
use operator_core::{
    LeaderElection,
    testing::{AuditEvent, Profile},
};
use serde::de::DeserializeOwned;
use webpage::{RBAC, STYLES, WebPage, WebPageStatus, styles::Declare};

use crate::support::{ONE_AT_A_TIME, until};

const ACCOUNT: &str = "system:serviceaccount:webpage-operator:webpage-operator";
const OPERATOR: &str = include_str!("../../../samples/webpage/deploy/operator.yaml");

/// The page's namespace, seen by its user.
struct User {
    client: Client,
    namespace: String,
    /// Whether the cluster makes pods of Deployments.
    has_pods: bool,
}

impl User {
    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    async fn patch<K>(&self, name: &str, patch: Value) -> anyhow::Result<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        Ok(self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?)
    }

    /// Waits until the object is there and `read` finds in it what is waited for.
    async fn sees<K, T>(&self, what: &str, name: &str, read: impl Fn(&K) -> Option<T>) -> anyhow::Result<T>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let api = self.api::<K>();
        until(what, async || api.get_opt(name).await.ok()?.as_ref().and_then(&read)).await
    }

    async fn is_gone<K>(&self, name: &str) -> anyhow::Result<()>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let api = self.api::<K>();
        let what = format!("{} {name} to be gone", K::kind(&()));
        until(&what, async || api.get_opt(name).await.ok()?.is_none().then_some(())).await
    }

    /// Waits until the page is ready in its newest version.
    async fn is_ready(&self) -> anyhow::Result<WebPageStatus> {
        self.sees("the page to be ready", "hello", |page: &WebPage| {
            let status = page.status.clone()?;
            (status.ready && status.observed_generation == page.metadata.generation).then_some(status)
        })
        .await
    }

    async fn pods(&self) -> anyhow::Result<Vec<String>> {
        let pods = self.api::<Pod>().list(&ListParams::default()).await?;
        Ok(pods.items.into_iter().filter_map(|pod| pod.metadata.uid).collect())
    }
}

#[operator_test]
async fn a_page_lives_and_dies_in_managed_style_under_the_rights_of_deploy() -> anyhow::Result<()> {
    a_page_lives_and_dies("managed").await
}

#[operator_test]
async fn a_page_lives_and_dies_in_standalone_style_under_the_rights_of_deploy() -> anyhow::Result<()> {
    a_page_lives_and_dies("standalone").await
}

#[operator_test]
async fn a_page_lives_and_dies_in_low_level_style_under_the_rights_of_deploy() -> anyhow::Result<()> {
    a_page_lives_and_dies("low-level").await
}

/// The same life in each style, under the same role, of which each style uses everything.
async fn a_page_lives_and_dies(style: &str) -> anyhow::Result<()> {
    let (_, declare) = STYLES.into_iter().find(|(name, _)| *name == style).context("no such style")?;
    if let Some(cluster) = TestCluster::of_this_test() {
        cluster.install_crds([WebPage::crd()]).await?;
        return a_page_lives_and_dies_on(cluster, declare).await;
    }
    // Each of them starts a whole control plane; one after the other is quicker than all at once. Not a shared one: the
    // garbage collector is to know the pages from its start.
    let _turn = ONE_AT_A_TIME.lock().await;
    let plane = Profile::Full.builder().crds([WebPage::crd()]).start().await?;
    a_page_lives_and_dies_on(TestCluster::new(plane), declare).await
}

async fn a_page_lives_and_dies_on(cluster: TestCluster, declare: Declare) -> anyhow::Result<()> {
    let manifests = cluster.apply_files("default", [RBAC]).await?;
    let (client, has_pods) = (cluster.client()?, !cluster.is_in_process());
    let user = User { client, namespace: cluster.namespace("pages").await?, has_pods };

    // The role takes effect a moment after it was written; until then the operator would be refused, and wait.
    let pages: Api<WebPage> = Api::all(cluster.client_as(ACCOUNT)?);
    let effective = until("the role to be effective", async || pages.list(&ListParams::default()).await.ok());
    effective.await?;
    let leases: Api<Lease> = Api::namespaced(cluster.client_as(ACCOUNT)?, "webpage-operator");
    until("the rights for the lease", async || leases.get_opt("webpage-operator").await.ok()).await?;
    let mut audit = Audit::of_user(&cluster, ACCOUNT).await?;
    let election = LeaderElection::new("webpage-operator").namespace("webpage-operator");
    let builder = cluster.connect(declare()).config(cluster.config_as(ACCOUNT, &[]));
    let operator = TestOperator::start(builder.leader_election(election)).await?;

    create(&user, &operator).await?;
    edit(&user).await?;
    repair(&user).await?;
    expose(&user).await?;
    fail(&user).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.iter().all(|request| request.code != Some(403)), "{:#?}", settled.requests);

    delete(&user).await?;
    operator.settled().await?;
    operator.stop().await;

    let calls = audit.calls().await?;
    let calls = calls.events();
    assert!(
        calls.iter().any(|call| call.verb == "patch" && call.impersonated),
        "the operator was someone else"
    );
    let refused: Vec<_> = calls.iter().filter(|call| call.code == 403).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let unused: Vec<String> = granted(&manifests).difference(&used(calls)).cloned().collect();
    // After a conflict the operator reads the object anew, and what an earlier version has made under another name it deletes:
    // neither happens in every life.
    let at_times = |right: &String| right.starts_with("get ") || right.starts_with("delete ");
    assert!(unused.iter().all(at_times), "{unused:?}");
    if user.has_pods { deployed(&cluster).await } else { Ok(()) }
}

/// The rights that the manifests give, as in "patch apps/deployments".
fn granted(manifests: &[DynamicObject]) -> BTreeSet<String> {
    let words = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap_or_default() };
    let rules = manifests.iter().filter_map(|object| object.data["rules"].as_array()).flatten();
    let mut rights = BTreeSet::new();
    for rule in rules {
        for resource in words(&rule["resources"]) {
            // Each rule of this role has one group.
            let group = words(&rule["apiGroups"]).concat();
            rights.extend(words(&rule["verbs"]).iter().map(|verb| format!("{verb} {group}/{resource}")));
        }
    }
    rights
}

/// The rights that the calls needed.
fn used(calls: &[AuditEvent]) -> BTreeSet<String> {
    let rights = calls.iter().flat_map(|call| {
        let slash = if call.subresource.is_empty() { "" } else { "/" };
        let object = format!("{}/{}{slash}{}", call.group, call.resource, call.subresource);
        // An apply that makes an object needs the right to create it, too.
        let verbs = [Some(call.verb.as_str()), (call.code == 201).then_some("create")];
        verbs.into_iter().flatten().map(move |verb| format!("{verb} {object}"))
    });
    rights.collect()
}

async fn create(user: &User, operator: &TestOperator) -> anyhow::Result<()> {
    let page: WebPage = serde_json::from_value(json!({
        "apiVersion": "sample.operator-core.io/v1",
        "kind": "WebPage",
        "metadata": { "name": "hello" },
        "spec": { "html": "<h1>Hello</h1>" },
    }))?;
    let page = user.api::<WebPage>().create(&Default::default(), &page).await?;
    let status = user.is_ready().await?;
    assert_eq!(status.html_config_map.as_deref(), Some("hello-html"));
    assert_eq!(status.error_message, None);

    let map = user.api::<ConfigMap>().get("hello-html").await?;
    assert_eq!(map.data.and_then(|data| data.get("index.html").cloned()).as_deref(), Some("<h1>Hello</h1>"));
    let owners = map.metadata.owner_references.unwrap_or_default();
    assert_eq!(
        owners.iter().map(|owner| owner.uid.as_str()).collect::<Vec<_>>(),
        [page.metadata.uid.unwrap_or_default()]
    );
    user.api::<Service>().get("hello").await?;
    assert!(user.api::<Ingress>().get_opt("hello").await?.is_none());

    let settled = operator.settled().await?;
    let written = settled.written();
    let mut created: Vec<&str> =
        written.iter().map(String::as_str).filter(|write| !write.contains("webpages")).collect();
    created.sort_unstable();
    assert_eq!(
        created,
        [
            "PATCH configmaps/hello-html -> 201",
            "PATCH deployments/hello -> 201",
            "PATCH services/hello -> 201"
        ]
    );
    // All that is left is the page's status: not ready, then ready.
    assert!(
        written.iter().filter(|write| write.contains("webpages/hello/status")).count() <= 3,
        "{written:?}"
    );
    Ok(())
}

async fn edit(user: &User) -> anyhow::Result<()> {
    let before = user.pods().await?;
    user.patch::<WebPage>("hello", json!({ "spec": { "html": "<h1>Again</h1>" } })).await?;
    user.is_ready().await?;
    if !user.has_pods {
        return Ok(());
    }
    until("other pods", async || {
        let now = user.pods().await.ok()?;
        (!now.is_empty() && now.iter().all(|pod| !before.contains(pod))).then_some(())
    })
    .await
}

async fn repair(user: &User) -> anyhow::Result<()> {
    let before = user.api::<Service>().get("hello").await?.metadata.uid;
    user.api::<Service>().delete("hello", &DeleteParams::default()).await?;
    user.sees("another service", "hello", |service: &Service| {
        (service.metadata.uid != before && service.metadata.deletion_timestamp.is_none()).then_some(())
    })
    .await?;
    user.patch::<ConfigMap>("hello-html", json!({ "data": { "index.html": "defaced" } })).await?;
    user.sees("the html to be back", "hello-html", |map: &ConfigMap| {
        (map.data.as_ref()?.get("index.html")? == "<h1>Again</h1>").then_some(())
    })
    .await?;
    user.patch::<Deployment>("hello", json!({ "spec": { "replicas": 3 } })).await?;
    user.sees("one replica again", "hello", |deployment: &Deployment| {
        (deployment.spec.as_ref()?.replicas == Some(1)).then_some(())
    })
    .await
}

async fn expose(user: &User) -> anyhow::Result<()> {
    user.patch::<WebPage>("hello", json!({ "spec": { "exposed": true } })).await?;
    user.sees("an ingress", "hello", |_: &Ingress| Some(())).await?;
    user.patch::<WebPage>("hello", json!({ "spec": { "exposed": false } })).await?;
    user.is_gone::<Ingress>("hello").await?;
    // Left exposed, so that the ingress, too, must go with the page.
    user.patch::<WebPage>("hello", json!({ "spec": { "exposed": true } })).await?;
    user.sees("an ingress again", "hello", |_: &Ingress| Some(())).await
}

async fn fail(user: &User) -> anyhow::Result<()> {
    user.patch::<WebPage>("hello", json!({ "spec": { "html": "an error" } })).await?;
    let message = user
        .sees("an error in the status", "hello", |page: &WebPage| {
            let status = page.status.as_ref()?;
            if status.ready { None } else { status.error_message.clone() }
        })
        .await?;
    assert!(message.contains("the word \"error\""), "{message}");
    user.patch::<WebPage>("hello", json!({ "spec": { "html": "<h1>Fine</h1>" } })).await?;
    assert_eq!(user.is_ready().await?.error_message, None);
    Ok(())
}

async fn delete(user: &User) -> anyhow::Result<()> {
    user.api::<WebPage>().delete("hello", &DeleteParams::default()).await?;
    user.is_gone::<WebPage>("hello").await?;
    user.is_gone::<ConfigMap>("hello-html").await?;
    user.is_gone::<Deployment>("hello").await?;
    user.is_gone::<Service>("hello").await?;
    user.is_gone::<Ingress>("hello").await?;
    until("no pods", async || user.pods().await.ok()?.is_empty().then_some(())).await
}

/// The Deployment of deploy/ gets its pod in a namespace that admits restricted pods only.
async fn deployed(cluster: &TestCluster) -> anyhow::Result<()> {
    cluster.apply_yaml("default", OPERATOR).await?;
    let deployments: Api<Deployment> = Api::namespaced(cluster.client()?, "webpage-operator");
    until("the operator's own pods", async || {
        let deployment = deployments.get("webpage-operator").await.ok()?;
        (deployment.status?.ready_replicas == Some(2)).then_some(())
    })
    .await
    .context("the pod of deploy/operator.yaml was not admitted")
}
