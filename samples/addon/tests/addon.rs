//! The operator, tested as its author would: the declaration, and the life of an add-on on a server inside the process.

use std::process::Command;

use addon::{AddOn, AddOnSpec, RBAC, controller, operator};
use anyhow::Result;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams},
};
use operator_component::{BundleState, BundleStatus, Count};
use operator_core::{
    controller::IntoController,
    testing::{Settled, TestCluster, TestOperator, eventually},
};
use serde_json::{Value, json};

const ACCOUNT: &str = "system:serviceaccount:addon-operator:addon-operator";

#[test]
fn the_operator_is_declared_well() {
    operator().assert_sound();
}

#[test]
fn deploy_has_the_definition() -> Result<()> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/crd.yaml");
    let output = Command::new(env!("CARGO_BIN_EXE_addon")).args(["crd", "--check", file]).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[test]
fn the_role_has_each_right_that_the_operator_needs() -> Result<()> {
    let controller = controller().into_controller()?;
    let missing = controller.access().into_iter().filter(|right| {
        let below = right.subresource.map(|below| format!("/{below}")).unwrap_or_default();
        let resource = format!("{}{below}", right.resource_type.plural());
        let rules = RBAC.split("- apiGroups: ").filter(|rule| rule.contains(&resource));
        !right.verbs.iter().all(|verb| rules.clone().any(|rule| rule.contains(verb)))
    });
    assert_eq!(missing.collect::<Vec<_>>(), []);
    Ok(())
}

/// A server inside the process, and the operator on it with the rights that `deploy/` gives, and no others.
struct Life {
    cluster: TestCluster,
    namespace: String,
    running: TestOperator,
    addons: Api<AddOn>,
}

/// The kinds of the objects in a namespace.
const KINDS: [(&str, &str, &str); 11] = [
    ("addon.sample.operator-core.io", "v1", "Channel"),
    ("apps", "v1", "Deployment"),
    ("batch", "v1", "Job"),
    ("networking.k8s.io", "v1", "NetworkPolicy"),
    ("policy", "v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "v1", "Role"),
    ("rbac.authorization.k8s.io", "v1", "RoleBinding"),
    ("", "v1", "ConfigMap"),
    ("", "v1", "Secret"),
    ("", "v1", "Service"),
    ("", "v1", "ServiceAccount"),
];

impl Life {
    async fn begin() -> Result<Self> {
        let cluster = TestCluster::in_process();
        cluster.install_crds([AddOn::crd()]).await?;
        cluster.apply_yaml("default", RBAC).await?;
        let namespace = cluster.namespace("addon").await?;
        let addons = Api::namespaced(cluster.client()?, &namespace);
        let running = Self::operator(&cluster).await?;
        Ok(Self { cluster, namespace, running, addons })
    }

    async fn operator(cluster: &TestCluster) -> Result<TestOperator> {
        let builder = cluster.connect(operator()).config(cluster.config_as(ACCOUNT, &[]));
        Ok(TestOperator::start(builder).await?)
    }

    /// The objects of a kind.
    fn all(&self, kind: &str) -> Result<Api<DynamicObject>> {
        let (group, version, kind) = KINDS.into_iter().find(|known| known.2 == kind).expect("a kind");
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Ok(Api::namespaced_with(self.cluster.client()?, &self.namespace, &resource))
    }

    async fn get(&self, kind: &str, name: &str) -> Result<Option<Value>> {
        let found = self.all(kind)?.get_opt(name).await?;
        Ok(found.map(|found| found.data))
    }

    /// The objects whose names begin with this.
    async fn named(&self, start: &str) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for (_, _, kind) in KINDS {
            // The kind of the channels may be gone.
            let Ok(found) = self.all(kind)?.list(&Default::default()).await else { continue };
            let names = found.items.into_iter().filter_map(|found| found.metadata.name);
            all.extend(names.filter(|name| name.starts_with(start)).map(|name| format!("{kind} {name}")));
        }
        Ok(all)
    }

    async fn create(&self, name: &str) -> Result<()> {
        let spec = AddOnSpec { version: "1.4.0".to_owned(), replicas: 1, greeting: "Hello".to_owned() };
        self.addons.create(&PostParams::default(), &AddOn::new(name, spec)).await?;
        Ok(())
    }

    async fn change(&self, spec: Value) -> Result<()> {
        self.addons.patch("hello", &PatchParams::default(), &Patch::Merge(json!({ "spec": spec }))).await?;
        Ok(())
    }

    async fn status(&self, name: &str) -> Result<BundleStatus> {
        Ok(self.addons.get(name).await?.status.unwrap_or_default().bundle)
    }

    /// Waits until the newest generation is ready. What was done until all runs have ended.
    async fn ready(&self) -> Result<(BundleStatus, Settled)> {
        let is_ready = async || {
            let addon = self.addons.get("hello").await?;
            let status = addon.status.unwrap_or_default().bundle;
            let is_new = status.applied_generation == addon.metadata.generation;
            Ok((is_new && status.state == Some(BundleState::Ready)).then_some(()))
        };
        eventually("the add-on to be ready", is_ready).await?;
        let settled = self.running.settled().await?;
        Ok((self.status("hello").await?, settled))
    }
}

fn counted(status: &BundleStatus) -> (usize, u32, u32) {
    let all = status.inventory.kinds.values();
    let sum = |of: fn(&Count) -> u32| all.clone().map(of).sum();
    (status.inventory.kinds.len(), sum(|count| count.total), sum(|count| count.ready))
}

/// How many of these writes begin so and have that answer.
fn of(written: &[String], start: &str, code: u16) -> usize {
    let answer = format!("-> {code}");
    written.iter().filter(|line| line.starts_with(start) && line.ends_with(&answer)).count()
}

#[tokio::test(start_paused = true)]
async fn an_addon_is_installed_repaired_upgraded_and_removed() -> Result<()> {
    let mut life = Life::begin().await?;
    life.create("hello").await?;
    let (status, settled) = life.ready().await?;
    // All but the Job, which has succeeded and was deleted.
    assert_eq!(counted(&status), (11, 61, 61), "{:#?}", status.inventory.kinds);
    assert_eq!((status.revision, life.get("Job", "hello-to-1-4-0").await?), (Some(1), None));
    let refused: Vec<_> = settled.requests.iter().filter(|request| request.code == Some(403)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let written = settled.written();
    assert_eq!((of(&written, "", 201), of(&written, "DELETE", 200)), (62, 1), "{written:#?}");
    // The rest: the record of kinds, twice, that of the Job, and twice the status.
    assert!(settled.requests.len() < 75, "{:#?}", settled.requests);

    // Another process looks at it: it finds nothing to do, and the migration isn't repeated.
    life.running.stop().await;
    life.running = Life::operator(&life.cluster).await?;
    let settled = life.running.settled().await?;
    assert_eq!(settled.written(), [""; 0]);

    let bye = Patch::Merge(json!({ "data": { "GREETING": "Bye" } }));
    life.all("ConfigMap")?.patch("hello-web", &PatchParams::default(), &bye).await?;
    assert_eq!(life.running.settled().await?.written(), ["PATCH configmaps/hello-web -> 200"]);
    life.all("Service")?.delete("hello-api", &DeleteParams::default()).await?;
    let settled = life.running.settled().await?;
    assert_eq!(of(&settled.written(), "PATCH services/hello-api", 201), 1, "{:?}", settled.written());

    let token = life.get("Secret", "hello-web").await?;
    life.change(json!({ "version": "2.0.0" })).await?;
    let (status, settled) = life.ready().await?;
    assert_eq!((counted(&status), status.revision), ((11, 61, 61), Some(2)));
    assert_eq!(life.get("Secret", "hello-web").await?, token, "a token stays");
    assert_eq!((life.named("hello-reports").await?.len(), life.named("hello-audit").await?.len()), (0, 8));
    let written = settled.written();
    // What the audit has of its own, and the Job; what the reports had, and the Job.
    assert_eq!((of(&written, "", 201), of(&written, "DELETE", 200)), (9, 9), "{written:#?}");

    let (group, version, kind) = KINDS[0];
    let channel = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let guest = DynamicObject::new("guest", &channel).data(json!({ "spec": { "greeting": "Hi" } }));
    life.all("Channel")?.create(&PostParams::default(), &guest).await?;
    life.addons.delete("hello", &DeleteParams::default()).await?;
    assert_eq!(of(&life.running.settled().await?.written(), "DELETE", 200), 0);
    let status = life.status("hello").await?;
    let ready = status.conditions.iter().find(|condition| condition.type_ == "Ready");
    let reason = ready.map(|ready| ready.reason.as_str());
    assert_eq!((status.state, reason), (Some(BundleState::Deleting), Some("DeletionBlocked")));
    assert_eq!(life.named("hello-").await?.len(), 59, "nothing is touched");

    life.all("Channel")?.delete("guest", &DeleteParams::default()).await?;
    eventually("its end", async || Ok(life.addons.get_opt("hello").await?.is_none().then_some(()))).await?;
    assert_eq!(life.named("hello").await?, [""; 0]);
    let definitions: Api<CustomResourceDefinition> = Api::all(life.cluster.client()?);
    assert!(definitions.get_opt("channels.addon.sample.operator-core.io").await?.is_none());
    life.running.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_second_addon_is_refused_and_its_end_leaves_the_first_one() -> Result<()> {
    let life = Life::begin().await?;
    life.create("hello").await?;
    life.ready().await?;
    life.create("second").await?;
    let refused = async || {
        let status = life.status("second").await?;
        let ready = status.conditions.into_iter().find(|condition| condition.type_ == "Ready");
        Ok(ready.filter(|ready| ready.reason == "Error").map(|ready| ready.message))
    };
    let message = eventually("the second one to be refused", refused).await?;
    assert!(
        message.contains("CustomResourceDefinition channels.addon.sample.operator-core.io exists already")
    );
    assert!(life.named("second").await?.iter().all(|name| !name.starts_with("Deployment")));

    life.addons.delete("second", &DeleteParams::default()).await?;
    let is_gone = async || Ok(life.addons.get_opt("second").await?.is_none().then_some(()));
    eventually("its end", is_gone).await?;
    assert_eq!(life.named("second").await?, [""; 0]);
    let (status, _) = life.ready().await?;
    assert_eq!(counted(&status), (11, 61, 61));
    life.running.stop().await;
    Ok(())
}

/// Without any server: what a run would write.
#[test]
fn a_dry_run_says_what_would_be_installed() {
    let mut primary = AddOn::new(
        "greet",
        AddOnSpec { version: "1.4.0".to_owned(), replicas: 1, greeting: "hi".to_owned() },
    );
    primary.metadata.namespace = Some("shop".to_owned());
    let planned = controller().dry_run(&primary).blocking();
    assert_eq!(planned.error(), None);
    let writes = planned.writes().to_string();
    assert!(
        writes.contains("apply CustomResourceDefinition/channels.addon.sample.operator-core.io\n"),
        "{writes}"
    );
    let state = planned.states().to_string();
    assert!(state.contains("36/62 ready; CustomResourceDefinition channels.addon"), "{state}");

    // By then the kind of the definition is served.
    let next = planned.again().blocking();
    let writes = next.writes().to_string();
    assert!(
        writes.contains("apply Channel/greet-") && writes.contains("apply Job/greet-to-1-4-0"),
        "{writes}"
    );
    assert!(next.states().to_string().contains("40/62 ready; Job shop/greet-to-1-4-0"), "{}", next.states());
}
