//! Completed Jobs that a cache doesn't show yet.

use integration_tests::prelude::*;
use k8s_openapi::api::batch::v1::Job;
use operator_core::testing::{ClusterController, faults::LaggingReplica};

use super::{pass, scene};

fn migration(_: &TestResource) -> Result<Job> {
    let container = json!({ "name": "run", "image": "migrate" });
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    Ok(serde_json::from_value(json!({ "spec": { "template": template } }))?)
}

/// It speaks to that replica of the API server.
async fn operator(scene: &Scene, replica: &LaggingReplica) -> Result<TestOperator> {
    let controller = Controller::of::<TestResource>().workflow((migration,)).namespaces([&scene.namespace]);
    Ok(TestOperator::start(scene.operator().transport(replica.hook()).register(controller)).await?)
}

#[tokio::test(start_paused = true)]
async fn a_job_of_which_an_old_list_does_not_say_that_it_was_done_is_not_made_again() -> Result<()> {
    let scene = scene().await?;
    // When the Job has been done, this test says.
    scene.cluster.in_process_server()?.hold(ClusterController::Jobs);
    let (jobs, replica) = (scene.api::<Job>(), LaggingReplica::of("testresources"));
    let before = operator(&scene, &replica).await?;
    scene.create("one", "value").await?;
    pass(60).await;
    let old =
        scene.resources.list(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
    let at = "2026-01-01T00:01:00Z";
    let condition = |of: &str| json!({ "type": of, "status": "True", "lastTransitionTime": at });
    let conditions = [condition("SuccessCriteriaMet"), condition("Complete")];
    let done = json!({ "startTime": at, "completionTime": at, "succeeded": 1, "conditions": conditions });
    let done = Patch::Merge(json!({ "status": done }));
    jobs.patch_status("one-migration", &PatchParams::default(), &done).await?;
    pass(60).await;
    let remembers = |one: &TestResource| one.annotations().contains_key("operator-core.io/done-jobs");
    assert!(remembers(&scene.resources.get("one").await?), "it is remembered");
    jobs.delete("one-migration", &DeleteParams::background()).await?;
    pass(60).await;
    before.stop().await;

    replica.fall_behind(&old);
    let asked = scene.cluster.audit()?.len();
    let after = operator(&scene, &replica).await?;
    pass(60).await;
    assert!(replica.old_lists() > 0, "it begins with the old list");
    assert!(jobs.get_opt("one-migration").await?.is_none(), "the primary itself says that it was done");
    let asked = scene.cluster.audit()?.split_off(asked);
    let looks = asked.iter().filter(|event| event.resource == "testresources" && event.verb == "get");
    assert_eq!(looks.count(), 1, "it is looked for once");
    let writes = asked.iter().filter(|event| event.verb == "patch" || event.verb == "create");
    assert_eq!(writes.map(|event| &*event.resource).collect::<Vec<_>>(), [""; 0]);

    replica.catch_up();
    scene.set("one", "another").await?;
    pass(60).await;
    after.settled().await?;
    assert!(jobs.get_opt("one-migration").await?.is_none());
    assert!(remembers(&scene.resources.get("one").await?));
    Ok(())
}
