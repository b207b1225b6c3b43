//! What components cost in requests.

use integration_tests::prelude::*;
use operator_component::component;
use operator_core::Wire as _;

use super::stand::{Stage, base, extra, is_up};

/// Each request about an object, reads among them.
async fn requests(stage: &Stage) -> Result<Vec<String>> {
    let settled = stage.operator.settled().await?;
    let mut requests: Vec<_> = settled.requests.iter().map(ToString::to_string).collect();
    requests.sort_unstable();
    Ok(requests)
}

#[operator_test]
async fn one_for_each_object_one_for_a_finalizer_and_one_for_a_status_that_changes() -> Result<()> {
    let stage = Stage::new("component-requests", |scene| {
        let nodes = (component("base", (base.ready(is_up),)), component("extra", (extra,)));
        let controller = scene.controller(&Script::idle()).cleaner(true);
        Ok(controller.workflow(Workflow::builder().nodes(nodes).build()?))
    })
    .await?;
    stage.scene.create("one", "1").await?;
    let first = [
        "PATCH configmaps/base -> 201",
        "PATCH configmaps/extra -> 201",
        "PATCH stands/one -> 200",
        "PATCH stands/one/status -> 200",
    ];
    assert_eq!(requests(&stage).await?, first);

    // A run in which nothing changes.
    let label = json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "1" } } });
    stage.scene.patch("one", label).await?;
    let settled = stage.operator.settled().await?;
    assert_eq!(settled.runs_of(&stage.scene.key("one")), 1);
    assert!(settled.requests.is_empty(), "{:?}", settled.requests);

    // A condition changes.
    let up = json!({ "metadata": { "labels": { "up": "yes" } } });
    stage.scene.api::<ConfigMap>().patch("base", &PatchParams::default(), &Patch::Merge(up)).await?;
    assert_eq!(requests(&stage).await?, ["PATCH stands/one/status -> 200"]);
    Ok(())
}
