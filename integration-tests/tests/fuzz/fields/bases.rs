//! The kinds whose fields are tried, with valid objects of each.

use integration_tests::prelude::*;

/// A kind, and where it is served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) api_version: &'static str,
    pub(super) name: &'static str,
    pub(super) plural: &'static str,
    pub(super) namespaced: bool,
    pub(super) has_status: bool,
    /// Valid objects without a name; further ones have fields that exclude those of the first.
    pub(super) objects: fn() -> Vec<Value>,
    /// A valid status.
    pub(super) status: fn() -> Value,
}

const fn kind(
    api_version: &'static str,
    name: &'static str,
    plural: &'static str,
    has_status: bool,
    objects: fn() -> Vec<Value>,
) -> Kind {
    Kind { api_version, name, plural, namespaced: true, has_status, objects, status: || json!({}) }
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

pub(super) const KINDS: &[Kind] = &[
    Kind {
        status: || json!({"phase": "Running", "startTime": "2024-01-01T00:00:00Z"}),
        ..kind("v1", "Pod", "pods", true, || vec![pod(), host_pod()])
    },
    kind("apps/v1", "Deployment", "deployments", true, deployments),
    Kind {
        status: || json!({"replicas": 1}),
        ..kind("apps/v1", "StatefulSet", "statefulsets", true, stateful_sets)
    },
    Kind {
        status: || json!({"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0}),
        ..kind("apps/v1", "DaemonSet", "daemonsets", true, daemon_sets)
    },
    Kind {
        status: || json!({"replicas": 1}),
        ..kind("apps/v1", "ReplicaSet", "replicasets", true, || {
            let selector = json!({"matchLabels": {"app": "x"}});
            vec![json!({"spec": {"replicas": 1, "selector": selector, "template": template("Always")}})]
        })
    },
    kind("apps/v1", "ControllerRevision", "controllerrevisions", false, || {
        vec![json!({"revision": 1, "data": {"a": 1}})]
    }),
    Kind {
        status: || json!({"startTime": "2024-01-01T00:00:00Z"}),
        ..kind("batch/v1", "Job", "jobs", true, jobs)
    },
    kind("batch/v1", "CronJob", "cronjobs", true, || {
        vec![json!({"spec": {
            "schedule": "* * * * *", "concurrencyPolicy": "Allow", "successfulJobsHistoryLimit": 1,
            "jobTemplate": {"spec": {"template": template("Never")}},
        }})]
    }),
    kind("v1", "Service", "services", true, services),
    kind("networking.k8s.io/v1", "Ingress", "ingresses", true, ingresses),
    kind("v1", "ConfigMap", "configmaps", false, || {
        vec![
            json!({"data": {"a": "1"}, "binaryData": {"b": "AAEC"}}),
            json!({"data": {"a": "1"}, "immutable": true}),
        ]
    }),
    kind("v1", "Secret", "secrets", false, secrets),
    Kind {
        status: || json!({"phase": "Pending"}),
        ..kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, claims)
    },
    kind("v1", "ServiceAccount", "serviceaccounts", false, || {
        vec![
            json!({"secrets": [{"name": "a"}], "imagePullSecrets": [{"name": "b"}], "automountServiceAccountToken": true}),
        ]
    }),
    kind(RBAC, "Role", "roles", false, || vec![role()]),
    kind(RBAC, "RoleBinding", "rolebindings", false, || vec![binding()]),
    Kind {
        namespaced: false,
        ..kind(RBAC, "ClusterRole", "clusterroles", false, || {
            vec![
                role(),
                json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "1"}}]}, "rules": []}),
                json!({"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}),
            ]
        })
    },
    Kind {
        namespaced: false,
        ..kind(RBAC, "ClusterRoleBinding", "clusterrolebindings", false, || vec![binding()])
    },
    kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", false, || {
        vec![json!({"spec": {
            "podSelector": {"matchLabels": {"app": "x"}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 80, "endPort": 90, "protocol": "TCP"}]}],
            "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}], "ports": [{"port": "http"}]}],
        }})]
    }),
    Kind {
        status: || json!({"currentReplicas": 1, "desiredReplicas": 1}),
        ..kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, autoscalers)
    },
    Kind {
        status: || json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}),
        ..kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true, || {
            vec![json!({"spec": {"selector": {"matchLabels": {"app": "x"}}, "minAvailable": 1}})]
        })
    },
    Kind {
        status: || json!({"hard": {"pods": "1"}, "used": {"pods": "0"}}),
        ..kind("v1", "ResourceQuota", "resourcequotas", true, || {
            vec![json!({"spec": {"hard": {"pods": "1", "requests.cpu": "1"}, "scopes": ["Terminating"]}})]
        })
    },
    kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", false, || {
        vec![json!({
            "addressType": "IPv4", "ports": [{"name": "a", "port": 80, "protocol": "TCP"}],
            "endpoints": [{"addresses": ["10.0.0.1"], "hostname": "a", "nodeName": "n", "conditions": {"ready": true}}],
        })]
    }),
    Kind {
        namespaced: false,
        ..kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false, || {
            vec![json!({"value": 1, "preemptionPolicy": "Never", "description": "d"})]
        })
    },
    Kind {
        namespaced: false,
        ..kind("storage.k8s.io/v1", "StorageClass", "storageclasses", false, || {
            vec![json!({
                "provisioner": "example.com/x", "parameters": {"a": "1"}, "reclaimPolicy": "Delete", "mountOptions": ["a"],
                "volumeBindingMode": "Immediate", "allowVolumeExpansion": true,
            })]
        })
    },
    Kind {
        namespaced: false,
        ..kind("networking.k8s.io/v1", "IngressClass", "ingressclasses", false, || {
            let parameters = json!({"kind": "X", "name": "a", "apiGroup": "example.com", "scope": "Cluster"});
            vec![json!({"spec": {"controller": "example.com/x", "parameters": parameters}})]
        })
    },
    kind("coordination.k8s.io/v1", "Lease", "leases", false, || {
        vec![json!({"spec": {
            "holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 1,
            "acquireTime": "2024-01-01T00:00:00.000000Z", "renewTime": "2024-01-01T00:00:00.000000Z",
        }})]
    }),
    kind("v1", "Event", "events", false, || {
        vec![
            json!({
                "involvedObject": {"kind": "Pod", "name": "a", "namespace": "fields", "apiVersion": "v1", "uid": "u"},
                "reason": "Created", "message": "m", "type": "Normal", "count": 1,
                "firstTimestamp": "2024-01-01T00:00:00Z", "lastTimestamp": "2024-01-01T00:00:00Z",
                "source": {"component": "c"},
            }),
            json!({
                "involvedObject": {"kind": "Pod", "name": "a", "namespace": "fields"},
                "eventTime": "2024-01-01T00:00:00.000000Z", "reportingComponent": "example.com/c", "reportingInstance": "i",
                "action": "Do", "reason": "Created", "type": "Normal",
            }),
        ]
    }),
    kind("events.k8s.io/v1", "Event", "events", false, || {
        vec![json!({
            "regarding": {"kind": "Pod", "name": "a", "namespace": "fields"},
            "eventTime": "2024-01-01T00:00:00.000000Z", "reportingController": "example.com/c", "reportingInstance": "i",
            "action": "Do", "reason": "Created", "type": "Normal", "note": "n",
        })]
    }),
    Kind {
        namespaced: false,
        status: || json!({"phase": "Active"}),
        ..kind("v1", "Namespace", "namespaces", true, || vec![json!({})])
    },
];

fn pod_spec() -> Value {
    json!({
        "containers": [{
            "name": "main", "image": "a:1",
            "ports": [{"name": "http", "containerPort": 80}],
            "env": [{"name": "A", "value": "1"}],
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}},
            "volumeMounts": [{"name": "v1", "mountPath": "/v"}],
            "livenessProbe": {"httpGet": {"path": "/x", "port": 80}},
        }],
        "volumes": [{"name": "v1", "emptyDir": {}}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
    })
}

fn pod() -> Value {
    let mut spec = pod_spec();
    spec["initContainers"] = json!([{"name": "init", "image": "a:1"}]);
    json!({"spec": spec})
}

/// A Pod of the other sorts: on the network of its node, without a volume.
fn host_pod() -> Value {
    json!({"spec": {
        "hostNetwork": true, "restartPolicy": "Never", "dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.1.2.3"]},
        "nodeName": "n", "activeDeadlineSeconds": 100, "securityContext": {"runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "main", "image": "a:1", "ports": [{"containerPort": 80, "hostPort": 80}], "stdin": true}],
    }})
}

fn template(restart: &str) -> Value {
    let mut spec = pod_spec();
    spec["restartPolicy"] = restart.into();
    json!({"metadata": {"labels": {"app": "x"}}, "spec": spec})
}

fn deployments() -> Vec<Value> {
    let selector = json!({"matchLabels": {"app": "x"}});
    vec![json!({"spec": {
        "replicas": 1, "selector": selector, "template": template("Always"),
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}},
    }})]
}

fn stateful_sets() -> Vec<Value> {
    let selector = json!({"matchLabels": {"app": "x"}});
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    vec![json!({"spec": {
        "replicas": 1, "serviceName": "x", "selector": selector, "template": template("Always"),
        "podManagementPolicy": "OrderedReady", "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "volumeClaimTemplates": [claim],
    }})]
}

fn daemon_sets() -> Vec<Value> {
    let selector = json!({"matchLabels": {"app": "x"}});
    vec![
        json!({"spec": {"selector": selector, "template": template("Always"), "updateStrategy": {"type": "RollingUpdate"}}}),
    ]
}

fn jobs() -> Vec<Value> {
    vec![
        json!({"spec": {"backoffLimit": 2, "parallelism": 1, "completions": 1, "template": template("Never")}}),
        json!({"spec": {
            "completionMode": "Indexed", "completions": 3, "parallelism": 2, "suspend": true, "template": template("Never"),
            "backoffLimitPerIndex": 1, "maxFailedIndexes": 1, "successPolicy": {"rules": [{"succeededIndexes": "0-1"}]},
            "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]},
        }}),
    ]
}

fn services() -> Vec<Value> {
    let ports =
        json!([{"name": "a", "port": 80, "targetPort": 8080}, {"name": "b", "port": 81, "protocol": "UDP"}]);
    vec![
        json!({"spec": {"selector": {"app": "x"}, "ports": ports, "sessionAffinity": "ClientIP"}}),
        json!({"spec": {"type": "ExternalName", "externalName": "a.example.com"}}),
        json!({"spec": {"type": "ClusterIP", "clusterIP": "None", "selector": {"app": "x"}, "ports": [{"port": 80}]}}),
        json!({"spec": {"type": "NodePort", "selector": {"app": "x"}, "ports": [{"port": 80}]}}),
        json!({"spec": {"type": "LoadBalancer", "selector": {"app": "x"}, "ports": [{"port": 80}], "externalTrafficPolicy": "Local"}}),
    ]
}

fn ingresses() -> Vec<Value> {
    let backend = json!({"service": {"name": "a", "port": {"number": 80}}});
    vec![json!({"spec": {
        "ingressClassName": "a", "defaultBackend": backend,
        "rules": [{"host": "a.example.com", "http": {"paths": [{"path": "/x", "pathType": "Prefix", "backend": backend}]}}],
        "tls": [{"hosts": ["a.example.com"], "secretName": "a"}],
    }})]
}

fn secrets() -> Vec<Value> {
    vec![
        json!({"data": {"a": "MQ=="}, "type": "Opaque"}),
        json!({"data": {"a": "MQ=="}, "immutable": true}),
        json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}}),
        json!({"type": "kubernetes.io/basic-auth", "data": {"username": "YQ=="}}),
        json!({"type": "kubernetes.io/ssh-auth", "data": {"ssh-privatekey": "YQ=="}}),
        json!({"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e30="}}),
        json!({"type": "kubernetes.io/dockercfg", "data": {".dockercfg": "e30="}}),
        json!({
            "type": "kubernetes.io/service-account-token",
            "metadata": {"annotations": {"kubernetes.io/service-account.name": "a"}},
        }),
    ]
}

fn claims() -> Vec<Value> {
    vec![json!({"spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "a", "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "1Gi"}}, "selector": {"matchLabels": {"app": "x"}},
    }})]
}

fn role() -> Value {
    json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["a"]}]})
}

fn binding() -> Value {
    json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "a", "namespace": "fields"},
            {"kind": "User", "name": "b", "apiGroup": "rbac.authorization.k8s.io"},
        ],
    })
}

fn autoscalers() -> Vec<Value> {
    vec![json!({"spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
        "minReplicas": 1, "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}],
        "behavior": {"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 10}], "stabilizationWindowSeconds": 5}},
    }})]
}
