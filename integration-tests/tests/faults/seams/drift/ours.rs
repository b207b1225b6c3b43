//! Changes that can't be put back: the error names their owner, and nothing of others is touched.

use integration_tests::prelude::*;

use super::{after_a_minute, edit, ports, requests, said, scene, service, started};

fn deployment(primary: &TestResource) -> Deployment {
    let deployment = json!({
        "metadata": meta_of(primary, "web"),
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "app", "image": primary.spec.value }] },
            },
        },
    });
    from_json(&deployment).expect("a deployment")
}

/// Our container is now in another list, in which nothing is ours.
#[operator_test(real = "a control plane")]
async fn an_error_says_whose_the_fields_in_the_way_are() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("Duplicate value: \"app\" (422 Invalid); what others have written there: spec.template.spec.initContainers (kubectl-edit)");
    let (operator, made, script) = started(&scene, wanted("web", deployment), "app").await?;
    let moved = json!([
        { "op": "add", "path": "/spec/template/spec/initContainers", "value": [{ "name": "app", "image": "app" }] },
        { "op": "replace", "path": "/spec/template/spec/containers/0", "value": { "name": "other", "image": "app" } },
    ]);
    let theirs = edit::<Deployment>(&scene, moved).await?;
    assert_eq!(requests(&operator, &made).await?, ["apply 422", "get 200"]);
    assert_eq!(
        script.runs.of("one").len(),
        1,
        "the reconciler isn't asked, and nothing is tried again at once"
    );
    assert_eq!(scene.api::<Deployment>().get("one-web").await?.spec, theirs.spec);
    Ok(())
}

/// Our own field is wrong: no other's container is to blame.
#[operator_test(real = "a control plane")]
async fn a_mistake_of_ours_costs_nobody_anything() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("spec.template.spec.containers[1].image: Required value");
    let (operator, made, _) = started(&scene, wanted("web", deployment), "app").await?;
    let sidecar = json!({ "name": "sidecar", "image": "proxy" });
    let sidecar = json!([{ "op": "add", "path": "/spec/template/spec/containers/0", "value": sidecar }]);
    let theirs = edit::<Deployment>(&scene, sidecar).await?;
    assert_eq!(requests(&operator, &made).await?, Vec::<String>::new());
    scene.set("one", "").await?;
    assert_eq!(requests(&operator, &made).await?, ["apply 422", "get 200", "json patch 422"]);
    assert_eq!(scene.api::<Deployment>().get("one-web").await?.spec, theirs.spec);
    Ok(())
}

/// The patch is accepted, and the apply is refused for another reason.
#[operator_test(real = "a control plane")]
async fn a_second_refusal_says_whose_the_fields_were() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("what others have written there: spec.ports (kubectl-edit)");
    let odd = |primary: &TestResource| {
        let mut service = service(primary);
        if let Some(spec) = service.spec.as_mut().filter(|_| primary.spec.value.ends_with("odd")) {
            spec.session_affinity = Some("Odd".to_owned());
        }
        service
    };
    let (operator, made, _) = started(&scene, wanted("web", odd), "http:80").await?;
    operator.stop().await;
    let port = json!([{ "op": "replace", "path": "/spec/ports/0/port", "value": 81 }]);
    edit::<Service>(&scene, port).await?;
    scene.set("one", "http:80 odd").await?;
    let script = integration_tests::Script::idle();
    let workflow = integration_tests::workflow_of_one(wanted("web", odd))?;
    let controller = scene.managed(&script, &workflow).retry(after_a_minute()?);
    let operator = scene.start_through(made.hook(), controller).await?;
    let expected = ["apply 422", "get 200", "json patch 200", "json patch 200", "apply 422"];
    assert_eq!(requests(&operator, &made).await?, expected);
    assert_eq!(ports(&scene).await?, said("http:80"));
    Ok(())
}
