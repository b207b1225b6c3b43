//! 250 objects: after an own write, every read from the cache shows at least that version.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use futures::{StreamExt, TryStreamExt, stream};
use integration_tests::{Scene, Script, TestResource, TestStatus, config_map};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Resource;
use operator_core::{
    Controller, UpdateControl, operations::WriteMode, resource::ResourceVersion, testing::operator_test,
};

const OBJECTS: u32 = 250;

fn at_least<K: Resource>(seen: Option<&K>, written: &K) -> Result<()> {
    let seen = seen.context("an object of our own is not seen")?;
    let (seen, written) = (ResourceVersion::of(seen), ResourceVersion::of(written));
    anyhow::ensure!(seen.is_some() && seen >= written, "read {seen:?} after {written:?} was written");
    Ok(())
}

#[operator_test]
async fn every_read_is_as_new_as_the_write_before_it() -> Result<()> {
    let scene = Scene::new("read-own-updates").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let mut primary = primary;
            for (number, mode) in
                (0..).zip([WriteMode::MatchAndFilter, WriteMode::ForceFilter, WriteMode::CacheOnly])
            {
                let map = config_map(&*primary, context, &format!("{number}"));
                let operations = context.resource_operations().mode(mode);
                let written = operations.server_side_apply(&map).await?;
                at_least(context.secondary::<ConfigMap>()?.as_deref(), &*written)?;
                let mut desired = (*primary).clone();
                let observed_generation = Some(number);
                desired.status = Some(TestStatus { observed_generation, ..TestStatus::default() });
                let written = operations.server_side_apply_status(&desired).await?;
                let seen = context.primary_cache().get(context.primary_key());
                at_least(seen.as_deref(), &*written)?;
                primary = written;
            }
            Ok(UpdateControl::no_update())
        })
    });
    // Secondaries that are written without a filter would wake their primaries for ever.
    let source = operator_core::InformerEventSource::<ConfigMap>::new().on_update(|_, _| false);
    let controller = Controller::builder(script.clone()).watches(source).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let names = stream::iter((0..OBJECTS).map(|number| format!("object-{number}")));
    let scene = &scene;
    let created = names.map(|name| async move { scene.create(&name, "first").await }).buffer_unordered(20);
    created.try_collect::<Vec<_>>().await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs.len(), OBJECTS as usize);
    let failed = script.runs.of("object-0").iter().filter_map(|run| run.attempt).count();
    assert_eq!(failed, 0);
    assert!(settled.runs.values().all(|runs| *runs == 1), "a read that was too old would fail its run");
    Ok(())
}
