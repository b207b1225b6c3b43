//! Whatever we write, and in whatever way: fields of others in the object stay theirs.

use integration_tests::prelude::*;
use operator_core::Context;

async fn write_in_all_ways(primary: &TestResource, context: &Context<TestResource>) -> Result<()> {
    let operations = context.resource_operations();
    let actual = operations.server_side_apply(&config_map(primary, context, "applied")).await?.object()?;
    let mut replacement = (*actual).clone();
    set_value(&mut replacement, "put");
    let actual = operations.update(&replacement).await?;
    let actual = operations.json_patch(&*actual, |map| set_value(map, "json")).await?;
    operations.merge_patch(&*actual, json!({ "data": { "value": "merged" } })).await?;
    Ok(())
}

fn set_value(map: &mut ConfigMap, value: &str) {
    map.data.get_or_insert_default().insert("value".to_owned(), value.to_owned());
}

#[operator_test]
async fn others_keep_what_is_theirs() -> Result<()> {
    let scene = Scene::new("foreign-ownership").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            write_in_all_ways(&primary, context).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let theirs = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "one", "labels": { "by": "others" } },
        "data": { "theirs": "kept" },
    });
    let maps = scene.api::<ConfigMap>();
    maps.patch("one", &PatchParams::apply("others"), &Patch::Apply(theirs)).await?;
    let controller = script.controller().owns::<ConfigMap>().namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    let patch = "PATCH configmaps/one -> 200";
    assert_eq!(settled.written(), [patch, "PUT configmaps/one -> 200", patch, patch]);

    let map = maps.get("one").await?;
    let data = map.data.clone().unwrap_or_default();
    assert_eq!(data.get("value").map(String::as_str), Some("merged"));
    assert_eq!(data.get("theirs").map(String::as_str), Some("kept"));
    let others = map.managed_fields().iter().find(|entry| entry.manager.as_deref() == Some("others"));
    let fields = others.and_then(|entry| entry.fields_v1.as_ref()).map(|fields| fields.0.clone());
    assert_eq!(
        fields,
        Some(json!({ "f:data": { "f:theirs": {} }, "f:metadata": { "f:labels": { "f:by": {} } } }))
    );
    Ok(())
}
