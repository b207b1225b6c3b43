//! The spec changes while a status write that changes nothing is in progress: the change is reconciled within five
//! seconds. It isn't taken for the echo of that write, nor found only by a later list.

use http::Method;
use integration_tests::prelude::*;
use operator_core::{Context, client::TransportHook, operations::WriteMode};

const WITHIN: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
enum Way {
    Apply,
    Put,
    StatusFunction,
}

async fn write(
    way: Way,
    primary: &TestResource,
    context: &Context<TestResource>,
) -> Result<Said<TestResource>> {
    let mut desired = primary.clone();
    desired.status = Some(said("same"));
    let operations = context.resource_operations().mode(WriteMode::ForceFilter);
    match way {
        Way::Apply => operations.server_side_apply_status(&desired).await?,
        // A replacement is refused after the change, and the run is retried.
        Way::Put => operations.update_status(&desired).await?,
        Way::StatusFunction => return Ok(Said::status(said("same"))),
    };
    Ok(Said::no_update())
}

async fn check(way: Way) -> Result<()> {
    let scene = Scene::new("spec-change-during-status-patch").await?;
    if matches!(way, Way::Put) {
        scene.failures.expect("the object has been modified");
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let seen = Arc::clone(&seen);
        move |_, primary: Arc<TestResource>, context| {
            seen.lock().push(primary.spec.value.clone());
            Box::pin(async move { write(way, &primary, context).await })
        }
    });
    let changed = Arc::new(Mutex::new(None));
    let watch = Held::watches_of("testresources");
    watch.release();
    // A status that changes nothing sends nothing, so that others have to store the same status unseen.
    let at_first = matches!(way, Way::StatusFunction);
    let armed = Arc::new(AtomicBool::new(at_first));
    let hook = TransportHook::around({
        let (others, changes, armed, watch) =
            (scene.resources.clone(), Arc::clone(&changed), Arc::clone(&armed), watch.clone());
        move |request, inner| {
            let is_write = request.method() == way.method() && request.uri().path().ends_with("/one/status");
            let acts = is_write && armed.swap(false, Ordering::SeqCst);
            let (others, changes, watch) = (others.clone(), Arc::clone(&changes), watch.clone());
            async move {
                if acts {
                    let (params, same) = (PatchParams::default(), json!({ "status": { "message": "same" } }));
                    if at_first {
                        others.patch_status("one", &params, &Patch::Merge(same)).await?;
                    }
                    // The operator sees the change when its own write, which changes nothing, is answered.
                    watch.hold();
                    let second = Patch::Merge(json!({ "spec": { "value": "second" } }));
                    others.patch("one", &params, &second).await?;
                    *changes.lock() = Some(Instant::now());
                }
                let answer = inner.send(request).await?;
                // A replacement is refused, and would be refused again.
                if is_write && (answer.status().is_success() || matches!(way, Way::Put)) {
                    watch.release();
                }
                Ok(answer)
            }
        }
    });
    let builder = scene.operator().transport(watch.hook()).transport(hook);
    let operator = TestOperator::start(builder.register(scene.controller(&script))).await?;
    scene.create("one", "first").await?;
    if !at_first {
        operator.settled().await?;
        armed.store(true, Ordering::SeqCst);
        scene.set("one", "next").await?;
    }
    operator.settled().await?;
    let run = seen.lock().iter().position(|value| value == "second");
    let run = script.runs.instants("one")[run.expect("a run with the new spec")];
    let changed = changed.lock().expect("it was changed");
    assert!(run.saturating_duration_since(changed) < WITHIN, "{:?}", run - changed);
    assert_eq!(seen.lock().last().map(String::as_str), Some("second"));
    assert_eq!(scene.resources.get("one").await?.status, Some(said("same")));
    Ok(())
}

impl Way {
    fn method(self) -> Method {
        if matches!(self, Self::Put) { Method::PUT } else { Method::PATCH }
    }
}

#[operator_test]
async fn during_an_apply() -> Result<()> {
    check(Way::Apply).await
}

#[operator_test]
async fn during_a_put() -> Result<()> {
    check(Way::Put).await
}

#[operator_test]
async fn during_the_write_of_an_update_control() -> Result<()> {
    check(Way::StatusFunction).await
}
