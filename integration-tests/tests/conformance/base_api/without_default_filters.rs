//! Without default filters the user's own decide alone, also about changes of labels and finalizers: after the creation and
//! each of three updates there have been 1, 2, 3 and 3 runs.

use integration_tests::prelude::*;
use operator_core::event_source::updates;

#[operator_test]
async fn the_users_filter_decides_alone() -> Result<()> {
    let scene = Scene::new("without-default-filters").await?;
    let script = Script::<TestResource>::idle();
    let controller = script
        .controller()
        .default_filters(false)
        .on_update(|new, old| !updates::annotations_changed(new, old));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 1);

    scene.patch("one", json!({ "metadata": { "labels": { "a": "label" } } })).await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 2);

    scene.patch("one", json!({ "metadata": { "finalizers": ["example.com/somebody-elses"] } })).await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 3);

    // The spec changes, too, which the default filters would let pass.
    let refused =
        json!({ "metadata": { "annotations": { "an": "annotation" } }, "spec": { "value": "new" } });
    scene.patch("one", refused).await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 3);
    Ok(())
}
