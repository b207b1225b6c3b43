//! A secondary that drops its reference to a primary, or one of several, triggers the dropped primary, which restores
//! the reference. The others that the secondary belongs to see both changes.

use integration_tests::prelude::*;
use operator_core::observe::{Cause, SourceIndex};

const MAP: &str = "shared";

/// The primaries that the map refers to: the keys of its data.
fn referred(map: &ConfigMap) -> Vec<String> {
    map.data.iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn maps_by_reference() -> InformerEventSource<ConfigMap> {
    InformerEventSource::<ConfigMap>::new().map_to_primary(|map| {
        let namespace = map.namespace().unwrap_or_default();
        referred(map).iter().map(|name| ObjectKey::namespaced(&namespace, name)).collect()
    })
}

/// Makes the map refer to `names`, drops the references to `dropped`, and returns the primaries that ran then.
async fn dropped_ones_run(names: &[&str], dropped: &[&str]) -> Result<()> {
    let scene = Scene::new("reference-change").await?;
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    let sees = Arc::clone(&seen);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let seen = Arc::clone(&sees);
        Box::pin(async move {
            let (name, namespace) = (primary.name_any(), primary.namespace().unwrap_or_default());
            let operations = context.resource_operations();
            if let Some(map) = context.get::<ConfigMap>(&ObjectKey::namespaced(&namespace, MAP))? {
                seen.lock().insert(name.clone(), referred(&map));
            }
            match context.get::<ConfigMap>(&ObjectKey::namespaced(&namespace, MAP))? {
                Some(map) if !referred(&map).contains(&name) => {
                    let mut map = ConfigMap::clone(&map);
                    map.data.get_or_insert_default().insert(name, String::new());
                    operations.update(&map).await?;
                }
                Some(_) => {}
                None => {
                    let data = json!({ name: "" });
                    let map = json!({ "metadata": { "name": MAP, "namespace": namespace }, "data": data });
                    operations.create(&integration_tests::from_json::<ConfigMap>(&map)?).await?;
                }
            }
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().watches(maps_by_reference());
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    // One after the other, as two updates of one state of the map would exclude each other.
    for name in names {
        scene.create(name, "value").await?;
        operator.settled().await?;
    }
    let maps = scene.api::<ConfigMap>();
    let mut sorted: Vec<&str> = names.to_vec();
    sorted.sort_unstable();
    assert_eq!(referred(&maps.get(MAP).await?), sorted);

    let data: serde_json::Map<_, _> =
        dropped.iter().map(|name| ((*name).to_owned(), serde_json::Value::Null)).collect();
    maps.patch(MAP, &PatchParams::default(), &Patch::Merge(json!({ "data": data }))).await?;
    let settled = operator.settled().await?;
    for name in names {
        // The user's change wakes all of them, and what a dropped one writes wakes the others, but not itself.
        let runs = settled.runs_of(&scene.key(name));
        let most = if dropped.contains(name) { 1 } else { 2 };
        assert!((1..=most).contains(&runs), "{name}: {:?}", settled.runs);
        let last_seen = seen.lock().get(*name).cloned().unwrap_or_default();
        let expected: Vec<&str> = match dropped.contains(name) {
            true => sorted.iter().copied().filter(|other| other != name).collect(),
            false => sorted.clone(),
        };
        assert_eq!(last_seen, expected, "what the last run of {name} saw");
        let last = script.runs.of(name).pop().expect("a run");
        assert_eq!(last.causes, Cause::Source(SourceIndex(0)).into(), "{name}");
    }
    assert_eq!(referred(&maps.get(MAP).await?), sorted, "the reference is back");
    Ok(())
}

#[operator_test]
async fn the_only_reference_is_dropped() -> Result<()> {
    dropped_ones_run(&["one"], &["one"]).await
}

#[operator_test]
async fn one_of_several_references_is_dropped() -> Result<()> {
    dropped_ones_run(&["one", "two", "three"], &["two"]).await
}

#[operator_test]
async fn one_is_dropped_one_stays_and_one_is_added_by_one_change() -> Result<()> {
    let scene = Scene::new("reference-change").await?;
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    let sees = Arc::clone(&seen);
    // Only looks: what the map that belongs to a primary holds for it.
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let (name, sees) = (primary.name_any(), Arc::clone(&sees));
        Box::pin(async move {
            let map = context.secondary::<ConfigMap>()?;
            let held = map.and_then(|map| map.data.as_ref()?.get(&name).cloned());
            sees.lock().insert(name, held);
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().watches(maps_by_reference());
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let names = ["added", "dropped", "kept"];
    for name in names {
        scene.create(name, "value").await?;
    }
    let maps = scene.api::<ConfigMap>();
    let map = json!({ "metadata": { "name": MAP }, "data": { "dropped": "first", "kept": "first" } });
    maps.create(&PostParams::default(), &integration_tests::from_json(&map)?).await?;
    operator.settled().await?;
    let held = |added: Option<&str>, dropped: Option<&str>, kept: Option<&str>| {
        let held = names.into_iter().zip([added, dropped, kept]);
        held.map(|(name, held)| (name.to_owned(), held.map(str::to_owned))).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(*seen.lock(), held(None, Some("first"), Some("first")));

    let change = json!({ "data": { "dropped": null, "kept": "second", "added": "second" } });
    maps.patch(MAP, &PatchParams::default(), &Patch::Merge(change)).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs, names.map(|name| (scene.key(name), 1)).into(), "one run each");
    assert_eq!(*seen.lock(), held(Some("second"), None, Some("second")));
    Ok(())
}
