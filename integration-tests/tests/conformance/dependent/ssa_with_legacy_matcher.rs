//! A Service that is applied, but compared by content: it isn't written again and again, and a field that is no longer
//! desired isn't noticed, because managed fields are ignored.

use integration_tests::prelude::*;
use operator_core::dependent::matcher::{GenericMatcher, Matcher};

fn service(primary: &TestResource) -> Service {
    let mut metadata = meta_of(primary, "web");
    if primary.spec.value != "without note" {
        metadata.annotations = Some([("note".to_owned(), primary.spec.value.clone())].into());
    }
    let service = json!({
        "metadata": metadata,
        "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80 }] },
    });
    integration_tests::from_json(&service).expect("a service")
}

#[operator_test]
async fn what_is_applied_and_compared_by_content_comes_to_rest() -> Result<()> {
    let scene = Scene::new("ssa-with-legacy-matcher").await?;
    let web = wanted("web", service).matcher(Matcher::Generic(GenericMatcher::new()));
    let workflow = workflow_of_one(web)?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH services/one-web -> 201"]);
    scene.set("one", "second").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH services/one-web -> 200"]);
    scene.set("one", "without note").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert_eq!(
        settled.written(),
        [""; 0],
        "the managed fields would say that a field is ours and not desired"
    );
    Ok(())
}
