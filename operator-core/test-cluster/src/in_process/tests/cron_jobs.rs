//! CronJobs, in virtual time. It begins at 2023-11-14 22:13:20.

use std::time::Duration;

use super::{rollouts::in_time, *};
use crate::in_process::Controllers;

const CRONS: &str = "/apis/batch/v1/namespaces/default/cronjobs";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

fn cron(spec: &Value) -> Value {
    let mut cron = json!({
        "metadata": { "name": "tick" },
        "spec": { "schedule": "*/10 * * * *", "jobTemplate": {
            "metadata": { "labels": { "of": "tick" } },
            "spec": { "template": { "spec": {
                "restartPolicy": "Never", "containers": [{ "name": "c", "image": "i" }],
            } } },
        } },
    });
    for (field, value) in spec.as_object().expect("fields") {
        cron["spec"][field] = value.clone();
    }
    cron
}

async fn minutes(minutes: u64) {
    tokio::time::sleep(Duration::from_secs(60 * minutes)).await;
}

impl Scene {
    async fn tick(&self) -> Value {
        self.get(&format!("{CRONS}/tick")).await.1
    }

    /// When the Jobs that are there were due.
    async fn jobs(&self) -> Vec<String> {
        let (_, list) = self.get(JOBS).await;
        let due = |job: &Value| {
            job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
                .as_str()
                .expect("a time")
                .to_owned()
        };
        list["items"].as_array().expect("items").iter().map(due).collect()
    }

    async fn make(&self, spec: Value) {
        let (code, made) = self.post(CRONS, cron(&spec)).await;
        assert_eq!(code, 201, "{made:#}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_is_started_at_each_time_and_the_last_ones_are_kept() {
    let scene = in_time(Controllers::AtOnce);
    scene.make(json!({ "successfulJobsHistoryLimit": 2 })).await;
    assert_eq!(scene.jobs().await, Vec::<String>::new());
    minutes(7).await;
    assert_eq!(scene.jobs().await, ["2023-11-14T22:20:00Z"]);
    let (_, list) = scene.get(JOBS).await;
    let (job, tick) = (&list["items"][0], scene.tick().await);
    assert_eq!(job["metadata"]["name"], "tick-28333340");
    assert_eq!(job["metadata"]["labels"]["of"], "tick");
    assert_eq!(job["metadata"]["ownerReferences"][0]["uid"], tick["metadata"]["uid"]);
    let status = &tick["status"];
    assert_eq!(status["lastScheduleTime"], "2023-11-14T22:20:00Z");
    assert_eq!(status["lastSuccessfulTime"], job["status"]["completionTime"]);
    assert_eq!(status["active"], Value::Null, "it has ended at once");
    minutes(60).await;
    assert_eq!(scene.jobs().await, ["2023-11-14T23:10:00Z", "2023-11-14T23:20:00Z"]);
    scene.delete(&format!("{CRONS}/tick"), Value::Null).await;
    assert_eq!(scene.jobs().await, Vec::<String>::new(), "its Jobs go with it");
}

#[tokio::test(start_paused = true)]
async fn what_still_runs_is_left_alone_joined_or_replaced() {
    for (policy, jobs) in [
        ("Allow", &["2023-11-14T22:20:00Z", "2023-11-14T22:30:00Z"][..]),
        ("Forbid", &["2023-11-14T22:20:00Z"]),
        ("Replace", &["2023-11-14T22:30:00Z"]),
    ] {
        let scene = in_time(Controllers::AtOnce);
        scene.server.pods().never_ready("").expect("a selector");
        scene.make(json!({ "concurrencyPolicy": policy })).await;
        minutes(19).await;
        assert_eq!(scene.jobs().await, jobs, "{policy}");
        let active = scene.tick().await["status"]["active"].clone();
        assert_eq!(active.as_array().map(Vec::len), Some(jobs.len()), "{policy}: {active}");
        assert_eq!(active[0]["kind"], "Job");
        scene.server.pods().release("").expect("a selector");
        let late = if policy == "Forbid" { 2 } else { jobs.len() };
        assert_eq!(scene.jobs().await.len(), late, "{policy}: what was forbidden comes late");
        assert_eq!(scene.tick().await["status"]["active"], Value::Null, "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_schedule_is_suspended_late_and_changed() {
    let scene = in_time(Controllers::AtOnce);
    scene.make(json!({ "suspend": true, "startingDeadlineSeconds": 100 })).await;
    minutes(10).await;
    assert_eq!(scene.jobs().await, Vec::<String>::new());
    let patch = async |spec: Value| {
        scene.patch(&format!("{CRONS}/tick"), MERGE, json!({ "spec": spec })).await;
    };
    patch(json!({ "suspend": false })).await;
    assert_eq!(scene.jobs().await, Vec::<String>::new(), "22:20 is too long ago");
    minutes(8).await;
    assert_eq!(scene.jobs().await, ["2023-11-14T22:30:00Z"]);
    patch(json!({ "startingDeadlineSeconds": null, "schedule": "0 9 * * *", "timeZone": "Asia/Tokyo" }))
        .await;
    assert_eq!(scene.jobs().await.len(), 1);
    minutes(120).await;
    assert_eq!(scene.jobs().await, ["2023-11-14T22:30:00Z", "2023-11-15T09:00:00+09:00"]);
}
