//! Whom a run's own write triggers: all primaries that the object belongs to, except the one whose run wrote it.

use integration_tests::prelude::*;
use operator_core::Context;

use super::{message, pass, scene, under};

/// A map belongs to the primaries whose names are the keys of its data.
fn by_data() -> InformerEventSource<ConfigMap> {
    InformerEventSource::<ConfigMap>::new().map_to_primary(|map| {
        let namespace = map.namespace().unwrap_or_default();
        map.data.iter().flatten().map(|(name, _)| ObjectKey::namespaced(&namespace, name)).collect()
    })
}

#[tokio::test(start_paused = true)]
async fn an_own_write_of_a_shared_map_wakes_the_other_primary() -> Result<()> {
    shared_with(false).await
}

/// Someone else writes the same.
#[tokio::test(start_paused = true)]
async fn control_a_foreign_write_of_a_shared_map_wakes_the_other_primary() -> Result<()> {
    shared_with(true).await
}

async fn shared_with(foreign: bool) -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let namespace = primary.namespace().unwrap_or_default();
            if primary.name_any() == "one" {
                let data = json!({ "one": primary.spec.value, "two": primary.spec.value });
                let map = json!({ "metadata": { "name": "shared", "namespace": namespace }, "data": data });
                let map: ConfigMap = serde_json::from_value(map)?;
                context.resource_operations().server_side_apply(&map).await?;
                return Ok(Said::no_update());
            }
            let map = context.get::<ConfigMap>(&ObjectKey::namespaced(&namespace, "shared"))?;
            let value = map.and_then(|map| map.data.as_ref()?.get("two").cloned());
            Ok(Said::status(said(value.unwrap_or_default())))
        })
    });
    let controller = script.controller().name("shared").watches(by_data());
    let operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    scene.create("two", "reader").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "two").await?.as_deref(), Some("first"));
    if foreign {
        let patch = Patch::Merge(json!({ "data": { "one": "second", "two": "second" } }));
        let maps = scene.api::<ConfigMap>();
        maps.patch("shared", &PatchParams::default(), &patch).await?;
    } else {
        scene.set("one", "second").await?;
    }
    pass(1).await;
    if foreign {
        // One puts its own value back, so that what two saw first counts.
        assert!(operator.settled().await?.runs_of(&scene.key("two")) > 0);
        return Ok(());
    }
    pass(600).await;
    let settled = operator.settled().await?;
    assert_eq!(
        message(&scene, "two").await?.as_deref(),
        Some("second"),
        "ten minutes later; two ran {} times",
        settled.runs_of(&scene.key("two"))
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_a_run_of_another_one_creates_is_reconciled() -> Result<()> {
    created_with(false).await
}

/// A user creates it.
#[tokio::test(start_paused = true)]
async fn control_a_primary_that_a_user_creates_is_reconciled() -> Result<()> {
    created_with(true).await
}

async fn created_with(user: bool) -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if primary.name_any() == "parent" {
                let mut child = fresh(&*primary, "from its parent");
                child.metadata.name = Some("child".to_owned());
                context.resource_operations().server_side_apply(&child).await?;
            }
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    });
    let controller = script.controller().name("tree").namespaces([&scene.namespace]);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    scene.create(if user { "child" } else { "parent" }, "root").await?;
    pass(600).await;
    assert!(scene.resources.get_opt("child").await?.is_some(), "made");
    assert_eq!(script.runs.of("child").len(), 1, "runs of the child in ten minutes");
    Ok(())
}

/// How many runs the busiest of this number of primaries takes at a start, and all of them together. They share one
/// map, into which each run writes as `wanted` decides.
async fn runs_at_a_start(
    primaries: usize,
    wanted: fn(&TestResource, &Context<TestResource>) -> BTreeMap<String, String>,
) -> Result<(usize, usize)> {
    let scene = scene().await?;
    let name = |number: usize| format!("p{number}");
    for number in 0..primaries {
        scene.create(&name(number), "first").await?;
    }
    let shared = json!({ "metadata": { "name": "shared" }, "data": { "p0": "" } });
    scene.api::<ConfigMap>().create(&PostParams::default(), &serde_json::from_value(shared)?).await?;
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let key = ObjectKey::namespaced(&primary.namespace().unwrap_or_default(), "shared");
            let map = context.get::<ConfigMap>(&key)?.expect("sources are synced before the first run");
            let patch = json!({ "data": wanted(&primary, context) });
            context.resource_operations().merge_patch(&*map, patch).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().name("shared").watches(by_data());
    let operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    pass(60).await;
    operator.settled().await?;
    let map = scene.api::<ConfigMap>().get("shared").await?;
    assert_eq!(map.data.map_or(0, |data| data.len()), primaries);
    let most = (0..primaries).map(|number| script.runs.of(&name(number)).len()).max();
    Ok((most.unwrap_or_default(), script.runs.count()))
}

#[tokio::test(start_paused = true)]
async fn a_thousand_primaries_that_share_one_map_take_at_most_two_runs_each_at_a_start() -> Result<()> {
    let all = |_: &TestResource, context: &Context<TestResource>| {
        let primaries = context.primary_cache().list().into_iter();
        primaries.map(|primary| (primary.name_any(), primary.spec.value.clone())).collect()
    };
    let (most, runs) = runs_at_a_start(1_000, all).await?;
    assert!(most <= 2, "{most} runs of one of them, {runs} in all");
    Ok(())
}

/// Each of them writes its own key, and so changes the map that all share: the last first runs are still in progress
/// when the first second runs begin, and those few are owed a third one.
#[tokio::test(start_paused = true)]
async fn primaries_that_each_change_what_all_share_wait_for_one_another() -> Result<()> {
    let own = |primary: &TestResource, _: &Context<TestResource>| {
        BTreeMap::from([(primary.name_any(), primary.spec.value.clone())])
    };
    let (most, runs) = runs_at_a_start(200, own).await?;
    assert!(most <= 3 && runs <= 2 * 200 + 3 * 50, "{most} runs of one of them, {runs} in all");
    Ok(())
}
