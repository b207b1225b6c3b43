//! 250 objects: after an own write, every read from the cache shows at least that version: by key, in the whole list,
//! and through an index, which finds the object under the new value and no longer under the old one.

use futures::{StreamExt, TryStreamExt, stream};
use integration_tests::prelude::*;
use operator_core::{
    cache::ResourceCache,
    operations::WriteMode,
    resource::{KubeObject, ResourceVersion},
};

const OBJECTS: u32 = 250;
/// The index of either source.
const NUMBER: &str = "number";

fn at_least<K: Resource>(seen: Option<&K>, written: &K) -> Result<()> {
    let seen = seen.context("an object of our own is not seen")?;
    let (seen, written) = (ResourceVersion::of(seen), ResourceVersion::of(written));
    anyhow::ensure!(seen.is_some() && seen >= written, "read {seen:?} after {written:?} was written");
    Ok(())
}

/// All ways to read `written`, which the index has under the number `now`.
fn read_in_all_ways<K: KubeObject>(cache: &ResourceCache<K>, written: &K, now: i64) -> Result<()> {
    let key = ObjectKey::of(written);
    let is_it = |object: &&Arc<K>| ObjectKey::of(&***object) == key;
    at_least(cache.get(&key).as_deref(), written)?;
    at_least(cache.list().iter().find(is_it).map(|found| &**found), written).context("in the list")?;
    let indexed = |number: i64| cache.by_index(NUMBER, &number.to_string());
    at_least(indexed(now).iter().find(is_it).map(|found| &**found), written).context("in the index")?;
    let before = indexed(now - 1).iter().any(|object| is_it(&object));
    anyhow::ensure!(!before, "the index has it under what was there before");
    Ok(())
}

#[operator_test]
async fn every_read_is_as_new_as_the_write_before_it() -> Result<()> {
    let scene = Scene::new("read-own-updates").await?;
    scene.failures.ignore_generations();
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let mut primary = primary;
            for (number, mode) in
                (0..).zip([WriteMode::MatchAndFilter, WriteMode::ForceFilter, WriteMode::CacheOnly])
            {
                let map = config_map(&*primary, context, &format!("{number}"));
                let operations = context.resource_operations().mode(mode);
                let written = operations.server_side_apply(&map).await?.object()?;
                at_least(context.secondary::<ConfigMap>()?.as_deref(), &*written)?;
                let maps = context.event_source::<ConfigMap>("ConfigMap").context("it is declared")?;
                read_in_all_ways(maps.cache(), &*written, number)?;
                let mut desired = (*primary).clone();
                let observed_generation = Some(number);
                desired.status = Some(TestStatus { observed_generation, ..TestStatus::default() });
                let written = operations.server_side_apply_status(&desired).await?;
                read_in_all_ways(context.primary_cache(), &*written, number)?;
                primary = written;
            }
            Ok(UpdateControl::no_update())
        })
    });
    // Secondaries that are written without a filter would wake their primaries for ever.
    let source = InformerEventSource::<ConfigMap>::new().on_update(|_, _| false);
    let source = source.index(NUMBER, |map| value_of(map).map(str::to_owned).into_iter().collect());
    let observed =
        |one: &TestResource| one.status.as_ref()?.observed_generation.map(|number| number.to_string());
    let controller = script.controller().watches(source);
    let controller = controller.index(NUMBER, move |one| observed(one).into_iter().collect());
    let controller = controller.namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let names = stream::iter((0..OBJECTS).map(|number| format!("object-{number}")));
    let scene = &scene;
    let created = names.map(|name| async move { scene.create(&name, "first").await }).buffer_unordered(20);
    created.try_collect::<Vec<_>>().await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs.len(), OBJECTS as usize);
    assert!(settled.runs.values().all(|runs| *runs == 1), "own writes wake nobody");
    Ok(())
}
