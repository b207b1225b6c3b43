//! Kinds that run replicas.

use super::*;

#[test]
fn deployments() {
    let available = condition("Available", "True", "MinimumReplicasAvailable");
    let progressed = condition("Progressing", "True", "NewReplicaSetAvailable");
    let deadline = json!({ "replicas": 3, "progressDeadlineSeconds": 600 });
    let without = json!({ "replicas": 3, "progressDeadlineSeconds": i32::MAX });
    let counts = |replicas: u8, updated: u8, available: u8, ready: u8, conditions: &[&Value]| {
        json!({
            "replicas": replicas, "updatedReplicas": updated, "availableReplicas": available,
            "readyReplicas": ready, "conditions": conditions,
        })
    };
    let both = [&progressed, &available];
    let quota = condition("ReplicaFailure", "True", "FailedCreate");
    let refused = condition("Progressing", "False", "ReplicaSetCreateError");
    let exceeded = condition("Progressing", "False", "ProgressDeadlineExceeded");
    let row = |spec: &Value, status| json!({ "spec": spec, "status": status });
    let rows = [
        (
            row(&deadline, counts(3, 3, 3, 3, &[&exceeded])),
            "Failed/ProgressDeadlineExceeded",
            "progress deadline exceeded",
        ),
        (
            row(&deadline, counts(0, 0, 0, 0, &[&progressed, &quota])),
            "InProgress/ReplicaFailure",
            "a pod can't be created or deleted: about ReplicaFailure",
        ),
        (
            row(&deadline, counts(0, 0, 0, 0, &[&refused])),
            "InProgress/ReplicaSetCreateError",
            "about Progressing",
        ),
        (
            row(&deadline, counts(3, 3, 3, 3, &[&progressed, &available, &quota])),
            "Current",
            "3/3 replicas ready",
        ),
        (row(&deadline, counts(1, 0, 0, 0, &both)), "InProgress/LessReplicas", "1/3 replicas created"),
        (row(&deadline, counts(3, 2, 0, 0, &both)), "InProgress/LessUpdated", "2/3 replicas updated"),
        (
            row(&deadline, counts(4, 3, 0, 0, &both)),
            "InProgress/ExtraPods",
            "1 more than the 3 wanted replicas to terminate",
        ),
        (
            row(&deadline, counts(3, 3, 2, 0, &both)),
            "InProgress/LessAvailable",
            "2/3 updated replicas available",
        ),
        (row(&deadline, counts(3, 3, 3, 1, &both)), "InProgress/LessReady", "1/3 replicas ready"),
        (
            row(&deadline, counts(3, 3, 3, 3, &[&available])),
            "InProgress/ReplicaSetNotAvailable",
            "new replica set not available",
        ),
        (
            row(&deadline, counts(3, 3, 3, 3, &[&progressed])),
            "InProgress/DeploymentNotAvailable",
            "deployment not available",
        ),
        (row(&deadline, counts(3, 3, 3, 3, &both)), "Current", "3/3 replicas ready"),
        (row(&without, counts(3, 3, 3, 3, &[&available])), "Current", "3/3 replicas ready"),
        (json!({ "status": counts(1, 1, 1, 1, &[&available]) }), "Current", "1/1 replicas ready"),
        (json!({}), "InProgress/LessReplicas", "0/1 replicas created"),
        (
            row(&json!({ "replicas": 0 }), json!({ "conditions": [available] })),
            "Current",
            "0/0 replicas ready",
        ),
    ];
    check("apps/v1", "Deployment", &rows);
    check("extensions/v1beta1", "Deployment", &rows);
}

#[test]
fn stateful_sets() {
    let spec = json!({ "replicas": 3 });
    let partition = json!({ "replicas": 3, "updateStrategy": { "rollingUpdate": { "partition": 1 } } });
    let none = json!({ "replicas": 3, "updateStrategy": { "rollingUpdate": { "partition": 0 } } });
    let counts = |replicas: u8, ready: u8, current: u8, updated: u8| {
        json!({
            "replicas": replicas, "readyReplicas": ready, "currentReplicas": current,
            "updatedReplicas": updated, "currentRevision": "a", "updateRevision": "a",
        })
    };
    let mut mismatch = counts(3, 3, 3, 3);
    mismatch["updateRevision"] = json!("b");
    let row = |spec: &Value, status| json!({ "spec": spec, "status": status });
    let on_delete = json!({ "replicas": 3, "updateStrategy": { "type": "OnDelete" } });
    check(
        "apps/v1",
        "StatefulSet",
        &[
            (row(&on_delete, json!({})), "Current", "pods are updated when someone deletes them"),
            (row(&spec, counts(2, 0, 0, 0)), "InProgress/LessReplicas", "2/3 replicas created"),
            (row(&spec, counts(4, 1, 0, 0)), "InProgress/LessReady", "1/3 replicas ready"),
            (
                row(&spec, counts(4, 3, 0, 0)),
                "InProgress/ExtraPods",
                "1 more than the 3 wanted replicas to terminate",
            ),
            (
                row(&partition, counts(3, 3, 0, 1)),
                "InProgress/PartitionRollout",
                "1/2 replicas of the partition updated",
            ),
            (row(&partition, counts(3, 3, 0, 2)), "Current", "the partition is updated"),
            (
                row(&none, counts(3, 3, 3, 2)),
                "InProgress/PartitionRollout",
                "2/3 replicas of the partition updated",
            ),
            (
                row(&spec, counts(3, 3, 2, 1)),
                "InProgress/LessCurrent",
                "2/3 replicas of the current revision",
            ),
            (row(&spec, mismatch), "InProgress/RevisionMismatch", "new revision not current yet"),
            (row(&spec, counts(3, 3, 3, 3)), "Current", "3/3 replicas ready"),
        ],
    );
}

#[test]
fn daemon_sets() {
    let counts = |current: u8, updated: u8, available: u8, ready: u8| {
        json!({ "metadata": { "generation": 1 }, "status": {
            "observedGeneration": 1, "desiredNumberScheduled": 3, "currentNumberScheduled": current,
            "updatedNumberScheduled": updated, "numberAvailable": available, "numberReady": ready,
        } })
    };
    let unseen = json!({ "metadata": { "generation": 1 } });
    let uncounted = json!({ "metadata": { "generation": 1 }, "status": { "observedGeneration": 1 } });
    let rows = [
        (json!({}), "InProgress/NoGeneration", "no generation yet"),
        (unseen, "InProgress/NoObservedGeneration", "not seen by its controller yet"),
        (uncounted, "InProgress/NoDesiredNumber", "number of nodes not known yet"),
        (counts(2, 1, 0, 0), "InProgress/LessCurrent", "2/3 pods scheduled"),
        (counts(3, 2, 1, 0), "InProgress/LessUpdated", "2/3 pods updated"),
        (counts(3, 3, 2, 1), "InProgress/LessAvailable", "2/3 pods available"),
        (counts(3, 3, 3, 2), "InProgress/LessReady", "2/3 pods ready"),
        (counts(3, 3, 3, 3), "Current", "3/3 pods ready"),
    ];
    check("apps/v1", "DaemonSet", &rows);
    check("extensions/v1beta1", "DaemonSet", &rows);
}

#[test]
fn replica_sets() {
    let counts = |replicas: u8, labelled: u8, available: u8, ready: u8| {
        json!({ "spec": { "replicas": 3 }, "status": {
            "replicas": replicas, "fullyLabeledReplicas": labelled, "availableReplicas": available,
            "readyReplicas": ready,
        } })
    };
    let failure = condition("ReplicaFailure", "True", "FailedCreate");
    let rows = [
        (
            json!({ "status": { "conditions": [failure] } }),
            "InProgress/ReplicaFailure",
            "a pod can't be created or deleted: about ReplicaFailure",
        ),
        (counts(3, 2, 1, 0), "InProgress/LessLabelled", "2/3 replicas labelled"),
        (counts(3, 3, 2, 1), "InProgress/LessAvailable", "2/3 replicas available"),
        (counts(3, 3, 3, 2), "InProgress/LessReady", "2/3 replicas ready"),
        (counts(5, 3, 3, 3), "InProgress/ExtraPods", "2 more than the 3 wanted replicas to terminate"),
        (counts(3, 3, 3, 3), "Current", "3/3 replicas ready"),
    ];
    check("apps/v1", "ReplicaSet", &rows);
    check("extensions/v1beta1", "ReplicaSet", &rows);
}
