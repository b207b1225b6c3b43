//! The status while a clean-up waits.

use integration_tests::prelude::*;
use operator_core::Run;

use super::{retries, status, told, told_now};

#[operator_test]
async fn a_clean_up_that_waits_is_told_and_one_that_is_done_is_not() -> Result<()> {
    let scene = Scene::new("status-cleanup").await?;
    let script = Script::idle().cleanup(|times, _, _| {
        Box::pin(async move {
            Ok(match times {
                1 => Removal::again_in(Duration::from_millis(500)),
                _ => Removal::Done,
            })
        })
    });
    let status = |one: &TestResource, run: &Run<TestResource>| {
        let message = if run.is_cleanup() { "going" } else { "here" };
        TestStatus { message: Some(message.to_owned()), ..status(one, run) }
    };
    let controller = scene.controller(&script).cleaner(true).status(status);
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    let one = scene
        .until("the status of the clean-up", "one", |one| {
            one.status.as_ref().is_some_and(|status| status.message.as_deref() == Some("going"))
        })
        .await?;
    let why = "Deleting the clean-up isn't done";
    let expected =
        [format!("Ready False {why}"), format!("Reconciling True {why}"), "Stalled False Deleting".into()];
    assert_eq!(told(&one), expected);
    scene.until_gone("one").await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH testresources/one/status -> 200", "PATCH testresources/one -> 200"],
        "nothing is written after the finalizer"
    );
    Ok(())
}

#[operator_test]
async fn what_a_clean_up_waits_for_is_told() -> Result<()> {
    let scene = Scene::new("status-cleanup-node").await?;
    let app = Child("app").deleted_node().gone(|one: &TestResource| one.spec.value != "stays");
    let workflow = Workflow::builder().nodes((app,)).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "stays").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    operator.settled().await?;
    let told = told_now(&scene).await?;
    assert!(told[0].starts_with("Ready False Deleting app: deleting: "), "{told:?}");
    assert!(told[1].starts_with("Reconciling True Deleting app: deleting: "), "{told:?}");
    scene.patch("one", serde_json::json!({ "spec": { "value": "goes" } })).await?;
    operator.settled().await?;
    scene.until_gone("one").await
}

#[operator_test]
async fn a_clean_up_that_fails_says_why() -> Result<()> {
    let scene = Scene::new("status-cleanup-error").await?;
    scene.failures.expect("the record can't be deleted");
    let script = Script::idle().cleanup(|times, _, _| {
        Box::pin(async move {
            match times {
                ..=2 => bail!("the record can't be deleted"),
                _ => Ok(Removal::Done),
            }
        })
    });
    let controller = scene.controller(&script).cleaner(true).status(status).retry(retries(1)?);
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"; 2]);
    let why = "Failed the record can't be deleted";
    let last =
        [format!("Ready False {why}"), "Reconciling False Failed".into(), format!("Stalled True {why}")];
    assert_eq!(told_now(&scene).await?, last);
    scene.patch("one", serde_json::json!({ "spec": { "value": "again" } })).await?;
    operator.settled().await?;
    scene.until_gone("one").await
}
