//! The operator, tested as its author would: the declaration, and the life of a shop on a server inside the process.

use std::{collections::BTreeMap, process::Command, sync::Arc, time::Duration};

use anyhow::Result;
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, StatefulSet},
        autoscaling::v2::HorizontalPodAutoscaler,
        batch::v1::Job,
        core::v1::{ConfigMap, Event},
    },
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, CustomResourceExt, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_core::{
    Operator,
    controller::IntoController,
    resource::KubeObject,
    sim_test,
    testing::{
        TestCluster, TestOperator, eventually,
        simulation::{FaultPlan, Objects, Oracle, Sim, User},
    },
};
use serde_json::{Value, json};
use shop::{RBAC, Shop, ShopSpec, controller, operator, outside::InMemory};

/// The grace period of the components.
const GRACE: Duration = Duration::from_secs(20);
const ACCOUNT: &str = "system:serviceaccount:shop-operator:shop-operator";

fn shop() -> Shop {
    let spec =
        ShopSpec { version: "1.9.0".to_owned(), image: None, replicas: 2, suspended: false, metrics: true };
    Shop::new("books", spec)
}

#[test]
fn the_operator_is_declared_well() {
    operator(Arc::<InMemory>::default()).assert_sound();
}

#[test]
fn deploy_has_the_definition() -> Result<()> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/crd.yaml");
    let output = Command::new(env!("CARGO_BIN_EXE_shop")).args(["crd", "--check", file]).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[test]
fn the_graph_is_the_one_of_the_page() -> Result<()> {
    let output = Command::new(env!("CARGO_BIN_EXE_shop")).arg("graph").output()?;
    let file = include_str!("../graph.txt");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        file,
        "write it by: shop graph > samples/shop/graph.txt"
    );
    Ok(())
}

#[test]
fn the_role_has_each_right_that_the_operator_needs() -> Result<()> {
    let controller = controller(Arc::<InMemory>::default()).into_controller()?;
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
    shops: Api<Shop>,
    office: Arc<InMemory>,
}

impl Life {
    async fn begin() -> Result<Self> {
        let cluster = TestCluster::in_process();
        cluster.install_crds([Shop::crd()]).await?;
        cluster.apply_yaml("default", RBAC).await?;
        let office = Arc::new(InMemory::default());
        let builder = cluster.connect(operator(office.clone())).config(cluster.config_as(ACCOUNT, &[]));
        let namespace = cluster.namespace("shop").await?;
        let shops = Api::namespaced(cluster.client()?, &namespace);
        let running = TestOperator::start(builder).await?;
        Ok(Self { cluster, namespace, running, shops, office })
    }

    fn api<K: Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>>(
        &self,
    ) -> Result<Api<K>> {
        Ok(Api::namespaced(self.cluster.client()?, &self.namespace))
    }

    async fn change(&self, spec: Value) -> Result<()> {
        self.shops.patch("books", &PatchParams::default(), &Patch::Merge(json!({ "spec": spec }))).await?;
        Ok(())
    }

    /// The conditions, by their types.
    async fn conditions(&self) -> Result<Vec<Condition>> {
        let status = self.shops.get("books").await?.status.unwrap_or_default();
        Ok(status.components.conditions)
    }

    async fn condition(&self, of: &str) -> Result<Option<Condition>> {
        Ok(self.conditions().await?.into_iter().find(|condition| condition.type_ == of))
    }

    /// Waits until the condition has this reason.
    async fn until(&self, of: &str, reason: &str) -> Result<Condition> {
        let generation = self.shops.get("books").await?.metadata.generation;
        let what = format!("{of} to be {reason}");
        let found = eventually(&what, async || {
            let status = self.shops.get("books").await?.status.unwrap_or_default();
            let mut all = status.components.conditions.into_iter();
            let found = all.find(|condition| condition.type_ == of);
            Ok(found.filter(|found| found.reason == reason && found.observed_generation == generation))
        });
        Ok(found.await?)
    }
}

#[tokio::test(start_paused = true)]
async fn a_shop_starts_in_order_is_suspended_and_leaves_nothing() -> Result<()> {
    let life = Life::begin().await?;
    life.shops.create(&PostParams::default(), &shop()).await?;
    for component in ["DatabaseReady", "MigrationReady", "ApiReady", "MetricsReady", "Ready"] {
        let condition = life.until(component, "Healthy").await?;
        assert_eq!(condition.status, "True", "{component}");
        assert!(condition.message.ends_with("Component is healthy."), "{}", condition.message);
    }
    let settings = life.api::<ConfigMap>()?.get("books-settings").await?;
    assert!(settings.data.is_some_and(|data| data["address"].starts_with("10.")), "the Service's address");
    let settled = life.running.settled().await?;
    let refused: Vec<_> = settled.requests.iter().filter(|request| request.code == Some(403)).collect();
    assert!(refused.is_empty(), "{refused:#?}");

    life.change(json!({ "suspended": true })).await?;
    for component in ["DatabaseReady", "MigrationReady", "ApiReady", "MetricsReady", "Ready"] {
        assert_eq!(life.until(component, "Suspended").await?.status, "True", "{component}");
    }
    let replicas = |deployment: Deployment| deployment.spec.and_then(|spec| spec.replicas);
    assert_eq!(replicas(life.api::<Deployment>()?.get("books-api").await?), Some(0));
    let database = life.api::<StatefulSet>()?.get("books-database").await?;
    assert_eq!(database.spec.and_then(|spec| spec.replicas), Some(0));
    assert!(life.api::<HorizontalPodAutoscaler>()?.get_opt("books-autoscaler").await?.is_none());

    life.change(json!({ "suspended": false, "metrics": false })).await?;
    life.until("ApiReady", "Healthy").await?;
    let disabled = life.until("MetricsReady", "Disabled").await?;
    assert_eq!((disabled.status.as_str(), disabled.message.as_str()), ("True", "Component is disabled."));
    assert!(life.api::<Deployment>()?.get_opt("books-exporter").await?.is_none());
    assert!(life.api::<HorizontalPodAutoscaler>()?.get_opt("books-autoscaler").await?.is_some());

    life.shops.delete("books", &DeleteParams::default()).await?;
    eventually("its end", async || Ok(life.shops.get_opt("books").await?.is_none().then_some(()))).await?;
    life.running.stop().await;
    Ok(())
}

/// The conditions, each with its reason and when its status last changed.
async fn conditions(user: &User) -> BTreeMap<String, (String, Timestamp)> {
    let shop = user.get::<Shop>("books").await.unwrap_or_else(shop);
    let conditions = shop.status.unwrap_or_default().components.conditions.into_iter();
    conditions.map(|of| (of.type_, (of.reason, of.last_transition_time.0))).collect()
}

/// The conditions once this one has the reason, and the seconds until then.
async fn once(user: &User, of: &str, reason: &str) -> (BTreeMap<String, (String, Timestamp)>, u64) {
    for seconds in 0..90 {
        let all = conditions(user).await;
        if all.get(of).is_some_and(|(found, _)| found == reason) {
            return (all, seconds);
        }
        user.pause(Duration::from_secs(1)).await;
    }
    panic!("{of} isn't {reason}: {:?}", conditions(user).await)
}

/// At most one crash of the operator, so that the clock of a grace period goes on in another one, which starts 20 seconds later.
#[sim_test(schedules = 20)]
async fn a_broken_image_is_degraded_when_its_grace_is_over(sim: Sim) {
    sim.operator(|| operator(Arc::<InMemory>::default()));
    sim.faults(FaultPlan::none().crashes(20, 1));
    sim.expected_in_calm_run("`broken` isn't a version");
    sim.without(Oracle::Quiet);
    sim.without(Oracle::SameState);
    sim.user(async |user| {
        user.apply(shop()).await;
        user.pause(Duration::from_secs(60)).await;
        let before = conditions(&user).await;
        // A version that isn't one: whether there are metrics can't be told, which doesn't keep the time from others.
        user.patch::<Shop>("books", json!({ "spec": { "version": "broken" } })).await;
        let (on_the_way, _) = once(&user, "ApiReady", "Updating").await;
        let (after, seconds) = once(&user, "ApiReady", "Degraded").await;
        let grace = GRACE.as_secs();
        assert!((grace - 1..=grace + 21).contains(&seconds), "after {seconds} seconds");
        let reasons = |of: &str| {
            [&before, &on_the_way, &after].map(|all| all.get(of).map(|(reason, _)| reason.clone()))
        };
        let expected = [
            ("ApiReady", ["Healthy", "Updating", "Degraded"]),
            ("DatabaseReady", ["Healthy"; 3]),
            ("MetricsReady", ["Healthy", "FeatureGateError", "FeatureGateError"]),
            ("Ready", ["Healthy", "FeatureGateError", "FeatureGateError"]),
        ];
        for (of, expected) in expected {
            assert_eq!(reasons(of), expected.map(|reason| Some(reason.to_owned())), "{of}");
        }
        assert_eq!(after["ApiReady"].1, on_the_way["ApiReady"].1, "it was false before");
        assert_ne!(after["ApiReady"].1, before["ApiReady"].1, "and true before that");
        user.patch::<Shop>("books", json!({ "spec": { "version": "2.0.0" } })).await;
        once(&user, "Ready", "Healthy").await;
    });
    sim.settle().await;
}

#[tokio::test(start_paused = true)]
async fn steps_say_how_they_ended() -> Result<()> {
    let life = Life::begin().await?;
    life.office.close(true);
    life.shops.create(&PostParams::default(), &shop()).await?;
    let waits = life.until("Reconciling", "NoLicence").await?;
    assert_eq!(
        (waits.status.as_str(), waits.message.as_str()),
        ("True", "the office has no licence for it yet")
    );
    assert!(life.api::<Job>()?.list(&Default::default()).await?.items.is_empty(), "nothing is made");
    life.office.close(false);
    life.office.mute(true);
    // It comes back by itself.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let failed = life.until("AnnouncementFailed", "NotSent").await?;
    assert_eq!(failed.status, "True");
    life.change(json!({ "replicas": 11 })).await?;
    let stalled = life.until("Stalled", "OverQuota").await?;
    assert_eq!(stalled.message, "the licence is for 10 pods, and spec.replicas is 11");
    // What a run didn't come to stays.
    assert!(life.condition("AnnouncementFailed").await?.is_some());
    life.office.mute(false);
    life.change(json!({ "replicas": 3 })).await?;
    life.until("Ready", "Healthy").await?;
    assert!(life.condition("AnnouncementFailed").await?.is_none());
    assert!(!life.office.announced().is_empty());
    life.running.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_conditions_of_components_are_recorded_as_events() -> Result<()> {
    let cluster = TestCluster::in_process();
    cluster.install_crds([Shop::crd()]).await?;
    let namespace = cluster.namespace("told").await?;
    let recording = controller(Arc::<InMemory>::default()).records_events(true);
    let running = TestOperator::start(cluster.connect(Operator::builder().register(recording))).await?;
    let shops: Api<Shop> = Api::namespaced(cluster.client()?, &namespace);
    let events: Api<Event> = Api::namespaced(cluster.client()?, &namespace);
    let told = async |what: &str| {
        let is_it = |event: Event| {
            let text = [event.type_, event.reason, event.message].map(Option::unwrap_or_default).join(" ");
            text.starts_with(what)
        };
        let is_told =
            async || Ok(events.list(&Default::default()).await?.into_iter().any(is_it).then_some(()));
        eventually(what, is_told).await
    };
    shops.create(&PostParams::default(), &shop()).await?;
    told("Normal PrerequisiteNotMet ApiReady is False: Prerequisite not met: waiting for").await?;
    told("Normal Healthy ApiReady is True: Component is healthy.").await?;
    // A version that isn't one.
    let broken = Patch::Merge(json!({ "spec": { "version": "broken" } }));
    shops.patch("books", &PatchParams::default(), &broken).await?;
    told("Warning FeatureGateError MetricsReady is False: ").await?;
    running.stop().await;
    Ok(())
}

/// The ready Pods of a workload, those that it should have, and whether its controller has seen its newest generation.
fn pods<K: KubeObject<DynamicType: Default>>(
    objects: &Objects,
    name: &str,
) -> Result<Option<(i64, i64, bool)>, String> {
    let Some(found) = named::<K>(objects, name) else { return Ok(None) };
    let found = serde_json::to_value(&found).map_err(|error| error.to_string())?;
    let number = |at: &str| found.pointer(at).and_then(Value::as_i64).unwrap_or(0);
    let is_seen = number("/status/observedGeneration") == number("/metadata/generation");
    Ok(Some((number("/status/readyReplicas"), number("/spec/replicas"), is_seen)))
}

fn named<K: KubeObject<DynamicType: Default>>(objects: &Objects, name: &str) -> Option<K> {
    objects.all::<K>().into_iter().find(|found| found.meta().name.as_deref() == Some(name))
}

/// What the conditions of components that don't converge say of their workloads is so.
fn says_what_is(objects: &Objects) -> Result<(), String> {
    for shop in objects.all::<Shop>() {
        let status = shop.status.clone().unwrap_or_default();
        for condition in status.components.conditions {
            let (name, found) = match &*condition.type_ {
                "ApiReady" => ("books-api", pods::<Deployment>(objects, "books-api")?),
                "MetricsReady" => ("books-exporter", pods::<Deployment>(objects, "books-exporter")?),
                "DatabaseReady" => ("books-database", pods::<StatefulSet>(objects, "books-database")?),
                _ => continue,
            };
            let (pods, wanted, is_seen) = found.unwrap_or_default();
            let is_so = match &*condition.reason {
                "Healthy" => found.is_some() && pods == wanted && wanted > 0 && is_seen,
                "Suspended" => wanted == 0 && pods == 0 && is_seen,
                "Disabled" => found.is_none(),
                _ => true,
            };
            if !is_so {
                return Err(format!(
                    "{name} has {pods} of {wanted} pods, and {} is {}",
                    condition.type_, condition.reason
                ));
            }
        }
    }
    Ok(())
}

#[sim_test(schedules = 40)]
async fn a_shop_is_right_in_the_end_whatever_happens(sim: Sim) {
    sim.operator(|| operator(Arc::<InMemory>::default()));
    sim.faults(FaultPlan::storm());
    // Where no Pod becomes ready, the end of a grace period is written when all else is done, and when it is depends on luck.
    sim.without(Oracle::Quiet);
    sim.without(Oracle::SameState);
    sim.invariant(says_what_is);
    sim.user(async |user| {
        // No image can be pulled: neither that of its migration nor, later, that of the API.
        let mut broken = shop();
        (broken.spec.version, broken.spec.metrics) = ("broken".to_owned(), false);
        broken.spec.image = Some("broken".to_owned());
        user.apply(broken).await;
        user.pause(Duration::from_secs(60)).await;
        let api = user.get::<Deployment>("books-api").await;
        assert!(api.is_none(), "the API is started before the migration has succeeded");
        user.patch::<Shop>("books", json!({ "spec": { "version": "1.9.0" } })).await;
        user.pause(GRACE / 4).await;
        let told = conditions(&user).await;
        assert!(told.get("ApiReady").is_none_or(|(reason, _)| reason != "Healthy"), "{told:?}");
        user.patch::<Shop>("books", json!({ "spec": { "image": null, "metrics": true } })).await;
        user.patch::<Shop>("books", json!({ "spec": { "version": "1.9.1" } })).await;
        user.patch::<Shop>("books", json!({ "spec": { "suspended": true } })).await;
        user.patch::<Shop>("books", json!({ "spec": { "suspended": false, "metrics": false } })).await;
    });
    sim.settle().await;
}
