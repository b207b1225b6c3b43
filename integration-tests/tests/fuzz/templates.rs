//! The templates of random objects; [`fill`](crate::kinds::fill) says how they are written.

use integration_tests::prelude::*;

pub(crate) fn metadata() -> Value {
    json!({
        "labels?": {"a?": {"?": ["1", "2"]}, "b?": "x", "c?": {"?": ["", "z"]}},
        "annotations?": {"note?": {"?": ["one", "two"]}, "other?": "x"},
        "finalizers?": {"~": ["example.com/one", "example.com/two"]},
        "ownerReferences?": {"~": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o1", "uid": "11111111-1111-4111-8111-111111111111"},
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o2", "uid": "22222222-2222-4222-8222-222222222222", "controller?": true},
        ]},
    })
}

pub(crate) fn config_map() -> Value {
    json!({
        "data?": {"a?": {"?": ["1", "2", ""]}, "b?": {"?": ["1", "2"]}, "c?": "x"},
        "binaryData?": {"z?": {"?": ["AAEC", "", "AA=="]}},
        "immutable?": false,
    })
}

pub(crate) fn secret() -> Value {
    json!({
        "data?": {"a?": {"?": ["MQ==", "Mg=="]}, "b?": {"?": ["MQ==", ""]}},
        "stringData?": {"a?": {"?": ["1", "3"]}, "c?": {"?": ["x", "", "ünï"]}},
        "type?": "Opaque",
    })
}

pub(crate) fn sample() -> Value {
    json!({
        "spec?": {
            "text?": {"?": ["x", "y", ""]},
            "count?": {"?": [0, 1, 2]},
            "ratio?": {"?": [1.0, 0.5]},
            "on?": {"?": [true, false]},
            "mode?": {"?": ["fast", "slow"]},
            "maybe?": {"?": [null, "x", "y"]},
            "port?": {"?": [80, "http", 81]},
            "labels?": {"a?": {"?": ["1", "2"]}, "b?": "x"},
            "whole?": {"a?": {"?": ["1", "2"]}, "b?": "x"},
            "tags?": {"~": ["a", "b", "c"]},
            "steps?": {"?": [["a"], ["b", "a"], []]},
            "ports?": {"~": [
                {"number": 80, "note?": {"?": ["x", "y"]}},
                {"number": 80, "protocol": "UDP", "note?": "x"},
                {"number": 443, "protocol?": "TCP", "note?": {"?": ["x", "y"]}, "extra?": {"deep?": {"?": [1, 2]}}},
            ]},
            "nested?": {"size?": {"?": [1, 5]}, "inner?": {"name?": {"?": ["x", "y"]}, "level?": 3}},
            "free?": {"any?": {"deep?": {"?": [1, [1], {"x": 1}]}, "list?": {"?": [[1, 2], []]}}, "text?": {"?": ["x", 1]}},
            "object?": {"apiVersion": "v1", "kind": "ConfigMap", "metadata?": {"name?": "x", "labels?": {"a": {"?": ["1", "2"]}}}, "data?": {"x": "1"}},
            "items?": {"?": [[{"name": "a"}], [{"name": "b", "value": 2}, {"name": "a"}], []]},
        },
        "status?": {
            "phase?": {"?": ["Ready", "Waiting"]},
            "conditions?": {"~": [
                {"type": "Ready", "status": {"?": ["True", "False"]}},
                {"type": "Synced", "status": "True", "reason?": "Why"},
            ]},
        },
    })
}

/// The schema of [`sample`].
pub(crate) fn sample_schema() -> Value {
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer", "format": "int32", "minimum": 0},
            "ratio": {"type": "number"},
            "on": {"type": "boolean", "default": true},
            "mode": {"type": "string", "enum": ["fast", "slow"], "default": "slow"},
            "maybe": {"type": "string", "nullable": true},
            "port": {"x-kubernetes-int-or-string": true},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "steps": {"type": "array", "items": {"type": "string"}},
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["number", "protocol"],
                "items": {"type": "object", "required": ["number"], "properties": {
                    "number": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"},
                    "note": {"type": "string"},
                    "extra": {"type": "object", "properties": {"deep": {"type": "integer"}, "level": {"type": "integer", "default": 1}}},
                }},
            },
            "nested": {"type": "object", "default": {}, "properties": {
                "size": {"type": "integer", "default": 1},
                "inner": {"type": "object", "properties": {"name": {"type": "string"}, "level": {"type": "integer", "default": 3}}},
            }},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "object": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
            "items": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "value": {"type": "integer", "default": 7},
            }}},
        }},
        "status": {"type": "object", "properties": {
            "phase": {"type": "string"},
            "conditions": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": {"type": "object", "required": ["type", "status"], "properties": {
                    "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"},
                }},
            },
        }},
    }})
}

pub(crate) fn service() -> Value {
    json!({
        "spec": {
            "selector?": {"app?": {"?": ["a", "b"]}, "x?": "y"},
            "ports": {"?": [
                [{"port": 80}],
                [{"port": 80, "targetPort": {"?": ["http", 8080]}}],
                [{"name": "a", "port": 80, "protocol": "TCP"}, {"name": "b", "port": 81}],
                [{"name": "b", "port": 81, "targetPort": 80}, {"name": "a", "port": 80}],
                [{"name": "a", "port": 53, "protocol": "UDP"}, {"name": "b", "port": 53}],
            ]},
            "sessionAffinity?": {"?": ["None", "ClientIP"]},
            "publishNotReadyAddresses?": {"?": [true, false]},
            "internalTrafficPolicy?": {"?": ["Cluster", "Local"]},
            "type?": "ClusterIP",
        },
        "status?": {"conditions?": {"~": [
            {"type": "Ready", "status": "True", "reason": "x", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z"},
        ]}},
    })
}

pub(crate) fn probe() -> Value {
    json!({"?": [
        {"httpGet": {"path?": "/x", "port": {"?": [80, "http"]}, "scheme?": "HTTPS"}, "periodSeconds?": 3},
        {"exec": {"command": ["true"]}, "initialDelaySeconds?": 5},
        {"tcpSocket": {"port": 80}},
        {"grpc": {"port": 80}},
    ]})
}

pub(crate) fn container(name: &str) -> Value {
    json!({
        "name": name,
        "image": {"?": ["a:1", "a:latest", "a", "a@sha256:0123456789012345678901234567890123456789012345678901234567890123"]},
        "imagePullPolicy?": {"?": ["Always", "IfNotPresent"]},
        "args?": {"?": [["a"], ["a", "b"], []]},
        "env?": {"~": [{"name": "A", "value?": {"?": ["1", "2"]}}, {"name": "B", "value": "x"},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
        "ports?": {"~": [{"containerPort": 80}, {"containerPort": 81, "name": "x", "protocol?": "TCP"}, {"containerPort": 80, "protocol": "UDP"}]},
        "resources?": {"requests?": {"cpu?": {"?": ["1000m", "0.5", "1", 2]}, "memory?": {"?": ["1024Mi", "1Gi"]}},
            "limits?": {"cpu?": {"?": ["2", "2000m", "3"]}, "memory?": "2Gi"}},
        "livenessProbe?": probe(),
        "readinessProbe?": probe(),
        "securityContext?": {"?": [{}, {"runAsNonRoot": true}]},
        "volumeMounts?": {"~": [{"name": "v1", "mountPath": "/a", "readOnly?": true}, {"name": "v2", "mountPath": "/b"}]},
    })
}

pub(crate) fn pod_template() -> Value {
    json!({
        "metadata": {"labels": {"app": "x", "more?": {"?": ["1", "2"]}}, "annotations?": {"a?": "1"}},
        "spec": {
            "containers": {"?": [[container("main")], [container("main"), container("side")], [container("side"), container("main")]]},
            "initContainers?": {"~": [container("init")]},
            "volumes": {"?": [
                [{"name": "v1", "emptyDir": {}}, {"name": "v2", "configMap": {"name": "c"}}],
                [{"name": "v2", "configMap": {"name": "c", "items?": [{"key": "k", "path": "p"}]}}, {"name": "v1", "emptyDir": {"medium?": "Memory"}},
                    {"name": "v3", "secret": {"secretName": "s", "defaultMode?": 256}}],
            ]},
            "serviceAccountName?": {"?": ["a", "b"]},
            "terminationGracePeriodSeconds?": {"?": [0, 5]},
            "securityContext?": {"?": [{}, {"fsGroup": 1}]},
            "nodeSelector?": {"a?": {"?": ["1", "2"]}},
            "tolerations?": {"?": [[{"key": "a", "operator": "Exists"}], []]},
            "imagePullSecrets?": {"~": [{"name": "x"}, {"name": "y"}]},
            "restartPolicy?": "Always",
            "hostNetwork?": false,
        },
    })
}

pub(crate) fn condition() -> Value {
    json!({"~": [{"type": "Available", "status": "True", "lastUpdateTime?": "2024-01-01T00:00:00Z"}, {"type": "Progressing", "status": "False", "reason?": "x"}]})
}

pub(crate) fn deployment() -> Value {
    json!({
        "spec": {
            "replicas?": {"?": [0, 1, 3]},
            "selector": {"matchLabels": {"app": "x"}},
            "template": pod_template(),
            "minReadySeconds?": {"?": [0, 5]},
            "revisionHistoryLimit?": {"?": [0, 3]},
            "paused?": {"?": [true, false]},
            "strategy?": {"?": [
                {"type": "Recreate"},
                {"type": "RollingUpdate", "rollingUpdate?": {"maxSurge?": {"?": [1, "10%"]}, "maxUnavailable?": 1}},
                {},
            ]},
        },
        "status?": {"replicas?": {"?": [0, 1, 2]}, "observedGeneration?": 1, "conditions?": condition()},
    })
}

pub(crate) fn stateful_set() -> Value {
    json!({
        "spec": {
            "replicas?": {"?": [0, 1, 3]},
            "serviceName": "x",
            "selector": {"matchLabels": {"app": "x"}},
            "template": pod_template(),
            "minReadySeconds?": {"?": [0, 5]},
            "updateStrategy?": {"?": [{"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate?": {"partition?": 1}}, {}]},
        },
        "status?": {"replicas": {"?": [0, 1, 2]}, "currentReplicas?": 1, "updateRevision?": "x"},
    })
}

pub(crate) fn service_account() -> Value {
    json!({
        "secrets?": {"~": [{"name": "a"}, {"name": "b"}]},
        "imagePullSecrets?": {"~": [{"name": "a"}, {"name": "b"}]},
        "automountServiceAccountToken?": {"?": [true, false]},
    })
}

pub(crate) fn role() -> Value {
    json!({"rules?": {"~": [
        {"apiGroups": [""], "resources": {"?": [["pods"], ["pods", "secrets"]]}, "verbs": {"?": [["get"], ["*"]]}},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"], "resourceNames?": ["x"]},
    ]}})
}

pub(crate) fn lease() -> Value {
    json!({"spec?": {
        "holderIdentity?": {"?": ["a", "b"]},
        "leaseDurationSeconds?": {"?": [15, 30]},
        "leaseTransitions?": {"?": [0, 1]},
        "acquireTime?": {"?": ["2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00.500000Z", "2024-01-01T00:00:00.500000Z", "2024-01-01T00:00:00.5Z"]},
        "renewTime?": {"?": ["2024-01-01T00:00:00.123456Z", "2024-01-01T01:00:00.000001+01:00"]},
    }})
}

pub(crate) fn ingress() -> Value {
    let path = |path: &str| json!({"path": path, "pathType": {"?": ["Prefix", "Exact"]}, "backend": {"service": {"name": {"?": ["a", "b"]}, "port": {"number": 80}}}});
    json!({
        "spec": {
            "ingressClassName?": {"?": ["a", "b"]},
            "defaultBackend": {"service": {"name": "x", "port": {"?": [{"number": 80}, {"name": "http"}]}}},
            "rules?": {"~": [
                {"host": "a.example.com", "http": {"paths": {"?": [[path("/")], [path("/a"), path("/b")]]}}},
                {"host": "b.example.com"},
            ]},
            "tls?": {"~": [{"hosts": ["a.example.com"], "secretName?": "x"}]},
        },
        "status?": {"loadBalancer?": {"ingress?": {"~": [{"ip": "10.0.0.1"}, {"hostname": "x"}]}}},
    })
}

pub(crate) fn network_policy() -> Value {
    json!({"spec": {
        "podSelector": {"?": [{}, {"matchLabels": {"a": "1"}}]},
        "policyTypes?": {"?": [["Ingress"], ["Ingress", "Egress"], []]},
        "ingress?": {"?": [[], [{}], [{"from": [{"podSelector": {}}], "ports?": [{"port": 80}]}]]},
        "egress?": {"?": [[], [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports?": [{"port": "x", "protocol": "UDP"}]}]]},
    }})
}

pub(crate) fn disruption_budget() -> Value {
    json!({
        "spec": {
            "selector?": {"matchLabels": {"a": {"?": ["1", "2"]}}},
            "minAvailable?": {"?": [1, "50%", 0]},
            "unhealthyPodEvictionPolicy?": "AlwaysAllow",
        },
        "status?": {"currentHealthy": {"?": [0, 1]}, "desiredHealthy": 1, "disruptionsAllowed": 0, "expectedPods": 1},
    })
}

pub(crate) fn autoscaler() -> Value {
    json!({
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "x", "apiVersion?": "apps/v1"},
            "minReplicas?": {"?": [1, 2]},
            "maxReplicas": {"?": [3, 4]},
            "metrics?": {"?": [
                [],
                [{"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": {"?": ["1Gi", "100Mi"]}}}}],
            ]},
            "behavior?": {
                "scaleUp?": {"stabilizationWindowSeconds?": 5, "selectPolicy?": "Min"},
                "scaleDown?": {"policies?": [{"type": "Pods", "value": 1, "periodSeconds": 10}]},
            },
        },
        "status?": {"currentReplicas?": 1, "desiredReplicas": {"?": [0, 1]}, "conditions?": {"~": [{"type": "AbleToScale", "status": "True"}]}},
    })
}

pub(crate) fn role_binding() -> Value {
    json!({
        "roleRef": {"kind": "ClusterRole", "name": "x", "apiGroup?": "rbac.authorization.k8s.io"},
        "subjects?": {"~": [
            {"kind": "ServiceAccount", "name": "a", "namespace": "x"},
            {"kind": "User", "name": {"?": ["b", "c"]}},
            {"kind": "Group", "name": "g", "apiGroup?": "rbac.authorization.k8s.io"},
        ]},
    })
}

pub(crate) fn daemon_set() -> Value {
    json!({
        "spec": {
            "selector": {"matchLabels": {"app": "x"}},
            "template": pod_template(),
            "minReadySeconds?": {"?": [0, 5]},
            "updateStrategy?": {"?": [{"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate?": {"maxUnavailable?": 2}}, {}]},
        },
        "status?": {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": {"?": [0, 1]}, "numberReady": 0},
    })
}

pub(crate) fn replica_set() -> Value {
    json!({
        "spec": {"replicas?": {"?": [0, 2]}, "selector": {"matchLabels": {"app": "x"}}, "template": pod_template()},
        "status?": {"replicas": {"?": [0, 1]}, "conditions?": {"~": [{"type": "ReplicaFailure", "status": "True"}]}},
    })
}

pub(crate) fn cron_job() -> Value {
    let mut template = pod_template();
    if let Some(spec) = template["spec"].as_object_mut() {
        spec.remove("restartPolicy?");
        spec.insert("restartPolicy".to_owned(), json!({"?": ["Never", "OnFailure"]}));
    }
    json!({
        "spec": {
            "schedule": {"?": ["* * * * *", "0 0 * * *"]},
            "suspend?": {"?": [true, false]},
            "successfulJobsHistoryLimit?": {"?": [0, 2]},
            "jobTemplate": {"metadata?": {"labels": {"a": "1"}}, "spec": {"backoffLimit?": 2, "parallelism?": 1, "template": template}},
        },
        "status?": {"lastScheduleTime?": "2024-01-01T00:00:00Z"},
    })
}

pub(crate) fn job() -> Value {
    let mut template = pod_template();
    if let Some(spec) = template["spec"].as_object_mut() {
        spec.remove("restartPolicy?");
        spec.insert("restartPolicy".to_owned(), json!("Never"));
    }
    json!({
        "spec": {"backoffLimit?": 2, "parallelism?": {"?": [1, 2]}, "suspend?": true, "ttlSecondsAfterFinished?": {"?": [0, 5]}, "template": template},
        "status?": {"active?": {"?": [0, 1]}},
    })
}

pub(crate) fn endpoint_slice() -> Value {
    json!({
        "addressType": "IPv4",
        "endpoints": {"~": [
            {"addresses": ["10.0.0.1"], "conditions?": {"ready?": true}},
            {"addresses": ["10.0.0.2"], "hostname?": "x"},
        ]},
        "ports?": {"?": [[], [{"port": 80}], [{"port": 80, "name": "a", "protocol?": "UDP"}, {"name": "b", "port?": 81}]]},
    })
}

pub(crate) fn cluster_role() -> Value {
    json!({
        "rules?": role()["rules?"],
        "aggregationRule?": {"clusterRoleSelectors": {"?": [[{"matchLabels": {"a": "1"}}], [{"matchLabels": {"a": "1"}}, {"matchLabels": {"b": "1"}}]]}},
    })
}

pub(crate) fn priority_class() -> Value {
    json!({"value": 5, "description?": {"?": ["a", "b"]}, "globalDefault?": false, "preemptionPolicy?": "PreemptLowerPriority"})
}

pub(crate) fn storage_class() -> Value {
    json!({
        "provisioner": "x.example.com/y",
        "allowVolumeExpansion?": {"?": [true, false]},
        "mountOptions?": {"?": [["a"], ["a", "b"]]},
        "reclaimPolicy?": "Delete",
    })
}
