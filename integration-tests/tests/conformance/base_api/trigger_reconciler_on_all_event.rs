//! A reconciler that is triggered on all events runs also for the mark for deletion, for the end, and without a finalizer.

use integration_tests::prelude::*;
use operator_core::Context;

const OURS: &str = "all-events.example.com/ours";
const THEIRS: &str = "all-events.example.com/theirs";
const HEALED: &str = "all-events.example.com/healed";
const DELAY: Duration = Duration::from_millis(800);
const ONE: &str = "PATCH testresources/one -> 200";

/// The state of the primary that a run was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Alive,
    Marked,
    Gone,
}

/// The states that the runs were given, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Told>>>);

impl Seen {
    pub(crate) fn note(&self, primary: &TestResource, context: &Context<TestResource>) -> Told {
        let told = match (context.primary_is_deleted(), &primary.metadata.deletion_timestamp) {
            (true, _) => Told::Gone,
            (false, Some(_)) => Told::Marked,
            (false, None) => Told::Alive,
        };
        self.0.lock().push(told);
        told
    }

    pub(crate) fn all(&self) -> Vec<Told> {
        self.0.lock().clone()
    }
}

/// Puts a finalizer on living primaries whose value is `kept`, and removes it from marked ones; `fails` decides which
/// runs of a primary fail, counted from one.
pub(crate) fn script(seen: &Seen, fails: impl Fn(Told, usize) -> bool + Send + Sync + 'static) -> Script {
    let (seen, fails) = (seen.clone(), Arc::new(fails));
    Script::new(move |number, primary: Arc<TestResource>, context| {
        let (seen, fails) = (seen.clone(), Arc::clone(&fails));
        Box::pin(async move {
            let told = seen.note(&primary, context);
            if fails(told, number) {
                bail!("on purpose");
            }
            let operations = context.resource_operations();
            match told {
                Told::Alive if primary.spec.value == "kept" => {
                    assert!(operations.add_finalizer(OURS).await?, "a living primary takes one");
                }
                Told::Marked => operations.remove_finalizer(OURS).await?,
                _ => {}
            }
            Ok(UpdateControl::no_update())
        })
    })
}

pub(crate) fn on_all_events(scene: &Scene, script: &Script) -> ControllerBuilder<Script> {
    scene.controller(script).trigger_on_all_events(true)
}

async fn create_held(scene: &Scene, name: &str, value: &str) -> Result<()> {
    let mut one = TestResource::new(name, TestResourceSpec { value: value.to_owned() });
    one.metadata.finalizers = Some(vec![THEIRS.to_owned()]);
    scene.resources.create(&PostParams::default(), &one).await?;
    Ok(())
}

/// No data is kept about primaries that are gone.
pub(crate) async fn nothing_is_kept(operator: &TestOperator) {
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, &footprint.leftovers[..]), (0, &[][..]), "something is kept");
}

#[operator_test]
async fn the_mark_and_the_end_are_runs_and_so_is_the_beginning() -> Result<()> {
    let scene = Scene::new("all-events").await?;
    let seen = Seen::default();
    let operator = scene.start(on_all_events(&scene, &script(&seen, |_, _| false))).await?;
    scene.create("one", "kept").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), [ONE], "the finalizer, whose echo causes no run");
    assert_eq!(seen.all(), [Told::Alive]);
    assert_eq!(scene.resources.get("one").await?.finalizers(), [OURS]);

    scene.delete("one").await?;
    let settled = operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Marked, Told::Gone]);
    assert_eq!(settled.written(), [ONE], "the finalizer is taken off once");
    scene.until_gone("one").await?;
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn the_end_is_a_run_without_a_finalizer_too() -> Result<()> {
    let scene = Scene::new("all-events-no-finalizer").await?;
    let seen = Seen::default();
    let script = script(&seen, |_, _| false);
    let operator = scene.start(on_all_events(&scene, &script)).await?;
    scene.create("one", "free").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let settled = operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Gone]);
    assert_eq!(settled.written(), [""; 0], "there is nothing to write to");
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn the_end_of_what_others_hold_is_one_run_more() -> Result<()> {
    let scene = Scene::new("all-events-held").await?;
    let seen = Seen::default();
    let controller = on_all_events(&scene, &script(&seen, |_, _| false)).generation_aware(false);
    let operator = scene.start(controller).await?;
    create_held(&scene, "one", "kept").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    operator.settled().await?;
    assert_eq!(scene.resources.get("one").await?.finalizers(), [THEIRS]);
    assert_eq!(seen.all(), [Told::Alive, Told::Marked]);

    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Marked, Told::Gone]);
    nothing_is_kept(&operator).await;
    Ok(())
}

/// Fails until its primary says that all is well; its first retry waits at the gate, and then for the next event.
fn failing_until_healed(seen: &Seen, gate: Option<&Gate>) -> Script {
    let (seen, gate) = (seen.clone(), Arc::new(Mutex::new(gate.cloned())));
    Script::new(move |_, primary: Arc<TestResource>, context| {
        let (seen, gate) = (seen.clone(), Arc::clone(&gate));
        Box::pin(async move {
            let told = seen.note(&primary, context);
            let attempt = context.retry_info().map(|retry| retry.attempt);
            let gate = if attempt == Some(1) { gate.lock().take() } else { None };
            if let Some(gate) = gate {
                gate.pass().await;
                while !context.another_follows() {
                    tokio::task::yield_now().await;
                }
            }
            if told != Told::Gone && !primary.annotations().contains_key(HEALED) {
                bail!("on purpose");
            }
            Ok(UpdateControl::no_update())
        })
    })
}

fn annotated(key: &str) -> serde_json::Value {
    json!({ "metadata": { "annotations": { key: "true" } } })
}

#[operator_test]
async fn a_failed_run_of_the_end_is_retried() -> Result<()> {
    let scene = Scene::new("all-events-retry").await?;
    scene.failures.expect("on purpose");
    let seen = Seen::default();
    let script = script(&seen, |told, number| told == Told::Gone && number < 4);
    let controller = on_all_events(&scene, &script).retry(GenericRetry::linear(DELAY, 2)?);
    let operator = scene.start(controller).await?;
    scene.create("one", "free").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Gone, Told::Gone, Told::Gone]);
    let runs = script.runs.of("one");
    let attempts: Vec<_> = runs.iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [None, None, Some(1), Some(2)]);
    assert!(runs[2].started - runs[1].started >= DELAY, "after the delay of any other retry");
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn an_event_during_a_failing_retry_is_served_at_once() -> Result<()> {
    let scene = Scene::new("all-events-during-retry").await?;
    scene.failures.expect("on purpose");
    let (seen, gate) = (Seen::default(), Gate::new());
    let script = failing_until_healed(&seen, Some(&gate));
    let controller = on_all_events(&scene, &script).generation_aware(false);
    let operator = scene.start(controller.retry(GenericRetry::linear(DELAY, 2)?)).await?;
    create_held(&scene, "one", "kept").await?;
    scene.delete("one").await?;
    gate.arrived().await?;
    let before = script.runs.of("one").len();
    scene.patch("one", annotated("all-events.example.com/other")).await?;
    gate.let_through(1);
    operator.settled().await?;
    let attempts: Vec<_> = script.runs.of("one").iter().skip(before - 1).map(|run| run.attempt).collect();
    assert_eq!(
        attempts,
        [Some(1), Some(1), Some(2)],
        "the event uses up no attempt, and the last retry follows"
    );

    scene.patch("one", annotated(HEALED)).await?;
    operator.settled().await?;
    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(seen.all().last(), Some(&Told::Gone));
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn an_event_after_the_last_retry_is_a_run_as_well() -> Result<()> {
    let scene = Scene::new("all-events-after-retry").await?;
    scene.failures.expect("on purpose");
    let seen = Seen::default();
    let script = failing_until_healed(&seen, None);
    let controller = on_all_events(&scene, &script).generation_aware(false);
    create_held(&scene, "one", "kept").await?;
    scene.delete("one").await?;
    let operator = scene.start(controller.retry(GenericRetry::linear(DELAY, 2)?)).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 3, "a run and two retries");

    scene.patch("one", annotated(HEALED)).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert_eq!(scene.resources.get("one").await?.finalizers(), [THEIRS]);
    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Marked, Told::Marked, Told::Marked, Told::Marked, Told::Gone]);
    nothing_is_kept(&operator).await;
    Ok(())
}
