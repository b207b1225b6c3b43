//! The life of a primary: made, changed, deleted.

use integration_tests::prelude::*;
use operator_core::client::TransportHook;

use super::{keeper, over, rest, saying, scene, under_hooks};

/// The outcome of a life.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Life {
    /// The existing objects after each step.
    states: Vec<Value>,
    /// How often the server has created or deleted each config map.
    effects: BTreeMap<String, usize>,
}

/// The amount of work of a life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) runs: usize,
    /// Each attempt counts.
    pub(super) writes: usize,
}

/// Lives one life under these faults.
pub(super) async fn life(faults: &Faults) -> Result<(Life, Work)> {
    life_under([faults.hook()]).await
}

async fn life_under(hooks: impl IntoIterator<Item = TransportHook>) -> Result<(Life, Work)> {
    let scene = scene().await?;
    let script = saying();
    let operator = under_hooks(hooks, &scene, keeper(&scene, &script)?).await?;
    let mut life = Life::default();
    let mut writes = 0;
    scene.create("one", "first").await?;
    writes += rest(&operator).await?.written().len();
    life.states.push(state(&scene).await?);
    scene.set("one", "second").await?;
    writes += rest(&operator).await?.written().len();
    life.states.push(state(&scene).await?);
    scene.delete("one").await?;
    writes += rest(&operator).await?.written().len();
    scene.until_gone("one").await?;
    life.states.push(state(&scene).await?);
    for event in scene.cluster.audit()? {
        let took_effect = matches!((event.verb.as_str(), event.code), (_, 201) | ("delete", 200));
        if took_effect && event.resource == "configmaps" {
            *life.effects.entry(format!("{} {}", event.verb, event.name)).or_default() += 1;
        }
    }
    assert!(script.runs.overlapping().is_empty(), "two runs of one primary at the same time");
    let runs = script.runs.count() + script.cleanups.count();
    over(&operator, &scene, &[]).await?;
    Ok((life, Work { runs, writes }))
}

/// The relevant parts of the primary, and the content of the config maps.
async fn state(scene: &Scene) -> Result<Value> {
    let one = scene.resources.get_opt("one").await?;
    let one = one.map(|one| {
        let said = one.status.and_then(|status| status.message);
        json!({ "value": one.spec.value, "said": said, "finalizers": one.metadata.finalizers })
    });
    Ok(json!({ "one": one, "maps": scene.values().await? }))
}

/// Lives a life under faults that all have to happen: the outcome is the same as without them, for some more work.
pub(super) async fn same_life(faults: &Faults, more_writes: usize) -> Result<Work> {
    same_life_under([], faults, more_writes).await
}

/// The same with more layers of the transport, next to the server.
pub(super) async fn same_life_under(
    hooks: impl IntoIterator<Item = TransportHook>,
    faults: &Faults,
    more_writes: usize,
) -> Result<Work> {
    let (calm, calm_work) = life(&Faults::none()).await?;
    let (life, work) = life_under(hooks.into_iter().chain([faults.hook()])).await?;
    let fired = faults.fired();
    assert_eq!(faults.unfired(), [""; 0]);
    assert_eq!(life, calm, "under {fired:?}");
    assert!(work.writes <= calm_work.writes + more_writes, "{work:?}, calmly {calm_work:?}: {fired:?}");
    Ok(work)
}

/// The number of writes of a life without faults.
pub(super) async fn writes() -> Result<u64> {
    let (_, work) = life(&Faults::none()).await?;
    assert!(work.writes >= 8, "a finalizer, two maps and a status, two maps and a status, an end: {work:?}");
    Ok(work.writes.try_into()?)
}
