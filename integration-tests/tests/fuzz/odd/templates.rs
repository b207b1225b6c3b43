//! Templates that leave out whatever they may: what the server fills in, in each kind that has a template.

use integration_tests::prelude::*;

use super::{Ask, NAMESPACE, Story};
use crate::kinds::fill;

pub(super) fn story(random: &mut Random, _seed: &str) -> Story {
    let asks = KINDS.iter().map(|(api_version, kind, plural)| {
        let body = json!({
            "apiVersion": api_version, "kind": kind, "metadata": {"name": "d"}, "spec": spec(random, kind),
        });
        let group = if api_version.contains('/') { "apis" } else { "api" };
        Ask::new("POST", format!("/{group}/{api_version}/namespaces/{NAMESPACE}/{plural}?dryRun=All"), &body)
    });
    Story { asks: asks.collect(), ..Story::default() }
}

const KINDS: [(&str, &str, &str); 7] = [
    ("v1", "Pod", "pods"),
    ("apps/v1", "Deployment", "deployments"),
    ("apps/v1", "StatefulSet", "statefulsets"),
    ("apps/v1", "DaemonSet", "daemonsets"),
    ("apps/v1", "ReplicaSet", "replicasets"),
    ("batch/v1", "Job", "jobs"),
    ("batch/v1", "CronJob", "cronjobs"),
];

fn spec(random: &mut Random, kind: &str) -> Value {
    let restart = match kind {
        "Job" | "CronJob" => json!({"restartPolicy": "Never"}),
        _ => json!({}),
    };
    let mut pod = fill(&pod(), random);
    for (field, value) in restart.as_object().into_iter().flatten() {
        pod[field] = value.clone();
    }
    if kind == "Pod" {
        return pod;
    }
    let template = json!({"metadata": {"labels": {"app": "x"}}, "spec": pod});
    let job = |random: &mut Random| {
        let mut spec = fill(&job(), random);
        spec["template"] = template.clone();
        spec
    };
    match kind {
        "Job" => job(random),
        "CronJob" => json!({"schedule": "0 0 * * *", "jobTemplate": {"spec": job(random)}}),
        _ => {
            let mut spec = fill(&json!({"minReadySeconds?": 1, "revisionHistoryLimit?": 0}), random);
            if kind == "ReplicaSet" {
                spec.as_object_mut().map(|spec| spec.remove("revisionHistoryLimit"));
            }
            spec["selector"] = json!({"matchLabels": {"app": "x"}});
            spec["template"] = template;
            if kind == "StatefulSet" && random.chance(60) {
                spec["volumeClaimTemplates"] = json!([fill(&claim(), random)]);
            }
            spec
        }
    }
}

/// A Job whose Pods are told by their labels.
fn job() -> Value {
    json!({
        "completions?": 2, "parallelism?": 1, "completionMode?": "NonIndexed", "suspend?": false,
        "podFailurePolicy?": {"rules": {"?": [
            [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status?": {"?": ["True", "False", ""]}}]}],
            [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1], "containerName?": "main"}},
             {"action": "Count", "onPodConditions": [{"type": "A", "status?": "True"}, {"type": "B"}]}],
        ]}},
        "backoffLimit?": 1, "ttlSecondsAfterFinished?": 5, "podReplacementPolicy?": "Failed",
    })
}

fn claim() -> Value {
    json!({"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": {"?": ["1Gi", "0.5", "1500u", "+1"]}}}, "volumeMode?": "Block",
    }})
}

fn resources() -> Value {
    json!({"limits?": {"cpu": {"?": ["1", "1500u", "+1", "0.1"]}, "memory?": {"?": ["1Gi", "1E3", "5."]}}, "requests?": {"cpu?": "100u"}})
}

fn action() -> Value {
    json!({"?": [
        {"httpGet": {"port": {"?": [80, "http"]}, "path?": "/x", "scheme?": "HTTPS"}}, {"tcpSocket": {"port": 80}}, {"exec": {"command": ["x"]}},
    ]})
}

fn probe() -> Value {
    json!({"?": [
        {"httpGet": {"port": 80}, "timeoutSeconds?": 2}, {"grpc": {"port": 80, "service?": "s"}, "periodSeconds?": 3}, {"exec": {"command": ["x"]}},
    ]})
}

fn container(name: &str) -> Value {
    json!({
        "name": name, "image": {"?": ["a", "a:1", "a:latest", "registry.example.com:5000/a", "a@sha256:0123456789012345678901234567890123456789012345678901234567890123"]},
        "env?": {"~": [
            {"name": "A", "value?": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "C", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "containerName": name, "divisor?": {"?": ["1", "0"]}}}},
            {"name": "D", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional?": true}}},
        ]},
        "ports?": {"~": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP", "name?": "x"}]},
        "resources?": resources(),
        "livenessProbe?": probe(), "readinessProbe?": probe(), "startupProbe?": probe(),
        "lifecycle?": {"postStart?": action(), "preStop?": {"?": [{"sleep": {"seconds": 1}}, {"exec": {"command": ["x"]}}]}},
        "securityContext?": {"privileged?": false, "capabilities?": {"add": ["NET_ADMIN"]}},
        "volumeMounts?": {"~": [{"name": "v0", "mountPath": "/a", "readOnly?": true}]},
    })
}

fn pod() -> Value {
    json!({
        "containers": {"?": [[container("main")], [container("main"), container("side")]]},
        "initContainers?": [container("init")],
        "volumes": {"?": [
            [{"name": "v0"}], [{"name": "v0", "emptyDir": {"sizeLimit?": {"?": ["1Gi", "1500u", "+5"]}}}],
            [{"name": "v0", "hostPath": {"path": "/x", "type?": "Directory"}}], [{"name": "v0", "secret": {"secretName": "s", "defaultMode?": 256}}],
            [{"name": "v0", "configMap": {"name": "c", "items?": [{"key": "k", "path": "p", "mode?": 256}]}}],
            [{"name": "v0", "downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}}],
            [{"name": "v0", "projected": {"sources": [
                {"configMap": {"name": "c"}}, {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.uid"}}]}},
            ]}}],
            [{"name": "v0", "iscsi": {"targetPortal": "a:1", "iqn": "iqn.2001-04.com.example:s", "lun": 0}}],
            [{"name": "v0", "rbd": {"monitors": ["m"], "image": "i", "pool?": "p"}}], [{"name": "v0", "azureDisk": {"diskName": "d", "diskURI": "https://x", "kind?": "Shared"}}],
            [{"name": "v0", "scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": "n"}, "volumeName": "v"}}],
            [{"name": "v0", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": {"?": ["1Gi", "1500u"]}}}}}}}],
            [{"name": "v0", "image": {"reference": {"?": ["a", "a:1"]}, "pullPolicy?": "Never"}}],
            [{"name": "v0", "nfs": {"server": "s", "path": "/p"}}, {"name": "v1", "csi": {"driver": "d.example.com", "readOnly?": true}}],
        ]},
        "serviceAccountName?": "a", "hostNetwork?": {"?": [true, false]}, "securityContext?": {"fsGroup?": 1}, "dnsPolicy?": "Default",
        "topologySpreadConstraints?": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "labelSelector?": {}}],
        "tolerations?": [{"key?": "a", "operator": "Exists"}], "enableServiceLinks?": false,
    })
}
