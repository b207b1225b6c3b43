//! Only objects that the field selector matches are seen; it may exclude, too. The same holds for secondaries.

use integration_tests::prelude::*;

const WANTED: &str = "conformance.operator-core.io/wanted";
const OTHER: &str = "conformance.operator-core.io/other";

#[operator_test]
async fn what_the_selector_does_not_match_is_not_seen() -> Result<()> {
    let scene = Scene::new("field-selector").await?;
    let known = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&known);
    // Notes what it could see beside the one that it is called for.
    let secrets = Script::new(move |_, _: Arc<Secret>, context| {
        *seen.lock() = context.primary_cache().keys();
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let controller = secrets
        .controller()
        .field_selector(format!("type={WANTED},metadata.name!=excluded"))
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    // The wanted one comes last, so that its run would see the others.
    for (name, of_type) in [("other", OTHER), ("excluded", WANTED), ("wanted", WANTED)] {
        let secret: Secret =
            integration_tests::from_json(&json!({ "metadata": { "name": name }, "type": of_type }))?;
        scene.api::<Secret>().create(&PostParams::default(), &secret).await?;
    }
    let settled = operator.settled().await?;
    assert_eq!(settled.runs, [(scene.key("wanted"), 1)].into());
    assert_eq!(*known.lock(), [scene.key("wanted")]);
    assert_eq!(secrets.runs.count(), 1);
    Ok(())
}

#[operator_test]
async fn a_source_does_not_see_the_secondaries_that_its_selector_excludes() -> Result<()> {
    let scene = Scene::new("field-selector").await?;
    let known = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&known);
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let seen = Arc::clone(&seen);
        Box::pin(async move {
            let secrets = context.secondaries::<Secret>()?;
            *seen.lock() = secrets.iter().map(|secret| secret.name_any()).collect();
            Ok(UpdateControl::no_update())
        })
    });
    let source = InformerEventSource::<Secret>::new()
        .field_selector(format!("type!={OTHER}"))
        .map_to_primary(|secret| vec![ObjectKey::namespaced(&secret.namespace().unwrap_or_default(), "one")]);
    let controller = script.controller().watches(source);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    for (name, of_type, runs) in [("other", OTHER, 0), ("wanted", WANTED, 1)] {
        let secret: Secret =
            integration_tests::from_json(&json!({ "metadata": { "name": name }, "type": of_type }))?;
        scene.api::<Secret>().create(&PostParams::default(), &secret).await?;
        assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), runs, "{name}");
    }
    assert_eq!(*known.lock(), ["wanted"]);
    Ok(())
}
