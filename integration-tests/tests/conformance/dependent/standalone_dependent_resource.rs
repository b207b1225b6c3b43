//! A Deployment as a dependent that the reconciler calls by itself: the same run reads what it has written.

use integration_tests::prelude::*;
use operator_core::{Wire as _, workflow::Operation};

fn deployment(primary: &TestResource) -> Deployment {
    let replicas: i32 = primary.spec.value.parse().expect("a number");
    let deployment = json!({
        "metadata": meta_of(primary, "web"),
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "web", "image": "example.com/web:1" }] },
            },
        },
    });
    integration_tests::from_json(&deployment).expect("a deployment")
}

async fn scene_with_status(name: &str) -> Result<(Scene, operator_core::testing::TestOperator)> {
    let scene = Scene::new(name).await?;
    let dependent = deployment.named("web").standalone();
    let called = dependent.clone();
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let dependent = called.clone();
        Box::pin(async move {
            let result = dependent.reconcile(&primary, context).await.map_err(anyhow::Error::from_boxed)?;
            assert_ne!(result.operation(), Operation::Deleted);
            let read = context.secondary::<Deployment>()?.context("what was written is read")?;
            let replicas = read.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or_default();
            assert_eq!(replicas.to_string(), primary.spec.value, "the same run sees its own write");
            Ok(Said::status(said(replicas.to_string())))
        })
    });
    let controller = script.controller().dependent(&dependent).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    Ok((scene, operator))
}

fn says(message: &'static str) -> impl Fn(&TestResource) -> bool {
    move |one| one.status.as_ref().and_then(|status| status.message.as_deref()) == Some(message)
}

#[operator_test]
async fn a_deployment_is_managed_without_a_workflow() -> Result<()> {
    let (scene, _operator) = scene_with_status("standalone-dependent").await?;
    scene.create("one", "1").await?;
    scene.until("the status to say what was created", "one", says("1")).await?;
    assert!(scene.api::<Deployment>().get_opt("one-web").await?.is_some());
    Ok(())
}

#[operator_test]
async fn an_update_is_read_in_the_same_run() -> Result<()> {
    let (scene, operator) = scene_with_status("standalone-dependent").await?;
    scene.create("one", "1").await?;
    scene.until("the status to say what was created", "one", says("1")).await?;
    scene.set("one", "3").await?;
    scene.until("the status to say what was updated", "one", says("3")).await?;
    let written = accepted(&operator.settled().await?);
    assert_eq!(written.iter().filter(|write| write.contains("deployments")).count(), 2, "{written:?}");
    Ok(())
}
