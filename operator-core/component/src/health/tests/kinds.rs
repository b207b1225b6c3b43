//! A row for each state of each kind.

use super::*;

/// What is told about each object that a run has left as it was, of a component that was healthy before.
fn check(rows: &[(Value, &str)]) {
    for (object, expected) in rows {
        let row = of(object, Operation::Matched, Some(Reason::Healthy), now());
        assert_eq!(told(&row), *expected, "{object}");
    }
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    *object.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    object
}

#[test]
fn deployments() {
    let exceeded = condition("Progressing", "False", "ProgressDeadlineExceeded", "");
    let quota = condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota");
    check(&[
        (deployment(3), "Healthy: 3/3 replicas ready"),
        (deployment(1), "Scaling: 1/3 updated replicas available"),
        (with(deployment(3), "/status/replicas", json!(2)), "Scaling: 2/3 replicas created"),
        (with(deployment(3), "/metadata/generation", json!(2)), "Updating: generation 2 not seen yet, but 1"),
        (
            with(deployment(3), "/status/observedGeneration", json!(null)),
            "Creating: not seen by its controller yet",
        ),
        (with(deployment(3), "/status/conditions/0", exceeded), "Failing: progress deadline exceeded"),
        (
            with(deployment(1), "/status/conditions/1", quota),
            "Scaling: a pod can't be created or deleted: exceeded quota",
        ),
        (
            json!({ "apiVersion": "apps/v1", "kind": "Deployment",
                    "metadata": { "deletionTimestamp": "2026-11-21T11:00:00Z" } }),
            "Updating: being deleted",
        ),
        (
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "status": { "replicas": "three" } }),
            "Error: `status.replicas` is not an integer",
        ),
    ]);
}

#[test]
fn stateful_sets() {
    let of = |ready: i64, revision: &str| {
        let status = json!({
            "replicas": 2, "readyReplicas": ready, "currentReplicas": 2,
            "currentRevision": "a", "updateRevision": revision,
        });
        object("apps/v1", "StatefulSet", json!({ "replicas": 2 }), status)
    };
    check(&[
        (of(2, "a"), "Healthy: 2/2 replicas ready"),
        (of(1, "a"), "Scaling: 1/2 replicas ready"),
        (of(2, "b"), "Creating: new revision not current yet"),
        (
            with(of(2, "a"), "/status/observedGeneration", json!(null)),
            "Creating: not seen by its controller yet",
        ),
    ]);
}

#[test]
fn replica_sets() {
    let of = |ready: i64| {
        let status = json!({
            "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": ready, "availableReplicas": ready,
        });
        object("apps/v1", "ReplicaSet", json!({ "replicas": 2 }), status)
    };
    let unseen = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "generation": 1 }, "spec": { "replicas": 0 } });
    check(&[
        (of(2), "Healthy: 2/2 replicas ready"),
        (of(0), "Scaling: 0/2 replicas available"),
        (unseen, "Creating: not seen by its controller yet"),
    ]);
}

#[test]
fn daemon_sets() {
    let of = |wanted: i64, ready: i64| {
        let status = json!({
            "desiredNumberScheduled": wanted, "currentNumberScheduled": wanted, "updatedNumberScheduled": wanted,
            "numberAvailable": ready, "numberReady": ready,
        });
        object("apps/v1", "DaemonSet", json!({}), status)
    };
    check(&[
        (of(2, 2), "Healthy: 2/2 pods ready"),
        (of(0, 0), "Healthy: 0/0 pods ready"),
        (of(2, 1), "Scaling: 1/2 pods available"),
        (
            with(of(2, 2), "/status/observedGeneration", json!(null)),
            "Creating: not seen by its controller yet",
        ),
    ]);
}

#[test]
fn pods() {
    let of = |status: Value| object("v1", "Pod", json!({}), status);
    let crashing = json!({ "name": "web", "state": { "waiting": { "reason": "CrashLoopBackOff" } } });
    let ended = |code: i64| json!({ "name": "web", "state": { "terminated": { "exitCode": code } } });
    let ready = condition("Ready", "True", "", "");
    check(&[
        (of(json!({ "phase": "Running", "conditions": [ready] })), "Healthy: ready"),
        (of(json!({ "phase": "Succeeded", "containerStatuses": [ended(0)] })), "Completed: succeeded"),
        (of(json!({ "phase": "Pending" })), "Creating: pending"),
        (of(json!({})), "Creating: no phase yet"),
        (of(json!({ "phase": "Running" })), "Creating: running, but not ready"),
        (
            of(json!({ "phase": "Running", "containerStatuses": [crashing] })),
            "Failing: crashing again and again: web",
        ),
        (
            of(json!({ "phase": "Running", "containerStatuses": [ended(0), ended(3)] })),
            "Failing: container web has ended with exit code 3",
        ),
        (of(json!({ "phase": "Failed" })), "Failing: ended, but not successfully"),
        (of(json!({ "phase": "Failed", "message": "evicted" })), "Failing: evicted"),
    ]);
}

#[test]
fn jobs() {
    let of = |spec: Value, status: Value| object("batch/v1", "Job", spec, status);
    let started = "2026-11-21T11:00:00Z";
    let complete = condition("Complete", "True", "", "");
    let failed = condition("Failed", "True", "BackoffLimitExceeded", "too many");
    let suspended = condition("Suspended", "True", "JobSuspended", "");
    check(&[
        (
            of(json!({}), json!({ "conditions": [complete], "succeeded": 1 })),
            "Completed: complete: 1/1 succeeded",
        ),
        (
            of(json!({}), json!({ "conditions": [failed], "failed": 4 })),
            "TaskFailing: 4 pods failed: too many",
        ),
        (of(json!({}), json!({})), "TaskPending: not started"),
        (of(json!({}), json!({ "startTime": started })), "TaskPending: waiting for its pods"),
        (
            of(json!({}), json!({ "startTime": started, "active": 1 })),
            "TaskRunning: running: 1 active, 0 succeeded, 0 failed",
        ),
        (
            of(json!({}), json!({ "startTime": started, "failed": 2 })),
            "TaskRunning: running: 0 active, 0 succeeded, 2 failed",
        ),
        (of(json!({ "suspend": true }), json!({ "conditions": [suspended] })), "TaskPending: suspended"),
    ]);
}

#[test]
fn services_and_ingresses() {
    let service = |kind: &str, addresses: Value| {
        let spec = json!({ "type": kind, "clusterIP": "10.0.0.1" });
        object("v1", "Service", spec, json!({ "loadBalancer": { "ingress": addresses } }))
    };
    let ingress = |addresses: Value| {
        let status = json!({ "loadBalancer": { "ingress": addresses } });
        object("networking.k8s.io/v1", "Ingress", json!({}), status)
    };
    let waits = "OperationPending: no address from the load balancer yet";
    check(&[
        (service("ClusterIP", json!(null)), "Operational: there"),
        (service("LoadBalancer", json!(null)), waits),
        (service("LoadBalancer", json!([])), waits),
        (service("LoadBalancer", json!([{ "ipMode": "VIP" }])), waits),
        (service("LoadBalancer", json!([{ "ip": "192.0.2.1" }])), "Operational: there"),
        (service("LoadBalancer", json!([{}, { "hostname": "lb" }])), "Operational: there"),
        (
            with(service("LoadBalancer", json!(null)), "/spec/clusterIP", json!(null)),
            "OperationPending: no cluster IP yet",
        ),
        (ingress(json!(null)), waits),
        (ingress(json!([{ "ip": "" }])), waits),
        (ingress(json!([{ "hostname": "lb" }])), "Operational: there"),
    ]);
}

#[test]
fn claims_and_cron_jobs() {
    let claim = |phase: &str| object("v1", "PersistentVolumeClaim", json!({}), json!({ "phase": phase }));
    check(&[
        (claim("Bound"), "Operational: bound"),
        (claim("Pending"), "OperationPending: not bound: Pending"),
        (claim("Lost"), "OperationFailing: its volume is lost"),
        (object("batch/v1", "CronJob", json!({}), json!({})), "Operational: there"),
    ]);
}

#[test]
fn autoscalers() {
    let of = |conditions: Value| {
        object("autoscaling/v2", "HorizontalPodAutoscaler", json!({}), json!({ "conditions": conditions }))
    };
    let active = |status: &str, reason: &str| condition("ScalingActive", status, reason, "about metrics");
    let able = |status: &str| condition("AbleToScale", status, "", "");
    check(&[
        (of(json!([able("True"), active("True", "")])), "Operational: about metrics"),
        (
            of(json!([able("True"), active("False", "FailedGetResourceMetric")])),
            "OperationFailing: about metrics",
        ),
        (of(json!([able("True"), active("False", "ScalingDisabled")])), "Operational: about metrics"),
        (of(json!([able("True"), active("Unknown", "")])), "OperationPending: about metrics"),
        (of(json!([able("False"), active("True", "")])), "OperationFailing: AbleToScale is False"),
        (of(json!([able("True")])), "OperationPending: not seen by its controller yet"),
        (of(json!([])), "OperationPending: not seen by its controller yet"),
        (
            with(of(json!([active("True", "")])), "/metadata/generation", json!(2)),
            "OperationPending: generation 2 not seen yet, but 1",
        ),
    ]);
}

#[test]
fn definitions() {
    let of = |conditions: Value| {
        let kind = "CustomResourceDefinition";
        object("apiextensions.k8s.io/v1", kind, json!({}), json!({ "conditions": conditions }))
    };
    let established = |status: &str| condition("Established", status, "", "");
    let accepted = |status: &str| condition("NamesAccepted", status, "Taken", "a name is taken");
    check(&[
        (of(json!([established("True"), accepted("True")])), "Healthy: established"),
        (of(json!([established("True")])), "OperationPending: names not accepted yet"),
        (of(json!([accepted("True")])), "OperationPending: being installed"),
        (of(json!([established("True"), accepted("False")])), "Failing: a name is taken"),
    ]);
}

#[test]
fn anything_else() {
    let thing =
        |conditions: Value| object("example.com/v1", "Thing", json!({}), json!({ "conditions": conditions }));
    let budget = |generation: i64| {
        object("policy/v1", "PodDisruptionBudget", json!({}), json!({ "observedGeneration": generation }))
    };
    let ready = |status: &str| condition("Ready", status, "", "about it");
    let stalled = condition("Stalled", "True", "", "no licence");
    check(&[
        (thing(json!([ready("True")])), "Healthy: about it"),
        (thing(json!([ready("False")])), "OperationPending: about it"),
        (thing(json!([stalled])), "Failing: no licence"),
        (object("v1", "ConfigMap", json!(null), json!({})), "Healthy: there"),
        (budget(1), "Healthy: allowed disruptions are computed"),
        (budget(0), "Creating: generation 1 not seen yet, but 0"),
        // Others may have kinds of these names, too.
        (
            object("serving.example.com/v1", "Service", json!({ "type": "LoadBalancer" }), json!({})),
            "Healthy: there",
        ),
        (object("example.com/v1", "Job", json!({}), json!({})), "Healthy: there"),
        (json!({}), "Healthy: there"),
    ]);
}

#[test]
fn a_condition_of_the_users_own_is_told_in_the_words_of_the_family() {
    let text = "17 rows behind";
    let job = object("batch/v1", "Job", json!({}), json!({}));
    let claim = object("v1", "PersistentVolumeClaim", json!({}), json!({}));
    let rows = [
        (&deployment(3), true, "Healthy"),
        (&deployment(3), false, "Scaling"),
        (&job, true, "Completed"),
        (&job, false, "TaskPending"),
        (&claim, true, "Operational"),
        (&claim, false, "OperationPending"),
        // A record in another system.
        (&Value::Null, true, "Healthy"),
        (&Value::Null, false, "OperationPending"),
    ];
    for (object, is_ready, reason) in rows {
        let row = by_verdict(object, is_ready, text, Operation::Matched, Some(Reason::Healthy));
        assert_eq!(told(&row), format!("{reason}: {text}"), "{object}");
    }
    let row = by_verdict(&Value::Null, false, text, Operation::Created, None);
    assert_eq!(row.reason, Reason::Creating);
}
