//! The conditions that the bench waits for.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, bail};
use futures::{StreamExt, TryStreamExt, pin_mut, stream};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams},
    runtime::{WatchStreamExt, watcher},
};
use tokio::time::Instant;

use crate::{
    measure::Subject,
    workload::{self, TestResource, is_ready},
};

/// Follows the objects until they are as wanted.
pub(crate) async fn until(
    subject: &Subject,
    done: impl Fn(&BTreeMap<String, TestResource>) -> bool,
) -> Result<()> {
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
    bail!("the watch ended")
}

/// Follows one object until its status has caught up with this generation.
pub(crate) async fn caught_up(subject: &Subject, name: &str, generation: Option<i64>) -> Result<()> {
    let of_one = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let events = watcher(subject.objects.clone(), of_one).default_backoff().applied_objects();
    pin_mut!(events);
    while let Some(object) = events.try_next().await? {
        if object.metadata.generation >= generation && is_ready(&object) {
            return Ok(());
        }
    }
    bail!("the watch ended")
}

/// When each of the objects was first seen to be ready.
pub(crate) async fn ready_at(subject: &Subject, objects: usize) -> Result<BTreeMap<String, Instant>> {
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
    bail!("the watch ended")
}

/// Waits until the operator has made no request and computed next to nothing during three checks.
/// An operator that finds everything as it should be makes no request.
pub(crate) async fn quiet(subject: &Subject) -> Result<()> {
    let (mut log, mut looks, mut before) = (subject.cluster.audit_from_now()?, 0, subject.cpu_seconds()?);
    while looks < 3 {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let has_asked = log.read()?.iter().any(|event| event.user == subject.name);
        let now = subject.cpu_seconds()?;
        // Two ticks of the clock by which CPU time is counted.
        let has_computed = now - before > 0.025;
        looks = if has_asked || has_computed { 0 } else { looks + 1 };
        before = now;
    }
    Ok(())
}

/// Deletes the children that the garbage collector still has to delete; otherwise the next operator would meet it at work.
pub(crate) async fn children_gone(subject: &Subject) -> Result<()> {
    let (all, one) =
        (&ListParams::default().labels("app=load"), &ListParams::default().labels("app=load").limit(1));
    stream::iter(workload::kinds())
        .map(|kind| async move {
            let api =
                Api::<DynamicObject>::namespaced_with(subject.client.clone(), &subject.namespace, &kind);
            loop {
                if api.list_metadata(one).await?.items.is_empty() {
                    return anyhow::Ok(());
                }
                api.delete_collection(&DeleteParams::background(), all).await?;
            }
        })
        .buffer_unordered(4)
        .try_collect::<Vec<_>>()
        .await?;
    Ok(())
}
