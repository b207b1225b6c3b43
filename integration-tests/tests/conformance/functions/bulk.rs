//! A function that returns several objects: they are created, changed and deleted by their names.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::prelude::*;

use super::{a_map, done};

/// One for each word of the value.
fn words(primary: &TestResource) -> Vec<ConfigMap> {
    let words = primary.spec.value.split_whitespace().filter(|word| *word != "long");
    let maps = words.map(|word| {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(format!("word-{word}"));
        map.data = Some([("word".to_owned(), word.to_owned())].into());
        map
    });
    maps.collect()
}

fn is_short(map: &ConfigMap) -> Verdict {
    let word = map.data.as_ref().and_then(|data| data.get("word")).map_or(0, String::len);
    Verdict::when(word < 6, format!("it has {word} letters"))
}

fn after_all(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

#[operator_test]
async fn several_objects_grow_and_shrink_by_their_names() -> Result<()> {
    let scene = Scene::new("functions-bulk").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script
        .controller()
        .workflow((words.ready(is_short), after_all.ready_when_applied().create_only().after(words)));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let sorted = |mut writes: Vec<String>| {
        writes.sort();
        writes
    };

    scene.create("one", "a b").await?;
    let created = operator.settled().await?;
    let expected = [
        "PATCH configmaps/one-after-all -> 201",
        "PATCH configmaps/word-a -> 201",
        "PATCH configmaps/word-b -> 201",
    ];
    assert_eq!(sorted(done(&created)), expected);

    scene.patch("one", json!({ "spec": { "value": "a b c" } })).await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH configmaps/word-c -> 201"]);

    scene.patch("one", json!({ "spec": { "value": "c sesame" } })).await?;
    let expected = ["PATCH configmaps/word-sesame -> 201"];
    assert_eq!(done(&operator.settled().await?), expected, "what waits may still need what isn't wanted");
    let lines = outcomes.lines("one");
    let reason = format!("{}/word-sesame: it has 6 letters", scene.namespace);
    let (first, kept) = lines[0].split_once("; ").unwrap_or_default();
    assert!(first.ends_with(&reason), "each one is asked: {lines:?}");
    assert_eq!(kept, "what it no longer wants stays for after_all, which waits");
    assert!(lines[1].ends_with(&reason), "{lines:?}");

    scene.patch("one", json!({ "spec": { "value": "" } })).await?;
    let expected = ["a", "b", "c", "sesame"].map(|word| format!("DELETE configmaps/word-{word} -> 200"));
    assert_eq!(sorted(done(&operator.settled().await?)), expected);
    assert_eq!(outcomes.lines("one"), ["words: matched", "after_all: matched"]);
    Ok(())
}
