//! A Service with a matcher of the user's own: it is asked, and nothing is written while it agrees.

use anyhow::Result;
use integration_tests::{Scene, Script, TestResource, meta_of, wanted, workflow_of_one};
use k8s_openapi::api::core::v1::Service;
use kube::api::{Patch, PatchParams};
use operator_core::{dependent::matcher::Matcher, testing::operator_test};
use serde_json::json;

fn service(primary: &TestResource) -> Service {
    let service = json!({
        "metadata": meta_of(primary, "web"),
        "spec": {
            "selector": { "app": primary.spec.value },
            "ports": [{ "port": 80, "targetPort": 8080 }],
        },
    });
    integration_tests::from_json(&service).expect("a service")
}

/// Equal but for what the server fills in.
fn is_as_desired(actual: &Service, desired: &Service) -> bool {
    let of = |service: &Service| {
        let spec = service.spec.clone().unwrap_or_default();
        let ports = spec.ports.unwrap_or_default();
        (spec.selector, ports.into_iter().map(|port| (port.port, port.target_port)).collect::<Vec<_>>())
    };
    of(actual) == of(desired)
}

#[operator_test]
async fn nothing_is_written_while_the_matcher_agrees() -> Result<()> {
    let scene = Scene::new("service-strict-matcher").await?;
    for (name, ssa, verb) in [("applied", true, "PATCH"), ("replaced", false, "PUT")] {
        let web = wanted("web", service).use_ssa(ssa).matcher(Matcher::custom(is_as_desired));
        let workflow = workflow_of_one(web)?;
        let operator = scene.start_managed(&Script::idle(), &workflow).await?;
        scene.create(name, "first").await?;
        assert_eq!(operator.settled().await?.writes().count(), 1);
        let touch = Patch::Merge(json!({ "metadata": { "annotations": { "touched": "by others" } } }));
        scene.api::<Service>().patch(&format!("{name}-web"), &PatchParams::default(), &touch).await?;
        let settled = operator.settled().await?;
        assert_eq!((settled.runs_of(&scene.key(name)), settled.requests.len()), (1, 0));
        scene.set(name, "second").await?;
        assert_eq!(operator.settled().await?.written(), [format!("{verb} services/{name}-web -> 200")]);
        operator.stop().await;
        scene.delete(name).await?;
        scene.until_gone(name).await?;
    }
    Ok(())
}
