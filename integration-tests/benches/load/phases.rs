//! What is done to the objects, and what is waited for.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, pin_mut, stream};
use integration_tests::TestObject;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt, watcher},
};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    measure::{Subject, percentile},
    workload::{TestResource, is_ready},
};

/// Requests of the bench itself that are under way at the same time.
const PARALLEL: usize = 50;

fn name(index: usize) -> String {
    format!("object-{index:04}")
}

pub(crate) async fn run(mut subject: Subject, objects: usize, updates: usize) -> Result<()> {
    warm_up(&subject).await?;
    burst(&mut subject, objects).await?;
    single_updates(&mut subject, updates.min(objects)).await?;
    // The bare client remembers nothing, and so has nothing to find as it should be.
    if subject.name != "bare" {
        restart(&mut subject, objects).await?;
        foreign_labels(&mut subject).await?;
    }
    deletion(&mut subject).await?;
    println!();
    Ok(())
}

/// How much larger the operator is beside objects of others than beside none; each time it is started anew.
pub(crate) async fn beside(mut subject: Subject, objects: usize, foreign: usize) -> Result<()> {
    warm_up(&subject).await?;
    burst(&mut subject, objects).await?;
    restart(&mut subject, objects).await?;
    let alone = subject.mebibytes("RssAnon:")?;
    make_foreign(&subject, foreign).await?;
    restart(&mut subject, objects).await?;
    let beside = subject.mebibytes("RssAnon:")?;
    println!(
        "{:<8} {alone:.2} MiB of its own alone, {beside:.2} MiB beside {foreign} objects of others: {:+.2} MiB\n",
        subject.name,
        beside - alone
    );
    deletion(&mut subject).await
}

async fn make_foreign(subject: &Subject, number: usize) -> Result<()> {
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

/// One object through its life, so that connections and caches are there.
async fn warm_up(subject: &Subject) -> Result<()> {
    subject.objects.create(&PostParams::default(), &TestResource::named("warm-up", "x")).await?;
    until(subject, |seen| seen.get("warm-up").is_some_and(is_ready)).await?;
    subject.objects.delete("warm-up", &DeleteParams::default()).await?;
    until(subject, BTreeMap::is_empty).await
}

/// Follows the objects until they are as wanted.
async fn until(subject: &Subject, done: impl Fn(&BTreeMap<String, TestResource>) -> bool) -> Result<()> {
    let events = watcher(subject.objects.clone(), watcher::Config::default()).default_backoff();
    pin_mut!(events);
    let mut seen = BTreeMap::new();
    let mut listed = false;
    while let Some(event) = events.try_next().await? {
        match event {
            watcher::Event::Init => {}
            watcher::Event::InitDone => listed = true,
            watcher::Event::Apply(object) | watcher::Event::InitApply(object) => {
                seen.insert(object.name_any(), object);
            }
            watcher::Event::Delete(object) => {
                seen.remove(&object.name_any());
            }
        }
        if listed && done(&seen) {
            return Ok(());
        }
    }
    anyhow::bail!("the watch ended")
}

async fn burst(subject: &mut Subject, objects: usize) -> Result<()> {
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
    let note =
        format!("ready p50 {:.0} ms p99 {:.0} ms", percentile(&delays, 0.5), percentile(&delays, 0.99));
    subject.end_phase("burst of new objects", took, &note)
}

/// When each of the objects was first seen to be ready.
async fn ready_at(subject: &Subject, objects: usize) -> Result<BTreeMap<String, Instant>> {
    let events =
        watcher(subject.objects.clone(), watcher::Config::default()).default_backoff().applied_objects();
    pin_mut!(events);
    let mut ready = BTreeMap::new();
    while let Some(object) = events.try_next().await? {
        if is_ready(&object) {
            ready.entry(object.name_any()).or_insert_with(Instant::now);
        }
        if ready.len() == objects {
            return Ok(ready);
        }
    }
    anyhow::bail!("the watch ended")
}

/// One update after the other: how long from its answer until the status has caught up.
async fn single_updates(subject: &mut Subject, updates: usize) -> Result<()> {
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
    delays.sort_unstable();
    let note =
        format!("caught up p50 {:.1} ms p99 {:.1} ms", percentile(&delays, 0.5), percentile(&delays, 0.99));
    subject.end_phase("single updates", started.elapsed(), &note)
}

/// The operator starts anew and finds everything as it should be. One change tells when it is through.
async fn restart(subject: &mut Subject, objects: usize) -> Result<()> {
    subject.kill()?;
    subject.start()?;
    subject.begin_phase()?;
    let started = Instant::now();
    let last = name(objects - 1);
    let patch = Patch::Merge(json!({ "spec": { "value": "after the restart" } }));
    let updated = subject.objects.patch(&last, &PatchParams::default(), &patch).await?;
    until(subject, |seen| {
        seen.get(&last).is_some_and(|object| {
            object.metadata.generation >= updated.metadata.generation && is_ready(object)
        })
    })
    .await?;
    let took = started.elapsed();
    quiet(subject).await?;
    subject.end_phase("restart, until one change", took, "")
}

/// Somebody else labels every config map.
async fn foreign_labels(subject: &mut Subject) -> Result<()> {
    let maps = Api::<ConfigMap>::namespaced(subject.client.clone(), &subject.namespace);
    let names: BTreeSet<String> = maps
        .list(&ListParams::default().labels("app=load"))
        .await?
        .iter()
        .map(ResourceExt::name_any)
        .collect();
    subject.begin_phase()?;
    let started = Instant::now();
    let (maps, patch) = (&maps, &Patch::Merge(json!({ "metadata": { "labels": { "somebody": "else" } } })));
    stream::iter(names)
        .map(|name| async move { maps.patch(&name, &PatchParams::default(), patch).await.map(|_| ()) })
        .buffer_unordered(PARALLEL)
        .try_collect::<Vec<_>>()
        .await?;
    quiet(subject).await?;
    subject.end_phase("a foreign label on maps", started.elapsed(), "")
}

async fn deletion(subject: &mut Subject) -> Result<()> {
    subject.begin_phase()?;
    let started = Instant::now();
    subject.objects.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    until(subject, BTreeMap::is_empty).await?;
    subject.end_phase("deletion of everything", started.elapsed(), "")
}

/// Waits until the operator has made no request for as long as it takes to look three times.
async fn quiet(subject: &Subject) -> Result<()> {
    let (mut log, mut looks) = (subject.cluster.audit_from_now()?, 0);
    while looks < 3 {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let has_asked = log.read()?.iter().any(|event| event.user == subject.name);
        looks = if has_asked { 0 } else { looks + 1 };
    }
    Ok(())
}
