//! An operator's settings for all its controllers and dependents: how many runs may be in progress, and which
//! dependents are applied.

use integration_tests::prelude::*;
use operator_core::{
    ResourceType,
    configuration::{ConfigEntry, ConfigLoader, ConfigProvider},
    observe::{Observation, Observer},
    operator::Stopped,
    testing::Settled,
};

/// Whether a run of the quick controller has been asked for.
#[derive(Debug, Default)]
struct Asked(AtomicBool);

impl Observer for Asked {
    fn observe(&self, observation: &Observation<'_>) {
        if matches!(observation, Observation::RunSubmitted { controller: "quick", .. }) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

/// A run of the busy controller waits at the gate, where one of the other passes by.
#[operator_test]
async fn a_controller_with_a_long_queue_holds_up_no_other_one() -> Result<()> {
    const BUSY: usize = 6;
    let scene = Scene::new("defaults-fair").await?;
    let gate = Gate::new();
    let at_gate = gate.clone();
    let busy = Script::new(move |_, _: Arc<TestResource>, _| {
        let gate = at_gate.clone();
        Box::pin(async move {
            gate.pass().await;
            Ok(UpdateControl::no_update())
        })
    });
    let (quick, asked) = (Script::<TestResource>::idle(), Arc::new(Asked::default()));
    for number in 0..BUSY {
        scene.create(&format!("busy-{number}"), "value").await?;
    }
    let operator = scene
        .operator()
        .register(scene.controller(&busy).name("busy"))
        .register(scene.controller(&quick).name("quick").field_selector("metadata.name=quick"))
        .observer(Arc::clone(&asked) as Arc<dyn Observer>)
        .max_concurrent_reconciles(1);
    let operator = TestOperator::start(operator).await?;
    gate.arrived().await?;
    scene.create("quick", "value").await?;
    eventually("the other one to wait", async || Ok(asked.0.load(Ordering::SeqCst).then_some(()))).await?;
    // It asks for its place after at most one of the others, which then comes to the gate before it.
    for _ in 0..2 {
        gate.let_through(1);
        gate.arrived().await?;
    }
    assert_eq!(quick.runs.count(), 1, "it waits behind {} runs", busy.runs.count());
    gate.let_through(BUSY + 1);
    operator.settled().await?;
    assert_eq!((busy.runs.count(), quick.runs.count()), (BUSY + 1, 1));
    assert_eq!(busy.runs.most_at_once(), 1);
    Ok(())
}

/// How many runs were submitted, and how many of them were withdrawn before they started.
#[derive(Debug, Default)]
struct Submissions {
    made: AtomicUsize,
    withdrawn: AtomicUsize,
}

impl Observer for Submissions {
    fn observe(&self, observation: &Observation<'_>) {
        let count = match observation {
            Observation::RunSubmitted { .. } => &self.made,
            Observation::RunWithdrawn { .. } => &self.withdrawn,
            _ => return,
        };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

#[operator_test]
async fn a_run_that_waits_for_a_place_does_not_start_after_a_stop() -> Result<()> {
    let scene = Scene::new("defaults-stop").await?;
    let (gate, submissions) = (Gate::new(), Arc::new(Submissions::default()));
    let at_gate = gate.clone();
    let script = Script::new(move |_, _: Arc<TestResource>, _| {
        let gate = at_gate.clone();
        Box::pin(async move {
            gate.pass().await;
            Ok(UpdateControl::no_update())
        })
    });
    scene.create("one", "value").await?;
    let operator = scene
        .operator()
        .register(scene.controller(&script).name("first"))
        .register(scene.controller(&script).name("second"))
        .observer(Arc::clone(&submissions) as Arc<dyn Observer>)
        .max_concurrent_reconciles(1);
    let operator = TestOperator::start(operator).await?;
    gate.arrived().await?;
    // The other controller may see its primary later.
    let both = async || Ok((submissions.made.load(Ordering::SeqCst) == 2).then_some(()));
    eventually("the run that waits for a place", both).await?;
    let let_go = async {
        let taken_back = async || Ok((submissions.withdrawn.load(Ordering::SeqCst) == 1).then_some(()));
        eventually("the run that waits to be taken back", taken_back).await?;
        gate.let_through(1);
        anyhow::Ok(())
    };
    let (stopped, let_go) = tokio::join!(operator.stop(), let_go);
    let_go?;
    assert_eq!((stopped, script.runs.count()), (Stopped::Drained, 1));
    Ok(())
}

/// A config map and a Secret without a setting for how they are written, and a config map with one.
fn children() -> Result<Workflow<TestResource>> {
    let secret = wanted("secret", |primary: &TestResource| Secret {
        metadata: meta_of(primary, "secret"),
        string_data: Some([("value".to_owned(), primary.spec.value.clone())].into()),
        ..Secret::default()
    });
    let applied = wanted("applied", |primary: &TestResource| map_of(primary, "applied", &primary.spec.value));
    let workflow = Workflow::builder().nodes((wanted_map("map"), secret, applied.use_ssa(true)));
    Ok(workflow.build()?)
}

/// The writes for a new primary, in any order, and for its next spec.
async fn written(scene: &Scene, operator: OperatorBuilder) -> Result<[Vec<String>; 2]> {
    let controller = scene.managed(&Script::idle(), &children()?);
    let operator = TestOperator::start(operator.register(controller)).await?;
    let sorted = |settled: Settled| {
        let mut written = settled.written();
        written.sort();
        written
    };
    scene.create("one", "first").await?;
    let first = sorted(operator.settled().await?);
    scene.set("one", "second").await?;
    let second = sorted(operator.settled().await?);
    let held = scene.api::<ConfigMap>().get("one-map").await?;
    assert_eq!(held.data.as_ref().and_then(|data| data.get("value")).map(String::as_str), Some("second"));
    assert!(held.owner_references().len() == 1, "{held:?}");
    operator.stop().await;
    Ok([first, second])
}

struct Replaced;

impl ConfigProvider for Replaced {
    fn entries(&self) -> Result<Vec<ConfigEntry>, operator_core::BoxError> {
        let key = "operator.dependent-resources.ssa-based-create-update-match";
        Ok(vec![ConfigEntry::new(key, "false", "the test")])
    }
}

#[operator_test]
async fn dependents_are_replaced_where_the_operator_says_so_and_they_do_not() -> Result<()> {
    let expected = [
        vec![
            "PATCH configmaps/one-applied -> 201",
            "POST configmaps/one-map -> 201",
            "POST secrets/one-secret -> 201",
        ],
        vec![
            "PATCH configmaps/one-applied -> 200",
            "PUT configmaps/one-map -> 200",
            "PUT secrets/one-secret -> 200",
        ],
    ];
    for by_code in [true, false] {
        let scene = Scene::new("defaults-replaced").await?;
        let operator = match by_code {
            true => scene.operator().use_ssa_for_dependents(false),
            false => scene.operator().configured_by(ConfigLoader::new().provider(Replaced)),
        };
        assert_eq!(written(&scene, operator).await?, expected, "by code: {by_code}");
    }
    Ok(())
}

#[operator_test]
async fn kinds_can_be_left_out_of_what_is_applied() -> Result<()> {
    let scene = Scene::new("defaults-kinds").await?;
    let operator = scene.operator().default_non_ssa_resources([ResourceType::of::<Secret>()]);
    let expected = [
        vec![
            "PATCH configmaps/one-applied -> 201",
            "PATCH configmaps/one-map -> 201",
            "POST secrets/one-secret -> 201",
        ],
        vec![
            "PATCH configmaps/one-applied -> 200",
            "PATCH configmaps/one-map -> 200",
            "PUT secrets/one-secret -> 200",
        ],
    ];
    assert_eq!(written(&scene, operator).await?, expected);
    Ok(())
}
