//! Kinds that can be suspended.

use super::*;

fn suspended_row(object: &Value) -> String {
    told(&suspended(object, false, now()))
}

#[test]
fn kinds_are_suspended_in_their_own_way() {
    let rows = [
        (
            "apps/v1",
            "Deployment",
            json!({ "replicas": 3, "paused": true }),
            json!({ "replicas": 0, "paused": true }),
        ),
        ("apps/v1", "StatefulSet", json!({}), json!({ "replicas": 0 })),
        ("apps/v1", "ReplicaSet", json!(null), json!({ "replicas": 0 })),
        ("batch/v1", "Job", json!({ "suspend": false }), json!({ "suspend": true })),
        (
            "batch/v1",
            "CronJob",
            json!({ "schedule": "@daily" }),
            json!({ "schedule": "@daily", "suspend": true }),
        ),
    ];
    for (api_version, kind, before, after) in rows {
        let mut wanted = object(api_version, kind, before, json!({}));
        assert!(suspend(&mut wanted), "{kind}");
        assert_eq!(wanted["spec"], after, "{kind}");
    }
}

#[test]
fn other_kinds_stay_as_they_are() {
    let others =
        [("apps/v1", "DaemonSet"), ("v1", "Pod"), ("v1", "Service"), ("example.com/v1", "Deployment")];
    for (api_version, kind) in others {
        let before = object(api_version, kind, json!({ "replicas": 3 }), json!({}));
        let mut after = before.clone();
        assert!(!suspend(&mut after), "{kind}");
        assert_eq!(after, before);
        assert_eq!(suspended_row(&after), format!("Suspended: {kind} stays as it is"));
    }
}

#[test]
fn replicas_go_one_by_one() {
    let of = |wanted: i64, running: i64| {
        object("apps/v1", "StatefulSet", json!({ "replicas": wanted }), json!({ "replicas": running }))
    };
    assert_eq!(suspended_row(&of(2, 2)), "Suspending: Waiting for the replicas to be set to zero");
    assert_eq!(
        suspended_row(&of(0, 2)),
        "Suspending: Waiting for replicas to scale down, 2 replicas still running."
    );
    assert_eq!(suspended_row(&of(0, 0)), "Suspended: StatefulSet scaled to zero");
    // A status of before says nothing.
    let mut stale = of(0, 0);
    stale["metadata"]["generation"] = 2.into();
    assert_eq!(suspended_row(&stale), "Suspending: generation 2 not seen yet, but 1");
    let mut new = of(0, 0);
    new["status"] = json!(null);
    assert_eq!(suspended_row(&new), "Suspending: not seen by its controller yet");
    let mut leaving = of(0, 0);
    leaving["metadata"]["deletionTimestamp"] = "2026-11-21T11:00:00Z".into();
    assert_eq!(suspended_row(&leaving), "Suspending: being deleted");
    let mut odd = of(0, 0);
    odd["status"]["conditions"] = "none".into();
    assert_eq!(suspended_row(&odd), "Error: `status.conditions` is not a list");
}

#[test]
fn a_job_is_suspended_once_none_of_its_pods_runs() {
    let of = |suspend: bool, status: Value| object("batch/v1", "Job", json!({ "suspend": suspend }), status);
    let says = condition("Suspended", "True", "JobSuspended", "");
    let rows = [
        (of(false, json!({})), "Suspending: Waiting for Job suspend field to be applied"),
        (of(true, json!({ "active": 1 })), "Suspending: Job is suspending, 1 pod(s) still active"),
        (of(true, json!({ "active": 0 })), "Suspending: not seen by its controller yet"),
        (of(true, json!({ "active": 0, "conditions": [says] })), "Suspended: Job is suspended"),
        (
            of(false, json!({ "conditions": [condition("Complete", "True", "", "")] })),
            "Suspended: Job has ended",
        ),
        (
            of(true, json!({ "conditions": [condition("Failed", "True", "", "")] })),
            "Suspended: Job has ended",
        ),
    ];
    for (job, expected) in rows {
        assert_eq!(suspended_row(&job), expected, "{job}");
    }
}

#[test]
fn a_cron_job_waits_for_its_jobs() {
    let of = |suspend: bool, active: Value| {
        object("batch/v1", "CronJob", json!({ "suspend": suspend }), json!({ "active": active }))
    };
    let rows = [
        (of(false, json!([])), "Suspending: Waiting for suspend flag to be applied"),
        (of(true, json!([{ "name": "a" }])), "Suspending: CronJob suspended but 1 active jobs still running"),
        (of(true, json!([])), "Suspended: CronJob suspended"),
        (of(true, json!(null)), "Suspended: CronJob suspended"),
    ];
    for (cron_job, expected) in rows {
        assert_eq!(suspended_row(&cron_job), expected, "{cron_job}");
    }
}

#[test]
fn what_a_component_changes_by_hand_is_suspended_when_the_cluster_has_done_it() {
    let worker = |status: &str| {
        let conditions = json!({ "conditions": [condition("Ready", status, "", "about it")] });
        object("example.com/v1", "Worker", json!({ "paused": true }), conditions)
    };
    let by_hand = |object: &Value| told(&suspended(object, true, now()));
    assert_eq!(by_hand(&worker("False")), "Suspending: about it");
    assert_eq!(by_hand(&worker("True")), "Suspended: about it");
    // A Deployment that somebody leaves one replica.
    let status = json!({ "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [
            condition("Progressing", "True", "NewReplicaSetAvailable", ""),
            condition("Available", "True", "", ""),
        ] });
    let one = object("apps/v1", "Deployment", json!({ "replicas": 1 }), status);
    assert_eq!(by_hand(&one), "Suspended: 1/1 replicas ready");
    assert_eq!(by_hand(&deployment(1)), "Suspending: 1/3 updated replicas available");
}
