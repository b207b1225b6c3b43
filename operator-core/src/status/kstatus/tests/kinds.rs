//! All other kinds with rules.

use super::*;

#[test]
fn jobs() {
    let status = |conditions: Value, started: &str| json!({ "succeeded": 1, "failed": 2, "active": 3, "startTime": started, "conditions": conditions });
    let complete = condition("Complete", "True", "");
    let failed = condition("Failed", "True", "BackoffLimitExceeded");
    let suspended = condition("Suspended", "True", "");
    let spec = json!({ "completions": 4, "suspend": true });
    check(
        "batch/v1",
        "Job",
        &[
            (
                json!({ "spec": spec, "status": status(json!([complete, failed]), "now") }),
                "Current",
                "complete: 1/4 succeeded",
            ),
            (json!({ "status": status(json!([complete]), "now") }), "Current", "complete: 1/1 succeeded"),
            (
                json!({ "spec": { "parallelism": 2 }, "status": status(json!([complete]), "now") }),
                "Current",
                "complete: 1/2 succeeded",
            ),
            (
                json!({ "spec": spec, "status": status(json!([failed, complete]), "now") }),
                "Failed/JobFailed",
                "2 pods failed: about Failed",
            ),
            (json!({ "spec": spec, "status": status(json!([suspended]), "") }), "Current", "suspended"),
            (json!({ "status": status(json!([suspended]), "") }), "InProgress/JobNotStarted", "not started"),
            (
                json!({ "status": { "conditions": [condition("Failed", "False", "")] } }),
                "InProgress/JobNotStarted",
                "not started",
            ),
            (
                json!({ "status": status(json!([]), "now") }),
                "Current",
                "running: 3 active, 1 succeeded, 2 failed",
            ),
        ],
    );
}

#[test]
fn pods() {
    let status =
        |phase: &str, conditions: Value| json!({ "status": { "phase": phase, "conditions": conditions } });
    let mut crashing = status("Running", json!([condition("Ready", "False", "ContainersNotReady")]));
    crashing["status"]["containerStatuses"] = json!([
        { "name": "web", "state": { "waiting": { "reason": "CrashLoopBackOff" } } },
        { "name": "log", "state": { "running": {} } },
        { "name": "db", "state": { "waiting": { "reason": "CrashLoopBackOff" } } },
    ]);
    check(
        "v1",
        "Pod",
        &[
            (status("Succeeded", json!([])), "Current", "succeeded"),
            (status("Failed", json!([])), "Current", "ended, but not successfully"),
            (status("Running", json!([condition("Ready", "True", "")])), "Current", "ready"),
            (crashing, "Failed/ContainerCrashLooping", "crashing again and again: web, db"),
            (status("Running", json!([])), "InProgress/PodRunningNotReady", "running, but not ready"),
            (status("Pending", json!([])), "InProgress/PodPending", "pending"),
            (
                status("Pending", json!([condition("PodScheduled", "False", "SchedulingGated")])),
                "InProgress/PodPending",
                "pending",
            ),
            (status("", json!([])), "InProgress/PodNotObserved", "no phase yet"),
            (json!({}), "InProgress/PodNotObserved", "no phase yet"),
        ],
    );
}

#[test]
fn a_pod_that_cannot_be_scheduled_has_fifteen_seconds() {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "creationTimestamp": "2026-11-21T12:00:10Z" },
        "status": { "phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable")] },
    });
    for second in [9, 10, 24] {
        assert_eq!(at(&pod, second).unwrap().reason, "PodNotScheduled");
    }
    let late = at(&pod, 25).unwrap();
    assert_eq!((late.status, &*late.reason), (Status::Failed, "PodUnschedulable"));
    pod["metadata"]["creationTimestamp"] = json!("yesterday");
    assert_eq!(at(&pod, 25).unwrap_err().to_string(), "`metadata.creationTimestamp` is not a time");
    pod["metadata"]["creationTimestamp"] = json!(null);
    assert_eq!(at(&pod, 0).unwrap().status, Status::Failed);
}

#[test]
fn a_phase_that_pods_do_not_have_is_an_error() {
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "status": { "phase": "Resting" } });
    assert_eq!(at(&pod, 0).unwrap_err(), Error::PodPhase("Resting".to_owned()));
}

#[test]
fn persistent_volume_claims() {
    check(
        "v1",
        "PersistentVolumeClaim",
        &[
            (json!({ "status": { "phase": "Pending" } }), "InProgress/NotBound", "not bound: Pending"),
            (json!({}), "InProgress/NotBound", "not bound: no phase yet"),
            (json!({ "status": { "phase": "Bound" } }), "Current", "bound"),
        ],
    );
}

#[test]
fn services() {
    check(
        "v1",
        "Service",
        &[
            (json!({ "spec": { "type": "LoadBalancer" } }), "InProgress/NoIPAssigned", "no cluster IP yet"),
            (
                json!({ "spec": { "type": "LoadBalancer", "clusterIP": "10.0.0.1" }, "status": { "loadBalancer": {} } }),
                "InProgress/NoAddress",
                "no address from the load balancer yet",
            ),
            (
                json!({
                    "spec": { "type": "LoadBalancer", "clusterIP": "10.0.0.1" },
                    "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } },
                }),
                "Current",
                "there",
            ),
            (json!({ "spec": { "type": "ClusterIP" } }), "Current", "there"),
            (json!({}), "Current", "there"),
        ],
    );
}

#[test]
fn custom_resource_definitions() {
    let with = |conditions: Value| json!({ "status": { "conditions": conditions } });
    let accepted = condition("NamesAccepted", "True", "NoConflicts");
    let conflict = condition("NamesAccepted", "False", "ListKindConflict");
    let established = |status, reason| condition("Established", status, reason);
    check(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &[
            (
                with(json!([conflict, established("True", "")])),
                "Failed/ListKindConflict",
                "about NamesAccepted",
            ),
            (with(json!([established("False", "NotAccepted")])), "Failed/NotAccepted", "about Established"),
            (with(json!([established("False", "")])), "Failed/NotEstablished", "about Established"),
            (
                with(json!([accepted, established("False", "Installing")])),
                "InProgress/Installing",
                "being installed",
            ),
            (with(json!([established("True", "InitialNamesAccepted"), conflict])), "Current", "established"),
            (json!({}), "InProgress/Installing", "being installed"),
        ],
    );
}

#[test]
fn kinds_that_are_current_once_they_are_there() {
    check(
        "policy/v1",
        "PodDisruptionBudget",
        &[
            (json!({ "metadata": { "generation": 1 } }), "Current", "allowed disruptions are computed"),
            (
                json!({ "metadata": { "generation": 2 }, "status": { "observedGeneration": 1 } }),
                "InProgress/LatestGenerationNotObserved",
                "generation 2 not seen yet, but 1",
            ),
        ],
    );
    // A condition that they don't have by their kind says nothing about them.
    let not_ready = json!({ "status": { "conditions": [condition("Ready", "False", "")] } });
    check("v1", "Secret", &[(not_ready.clone(), "Current", "there")]);
    check("v1", "ConfigMap", &[(not_ready.clone(), "Current", "there")]);
    check("batch/v1", "CronJob", &[(not_ready, "Current", "there")]);
}

/// A built-in kind, a condition, and what an object with that condition is.
const SAID: &[(&str, &str, &str, &str, &str, &str)] = &[
    ("v1", "Namespace", "Ready", "True", "", "Current"),
    ("v1", "Node", "Ready", "False", "KubeletNotReady", "InProgress/KubeletNotReady"),
    ("v1", "PersistentVolumeClaim", "NodeResizeError", "True", "", "InProgress/Trouble"),
    ("v1", "PersistentVolumeClaim", "ControllerResizeError", "True", "Full", "InProgress/Full"),
    ("v1", "PersistentVolumeClaim", "ModifyVolumeError", "True", "Full", "InProgress/Full"),
    ("v1", "Pod", "Ready", "True", "", "Current"),
    ("v1", "ReplicationController", "ReplicaFailure", "True", "FailedCreate", "InProgress/FailedCreate"),
    ("v1", "Service", "LoadBalancerPortsError", "True", "SyncFailed", "InProgress/SyncFailed"),
    ("apps/v1", "DaemonSet", "ReplicaFailure", "True", "FailedCreate", "InProgress/FailedCreate"),
    ("apps/v1", "Deployment", "ReplicaFailure", "True", "FailedCreate", "InProgress/ReplicaFailure"),
    (
        "apps/v1",
        "Deployment",
        "Progressing",
        "False",
        "ProgressDeadlineExceeded",
        "Failed/ProgressDeadlineExceeded",
    ),
    ("apps/v1", "ReplicaSet", "ReplicaFailure", "True", "FailedCreate", "InProgress/ReplicaFailure"),
    ("apps/v1", "StatefulSet", "ReplicaFailure", "True", "FailedCreate", "InProgress/FailedCreate"),
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "ScalingActive",
        "False",
        "NoMetrics",
        "InProgress/NoMetrics",
    ),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "ScalingActive", "False", "ScalingDisabled", "Current"),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "ScalingActive", "True", "ValidMetricFound", "Current"),
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "AbleToScale",
        "False",
        "FailedGetScale",
        "InProgress/FailedGetScale",
    ),
    ("batch/v1", "Job", "Failed", "True", "BackoffLimitExceeded", "Failed/JobFailed"),
    ("batch/v1", "Job", "FailureTarget", "True", "PodFailurePolicy", "Failed/PodFailurePolicy"),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "Denied", "True", "No", "Failed/No"),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "Failed", "True", "No", "Failed/No"),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "Approved", "True", "Yes", "Current"),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "Dangling", "True", "NotFound", "InProgress/NotFound"),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "Dangling", "False", "Found", "Current"),
    ("networking.k8s.io/v1", "ServiceCIDR", "Ready", "False", "Terminating", "InProgress/Terminating"),
    ("policy/v1", "PodDisruptionBudget", "DisruptionAllowed", "False", "SyncFailed", "InProgress/SyncFailed"),
    ("policy/v1", "PodDisruptionBudget", "DisruptionAllowed", "False", "InsufficientPods", "Current"),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "NamesAccepted",
        "False",
        "Taken",
        "Failed/Taken",
    ),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "NonStructuralSchema",
        "True",
        "Bad",
        "InProgress/Bad",
    ),
    (
        "apiregistration.k8s.io/v1",
        "APIService",
        "Available",
        "False",
        "MissingEndpoint",
        "InProgress/MissingEndpoint",
    ),
];

/// Where an object itself says what is the matter, its words are the message.
#[test]
fn what_built_in_kinds_say_about_themselves_is_the_message() {
    for (api_version, kind, r#type, status, reason, expected) in SAID {
        let object = json!({
            "apiVersion": api_version, "kind": kind, "metadata": { "generation": 1 },
            "status": {
                "observedGeneration": 1, "desiredNumberScheduled": 0, "phase": "Running", "startTime": "now",
                "conditions": [condition(r#type, status, reason)],
            },
        });
        let found = at(&object, 0).unwrap();
        let (state, why) = expected.split_once('/').unwrap_or((expected, expected));
        assert_eq!((found.status.as_str(), &*found.reason), (state, why), "{object}");
        let says = found.message.contains(&format!("about {type}")) || found.is_current();
        assert!(says || *reason == "ProgressDeadlineExceeded", "{object}: {}", found.message);
    }
}

/// The built-in kinds whose status has conditions, by the schemas of Kubernetes 1.36.
const WITH_CONDITIONS: &[(&str, &str)] = &[
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("batch/v1", "Job"),
    ("certificates.k8s.io/v1", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"),
    ("v1", "Namespace"),
    ("v1", "Node"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Pod"),
    ("v1", "ReplicationController"),
    ("v1", "Service"),
    ("networking.k8s.io/v1", "ServiceCIDR"),
    ("policy/v1", "PodDisruptionBudget"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
];

/// Each built-in kind whose status has conditions has a row.
#[test]
fn no_built_in_kind_with_conditions_is_forgotten() {
    for (api_version, kind) in WITH_CONDITIONS {
        assert!(SAID.iter().any(|row| (row.0, row.1) == (*api_version, *kind)), "{api_version} {kind}");
    }
}

#[test]
fn words_that_are_no_conditions() {
    let volume = json!({ "status": { "phase": "Failed", "message": "can't be recycled" } });
    check("v1", "PersistentVolume", &[(volume, "Failed/VolumeFailed", "can't be recycled")]);
    check(
        "v1",
        "PersistentVolumeClaim",
        &[(json!({ "status": { "phase": "Lost" } }), "Failed/ClaimLost", "its volume is lost")],
    );
    let attachment = json!({ "status": { "attachError": { "message": "no such disk" } } });
    check("storage.k8s.io/v1", "VolumeAttachment", &[(attachment, "InProgress/AttachError", "no such disk")]);
    let namespace = json!({
        "metadata": { "deletionTimestamp": "2026-11-21T12:00:10Z" },
        "status": { "phase": "Terminating", "conditions": [
            { "type": "NamespaceDeletionContentFailure", "status": "False", "message": "All content deleted" },
            { "type": "NamespaceFinalizersRemaining", "status": "True", "message": "some content has finalizers: a in 1 resources" },
        ] },
    });
    check(
        "v1",
        "Namespace",
        &[(namespace, "Terminating", "being deleted: some content has finalizers: a in 1 resources")],
    );
    let silent = json!({ "status": { "conditions": [{ "type": "Available", "status": "False" }] } });
    check("apiregistration.k8s.io/v1", "APIService", &[(silent, "InProgress/Trouble", "Available is False")]);
}
