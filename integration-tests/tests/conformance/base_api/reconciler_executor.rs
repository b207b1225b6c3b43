//! The config map and the status are created, a change of metadata alone is skipped, and the clean-up is executed.

use std::sync::Arc;

use anyhow::Result;
use integration_tests::{RunRecord, Scene, TestStatus, test_resource};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::ResourceExt;
use operator_core::{
    Cleaner, Context, Controller, DeleteControl, Reconciler, UpdateControl, testing::operator_test,
};
use serde_json::json;

test_resource!("reconciler-executor.conformance.operator-core.io", namespaced);

/// Keeps a config map with the value of its primary's spec, and says so in the status.
#[derive(Clone, Default)]
struct Sample {
    runs: RunRecord,
    cleanups: RunRecord,
}

impl Reconciler for Sample {
    type Primary = TestResource;
    type Error = anyhow::Error;

    async fn reconcile(
        &self,
        primary: Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>> {
        self.runs.note(&*primary);
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(primary.name_any()),
                namespace: primary.namespace(),
                owner_references: context.owner_reference(&primary).map(|owner| vec![owner]),
                ..ObjectMeta::default()
            },
            data: Some([("value".to_owned(), primary.spec.value.clone())].into()),
            ..ConfigMap::default()
        };
        context.resource_operations().server_side_apply(&map).await?;
        Ok(UpdateControl::patch_status(TestStatus {
            message: Some("config map is there".to_owned()),
            ..TestStatus::default()
        }))
    }
}

impl Cleaner for Sample {
    async fn cleanup(&self, primary: Arc<TestResource>, _: &Context<TestResource>) -> Result<DeleteControl> {
        self.cleanups.note(&*primary);
        Ok(DeleteControl::default_delete())
    }
}

#[operator_test]
async fn config_map_status_and_clean_up() -> Result<()> {
    let scene = Scene::<TestResource>::new("reconciler-executor").await?;
    let sample = Sample::default();
    let controller = Controller::builder(sample.clone()).with_cleaner().owns::<ConfigMap>();
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "first").await?;
    scene
        .until("the status", "one", |one| one.status.as_ref().is_some_and(|status| status.message.is_some()))
        .await?;
    let map: ConfigMap = scene.api().get("one").await?;
    assert_eq!(map.data.expect("data")["value"], "first");
    let first = operator.settled().await?;
    assert_eq!(first.runs_of(&scene.key("one")), 1, "own writes cause no run");
    // One write for the finalizer, one for the child, one for the status, and no reads.
    assert_eq!(
        first.requests.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "PATCH testresources/one -> 200",
            "PATCH configmaps/one -> 201",
            "PATCH testresources/one/status -> 200"
        ]
    );

    scene.patch("one", json!({ "metadata": { "labels": { "only": "metadata" } } })).await?;
    let second = operator.settled().await?;
    assert_eq!(second.runs_of(&scene.key("one")), 0, "a change of metadata is skipped");
    assert_eq!(second.written(), [""; 0]);

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert_eq!(sample.cleanups.count(), 1);
    operator.settled().await?;
    assert_eq!(sample.runs.count(), 1);
    Ok(())
}
