//! What objects count as when the grace period is over.

use super::*;

#[test]
fn some_replicas_are_degraded_and_none_is_down() {
    let set = |kind: &str, ready: i64| {
        let status = json!({ "replicas": 2, "readyReplicas": ready });
        object("apps/v1", kind, json!({ "replicas": 2 }), status)
    };
    let daemon = |ready: i64| {
        let status = json!({ "desiredNumberScheduled": 2, "numberReady": ready });
        object("apps/v1", "DaemonSet", json!({}), status)
    };
    let pod = |phase: &str| object("v1", "Pod", json!({}), json!({ "phase": phase }));
    let claim = |phase: &str| object("v1", "PersistentVolumeClaim", json!({}), json!({ "phase": phase }));
    let (healthy, degraded, down) = (Some(Reason::Healthy), Some(Reason::Degraded), Some(Reason::Down));
    let rows = [
        (deployment(3), healthy),
        (deployment(1), degraded),
        (deployment(0), down),
        (set("StatefulSet", 1), degraded),
        (set("StatefulSet", 0), down),
        (set("ReplicaSet", 1), degraded),
        (set("ReplicaSet", 0), down),
        (daemon(1), degraded),
        (daemon(0), down),
        (pod("Running"), degraded),
        (pod("Pending"), down),
        (pod("Succeeded"), healthy),
        (claim("Bound"), healthy),
        (claim("Pending"), degraded),
        (claim("Lost"), down),
        (object("networking.k8s.io/v1", "Ingress", json!({}), json!({})), degraded),
        // They can't tell.
        (object("v1", "Service", json!({ "type": "LoadBalancer" }), json!({})), None),
        (object("batch/v1", "Job", json!({}), json!({})), None),
        (object("v1", "ConfigMap", json!(null), json!({})), None),
        (object("example.com/v1", "Thing", json!({}), json!({})), None),
        // One that can't be interpreted.
        (object("apps/v1", "Deployment", json!({}), json!({ "replicas": "three" })), down),
    ];
    for (object, expected) in rows {
        assert_eq!(after_grace(&object, now()), expected, "{object}");
    }
}
