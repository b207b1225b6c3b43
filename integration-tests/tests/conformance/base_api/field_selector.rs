//! Only objects that the field selector matches are seen; it may exclude, too.

use std::sync::Arc;

use anyhow::Result;
use integration_tests::{RunRecord, Scene, test_resource};
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use operator_core::{Context, Controller, ObjectKey, Reconciler, UpdateControl, testing::operator_test};
use parking_lot::Mutex;
use serde_json::json;

// The scene needs a custom resource; nothing is done with it.
test_resource!("field-selector.conformance.operator-core.io", namespaced);

const WANTED: &str = "conformance.operator-core.io/wanted";
const OTHER: &str = "conformance.operator-core.io/other";

/// Notes what it is called for, and what it could see beside that.
#[derive(Clone, Default)]
struct Secrets {
    runs: RunRecord,
    known: Arc<Mutex<Vec<ObjectKey>>>,
}

impl Reconciler for Secrets {
    type Primary = Secret;
    type Error = anyhow::Error;

    async fn reconcile(
        &self,
        primary: Arc<Secret>,
        context: &Context<Secret>,
    ) -> Result<UpdateControl<Secret>> {
        self.runs.note(&*primary);
        *self.known.lock() = context.primary_cache().keys();
        Ok(UpdateControl::no_update())
    }
}

#[operator_test]
async fn what_the_selector_does_not_match_is_not_seen() -> Result<()> {
    let scene = Scene::<TestResource>::new("field-selector").await?;
    let secrets = Secrets::default();
    let controller = Controller::builder(secrets.clone())
        .field_selector(format!("type={WANTED},metadata.name!=excluded"))
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    // The wanted one comes last, so that its run would see the others.
    for (name, of_type) in [("other", OTHER), ("excluded", WANTED), ("wanted", WANTED)] {
        let secret: Secret =
            serde_json::from_value(json!({ "metadata": { "name": name }, "type": of_type }))?;
        scene.api::<Secret>().create(&PostParams::default(), &secret).await?;
    }
    let settled = operator.settled().await?;
    assert_eq!(settled.runs, [(scene.key("wanted"), 1)].into());
    assert_eq!(*secrets.known.lock(), [scene.key("wanted")]);
    assert_eq!(secrets.runs.count(), 1);
    Ok(())
}
