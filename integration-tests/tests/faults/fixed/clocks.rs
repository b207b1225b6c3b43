//! A desired state that is another one each time: a time, a random number, the order of a hash map.

use integration_tests::prelude::*;
use operator_core::testing::LogCapture;

use super::{touch, warned};
use crate::simulated::{pass, scene, under_hooks};
use operator_core::client::TransportHook;

const WORDS: &str = "another state is wanted each time";

/// Notes when something of this kind is written.
fn noting(plural: &'static str, written: &Arc<Mutex<Vec<Instant>>>) -> TransportHook {
    let written = Arc::clone(written);
    TransportHook::around(move |request, inner| {
        let is_it =
            request.uri().path().contains(&format!("/{plural}")) && *request.method() != http::Method::GET;
        if is_it {
            written.lock().push(Instant::now());
        }
        let spins = written.lock().len() >= 300;
        async move {
            if is_it && spins {
                // No time passes while it spins, so it has to be stopped for a test to see it.
                return std::future::pending().await;
            }
            inner.send(request).await
        }
    })
}

/// The pauses between what was written, in seconds.
fn pauses(written: &Mutex<Vec<Instant>>) -> Vec<u64> {
    written.lock().windows(2).map(|two| (two[1] - two[0]).as_secs()).collect()
}

fn web(primary: &TestResource, generated: usize) -> Deployment {
    let (labels, annotations) = (json!({ "a": "b" }), json!({ "generated": generated.to_string() }));
    let spec = json!({ "containers": [{ "name": "a", "image": "a:1" }] });
    let template = json!({ "metadata": { "labels": labels, "annotations": annotations }, "spec": spec });
    let spec = json!({ "selector": { "matchLabels": labels }, "template": template });
    from_json(&json!({ "metadata": meta_of(primary, "a"), "spec": spec })).expect("a deployment")
}

/// Each write makes a ReplicaSet, whose events make the next run.
#[tokio::test(start_paused = true)]
async fn a_state_that_is_another_one_each_time_is_written_ever_less_often() -> Result<()> {
    for applies in [true, false] {
        let scene = scene().await?;
        let (log, _guard) = LogCapture::start();
        let (calls, written) = (AtomicUsize::new(0), Arc::default());
        let node = wanted("a", move |one: &TestResource| web(one, calls.fetch_add(1, Ordering::SeqCst)));
        let workflow = workflow_of_one(node.use_ssa(applies))?;
        let controller = scene.managed(&Script::idle(), &workflow).generation_aware(false);
        let operator = under_hooks([noting("deployments", &written)], &scene, controller).await?;
        scene.create("one", "first").await?;
        pass(3600).await;
        let pauses = pauses(&written);
        ensure!(pauses.len() < 40, "the pauses between all writes of an hour: {pauses:?}");
        ensure!(pauses.last().is_some_and(|last| *last > 200), "{pauses:?}");
        let paths = warned(&log, WORDS);
        ensure!(paths == ["spec.template.metadata.annotations.generated"], "{paths:?}");
        // A change of the primary is served at once.
        written.lock().clear();
        scene.set("one", "second").await?;
        pass(1).await;
        ensure!(!written.lock().is_empty(), "the primary has changed");
        operator.stop().await;
    }
    Ok(())
}

/// A map whose value is another one in each run.
fn ever_another_map() -> Result<Workflow<TestResource>> {
    let calls = AtomicUsize::new(0);
    let map = move |one: &TestResource| map_of(one, "a", &calls.fetch_add(1, Ordering::SeqCst).to_string());
    workflow_of_one(wanted("a", map))
}

/// Whoever triggers the runs: without a change of the spec, they are of one state of the primary.
#[tokio::test(start_paused = true)]
async fn runs_that_others_trigger_write_ever_less_often_too() -> Result<()> {
    let scene = scene().await?;
    let (log, _guard) = LogCapture::start();
    let (workflow, written) = (ever_another_map()?, Arc::default());
    let controller = scene.managed(&Script::idle(), &workflow).generation_aware(false);
    let _operator = under_hooks([noting("configmaps", &written)], &scene, controller).await?;
    scene.create("one", "first").await?;
    for round in 0..600 {
        touch(&scene, round).await?;
        pass(1).await;
    }
    let pauses = pauses(&written);
    ensure!(pauses.len() < 12, "{pauses:?}");
    ensure!(warned(&log, WORDS) == ["data.value"], "{:?}", warned(&log, WORDS));
    Ok(())
}

/// Somebody else's input that changes now and then is no clock.
#[tokio::test(start_paused = true)]
async fn an_input_that_changes_now_and_then_is_followed_at_once() -> Result<()> {
    let scene = scene().await?;
    let (log, _guard) = LogCapture::start();
    let input = Arc::new(AtomicUsize::new(0));
    let given = Arc::clone(&input);
    let map = move |one: &TestResource| map_of(one, "a", &given.load(Ordering::SeqCst).to_string());
    let workflow = workflow_of_one(wanted("a", map))?;
    let controller = scene.managed(&Script::idle(), &workflow).generation_aware(false);
    let _operator = under_hooks([], &scene, controller).await?;
    scene.create("one", "first").await?;
    for round in 1..10 {
        pass(900).await;
        input.store(round, Ordering::SeqCst);
        touch(&scene, round).await?;
        pass(1).await;
        ensure!(scene.values().await?["one-a"] == round.to_string());
    }
    ensure!(warned(&log, WORDS).is_empty());
    Ok(())
}

/// What is read from another source may change as often as it likes.
#[tokio::test(start_paused = true)]
async fn an_input_of_another_source_is_followed_at_once_however_often_it_changes() -> Result<()> {
    let scene = scene().await?;
    let (log, _guard) = LogCapture::start();
    let (workflow, written) = (ever_another_map()?, Arc::default());
    let of_one = |input: &Secret| {
        vec![ObjectKey::namespaced(input.metadata.namespace.as_deref().unwrap_or_default(), "one")]
    };
    let inputs = InformerEventSource::<Secret>::new().map_to_primary(of_one);
    let controller = scene.managed(&Script::idle(), &workflow).watches(inputs);
    let _operator = under_hooks([noting("configmaps", &written)], &scene, controller).await?;
    scene.create("one", "first").await?;
    let secrets = scene.api::<Secret>();
    secrets.create(&PostParams::default(), &from_json(&json!({ "metadata": { "name": "input" } }))?).await?;
    pass(10).await;
    written.lock().clear();
    for round in 0..20 {
        let patch = Patch::Merge(json!({ "stringData": { "round": round.to_string() } }));
        secrets.patch("input", &PatchParams::default(), &patch).await?;
        pass(2).await;
    }
    ensure!(pauses(&written) == [2; 19], "{:?}", pauses(&written));
    ensure!(warned(&log, WORDS).is_empty(), "{:?}", warned(&log, WORDS));
    Ok(())
}
