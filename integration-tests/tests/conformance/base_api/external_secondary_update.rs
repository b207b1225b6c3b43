//! Others put a label on a secondary at the very moment of our own apply: a fresh run sees it, and it stays.

use http::Method;
use integration_tests::prelude::*;

#[operator_test]
async fn a_label_set_during_our_apply_is_seen() -> Result<()> {
    let scene = Scene::new("external-secondary-update").await?;
    let labelled = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let labelled = Arc::clone(&labelled);
        move |_, primary: Arc<TestResource>, context| {
            let labelled = Arc::clone(&labelled);
            Box::pin(async move {
                let seen = context.secondary::<ConfigMap>()?;
                labelled.lock().push(seen.is_some_and(|map| map.labels().contains_key("by")));
                let map = config_map(&*primary, context, &primary.spec.value);
                context.resource_operations().server_side_apply(&map).await?;
                Ok(UpdateControl::no_update())
            })
        }
    });
    // The map exists before the operator starts, with another value: the first run updates it.
    scene.create("one", "first").await?;
    let controller =
        |script: &Script<_>| script.controller().owns::<ConfigMap>().namespaces([&scene.namespace]);
    scene.start(controller(&script).name("sample")).await?.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    labelled.lock().clear();

    let maps: Api<ConfigMap> = scene.api();
    let hook = once_before(Method::PATCH, "/configmaps/one", move || {
        let maps = maps.clone();
        Box::pin(async move {
            let label = json!({ "metadata": { "labels": { "by": "others" } } });
            maps.patch("one", &PatchParams::default(), &Patch::Merge(label)).await?;
            Ok(())
        })
    });
    let operator = scene.start_through(hook, controller(&script).name("sample")).await?;
    let settled = operator.settled().await?;
    let map: ConfigMap = scene.api().get("one").await?;
    assert_eq!(map.labels().get("by").map(String::as_str), Some("others"), "the label stays");
    assert_eq!(value_of(&map), Some("second"));
    assert_eq!(
        settled.written(),
        ["PATCH configmaps/one -> 409", "PATCH configmaps/one -> 200"],
        "the conflict is resolved by the operator"
    );
    assert_eq!(labelled.lock().last(), Some(&true), "a fresh run sees the label");
    assert!(settled.runs_of(&scene.key("one")) >= 2);
    Ok(())
}
