//! Jobs and CronJobs.

use serde_json::{Value, json};

use super::{Story, counts, has, template};

const JOBS: &str = "batch/v1/jobs";

fn job(name: &str, spec: &Value) -> Value {
    let mut template = template(name, "job:1");
    template["spec"]["restartPolicy"] = "Never".into();
    let mut job = json!({ "metadata": { "name": name }, "spec": { "template": template } });
    for (field, value) in spec.as_object().expect("fields") {
        job["spec"][field] = value.clone();
    }
    job
}

/// A Job whose Pods wait for the story.
fn by_hand(name: &str, spec: &Value) -> Value {
    let mut job = job(name, spec);
    job["spec"]["template"]["spec"]["schedulerName"] = "nobody".into();
    job
}

fn failed(code: i64) -> Value {
    json!({
        "phase": "Failed",
        "containerStatuses": [{
            "name": "main", "image": "job:1", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "terminated": {
                "exitCode": code, "startedAt": "2024-01-01T00:00:00Z", "finishedAt": "2024-01-01T00:00:01Z",
            } },
        }],
    })
}

fn path(name: &str) -> String {
    format!("{JOBS}/{name}")
}

impl Story {
    async fn same_jobs(&mut self) {
        for of in [JOBS, "v1/pods"] {
            self.same(of).await;
        }
    }

    async fn has_pods(&self, selector: &str, count: usize) {
        let of = format!("v1/pods?labelSelector={selector}");
        let has = |list: &Value| list["items"].as_array().is_some_and(|pods| pods.len() == count);
        self.until(&of, "there", has).await;
    }
}

#[tokio::test]
async fn a_job_runs_to_its_end_also_after_a_pause() {
    let mut story = Story::new("jobs").await;
    let once = job("once", &json!({ "completions": 2, "parallelism": 1, "suspend": true }));
    story.send("POST", JOBS, &once).await;
    story.until(&path("once"), "suspended", |job| has(job, "Suspended", "True")).await;
    story.same_jobs().await;
    story.send("MERGE", &path("once"), &json!({ "spec": { "suspend": false } })).await;
    story.until(&path("once"), "complete", |job| has(job, "Complete", "True")).await;
    let index = job("index", &json!({ "completions": 3, "parallelism": 3, "completionMode": "Indexed" }));
    story.send("POST", JOBS, &index).await;
    story.until(&path("index"), "complete", |job| has(job, "Complete", "True")).await;
    story.same_jobs().await;
    story.same_events_in_any_order("Job").await;
    story.end();
}

#[tokio::test]
async fn a_job_is_suspended_while_it_runs() {
    let mut story = Story::new("suspended").await;
    story.send("POST", JOBS, &by_hand("once", &json!({ "parallelism": 2 }))).await;
    story.has_pods("app%3Donce", 2).await;
    story.send("MERGE", &path("once"), &json!({ "spec": { "suspend": true } })).await;
    story.has_pods("app%3Donce", 0).await;
    story.until(&path("once"), "suspended", |job| has(job, "Suspended", "True")).await;
    story.same_jobs().await;
    story.send("MERGE", &path("once"), &json!({ "spec": { "suspend": false } })).await;
    story.has_pods("app%3Donce", 2).await;
    story.same_jobs().await;
    story.send("DELETE", &path("once"), &json!({ "propagationPolicy": "Foreground" })).await;
    story.until(&path("once"), "gone", |job| job["code"] == 404).await;
    story.same_events("Job").await;
    story.end();
}

#[tokio::test]
async fn the_policy_of_a_job_decides_what_a_failure_means() {
    let mut story = Story::new("failures").await;
    let rule = |action: &str, code: i64| json!({ "action": action, "onExitCodes": { "operator": "In", "values": [code] } });
    let policy = json!({ "rules": [rule("Ignore", 7), rule("FailJob", 42)] });
    let spec = json!({ "backoffLimit": 1, "podFailurePolicy": policy });
    story.send("POST", JOBS, &by_hand("once", &spec)).await;
    story.has_pods("app%3Donce", 1).await;
    story.pods_become("app%3Donce", &failed(42)).await;
    story.until(&path("once"), "failed", |job| has(job, "Failed", "True")).await;
    let limited = by_hand("many", &json!({ "backoffLimit": 0 }));
    story.send("POST", JOBS, &limited).await;
    story.has_pods("app%3Dmany", 1).await;
    story.pods_become("app%3Dmany", &failed(1)).await;
    story.until(&path("many"), "failed", |job| has(job, "Failed", "True")).await;
    story.same_jobs().await;
    story.same_events("Job").await;
    story.end();
}

#[tokio::test]
async fn an_ignored_failure_is_not_counted() {
    let mut story = Story::new("ignored").await;
    let policy =
        json!({ "rules": [{ "action": "Ignore", "onExitCodes": { "operator": "In", "values": [7] } }] });
    story
        .send("POST", JOBS, &by_hand("once", &json!({ "backoffLimit": 0, "podFailurePolicy": policy })))
        .await;
    story.has_pods("app%3Donce", 1).await;
    story.pods_become("app%3Donce", &failed(7)).await;
    story.has_pods("app%3Donce", 2).await;
    story.until(&path("once"), "running again", |job| counts(job, &[("active", 1), ("failed", 0)])).await;
    story.same_jobs().await;
    story.same_events("Job").await;
    story.end();
}

#[tokio::test]
async fn each_index_fails_for_itself() {
    let mut story = Story::new("indexes").await;
    let spec = json!({
        "completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 0,
        "maxFailedIndexes": 2,
    });
    story.send("POST", JOBS, &by_hand("index", &spec)).await;
    story.has_pods("app%3Dindex", 3).await;
    let of = |index: i64| format!("batch.kubernetes.io/job-completion-index%3D{index}");
    story.pods_become(&of(1), &failed(1)).await;
    story.until(&path("index"), "partly failed", |job| job["status"]["failedIndexes"] == "1").await;
    story.same_jobs().await;
    story.pods_become(&of(0), &json!({ "phase": "Succeeded" })).await;
    story.pods_become(&of(2), &json!({ "phase": "Succeeded" })).await;
    story.until(&path("index"), "failed", |job| has(job, "Failed", "True")).await;
    story.same_jobs().await;
    story.same_events_in_any_order("Job").await;
    story.end();
}

#[tokio::test]
async fn some_indexes_are_enough() {
    let mut story = Story::new("enough").await;
    let spec = json!({
        "completions": 3, "parallelism": 3, "completionMode": "Indexed",
        "successPolicy": { "rules": [{ "succeededIndexes": "2" }, { "succeededCount": 1 }] },
    });
    story.send("POST", JOBS, &by_hand("index", &spec)).await;
    story.has_pods("app%3Dindex", 3).await;
    story.pods_become("batch.kubernetes.io/job-completion-index%3D1", &json!({ "phase": "Succeeded" })).await;
    story.until(&path("index"), "complete", |job| has(job, "Complete", "True")).await;
    story.has_pods("app%3Dindex", 1).await;
    story.same_jobs().await;
    story.same_events_in_any_order("Job").await;
    story.end();
}

#[tokio::test]
async fn a_cron_job_starts_what_is_due() {
    let mut story = Story::new("crons").await;
    let template = job("tick", &json!({}))["spec"].clone();
    let cron = json!({
        "metadata": { "name": "tick" },
        "spec": {
            "schedule": "0 0 * * *", "timeZone": "Etc/UTC", "suspend": true, "failedJobsHistoryLimit": 0,
            "jobTemplate": { "metadata": { "labels": { "of": "tick" } }, "spec": template },
        },
    });
    let tick = "batch/v1/cronjobs/tick";
    story.send("POST", "batch/v1/cronjobs", &cron).await;
    story.same("batch/v1/cronjobs").await;
    // The midnight after this is due.
    let long_ago = json!({ "status": { "lastScheduleTime": "2026-01-01T00:00:00Z" } });
    story.send("MERGE", &format!("{tick}/status"), &long_ago).await;
    story.send("MERGE", tick, &json!({ "spec": { "suspend": false } })).await;
    story.until(tick, "done", |tick| tick["status"]["lastSuccessfulTime"].is_string()).await;
    story.until(tick, "idle", |tick| tick["status"]["active"].is_null()).await;
    story.same("batch/v1/cronjobs").await;
    story.same_jobs().await;
    story.same_events("CronJob").await;
    story.send("DELETE", tick, &json!({ "propagationPolicy": "Background" })).await;
    story.has_pods("job-name", 0).await;
    story.end();
}
