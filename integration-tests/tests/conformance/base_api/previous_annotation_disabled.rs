//! The same if two states of a secondary can't be compared: JOSDK's informer is told not to compare their versions, and
//! ours gets versions that aren't numbers. An own write may then trigger its primary once more, but not forever.

use integration_tests::prelude::*;

use super::create_update_informer_event_source_event_filter::keeping_a_map;

#[operator_test]
async fn own_writes_are_seen_and_nothing_runs_for_ever() -> Result<()> {
    let scene = Scene::new("previous-annotation-disabled").await?;
    let script = keeping_a_map();
    let controller = scene.controller(&script).owns::<ConfigMap>();
    let operator = scene.start_through(opaque_versions("configmaps"), controller).await?;
    let changes = [
        ("first", "POST configmaps/one -> 201", 1..=2_usize),
        ("second", "PUT configmaps/one -> 200", 2..=4),
    ];
    scene.create("one", "first").await?;
    for (value, write, runs) in changes {
        if value != "first" {
            scene.set("one", value).await?;
        }
        let settled = operator.settled().await?;
        assert_eq!(
            settled.written(),
            [write],
            "and no conflict: each run reads what the one before it wrote"
        );
        assert!(runs.contains(&script.runs.count()), "{} runs", script.runs.count());
        let map = scene.api::<ConfigMap>().get("one").await?;
        assert_eq!(value_of(&map), Some(value));
    }
    // Somebody else's change is told from what was there before, too.
    let theirs = Patch::Merge(json!({ "data": { "value": "theirs" } }));
    scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &theirs).await?;
    assert_eq!(operator.settled().await?.written(), ["PUT configmaps/one -> 200"]);
    assert_eq!(value_of(&scene.api::<ConfigMap>().get("one").await?), Some("second"));
    assert!(operator.unhealthy_sources().await.is_empty(), "its list and its watch work");
    Ok(())
}
