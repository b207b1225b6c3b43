//! The controller's own creation and update of a secondary trigger nothing: there is exactly one run, and exactly a second
//! one after a change of the spec.

use integration_tests::prelude::*;

/// Keeps a map with the value of its primary, by a creation and by replacements.
pub(super) fn keeping_a_map() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let operations = context.resource_operations();
            match context.secondary::<ConfigMap>()? {
                None => {
                    operations.create(&config_map(&*primary, context, &primary.spec.value)).await?;
                }
                Some(map) if value_of(&map) != Some(&primary.spec.value) => {
                    let mut map = ConfigMap::clone(&map);
                    map.data = Some([("value".to_owned(), primary.spec.value.clone())].into());
                    operations.update(&map).await?;
                }
                Some(_) => {}
            }
            Ok(UpdateControl::no_update())
        })
    })
}

#[operator_test]
async fn own_creation_and_own_update_trigger_nothing() -> Result<()> {
    let scene = Scene::new("create-update-event-filter").await?;
    let script = keeping_a_map();
    let controller = script.controller().owns::<ConfigMap>();
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "first").await?;
    let created = operator.settled().await?;
    assert_eq!(created.written(), ["POST configmaps/one -> 201"]);
    assert_eq!(script.runs.count(), 1);

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let updated = operator.settled().await?;
    assert_eq!(updated.written(), ["PUT configmaps/one -> 200"]);
    assert_eq!(script.runs.count(), 2);
    let map = scene.api::<ConfigMap>().get("one").await?;
    assert_eq!(value_of(&map), Some("second"));
    Ok(())
}
