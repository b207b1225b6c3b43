//! A Deployment as the primary: its status is written through the subresource.

use integration_tests::prelude::*;
use k8s_openapi::api::apps::v1::{DeploymentCondition, DeploymentStatus};

/// Writes a condition into the status.
fn script() -> Script<Deployment> {
    Script::new(|_, deployment: Arc<Deployment>, _| {
        let condition = DeploymentCondition {
            type_: "Seen".to_owned(),
            status: "True".to_owned(),
            reason: Some("Reconciled".to_owned()),
            ..DeploymentCondition::default()
        };
        let status = DeploymentStatus { conditions: Some(vec![condition]), ..DeploymentStatus::default() };
        let desired = Deployment { metadata: deployment.metadata.clone(), status: Some(status), spec: None };
        Box::pin(async move { Ok(Said::status_of(&desired)) })
    })
}

fn is_seen(deployment: &Deployment) -> bool {
    let conditions = deployment.status.iter().filter_map(|status| status.conditions.as_ref()).flatten();
    conditions.into_iter().any(|condition| condition.type_ == "Seen" && condition.status == "True")
}

#[operator_test]
async fn the_status_of_a_deployment_is_written() -> Result<()> {
    let scene = Scene::new("deployment-status").await?;
    let operator = scene.start(script().controller().namespaces([&scene.namespace])).await?;
    let deployments: Api<Deployment> = scene.api();
    let labels = json!({ "app": "web" });
    let deployment: Deployment = integration_tests::from_json(&json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "web", "image": "web" }] },
            },
        },
    }))?;
    deployments.create(&PostParams::default(), &deployment).await?;
    eventually("the condition", async || Ok(Some(deployments.get("web").await?).filter(is_seen))).await?;
    operator.settled().await?;
    let web = deployments.get("web").await?;
    assert!(is_seen(&web), "the deployment's own controller leaves our condition alone");
    assert_eq!(web.spec.and_then(|spec| spec.replicas), Some(0));
    Ok(())
}
