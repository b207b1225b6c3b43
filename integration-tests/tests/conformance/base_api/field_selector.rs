//! Only objects that the field selector matches are seen; it may exclude, too.

use std::sync::Arc;

use anyhow::Result;
use integration_tests::{Scene, Script};
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use operator_core::{Controller, UpdateControl, testing::operator_test};
use parking_lot::Mutex;
use serde_json::json;

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
    let controller = Controller::builder(secrets.clone())
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
