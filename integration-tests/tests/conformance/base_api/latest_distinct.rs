//! Two informers of one type overlap: an object that both have comes once, in the newest state that one of them has,
//! and a write through one of them causes at most one run by the other.

use integration_tests::prelude::*;

fn source(name: &str, labels: &str) -> InformerEventSource<ConfigMap> {
    InformerEventSource::new().name(name).label_selector(labels).map_to_primary(|map: &ConfigMap| {
        vec![ObjectKey::namespaced(&map.namespace().unwrap_or_default(), "one")]
    })
}

#[operator_test]
async fn what_two_sources_have_comes_once_and_newest() -> Result<()> {
    let scene = Scene::new("latest-distinct").await?;
    for (name, labels) in [("both", json!({ "a": "1", "b": "1" })), ("only-a", json!({ "a": "1" }))] {
        let map = integration_tests::from_json(
            &json!({ "metadata": { "name": name, "labels": labels }, "data": { "value": "old" } }),
        )?;
        scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let notes = Arc::clone(&notes);
        Box::pin(async move {
            let key = ObjectKey::namespaced(&primary.namespace().unwrap_or_default(), "both");
            let wanted = primary.spec.value.clone();
            let Some(both) = context.get::<ConfigMap>(&key)? else { anyhow::bail!("it exists") };
            // Through the second one: the first one has the old state until its watch shows the new one.
            let operations = context.resource_operations().event_source("b");
            operations
                .json_patch(&*both, |map| map.data = Some([("value".to_owned(), wanted.clone())].into()))
                .await?;
            let all = context.secondaries::<ConfigMap>()?;
            let all: Vec<String> = all
                .iter()
                .map(|map| format!("{}={}", map.name_any(), value_of(map).unwrap_or_default()))
                .collect();
            let one = context.get::<ConfigMap>(&key)?;
            notes.lock().push((all.join(" "), one.as_deref().and_then(value_of).map(str::to_owned)));
            Ok(UpdateControl::no_update())
        })
    });
    let controller = scene.controller(&script).watches(source("a", "a=1")).watches(source("b", "b=1"));
    let operator = scene.start(controller).await?;
    scene.create("one", "new").await?;
    let settled = operator.settled().await?;
    let runs = settled.runs_of(&scene.key("one"));
    assert!((1..=2).contains(&runs), "{runs} runs");
    let expected = ("both=new only-a=old".to_owned(), Some("new".to_owned()));
    assert!(seen.lock().iter().all(|seen| *seen == expected), "{:?}", seen.lock());
    assert_eq!(settled.writes().count(), 1, "{:?}", settled.written());

    scene.set("one", "newer").await?;
    let settled = operator.settled().await?;
    let runs = settled.runs_of(&scene.key("one"));
    assert!((1..=2).contains(&runs), "one, and at most one more by the other source: {runs}");
    assert_eq!(settled.writes().count(), 1, "{:?}", settled.written());

    // Somebody else's change is seen by both, and runs it at least once.
    let patch = Patch::Merge(json!({ "data": { "value": "theirs" } }));
    scene.api::<ConfigMap>().patch("both", &PatchParams::default(), &patch).await?;
    let settled = operator.settled().await?;
    assert!(settled.runs_of(&scene.key("one")) >= 1);
    assert_eq!(settled.writes().count(), 1, "it is put right once: {:?}", settled.written());
    Ok(())
}
