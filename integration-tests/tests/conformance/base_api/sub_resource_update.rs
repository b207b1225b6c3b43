//! A status write alone leads to exactly one run, with a finalizer and without; changes of the spec during a run lead to
//! one more.

use integration_tests::prelude::*;

/// Says in the status which spec it has seen, after the test has let it through.
fn script(gate: Option<Gate>) -> Script {
    Script::new(move |_, primary: Arc<TestResource>, _| {
        let gate = gate.clone();
        Box::pin(async move {
            if let Some(gate) = gate {
                gate.pass().await;
            }
            Ok(Said::status(said(&primary.spec.value)))
        })
    })
}

async fn start(scene: &Scene, script: Script, finalizer: bool) -> Result<TestOperator> {
    let controller = scene.controller(&script);
    scene.start(controller.cleaner(finalizer)).await
}

async fn status_alone(finalizer: bool) -> Result<()> {
    let scene = Scene::new("sub-resource-update").await?;
    let operator = start(&scene, script(None), finalizer).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert_eq!(scene.resources.get("one").await?.status, Some(said("first")));
    Ok(())
}

async fn interleaved(finalizer: bool) -> Result<()> {
    let scene = Scene::new("sub-resource-update").await?;
    let gate = Gate::new();
    let operator = start(&scene, script(Some(gate.clone())), finalizer).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    for value in ["second", "third"] {
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
    }
    gate.let_through(3);
    let settled = operator.settled().await?;
    let runs = settled.runs_of(&scene.key("one"));
    assert!((2..=3).contains(&runs), "{runs} runs: changes during a run lead to one or two more");
    assert_eq!(scene.resources.get("one").await?.status, Some(said("third")));
    Ok(())
}

#[operator_test]
async fn a_status_alone_without_finalizer() -> Result<()> {
    status_alone(false).await
}

#[operator_test]
async fn a_status_alone_with_finalizer() -> Result<()> {
    status_alone(true).await
}

#[operator_test]
async fn spec_and_status_interleaved_without_finalizer() -> Result<()> {
    interleaved(false).await
}

#[operator_test]
async fn spec_and_status_interleaved_with_finalizer() -> Result<()> {
    interleaved(true).await
}
