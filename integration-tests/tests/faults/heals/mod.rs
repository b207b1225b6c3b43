//! Everything heals. Something stands in the way and goes away after a while; soon after that everything is as it is wanted, without
//! an event and without a change of the primary.
//!
//! [`refusals`] refuses each write that an operator makes with each answer that a server can give. [`obstacles`] puts objects and
//! definitions in the way. [`retry`] ends each cause of a failure at a random moment, [`waits`] has the longest waits, and in
//! [`apis`] a part of the API is down. Each test
//! has a server of its own, inside the process and in virtual time.

mod apis;
mod obstacles;
mod refusals;
mod retry;
mod schema;
mod waits;

use integration_tests::prelude::*;
use k8s_openapi::{api::core::v1::Event, apimachinery::pkg::apis::meta::v1::Condition};
use operator_core::{Run, dependent::Records, environment::Environment, testing::OtherSystem};

use crate::{
    replica::{declared, election},
    simulated::{pass, scene},
};

pub(super) async fn minutes(number: u64) {
    pass(60 * number).await;
}

/// An operator that makes each kind of write: two children, a record with its id and the note before it, the finalizer, a
/// status, an Event and its lease.
struct World {
    scene: Scene,
    system: Words,
    _operator: TestOperator,
}

impl World {
    /// Only where the test is about the lease there is one: it is renewed every two seconds.
    async fn start(faults: &Faults, elects: bool) -> Result<Self> {
        let scene = scene().await?;
        let system: Words = OtherSystem::new();
        let record = Records::new(Word::unsearchable(&system)).id_in_config_map().named("word");
        let nodes = (wanted_map("a").without_owner(), wanted_map("b"), record);
        let workflow = Workflow::builder().nodes(nodes).build()?;
        let script = Script::new(|_, primary: Arc<TestResource>, context| {
            context.events().normal("Made", format!("made of {}", primary.value()));
            Box::pin(async move { Ok(Said::status(said(primary.spec.value.clone()))) })
        });
        let controller = scene.managed(&script, &workflow).name("keeper").cleaner(true).records_events(true);
        let builder = match elects {
            true => declared(&scene, "first", election(&scene, "first"))?,
            false => scene.operator().environment(|| Environment::real().with_seed(1)),
        };
        let builder = builder.transport(faults.hook()).register(controller);
        let operator = TestOperator::start_unsynced(builder).await?;
        Ok(Self { scene, system, _operator: operator })
    }

    /// What isn't yet as it is wanted while the primary has this value.
    async fn missing(&self, value: &str) -> Result<Vec<String>> {
        let one = self.scene.resources.get("one").await?;
        let maps = self.scene.api::<ConfigMap>().list(&ListParams::default()).await?.items;
        let map = |name: &str| maps.iter().find(|map| map.name_any() == name);
        let events = self.scene.api::<Event>().list(&ListParams::default()).await?;
        let (wanted, made) = (Some(value), format!("made of {value}"));
        let message = one.status.as_ref().and_then(|status| status.message.as_deref());
        let checks = [
            (format!("the status, which says {message:?}"), message == wanted),
            ("the finalizer".to_owned(), !one.finalizers().is_empty()),
            ("one-a".to_owned(), map("one-a").and_then(value_of) == wanted),
            ("one-b".to_owned(), map("one-b").and_then(value_of) == wanted),
            (format!("the record: {:?}", words_in(&self.system)), words_in(&self.system) == [value]),
            ("the id of the record".to_owned(), map("one-word").is_some()),
            ("the Event".to_owned(), events.iter().any(|event| event.message.as_deref() == Some(&*made))),
        ];
        Ok(checks.into_iter().filter(|(_, is_there)| !is_there).map(|(what, _)| what).collect())
    }

    /// What is still there after the primary was deleted, but for what the collector removes.
    async fn left(&self) -> Result<Vec<String>> {
        let primary = self.scene.resources.get_opt("one").await?;
        let map = self.scene.api::<ConfigMap>().get_opt("one-a").await?;
        let checks = [
            ("the primary".to_owned(), primary.is_some()),
            ("one-a".to_owned(), map.is_some()),
            (format!("the record: {:?}", words_in(&self.system)), !words_in(&self.system).is_empty()),
        ];
        Ok(checks.into_iter().filter(|(_, is_there)| *is_there).map(|(what, _)| what).collect())
    }
}

/// A controller that makes nodes, and says in the status what its runs say.
pub(super) fn telling(scene: &Scene, workflow: &Workflow<TestResource>) -> ControllerBuilder<Script> {
    let status = |primary: &TestResource, run: &Run<TestResource>| TestStatus {
        message: Some(primary.spec.value.clone()),
        conditions: run.conditions(primary),
        ..TestStatus::default()
    };
    scene.managed(&Script::idle(), workflow).name("keeper").status(status)
}

/// The conditions of `one`, by type: status and message.
pub(super) async fn conditions(scene: &Scene) -> Result<BTreeMap<String, (String, String)>> {
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    let told = |condition: Condition| (condition.type_, (condition.status, condition.message));
    Ok(status.conditions.into_iter().map(told).collect())
}

/// Holds that the primary is stalled because of this, and says that nothing is in progress.
pub(super) async fn assert_stalled(scene: &Scene, because: &str) -> Result<()> {
    let told = conditions(scene).await?;
    let of = |kind: &str| told.get(kind).map_or("", |(status, _)| &**status);
    ensure!((of("Stalled"), of("Reconciling"), of("Ready")) == ("True", "False", "False"), "{told:?}");
    ensure!(told["Stalled"].1.contains(because), "{told:?}");
    Ok(())
}
