//! Jobs that were done are remembered for their content, over their end and that of the operator, and aren't created again.

mod beside;

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::{api::batch::v1::Job, jiff::Timestamp};
use operator_core::{controller::NoReconciler, prelude::*};

use super::{a_map, done, says};

const ANNOTATION: &str = "operator-core.io/done-jobs";

/// The real server's own controller leaves it alone: the test says how it ends.
fn job(primary: &TestResource, content: &str) -> Result<Job> {
    // Longer ago than that nothing was.
    let ttl = if says(primary, "kept") { i32::MAX } else { i32::MAX - 1 };
    let container = json!({ "name": "run", "image": "migrate", "args": [content] });
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    Ok(serde_json::from_value(json!({
        "spec": { "managedBy": "example.com/the-test", "ttlSecondsAfterFinished": ttl, "template": template },
    }))?)
}

/// It runs the first word of the value, unless there is none.
fn migration(primary: &TestResource) -> Result<Option<Job>> {
    let Some(word) = primary.spec.value.split_whitespace().next() else { return Ok(None) };
    job(primary, word).map(Some)
}

fn app(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

fn pages(scene: &Scene) -> ControllerBuilder<NoReconciler<TestResource>> {
    Controller::of::<TestResource>()
        .workflow((migration, app.after(migration)))
        .namespaces([&scene.namespace])
}

/// What the controller of Jobs does when one has succeeded.
async fn succeed(scene: &Scene, name: &str) -> Result<()> {
    succeed_at(scene, name, "2026-01-01T00:01:00Z".parse()?).await
}

async fn succeed_at(scene: &Scene, name: &str, at: Timestamp) -> Result<()> {
    let condition = |of: &str| json!({ "type": of, "status": "True", "lastTransitionTime": at });
    let status = json!({
        "startTime": at,
        "completionTime": at,
        "succeeded": 1,
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    });
    let patch = Patch::Merge(json!({ "status": status }));
    scene.api::<Job>().patch_status(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// What the controller of their lifetimes does, or anybody.
async fn remove(scene: &Scene, name: &str) -> Result<()> {
    scene.api::<Job>().delete(name, &DeleteParams::background()).await?;
    Ok(())
}

async fn annotation(scene: &Scene) -> Result<Option<Value>> {
    let primary = scene.api::<TestResource>().get("one").await?;
    let text = primary.annotations().get(ANNOTATION);
    Ok(text.map(|text| serde_json::from_str(text)).transpose()?)
}

#[operator_test]
async fn a_job_that_was_done_and_is_gone_is_not_made_again() -> Result<()> {
    let scene = Scene::new("functions-jobs").await?;
    let operator = scene.start(pages(&scene)).await?;
    scene.create("one", "first").await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH jobs/one-migration -> 201"]);
    succeed(&scene, "one-migration").await?;
    let expected = ["PATCH testresources/one -> 200", "PATCH configmaps/one-app -> 201"];
    assert_eq!(
        done(&operator.settled().await?),
        expected,
        "it is remembered before anything follows from it"
    );

    remove(&scene, "one-migration").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "nothing is written");
    operator.stop().await;

    let operator = scene.start(pages(&scene)).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "nor by another process");
    scene.set("one", "first kept").await?;
    let expected = ["PATCH configmaps/one-app -> 200"];
    assert_eq!(
        done(&operator.settled().await?),
        expected,
        "it is ready, and how long it is kept is no content"
    );

    scene.set("one", "second").await?;
    let expected = ["PATCH testresources/one -> 200", "PATCH jobs/one-migration -> 201"];
    assert_eq!(done(&operator.settled().await?), expected, "the old one is forgotten, the new one is run");
    assert_eq!(annotation(&scene).await?, None);
    remove(&scene, "one-migration").await?;
    let expected = ["PATCH jobs/one-migration -> 201"];
    assert_eq!(done(&operator.settled().await?), expected, "nobody has seen it done, so it is made again");
    Ok(())
}

#[operator_test]
async fn what_was_not_the_last_one_is_run_again() -> Result<()> {
    let scene = Scene::new("functions-jobs-again").await?;
    let nodes = (node(migration).recreate_when_immutable(), app.after(migration));
    let controller = Controller::of::<TestResource>().workflow(nodes).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    succeed(&scene, "one-migration").await?;
    operator.settled().await?;
    assert!(annotation(&scene).await?.is_some());
    remove(&scene, "one-migration").await?;

    scene.set("one", "second").await?;
    scene.until_other("the second content", "one-migration", |job: &Job| runs(job, "second")).await?;
    scene.set("one", "first").await?;
    scene.until_other("the first content", "one-migration", |job: &Job| runs(job, "first")).await?;
    operator.settled().await?;
    assert_eq!(annotation(&scene).await?, None, "it was done before the second one was begun");

    succeed(&scene, "one-migration").await?;
    operator.settled().await?;
    scene.set("one", "").await?;
    operator.settled().await?;
    assert_eq!(annotation(&scene).await?, None, "what isn't wanted is forgotten");
    assert!(scene.api::<Job>().get_opt("one-migration").await?.is_none());
    scene.set("one", "first").await?;
    assert!(done(&operator.settled().await?).contains(&"PATCH jobs/one-migration -> 201".to_owned()));
    Ok(())
}

fn runs(job: &Job, word: &str) -> bool {
    let template = job.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    template
        .is_some_and(|pod| pod.containers.iter().any(|run| run.args.as_deref() == Some(&[word.to_owned()])))
}

/// One for each word.
fn batches(primary: &TestResource) -> Result<Vec<Job>> {
    let words = primary.spec.value.split_whitespace().map(|word| {
        let mut job = job(primary, word)?;
        job.metadata.name = Some(format!("batch-{word}"));
        Ok(job)
    });
    words.collect()
}

#[operator_test]
async fn each_of_several_is_remembered_by_its_name_also_where_its_node_is_renamed() -> Result<()> {
    let scene = Scene::new("functions-jobs-several").await?;
    let controller = |name: &'static str| {
        let nodes = (batches.named(name), app.after(batches));
        Controller::of::<TestResource>().workflow(nodes).namespaces([&scene.namespace])
    };
    let operator = scene.start(controller("old")).await?;
    scene.create("one", "a b").await?;
    operator.settled().await?;
    succeed(&scene, "batch-a").await?;
    operator.settled().await?;
    remove(&scene, "batch-a").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    succeed(&scene, "batch-b").await?;
    operator.settled().await?;
    remove(&scene, "batch-b").await?;
    operator.settled().await?;
    assert_eq!(scene.values().await?.len(), 1, "all are done, though none is there");
    operator.stop().await;

    let operator = scene.start(controller("new")).await?;
    let renamed = operator.settled().await?.written();
    assert!(renamed.iter().all(|write| write == "PATCH testresources/one -> 200"), "{renamed:?}");
    let entries = annotation(&scene).await?.context("it is remembered")?;
    let entries = entries.as_object().context("entries")?;
    assert_eq!(entries.len(), 1, "the old name's entry goes: {entries:?}");
    assert!(
        entries.iter().all(|(node, done)| node.ends_with("/new") && done.as_array().map(Vec::len) == Some(2))
    );

    scene.set("one", "a c").await?;
    let expected =
        ["PATCH testresources/one -> 200", "PATCH configmaps/one-app -> 200", "PATCH jobs/batch-c -> 201"];
    let mut written = done(&operator.settled().await?);
    written.sort();
    assert!(
        written.contains(&expected[2].to_owned()) && !written.iter().any(|w| w.contains("batch-a")),
        "{written:?}"
    );
    Ok(())
}

#[operator_test]
async fn a_job_that_is_only_created_is_done_whatever_its_content_is_today() -> Result<()> {
    let scene = Scene::new("functions-jobs-once").await?;
    let controller = Controller::of::<TestResource>().workflow((migration.create_only(),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.set("one", "second").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    succeed(&scene, "one-migration").await?;
    operator.settled().await?;
    remove(&scene, "one-migration").await?;
    scene.set("one", "third").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    Ok(())
}

#[operator_test]
async fn the_end_of_its_lifetime_is_no_reason_to_run_it_again() -> Result<()> {
    let scene = Scene::new("functions-jobs-lifetime").await?;
    let short = |primary: &TestResource| -> Result<Job> {
        let mut job = job(primary, "once")?;
        if let Some(spec) = &mut job.spec {
            spec.ttl_seconds_after_finished = Some(1);
        }
        Ok(job)
    };
    let controller = Controller::of::<TestResource>().workflow((short.named("short"),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    // Late enough for the operator to see it.
    let made = scene.api::<Job>().get("one-short").await?.creation_timestamp().context("it is there")?;
    succeed_at(&scene, "one-short", made.0 + Duration::from_secs(4)).await?;
    if scene.cluster.is_in_process() {
        // There is no controller for that.
        operator.settled().await?;
        remove(&scene, "one-short").await?;
    }
    eventually("its end", async || {
        let job = scene.api::<Job>().get_opt("one-short").await?;
        Ok(job.is_none().then_some(()))
    })
    .await?;
    operator.settled().await?;
    assert!(scene.api::<Job>().get_opt("one-short").await?.is_none(), "it isn't made again");
    assert!(annotation(&scene).await?.is_some());
    Ok(())
}

/// A reconciler that writes its primary, and knows nothing of what the framework has written there.
async fn beside_a_patch(ssa: bool) -> Result<()> {
    let scene = Scene::new("functions-jobs-patch").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            let mut desired = match says(&primary, "whole") {
                // With all that is there, as most would do it.
                true => (*primary).clone(),
                false => fresh(&*primary, &primary.spec.value),
            };
            let by = [("by".to_owned(), primary.spec.value.clone())];
            desired.metadata.annotations.get_or_insert_default().extend(by);
            if !says(&primary, "whole") {
                desired.metadata.annotations.get_or_insert_default().remove(ANNOTATION);
            }
            Ok(UpdateControl::patch_resource(desired))
        })
    });
    let controller = script.controller().use_ssa_to_patch_primary(ssa).workflow((migration,));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first whole").await?;
    operator.settled().await?;
    succeed(&scene, "one-migration").await?;
    operator.settled().await?;
    remove(&scene, "one-migration").await?;
    // The run that the removal causes is over before the value changes: with the whole primary of before it would take that back.
    assert_eq!(done(&operator.settled().await?), [""; 0], "ssa: {ssa}, removed");
    for value in ["first whole once", "first", "first again", "first whole again"] {
        scene.set("one", value).await?;
        assert_eq!(
            done(&operator.settled().await?),
            ["PATCH testresources/one -> 200"],
            "ssa: {ssa}, {value}"
        );
        assert!(annotation(&scene).await?.is_some(), "it stays: ssa: {ssa}, {value}");
        let one = scene.api::<TestResource>().get("one").await?;
        assert_eq!(one.annotations().get("by").map(String::as_str), Some(value));
        let owns = |(operation, _, fields): &(&str, &str, String)| {
            *operation == "Apply" && fields.contains("done-jobs")
        };
        assert!(!entries_of(&one, "script").iter().any(|entry| owns(&(
            entry.0,
            entry.1,
            entry.2.to_string()
        ))));
    }
    Ok(())
}

#[operator_test]
async fn an_apply_of_the_primary_neither_drops_nor_owns_what_is_remembered() -> Result<()> {
    beside_a_patch(true).await
}

#[operator_test]
async fn a_patch_of_the_primary_leaves_what_is_remembered() -> Result<()> {
    beside_a_patch(false).await
}

/// Its key is the first word, and its content the whole.
fn once(primary: &TestResource) -> Result<Job> {
    job(primary, &primary.spec.value)
}

fn first_word(primary: &TestResource) -> String {
    primary.spec.value.split_whitespace().next().unwrap_or_default().to_owned()
}

async fn names_of_jobs(scene: &Scene) -> Result<Vec<String>> {
    let jobs = scene.api::<Job>().list(&Default::default()).await?;
    Ok(jobs.items.iter().map(ResourceExt::name_any).filter(|name| name.starts_with("one-once")).collect())
}

#[operator_test]
async fn a_job_runs_once_for_each_key_and_not_for_each_content() -> Result<()> {
    let scene = Scene::new("functions-jobs-keys").await?;
    let controller = Controller::of::<TestResource>()
        .workflow((once.once_per(first_word), app.after(once)))
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "v1 a").await?;
    operator.settled().await?;
    let first = names_of_jobs(&scene).await?;
    assert_eq!(first.len(), 1, "{first:?}");
    // Other content of the same key, while it runs and once it was done.
    scene.set("one", "v1 b").await?;
    assert!(
        !done(&operator.settled().await?).iter().any(|write| write.contains("jobs/")),
        "it isn't changed"
    );
    succeed(&scene, &first[0]).await?;
    operator.settled().await?;
    remove(&scene, &first[0]).await?;
    operator.settled().await?;
    scene.set("one", "v1 c").await?;
    operator.settled().await?;
    assert_eq!(names_of_jobs(&scene).await?, [""; 0], "it ran for this key");
    // Another key is another Job, whatever the content.
    scene.set("one", "v2 c").await?;
    operator.settled().await?;
    let second = names_of_jobs(&scene).await?;
    assert!(second.len() == 1 && second != first, "{first:?} {second:?}");
    Ok(())
}
