//! A Service with a matcher of the user's own, which alone decides. Nothing is written while the matcher
//! agrees, not even if others have changed desired fields; if it doesn't agree, the Service is written, although nothing
//! desired has changed.

use integration_tests::prelude::*;
use operator_core::dependent::matcher::Matcher;

fn service(primary: &TestResource) -> Service {
    let mut metadata = meta_of(primary, "web");
    metadata.annotations = Some([("note".to_owned(), "desired".to_owned())].into());
    let service = json!({
        "metadata": metadata,
        "spec": {
            "selector": { "app": primary.spec.value },
            "ports": [{ "port": 80, "targetPort": 8080 }],
        },
    });
    integration_tests::from_json(&service).expect("a service")
}

/// Whether the specs are equal but for what the server fills in; metadata doesn't matter.
fn is_as_desired(actual: &Service, desired: &Service) -> bool {
    let of = |service: &Service| {
        let spec = service.spec.clone().unwrap_or_default();
        let ports = spec.ports.unwrap_or_default();
        (spec.selector, ports.into_iter().map(|port| (port.port, port.target_port)).collect::<Vec<_>>())
    };
    of(actual) == of(desired)
}

#[operator_test]
async fn what_the_matcher_says_counts() -> Result<()> {
    let scene = Scene::new("service-strict-matcher").await?;
    for (name, ssa, verb) in [("applied", true, "PATCH"), ("replaced", false, "PUT")] {
        let web = wanted("web", service).use_ssa(ssa).matcher(Matcher::custom(is_as_desired));
        let workflow = workflow_of_one(web)?;
        let operator = scene.start_managed(&Script::idle(), &workflow).await?;
        scene.create(name, "first").await?;
        assert_eq!(operator.settled().await?.writes().count(), 1);
        let others_change = async |change: serde_json::Value| {
            let (service, change) = (format!("{name}-web"), Patch::Merge(change));
            scene.api::<Service>().patch(&service, &PatchParams::default(), &change).await
        };
        // The other matchers would have it written.
        others_change(json!({ "metadata": { "annotations": { "note": "by others" } } })).await?;
        let settled = operator.settled().await?;
        assert_eq!((settled.runs_of(&scene.key(name)), settled.requests.len()), (1, 0));
        // The other matchers would tolerate it.
        others_change(json!({ "spec": { "selector": { "further": "by-others" } } })).await?;
        let write = [format!("{verb} services/{name}-web -> 200")];
        assert_eq!(operator.settled().await?.written(), write);
        scene.set(name, "second").await?;
        assert_eq!(operator.settled().await?.written(), write);
        operator.stop().await;
        scene.delete(name).await?;
        scene.until_gone(name).await?;
    }
    Ok(())
}
