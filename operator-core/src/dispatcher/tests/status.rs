//! The arguments of a status function.

use super::*;
use crate::error::Waiting;

/// A reconciler with this error.
struct Fails(fn() -> BoxError);

impl Reconciler for Fails {
    type Primary = ConfigMap;

    async fn reconcile(
        &self,
        _: &ConfigMap,
        _: &mut Context<ConfigMap>,
    ) -> Result<UpdateControl<ConfigMap>, BoxError> {
        Err((self.0)())
    }
}

/// A dispatcher with a status function, and whether the function was called for a run that failed.
pub(super) async fn with_a_function(timeout: Option<Duration>) -> (World, Arc<Mutex<Vec<bool>>>) {
    let told: Arc<Mutex<Vec<bool>>> = Arc::default();
    let noted = Arc::clone(&told);
    let mut world = World::with(Writes { child_in: "shop" }, timeout).await;
    world.dispatcher.status = Some(erased(move |_: &ConfigMap, run: &run::Run<ConfigMap>| {
        noted.lock().push(run.error().is_some());
        json!({ "said": run.all_ready() })
    }));
    (world, told)
}

#[tokio::test(start_paused = true)]
async fn a_status_function_is_told_of_each_run_once() {
    let (world, told) = with_a_function(None).await;
    assert_eq!(world.dispatcher.dispatch(world.run()).await, Outcome::Success { reschedule: None });
    assert_eq!(*told.lock(), [false]);
    // A run that passes its deadline has a status all the same.
    let (world, told) = with_a_function(Some(Duration::ZERO)).await;
    let outcome = world.dispatcher.dispatch(world.run()).await;
    assert!(matches!(outcome, Outcome::Failed { kind: FailureKind::Retryable, .. }), "{outcome:?}");
    assert_eq!(*told.lock(), [true]);
    world.assert_nothing_is_left(0).await;
}

#[tokio::test(start_paused = true)]
async fn a_step_that_waits_is_no_failure_and_is_asked_again_in_time() {
    fn waits() -> BoxError {
        Waiting::again_in(Duration::from_secs(9), "NoLicence", "no licence").into()
    }
    fn hidden() -> BoxError {
        anyhow::Error::from_boxed(waits()).context("the first step").into()
    }
    let (mut world, told) = with_a_function(None).await;
    for (error, calls) in [(waits as fn() -> BoxError, 1), (hidden, 2)] {
        world.dispatcher.code = Arc::new(Code { reconciler: Fails(error), cleanup: None });
        let reschedule = Some(Reschedule::After(Duration::from_secs(9)));
        assert_eq!(world.dispatcher.dispatch(world.run()).await, Outcome::Success { reschedule });
        assert_eq!(*told.lock(), vec![false; calls], "the status is that of a run that didn't fail");
    }
}

#[tokio::test(start_paused = true)]
async fn of_all_requests_of_a_status_function_the_earliest_counts() {
    let (mut world, _) = with_a_function(None).await;
    world.dispatcher.status = Some(erased(|_: &ConfigMap, run: &run::Run<ConfigMap>| {
        [20, 7, 30].into_iter().for_each(|seconds| run.again_in(Duration::from_secs(seconds)));
        json!({})
    }));
    let reschedule = Some(Reschedule::Within(Duration::from_secs(7)));
    assert_eq!(world.dispatcher.dispatch(world.run()).await, Outcome::Success { reschedule });
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_is_gone_has_no_status() {
    let (world, told) = with_a_function(None).await;
    *world.server.refusal.lock() =
        Some(json!({ "kind": "Status", "code": 404, "reason": "NotFound", "details": { "name": "one" } }));
    let run = world.run();
    world.dispatcher.shared.primary.doubt(&run.key);
    assert_eq!(world.dispatcher.dispatch(run).await, Outcome::Gone);
    assert!(told.lock().is_empty());
}
