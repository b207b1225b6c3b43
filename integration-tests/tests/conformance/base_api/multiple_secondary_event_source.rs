//! Two sources of config maps and a timer: each change triggers exactly one run, and each source knows its own objects.

use integration_tests::prelude::*;
use operator_core::{
    FunctionEventSource,
    observe::{Cause, SourceIndex},
};
use tokio::sync::Notify;

/// Watches the config maps labelled so; they belong to the primary that they are named after.
fn source(which: &'static str) -> InformerEventSource<ConfigMap> {
    InformerEventSource::<ConfigMap>::new()
        .name(which)
        .label_selector(format!("which={which}"))
        .map_to_primary(|map| {
            let name = map.name_any();
            let primary = name.split('.').next().unwrap_or_default();
            vec![operator_core::ObjectKey::namespaced(&map.namespace().unwrap_or_default(), primary)]
        })
}

#[operator_test]
async fn each_change_triggers_one_run() -> Result<()> {
    let scene = Scene::new("multiple-secondary-event-source").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            // Each source knows its own, and the context knows both.
            let of = |name| {
                let source = context.event_source::<ConfigMap>(name).expect("it is declared");
                source.secondaries_of(context.primary_key()).len()
            };
            assert_eq!(of("first") + of("second"), context.secondaries::<ConfigMap>()?.len());
            Ok(UpdateControl::no_update())
        })
    });
    let ticks = Arc::new(Notify::new());
    let timer = FunctionEventSource::new("timer", {
        let ticks = Arc::clone(&ticks);
        move |events| {
            let ticks = Arc::clone(&ticks);
            async move {
                loop {
                    ticks.notified().await;
                    events.wake_all();
                }
            }
        }
    });
    let controller = script.controller().watches(source("first")).watches(source("second")).watches(timer);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    let maps = scene.api::<ConfigMap>();
    let one_more_run_by = async |source: u8, runs_before: usize| {
        eventually("a run", async || Ok((script.runs.count() > runs_before).then_some(()))).await?;
        assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1, "exactly one");
        let last = script.runs.of("one").pop().expect("a run");
        assert_eq!(last.causes, Cause::Source(SourceIndex(source)).into());
        anyhow::Ok(())
    };
    for (index, which) in [(0, "first"), (1, "second")] {
        let (name, before) = (format!("one.{which}"), script.runs.count());
        let map = json!({ "metadata": { "name": name, "labels": { "which": which } } });
        maps.create(&PostParams::default(), &integration_tests::from_json(&map)?).await?;
        one_more_run_by(index, before).await?;
        let change = Patch::Merge(json!({ "data": { "changed": "yes" } }));
        maps.patch(&name, &PatchParams::default(), &change).await?;
        one_more_run_by(index, before + 1).await?;
    }
    ticks.notify_one();
    one_more_run_by(2, 5).await
}
