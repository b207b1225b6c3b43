//! Jobs of a set run once for their content.

use integration_tests::prelude::*;
use operator_core::{BoxError, Objects};

use super::done;

/// The real server's own controller leaves the Job alone: the test says how it ends.
fn migrated(primary: &TestResource) -> Result<Objects, BoxError> {
    let word = &primary.spec.value;
    Ok(Objects::from_yaml(&format!(
        "
apiVersion: batch/v1
kind: Job
metadata: {{name: migration-{word}}}
spec:
  managedBy: example.com/the-test
  ttlSecondsAfterFinished: 2147483647
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: run, image: migrate, args: [{word}]}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: app, annotations: {{operator-core.io/apply-order: '1'}}}}
"
    ))?)
}

#[operator_test]
async fn a_job_that_has_succeeded_and_is_gone_is_not_made_again() -> Result<()> {
    let scene = Scene::new("bundles-jobs").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = || script.controller().workflow((migrated,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller()).await?;
    scene.create("one", "a").await?;
    let written = operator.settled().await?.written();
    assert_eq!(written.last().map(String::as_str), Some("PATCH jobs/migration-a -> 201"), "the map waits");

    let jobs = scene.api::<k8s_openapi::api::batch::v1::Job>();
    let at = "2026-01-01T00:01:00Z";
    let condition = |of: &str| json!({ "type": of, "status": "True", "lastTransitionTime": at });
    let status = json!({
        "startTime": at, "completionTime": at, "succeeded": 1,
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    });
    let succeeded = Patch::Merge(json!({ "status": status }));
    jobs.patch_status("migration-a", &PatchParams::default(), &succeeded).await?;
    let expected = ["PATCH configmaps/app -> 201", "PATCH testresources/one -> 200"];
    assert_eq!(done(&operator.settled().await?), expected, "it is remembered");

    jobs.delete("migration-a", &DeleteParams::background()).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));
    operator.stop().await;

    let operator = scene.start(controller()).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.is_empty(), "nor by another process: {:?}", settled.requests);
    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    let expected = ["PATCH jobs/migration-b -> 201", "PATCH testresources/one -> 200"];
    assert_eq!(done(&operator.settled().await?), expected, "the old one is forgotten");
    Ok(())
}
