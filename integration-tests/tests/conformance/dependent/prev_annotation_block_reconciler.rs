//! A Deployment, into which the server and its controllers write much, is applied once; the annotation in which JOSDK
//! formerly kept the previous state isn't a difference.

use integration_tests::prelude::*;

fn deployment(primary: &TestResource) -> Deployment {
    let deployment = json!({
        "metadata": meta_of(primary, "web"),
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{
                    "name": "web",
                    "image": format!("example.com/web:{}", primary.spec.value),
                    "ports": [{ "containerPort": 80 }],
                    "resources": { "limits": { "cpu": "1000m", "memory": "1024Mi" } },
                    "env": [{ "name": "EMPTY", "value": "" }, { "name": "FULL", "value": "yes" }],
                }] },
            },
        },
    });
    integration_tests::from_json(&deployment).expect("a deployment")
}

#[operator_test]
async fn a_deployment_is_written_once_for_each_spec() -> Result<()> {
    let scene = Scene::new("prev-annotation").await?;
    let workflow = workflow_of_one(wanted("web", deployment))?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "v1").await?;
    assert_eq!(accepted(&operator.settled().await?), ["PATCH deployments/one-web -> 201"]);
    scene.set("one", "v2").await?;
    assert_eq!(accepted(&operator.settled().await?), ["PATCH deployments/one-web -> 200"]);

    let previous = json!({ "metadata": { "annotations": { "javaoperatorsdk.io/previous": "{}" } } });
    scene.api::<Deployment>().patch("one-web", &PatchParams::default(), &Patch::Merge(previous)).await?;
    scene
        .until_other("the controllers to have seen it", "one-web", |web: &Deployment| {
            web.status.as_ref().and_then(|status| status.observed_generation) == web.metadata.generation
        })
        .await?;
    assert_eq!(accepted(&operator.settled().await?), [""; 0]);
    Ok(())
}
