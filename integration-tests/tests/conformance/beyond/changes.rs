//! Functions that change what the function of a node wants.

use integration_tests::prelude::*;
use operator_core::{Context, Wire as _};

fn says(one: &TestResource, word: &str) -> bool {
    one.spec.value.split(' ').any(|said| said == word)
}

fn page(one: &TestResource) -> ConfigMap {
    map_of(one, "page", &one.spec.value)
}

fn several(one: &TestResource) -> Vec<ConfigMap> {
    let named = |name: &str| {
        let mut map = map_of(one, name, name);
        map.metadata.name = Some(format!("{}-{name}", one.name_any()));
        map
    };
    ["a", "b"].map(named).into_iter().collect()
}

fn add(map: &mut ConfigMap, word: &str) {
    let value = map.data.get_or_insert_default().entry("value".to_owned()).or_default();
    value.push_str(word);
}

fn loudly(map: &mut ConfigMap, _: &TestResource) {
    add(map, "!");
}

fn with_the_key(map: &mut ConfigMap, one: &TestResource, cx: &Context<TestResource>) -> Result<(), BoxError> {
    if says(one, "refused") {
        return Err("it isn't to be changed".into());
    }
    add(map, &format!(" of {}", cx.primary_key().name()));
    Ok(())
}

fn oddly(map: &mut ConfigMap, one: &TestResource) {
    assert!(!says(one, "panic"), "no such change");
    if says(one, "renamed") {
        map.metadata.name = Some("other".to_owned());
    }
}

async fn values(scene: &Scene) -> Result<Vec<String>> {
    let maps = scene.api::<ConfigMap>().list(&Default::default()).await?.items;
    let own = maps.into_iter().filter(|map| map.name_any().starts_with("one-"));
    Ok(own.filter_map(|map| map.data?.remove("value")).collect())
}

#[operator_test]
async fn changes_are_made_in_their_order_before_anything_is_compared() -> Result<()> {
    let scene = Scene::new("changes").await?;
    let page = page.change(loudly).change(with_the_key);
    let workflow = Workflow::builder().nodes((page, several.change(loudly))).build()?;
    let graph = workflow.to_mermaid();
    assert!(graph.contains("changed by loudly") && graph.contains("changed by with_the_key"), "{graph}");
    let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(values(&scene).await?, ["a!", "b!", "first! of one"]);

    scene.patch("one", json!({ "metadata": { "labels": { "somebody": "else" } } })).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-page -> 200"]);
    assert_eq!(values(&scene).await?, ["a!", "b!", "second! of one"]);
    Ok(())
}

#[operator_test]
async fn a_change_that_fails_panics_or_renames_fails_its_node_and_nothing_is_written() -> Result<()> {
    let scene = Scene::new("changes-that-fail").await?;
    for words in ["it isn't to be changed", "no such change", "are those that its function gives"] {
        scene.failures.expect(words);
    }
    let page = page.change(with_the_key).change(oddly);
    let workflow = Workflow::builder().nodes((page, several)).build()?;
    let retry = GenericRetry::linear(Duration::from_millis(50), 0)?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).retry(retry)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    for value in ["refused", "panic", "renamed"] {
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
        assert_eq!(operator.settled().await?.written(), [""; 0], "{value}");
        assert_eq!(values(&scene).await?, ["a", "b", "first of one"], "{value}");
    }
    Ok(())
}
