//! The actions on the objects of one operator, and their cost.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, pin_mut, stream};
use integration_tests::TestObject;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt, watcher},
};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    cost::Cost,
    measure::Subject,
    waiting::{caught_up, quiet, ready_at, until},
    workload::{self, TestResource, is_ready},
};

/// Concurrent requests of the bench itself.
const PARALLEL: usize = 50;

/// How long the deletion of everything is retried.
const PATIENCE: Duration = Duration::from_secs(300);

fn name(index: usize) -> String {
    format!("object-{index:05}")
}

/// One object through its life: afterwards connections and caches exist.
pub(crate) async fn warm_up(subject: &Subject) -> Result<()> {
    subject.objects.create(&PostParams::default(), &TestResource::named("warm-up", "x")).await?;
    until(subject, |seen| seen.get("warm-up").is_some_and(is_ready)).await?;
    subject.objects.delete("warm-up", &DeleteParams::default()).await?;
    until(subject, BTreeMap::is_empty).await?;
    quiet(subject).await
}

/// So many objects at once.
pub(crate) async fn burst(subject: &mut Subject, objects: usize) -> Result<Cost> {
    subject.begin_phase()?;
    let started = Instant::now();
    let (api, post) = (&subject.objects, &PostParams::default());
    let create = async {
        let created = stream::iter(0..objects).map(|index| async move {
            api.create(post, &TestResource::named(&name(index), "first")).await?;
            Ok::<_, kube::Error>((name(index), Instant::now()))
        });
        created.buffer_unordered(PARALLEL).try_collect::<BTreeMap<_, _>>().await.context("create")
    };
    let ready = ready_at(subject, objects);
    let (created, ready) = tokio::try_join!(create, ready)?;
    let took = started.elapsed();
    let mut delays: Vec<_> =
        created.iter().map(|(name, at)| ready[name].saturating_duration_since(*at)).collect();
    delays.sort_unstable();
    quiet(subject).await?;
    Ok(Cost { delays, ..subject.end_phase(objects, took)? })
}

/// One update after the other: the time from its answer until the status has caught up.
pub(crate) async fn single_updates(subject: &mut Subject, updates: usize) -> Result<Cost> {
    subject.begin_phase()?;
    let started = Instant::now();
    let events =
        watcher(subject.objects.clone(), watcher::Config::default()).default_backoff().applied_objects();
    pin_mut!(events);
    let mut delays = Vec::with_capacity(updates);
    for index in 0..updates {
        let patch = Patch::Merge(json!({ "spec": { "value": format!("update-{index}") } }));
        let updated = subject.objects.patch(&name(index), &PatchParams::default(), &patch).await?;
        let at = Instant::now();
        while let Some(object) = events.try_next().await? {
            if object.name_any() == name(index)
                && object.metadata.generation >= updated.metadata.generation
                && is_ready(&object)
            {
                break;
            }
        }
        delays.push(at.elapsed());
    }
    let took = started.elapsed();
    delays.sort_unstable();
    quiet(subject).await?;
    Ok(Cost { delays, ..subject.end_phase(updates, took)? })
}

/// The operator starts anew and finds everything as it should be, except one object that gets this value meanwhile.
/// This object shows how long it takes; the cost is counted until the operator rests.
pub(crate) async fn restart(subject: &mut Subject, objects: usize, value: &str) -> Result<Cost> {
    subject.kill()?;
    subject.start()?;
    subject.begin_phase()?;
    let started = Instant::now();
    let last = name(objects - 1);
    let patch = Patch::Merge(json!({ "spec": { "value": value } }));
    let updated = subject.objects.patch(&last, &PatchParams::default(), &patch).await?;
    caught_up(subject, &last, updated.metadata.generation).await?;
    let took = started.elapsed();
    quiet(subject).await?;
    subject.end_phase(objects, took)
}

/// The children that get someone else's label.
#[derive(Clone, Copy)]
pub(crate) enum Labelled {
    /// All four of each object.
    All,
    /// One of each object, a quarter of them of each kind.
    OneEach,
}

/// Someone else labels children.
pub(crate) async fn foreign_labels(
    subject: &mut Subject,
    objects: usize,
    which: Labelled,
    value: &str,
) -> Result<Cost> {
    let kinds = workload::kinds();
    let apis: Vec<Api<DynamicObject>> = kinds
        .iter()
        .map(|kind: &ApiResource| Api::namespaced_with(subject.client.clone(), &subject.namespace, kind))
        .collect();
    let children: Vec<_> = (0..objects)
        .flat_map(|index| apis.iter().enumerate().map(move |(of_kind, api)| (index, of_kind, api)))
        .filter(|(index, of_kind, _)| match which {
            Labelled::All => true,
            Labelled::OneEach => index % kinds.len() == *of_kind,
        })
        .map(|(index, _, api)| (name(index), api))
        .collect();
    subject.begin_phase()?;
    let (started, labelled) = (Instant::now(), children.len());
    let patch = &Patch::Merge(json!({ "metadata": { "labels": { "somebody": value } } }));
    stream::iter(children)
        .map(|(name, api)| async move {
            api.patch_metadata(&name, &PatchParams::default(), patch).await.map(|_| ())
        })
        .buffer_unordered(PARALLEL)
        .try_collect::<Vec<_>>()
        .await?;
    let took = started.elapsed();
    quiet(subject).await?;
    subject.end_phase(labelled, took)
}

/// Creates objects of others, half of them config maps and half of them Secrets.
pub(crate) async fn make_foreign(subject: &Subject, number: usize) -> Result<()> {
    let maps = Api::<ConfigMap>::namespaced(subject.client.clone(), &subject.namespace);
    let secrets = Api::<Secret>::namespaced(subject.client.clone(), &subject.namespace);
    let (maps, secrets, post) = (&maps, &secrets, &PostParams::default());
    stream::iter(0..number)
        .map(|index| async move {
            let metadata = json!({ "name": format!("foreign-{index:05}") });
            let value = json!({ "value": "x".repeat(1000) });
            if index % 2 == 0 {
                let map = json!({ "metadata": metadata, "data": value });
                maps.create(post, &serde_json::from_value(map)?).await?;
            } else {
                let secret = json!({ "metadata": metadata, "stringData": value });
                secrets.create(post, &serde_json::from_value(secret)?).await?;
            }
            anyhow::Ok(())
        })
        .buffer_unordered(PARALLEL)
        .try_collect::<Vec<_>>()
        .await?;
    Ok(())
}

/// Everything is deleted at once. The garbage collector deletes the children.
pub(crate) async fn deletion(subject: &mut Subject, objects: usize) -> Result<Cost> {
    subject.begin_phase()?;
    let started = Instant::now();
    // The server ends a call that has taken a minute, and has deleted a part of them by then.
    while let Err(error) =
        subject.objects.delete_collection(&DeleteParams::default(), &ListParams::default()).await
    {
        anyhow::ensure!(started.elapsed() < PATIENCE, "deletion of everything: {error}");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    until(subject, BTreeMap::is_empty).await?;
    subject.end_phase(objects, started.elapsed())
}
