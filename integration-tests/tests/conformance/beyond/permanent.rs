//! An error that says itself that it must not be retried, from each function of users.

use integration_tests::prelude::*;
use operator_core::{Permanent, Run, Wire as _, workflow::WorkflowBuilder};

const WORDS: &str = "there is no such plan";

fn plan(one: &TestResource) -> Result<&str, Permanent> {
    if one.spec.value == "bad" { Err(Permanent::new(WORDS)) } else { Ok(&one.spec.value) }
}

/// Wants an object that can't be created.
fn wanted(one: &TestResource) -> Result<ConfigMap, BoxError> {
    Ok(map_of(one, "wanted", plan(one)?))
}

/// Its desired state can't be computed.
fn asked(one: &TestResource) -> Result<bool, Permanent> {
    plan(one).map(|_| true)
}

/// Whether it is wanted can't be determined.
fn perhaps(one: &TestResource) -> Result<Option<ConfigMap>, Permanent> {
    Ok(asked(one)?.then(|| map_of(one, "perhaps", "")))
}

/// Can't be created elsewhere; says so as `anyhow` does.
fn made(one: &TestResource) -> Option<Result<(), BoxError>> {
    let made = || -> Result<()> {
        plan(one)?;
        Ok(())
    };
    Some(made().map_err(BoxError::from))
}

/// The report of a run, and whether it is the last attempt.
fn status(_: &TestResource, run: &Run<TestResource>) -> integration_tests::TestStatus {
    said(run.error().map_or_else(String::new, |error| format!("{error}: {}", error.is_last_attempt())))
}

/// How many runs there are of an object called so, which can't be reconciled, and what its status says.
///
/// Each has a name of its own: the end of what an earlier one of that name owned would cause a run.
async fn runs_of_bad(
    scene: &Scene,
    name: &str,
    script: &Script,
    workflow: WorkflowBuilder<TestResource>,
) -> Result<(u32, String)> {
    let operator = scene.start(scene.managed(script, &workflow.build()?).status(status)).await?;
    scene.create(name, "bad").await?;
    let runs = operator.settled().await?.runs_of(&scene.key(name));
    let message = scene.resources.get(name).await?.status.and_then(|status| status.message);
    scene.delete(name).await?;
    scene.until_gone(name).await?;
    operator.stop().await;
    Ok((runs, message.unwrap_or_default()))
}

#[operator_test]
async fn it_is_told_and_not_retried_wherever_it_comes_from() -> Result<()> {
    let scene = Scene::new("permanent").await?;
    scene.failures.expect(WORDS);
    let reconciles = Script::new(|_, one: Arc<TestResource>, _| {
        Box::pin(async move {
            plan(&one)?;
            Ok(UpdateControl::no_update())
        })
    });
    let (once, told) = runs_of_bad(&scene, "reconcile", &reconciles, Workflow::builder()).await?;
    assert_eq!((once, told), (1, format!("{WORDS}: true")), "reconcile");
    let of = Workflow::builder;
    let workflows = [
        ("desired", of().nodes((wanted.named("node"),))),
        ("condition", of().nodes((Child("node").node().ready(asked),))),
        ("gate", of().nodes((perhaps.named("node"),))),
        ("create", of().nodes((Elsewhere::answered(made).named("node"),))),
    ];
    for (what, workflow) in workflows {
        let (runs, told) = runs_of_bad(&scene, what, &Script::idle(), workflow).await?;
        assert_eq!(runs, 1, "{what}: {told}");
        assert_eq!(told, format!("1 dependent failed: node: {WORDS}: true"), "{what}");
    }
    Ok(())
}

#[operator_test]
async fn a_clean_up_is_not_retried_either() -> Result<()> {
    let scene = Scene::new("permanent-cleanup").await?;
    scene.failures.expect(WORDS);
    let script = Script::idle().cleanup(|times, one, _| {
        Box::pin(async move {
            if times == 1 {
                plan(&one)?;
            }
            Ok(Removal::Done)
        })
    });
    let operator = scene.start(scene.controller(&script).cleaner(true).status(status)).await?;
    scene.create("one", "bad").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    let told = scene.resources.get("one").await?.status;
    assert_eq!(told, Some(said(format!("{WORDS}: true"))));
    scene.patch("one", json!({ "spec": { "value": "good" } })).await?;
    operator.settled().await?;
    scene.until_gone("one").await
}

/// Fails, and may be tried again.
fn unlucky(_: &TestResource) -> Result<ConfigMap, BoxError> {
    Err("no luck".into())
}

#[operator_test]
async fn beside_an_error_that_is_retried_it_is_retried_with_it() -> Result<()> {
    let scene = Scene::new("permanent-mixed").await?;
    scene.failures.expect(WORDS);
    for (both, runs) in [(true, 3), (false, 1)] {
        let mut workflow = Workflow::builder().nodes((wanted,)).explicit_invocation();
        if both {
            workflow = workflow.nodes((unlucky,));
        }
        let script = Script::new(|_, _, context| {
            Box::pin(async {
                if let Err(error) = context.run().await {
                    bail!(anyhow::Error::from(error).context("the workflow failed"));
                }
                Ok(UpdateControl::no_update())
            })
        });
        let retry = operator_core::GenericRetry::linear(std::time::Duration::from_millis(20), 2)?;
        let controller = scene.managed(&script, &workflow.build()?).retry(retry);
        let operator = scene.start(controller).await?;
        scene.create("one", "bad").await?;
        assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), runs);
        operator.stop().await;
        scene.delete("one").await?;
        scene.until_gone("one").await?;
    }
    Ok(())
}
