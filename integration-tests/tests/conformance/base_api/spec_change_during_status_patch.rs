//! The spec changes while a status write that changes nothing is in flight: the change is reconciled within five seconds, not
//! taken for the echo of that write, and not found by a later list.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use http::Method;
use integration_tests::{Scene, Script, TestResource, once_before, said};
use kube::api::{Patch, PatchParams};
use operator_core::{Context, UpdateControl, operations::WriteMode, testing::operator_test};
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;

const WITHIN: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
enum Way {
    Apply,
    Put,
    UpdateControl,
}

async fn write(
    way: Way,
    primary: &TestResource,
    context: &Context<TestResource>,
) -> Result<UpdateControl<TestResource>> {
    let mut desired = primary.clone();
    desired.status = Some(said("same"));
    let operations = context.resource_operations().mode(WriteMode::ForceFilter);
    match way {
        Way::Apply => operations.server_side_apply_status(&desired).await?,
        // A replacement is refused after the change, and the run is retried.
        Way::Put => operations.update_status(&desired).await?,
        Way::UpdateControl => return Ok(UpdateControl::patch_status(said("same"))),
    };
    Ok(UpdateControl::no_update())
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
    let others = scene.clone();
    let changed = Arc::new(Mutex::new(None));
    let changes = Arc::clone(&changed);
    // Others store the same status together with another spec: our write then finds nothing to change.
    let hook = once_before(Method::from_bytes(way.method())?, "/testresources/one/status", move || {
        let (others, changes) = (others.clone(), Arc::clone(&changes));
        Box::pin(async move {
            let status = json!({ "status": { "message": "same" } });
            others.resources.patch_status("one", &PatchParams::default(), &Patch::Merge(status)).await?;
            others.patch("one", json!({ "spec": { "value": "second" } })).await?;
            *changes.lock() = Some(Instant::now());
            Ok(())
        })
    });
    let controller = scene.controller(&script);
    let operator = scene.start_through(hook, controller).await?;
    scene.create("one", "first").await?;
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
    fn method(self) -> &'static [u8] {
        if matches!(self, Self::Put) { b"PUT" } else { b"PATCH" }
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
    check(Way::UpdateControl).await
}
