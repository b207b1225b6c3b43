//! The filters of secondaries: a filtered change triggers nothing, and is known all the same.

use integration_tests::prelude::*;
use operator_core::resource::MappingAnnotations;

use super::{calm, pass, scene, under};

/// What the runs of a primary found among its secondaries, the newest last.
type Found = Arc<Mutex<Vec<(String, Vec<String>)>>>;

/// Looks at its secondaries.
fn looking() -> (Script, Found) {
    let found = Found::default();
    let noted = Arc::clone(&found);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let noted = Arc::clone(&noted);
        Box::pin(async move {
            let maps = context.secondaries::<ConfigMap>()?;
            let held = maps.iter().map(|map| value_of(map).unwrap_or_default().to_owned()).collect();
            noted.lock().push((primary.name_any(), held));
            Ok(UpdateControl::no_update())
        })
    });
    (script, found)
}

/// A map belongs to the primary that is named in its data.
fn by_data() -> InformerEventSource<ConfigMap> {
    InformerEventSource::<ConfigMap>::new().map_to_primary(|map| {
        let of = map.data.as_ref().and_then(|data| data.get("of"));
        of.map(|name| ObjectKey::namespaced(&map.namespace().unwrap_or_default(), name)).into_iter().collect()
    })
}

async fn create(scene: &Scene, name: &str, of: &str, value: &str) -> Result<()> {
    let map = json!({ "metadata": { "name": name }, "data": { "of": of, "value": value } });
    scene.api::<ConfigMap>().create(&PostParams::default(), &serde_json::from_value(map)?).await?;
    pass(10).await;
    Ok(())
}

async fn patch(scene: &Scene, name: &str, data: Value) -> Result<()> {
    let patch = Patch::Merge(json!({ "data": data }));
    scene.api::<ConfigMap>().patch(name, &PatchParams::default(), &patch).await?;
    pass(10).await;
    Ok(())
}

async fn delete(scene: &Scene, name: &str) -> Result<()> {
    scene.api::<ConfigMap>().delete(name, &DeleteParams::default()).await?;
    pass(10).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn additions_and_deletions_that_do_not_pass_wake_nobody() -> Result<()> {
    let (scene, (script, found)) = (scene().await?, looking());
    let loud = |map: &ConfigMap| value_of(map) != Some("quiet");
    let source = by_data().on_add(loud).on_delete(loud);
    let operator = under(&calm(), &scene, scene.controller(&script).watches(source)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let runs = || script.runs.count();
    assert_eq!(runs(), 1);
    create(&scene, "a", "one", "quiet").await?;
    assert_eq!(runs(), 1, "a quiet addition");
    create(&scene, "b", "one", "loud").await?;
    assert_eq!(runs(), 2, "a loud addition");
    assert_eq!(found.lock().last().map(|(_, held)| held.clone()), Some(vec!["quiet".into(), "loud".into()]));
    patch(&scene, "b", json!({ "value": "quiet" })).await?;
    assert_eq!(runs(), 3, "an update is neither");
    delete(&scene, "b").await?;
    assert_eq!(runs(), 3, "a quiet deletion");
    patch(&scene, "a", json!({ "value": "loud" })).await?;
    delete(&scene, "a").await?;
    assert_eq!(runs(), 5, "an update, and a loud deletion");
    assert_eq!(found.lock().last().map(|(_, held)| held.len()), Some(0));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_generic_filter_is_asked_for_each_change_with_the_newest_state() -> Result<()> {
    let (scene, (script, _)) = (scene().await?, looking());
    let source = by_data().generic_filter(|map| value_of(map) != Some("quiet"));
    let operator = under(&calm(), &scene, scene.controller(&script).watches(source)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let runs = || script.runs.count();
    create(&scene, "a", "one", "quiet").await?;
    assert_eq!(runs(), 1, "an addition");
    patch(&scene, "a", json!({ "value": "loud" })).await?;
    assert_eq!(runs(), 2, "an update to what passes");
    patch(&scene, "a", json!({ "value": "quiet" })).await?;
    assert_eq!(runs(), 2, "an update to what doesn't pass");
    delete(&scene, "a").await?;
    assert_eq!(runs(), 2, "the deletion of what doesn't pass");
    create(&scene, "b", "one", "loud").await?;
    delete(&scene, "b").await?;
    assert_eq!(runs(), 4, "an addition and a deletion that pass");
    operator.stop().await;
    Ok(())
}

/// Filters decide whom a change triggers, and nothing else.
#[tokio::test(start_paused = true)]
async fn a_change_that_does_not_pass_is_known_all_the_same() -> Result<()> {
    let (scene, (script, found)) = (scene().await?, looking());
    let source = by_data().on_update(|_, _| false);
    let operator = under(&calm(), &scene, scene.controller(&script).watches(source)).await?;
    scene.create("one", "value").await?;
    scene.create("two", "value").await?;
    create(&scene, "a", "one", "first").await?;
    let before = script.runs.count();
    patch(&scene, "a", json!({ "of": "two", "value": "second" })).await?;
    assert_eq!(script.runs.count(), before, "it wakes neither the old primary nor the new one");
    found.lock().clear();
    for name in ["one", "two"] {
        scene.set(name, "changed").await?;
        pass(10).await;
    }
    let expected = [("one".to_owned(), vec![]), ("two".to_owned(), vec!["second".to_owned()])];
    assert_eq!(*found.lock(), expected, "what each finds among its secondaries");
    operator.stop().await;
    Ok(())
}

/// A change that might matter is better than a watch that stands still.
#[tokio::test(start_paused = true)]
async fn a_filter_that_panics_lets_pass() -> Result<()> {
    let (scene, (script, _)) = (scene().await?, looking());
    let source = by_data().on_add(|_| panic!("a bug")).on_update(|_, _| panic!("a bug"));
    let operator = under(&calm(), &scene, scene.controller(&script).watches(source)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    create(&scene, "a", "one", "first").await?;
    assert_eq!(script.runs.count(), 2, "the addition");
    patch(&scene, "a", json!({ "value": "second" })).await?;
    assert_eq!(script.runs.count(), 3, "the update");
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn annotations_with_the_users_own_keys_lead_to_the_primary_and_others_do_not() -> Result<()> {
    let (scene, (script, found)) = (scene().await?, looking());
    let keys = MappingAnnotations::new("example.com/of", "example.com/of-namespace");
    let source = InformerEventSource::<ConfigMap>::new().map_by_annotations(keys);
    let operator = under(&calm(), &scene, scene.controller(&script).watches(source)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let map = |name: &str, key: &str| json!({ "metadata": { "name": name, "annotations": { key: "one" } }, "data": { "value": name } });
    let maps = scene.api::<ConfigMap>();
    for (name, key, runs) in [("ours", "example.com/of", 2), ("theirs", "io.javaoperatorsdk/primary-name", 2)]
    {
        maps.create(&PostParams::default(), &serde_json::from_value(map(name, key))?).await?;
        pass(10).await;
        assert_eq!(script.runs.count(), runs, "{name}");
    }
    assert_eq!(found.lock().last(), Some(&("one".to_owned(), vec!["ours".to_owned()])));
    operator.stop().await;
    Ok(())
}
