//! A workflow that is declared as invoked explicitly runs only when the reconciler calls it. Without a cleaner it is
//! still cleaned up: nothing else would delete its objects.

use integration_tests::prelude::*;

#[operator_test]
async fn it_runs_when_it_is_called_and_is_cleaned_up_by_itself() -> Result<()> {
    let scene = Scene::new("workflow-explicit-invocation").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            anyhow::ensure!(context.so_far()?.nodes().is_empty(), "nothing has run yet");
            if primary.spec.value == "invoke" {
                let run = context.run().await?;
                anyhow::ensure!(run.all_ready(), "{run}");
                anyhow::ensure!(!context.so_far()?.nodes().is_empty(), "it is remembered");
            }
            Ok(UpdateControl::no_update())
        })
    });
    let workflow =
        Workflow::builder().nodes((Child("child").deleted_node(),)).explicit_invocation().build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "wait").await?;
    assert_eq!(
        operator.settled().await?.written(),
        ["PATCH testresources/one -> 200"],
        "the finalizer alone"
    );
    scene.patch("one", json!({ "spec": { "value": "invoke" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-child -> 201"]);
    assert_eq!(script.runs.count(), 2);

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(scene.api::<ConfigMap>().get_opt("one-child").await?.is_none(), "no collector would take it");
    let written = operator.settled().await?.written();
    assert_eq!(written, ["DELETE configmaps/one-child -> 200", "PATCH testresources/one -> 200"]);
    assert_eq!((script.runs.count(), script.cleanups.count()), (2, 0));
    Ok(())
}
