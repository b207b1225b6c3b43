//! Remembered Jobs together with a Job that fails, and with another controller.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::api::batch::v1::Job;
use operator_core::{controller::NoReconciler, prelude::*};

use super::{annotation, app, batches, job, remove, succeed};
use crate::functions::done;

/// The error message of the run.
fn told(_: &TestResource, run: &Run<TestResource>) -> TestStatus {
    TestStatus { message: run.error().map(ToString::to_string), ..TestStatus::default() }
}

/// The writes of Jobs, and those of the primary itself.
async fn about_jobs(operator: &TestOperator) -> Result<Vec<String>> {
    let mut written = done(&operator.settled().await?);
    written.retain(|write| !write.contains("/status"));
    Ok(written)
}

/// How many are remembered of each node.
async fn remembered(scene: &Scene) -> Result<Vec<(String, usize)>> {
    let Some(entries) = annotation(scene).await? else { return Ok(Vec::new()) };
    let entries = entries.as_object().context("entries")?;
    let count =
        |(node, done): (&String, &serde_json::Value)| (node.clone(), done.as_array().map_or(0, Vec::len));
    Ok(entries.iter().map(count).collect())
}

#[operator_test]
async fn one_that_fails_has_the_others_neither_made_again_nor_forgotten() -> Result<()> {
    let scene = Scene::new("functions-jobs-failing").await?;
    scene.failures.expect("1 of 3 items failed");
    // Somebody else's stands where the third one should.
    let mut theirs = job(&TestResource::named("one", ""), "theirs")?;
    theirs.metadata.name = Some("batch-c".to_owned());
    scene.api::<Job>().create(&PostParams::default(), &theirs).await?;
    let controller = Controller::of::<TestResource>().name("batches").workflow((batches, app.after(batches)));
    let controller = controller.retry(GenericRetry::linear(Duration::from_millis(50), 0)?).status(told);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "a b").await?;
    operator.settled().await?;
    succeed(&scene, "batch-a").await?;
    operator.settled().await?;
    remove(&scene, "batch-a").await?;
    assert_eq!(about_jobs(&operator).await?, [""; 0]);

    scene.set("one", "a b c").await?;
    let written = about_jobs(&operator).await?;
    let others = written.iter().filter(|write| !write.contains("jobs/batch-c"));
    assert_eq!(others.count(), 0, "the one that fails is all that is tried: {written:?}");
    assert_eq!(remembered(&scene).await?, [("batches/batches".to_owned(), 1)]);
    let status = scene.resources.get("one").await?.status.context("a status")?;
    let words = status.message.context("it is told")?;
    assert!(words.contains("1 of 3 items failed") && words.contains("/batch-c: "), "{words}");
    assert!(!words.contains("/batch-a: ") && !words.contains("/batch-b: "), "{words}");

    succeed(&scene, "batch-b").await?;
    operator.settled().await?;
    assert_eq!(
        remembered(&scene).await?,
        [("batches/batches".to_owned(), 2)],
        "what is done in a run that fails is remembered as well"
    );
    remove(&scene, "batch-b").await?;
    operator.settled().await?;
    scene.api::<Job>().delete("batch-c", &DeleteParams::background()).await?;
    operator.settled().await?;
    scene.set("one", "c b a").await?;
    assert_eq!(
        about_jobs(&operator).await?,
        ["PATCH jobs/batch-c -> 201"],
        "the only one that is left to do"
    );
    assert_eq!(remembered(&scene).await?, [("batches/batches".to_owned(), 2)]);
    Ok(())
}

/// The job of the first word.
fn left(primary: &TestResource) -> Result<Job> {
    job(primary, primary.spec.value.split(' ').next().unwrap_or_default())
}

/// That of the second word.
fn right(primary: &TestResource) -> Result<Job> {
    job(primary, primary.spec.value.split(' ').nth(1).unwrap_or_default())
}

#[operator_test]
async fn two_controllers_of_one_primary_leave_each_other_what_they_remember() -> Result<()> {
    let scene = Scene::new("functions-jobs-two").await?;
    let controller = |name: &str| -> ControllerBuilder<NoReconciler<TestResource>> {
        let controller = Controller::of::<TestResource>().name(name).namespaces([&scene.namespace]);
        if name == "left" { controller.workflow((left,)) } else { controller.workflow((right,)) }
    };
    let both = || scene.operator().register(controller("left")).register(controller("right"));
    let nodes =
        async || -> Result<BTreeSet<(String, usize)>> { Ok(remembered(&scene).await?.into_iter().collect()) };
    let entry = |node: &str| (node.to_owned(), 1);

    let operator = TestOperator::start(both()).await?;
    scene.create("one", "a x").await?;
    operator.settled().await?;
    // At the same time, so that the one writes upon what it knows from before the other's write.
    futures::try_join!(succeed(&scene, "one-left"), succeed(&scene, "one-right"))?;
    operator.settled().await?;
    assert_eq!(nodes().await?, [entry("left/left"), entry("right/right")].into());
    futures::try_join!(remove(&scene, "one-left"), remove(&scene, "one-right"))?;
    assert_eq!(done(&operator.settled().await?), [""; 0], "each knows its own");

    scene.set("one", "b x").await?;
    let expected = ["PATCH testresources/one -> 200", "PATCH jobs/one-left -> 201"];
    assert_eq!(done(&operator.settled().await?), expected, "one forgets its own, and has another one to do");
    assert_eq!(nodes().await?, [entry("right/right")].into());
    succeed(&scene, "one-left").await?;
    operator.settled().await?;
    remove(&scene, "one-left").await?;
    operator.settled().await?;
    operator.stop().await;

    let operator = scene.start(controller("left")).await?;
    scene.set("one", "c x").await?;
    operator.settled().await?;
    assert_eq!(
        nodes().await?,
        [entry("right/right")].into(),
        "what the other one remembers stays while it is away"
    );
    operator.stop().await;
    let operator = TestOperator::start(both()).await?;
    assert_eq!(done(&operator.settled().await?), [""; 0], "and is known when it comes back");
    assert!(scene.api::<Job>().get_opt("one-right").await?.is_none());
    Ok(())
}
