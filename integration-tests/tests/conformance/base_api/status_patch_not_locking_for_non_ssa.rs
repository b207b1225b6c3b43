//! Without server-side apply, too, a status is written even if the object has changed meanwhile; and a field that the
//! status no longer has is removed.

use integration_tests::prelude::*;

/// Counts its runs in the status, with a message unless the value is `quiet`; passes the gate before it answers.
pub(super) fn counting(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::new(move |_, primary: Arc<TestResource>, _| {
        let gate = gate.clone();
        let count = primary.status.as_ref().and_then(|status| status.observed_generation).unwrap_or(0);
        let message = (primary.spec.value != "quiet").then(|| "message".to_owned());
        let status = TestStatus { message, observed_generation: Some(count + 1), ..TestStatus::default() };
        Box::pin(async move {
            gate.pass().await;
            Ok(Said::status(status))
        })
    })
}

/// What [`counting`] has written: the count, and whether there is a message.
pub(super) async fn counted(scene: &Scene) -> Result<(i64, bool)> {
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    Ok((status.observed_generation.unwrap_or(0), status.message.is_some()))
}

#[operator_test]
async fn the_status_is_written_although_the_object_is_another_meanwhile() -> Result<()> {
    let scene = Scene::new("status-patch-not-locking").await?;
    let gate = Gate::new();
    let script = counting(&gate);
    let controller = scene.controller(&script).use_ssa_to_patch_primary(false);
    // The operator sees the change when its status is written.
    let watch = Held::watches_of("testresources");
    watch.release();
    let operator = scene.start_through(watch.hook(), controller).await?;
    let mut one = scene.create("one", "first").await?;
    gate.arrived().await?;
    watch.hold();
    one.annotations_mut().insert("key".to_owned(), "value".to_owned());
    let replaced = scene.resources.replace("one", &PostParams::default(), &one).await?;
    gate.let_through(1);
    scene.until("the status", "one", |one| one.status.is_some()).await?;
    watch.release();
    let settled = operator.settled().await?;
    // The patch was made from the older state, and is made again from the newer one.
    let written = ["PATCH testresources/one/status -> 422", "PATCH testresources/one/status -> 200"];
    assert_eq!(settled.written(), written);
    assert_eq!(
        (settled.runs_of(&scene.key("one")), script.runs.count()),
        (1, 1),
        "no failure, and so no retry"
    );
    assert_eq!(counted(&scene).await?, (1, true));
    let one = scene.resources.get("one").await?;
    assert_eq!((one.metadata.generation, one.annotations()), (Some(1), replaced.annotations()));
    Ok(())
}

#[operator_test]
async fn a_field_that_is_set_no_more_goes() -> Result<()> {
    let scene = Scene::new("status-patch-not-locking").await?;
    let gate = Gate::new();
    gate.let_through(2);
    let script = counting(&gate);
    let operator = scene.start(scene.controller(&script).use_ssa_to_patch_primary(false)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(counted(&scene).await?, (1, true));
    scene.set("one", "quiet").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH testresources/one/status -> 200"]);
    assert_eq!(counted(&scene).await?, (2, false));
    Ok(())
}
