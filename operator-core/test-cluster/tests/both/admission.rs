//! What is added to new objects, and what is refused although it is valid.

use serde_json::{Value, json};

use super::{Both, quota::until_known};

const NONE: Value = Value::Null;

fn pod(name: &str, resources: &Value) -> Value {
    json!({
        "metadata": { "name": name },
        "spec": { "containers": [{ "name": "c", "image": "i", "resources": resources }] },
    })
}

#[tokio::test]
async fn namespaces_that_every_cluster_needs() {
    let mut both = Both::new("immortal").await;
    for name in ["default", "kube-system", "kube-public"] {
        both.ask("DELETE", &format!("/api/v1/namespaces/{name}"), &NONE).await;
    }
    both.ask("DELETE", "/api/v1/namespaces/kube-node-lease?dryRun=All", &NONE).await;
    both.ask("POST", "/api/v1/namespaces/none/configmaps", &json!({ "metadata": { "name": "c" } })).await;
    both.end();
}

#[tokio::test]
async fn priorities_and_tolerations() {
    let mut both = Both::new("priority").await;
    let pods = "/api/v1/namespaces/priority/pods";
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    both.ask("GET", &format!("{classes}/system-cluster-critical"), &NONE).await;
    both.ask("POST", pods, &pod("plain", &json!({}))).await;
    let class = |name: &str, value: i64, policy: &str| json!({ "metadata": { "name": name }, "value": value, "preemptionPolicy": policy });
    both.ask("POST", classes, &class("high", 7, "Never")).await;
    let with = |name: &str, more: &Value| {
        let mut pod = pod(name, &json!({}));
        for (field, value) in more.as_object().expect("fields") {
            pod["spec"][field] = value.clone();
        }
        pod
    };
    let tried = with("tried", &json!({ "priorityClassName": "high" }));
    both.until(201, "POST", &format!("{pods}?dryRun=All"), &tried).await;
    for (number, more) in [
        json!({ "priorityClassName": "none" }),
        json!({ "priorityClassName": "high" }),
        json!({ "priorityClassName": "high", "priority": 3 }),
        json!({ "priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority" }),
        json!({ "tolerations": [{ "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute" }] }),
        json!({ "tolerations": [{ "operator": "Exists" }] }),
    ]
    .iter()
    .enumerate()
    {
        both.ask("POST", pods, &with(&format!("p{number}"), more)).await;
    }
    both.ask("DELETE", &format!("{classes}/high"), &NONE).await;
    both.end();
}

#[tokio::test]
async fn limits_of_containers() {
    let mut both = Both::new("limits").await;
    // The only objects that get a name where they have none.
    both.ask("POST", "/api/v1/namespaces/limits/limitranges", &json!({ "spec": { "limits": [] } })).await;
    both.ask("DELETE", "/api/v1/namespaces/limits/limitranges", &Value::Null).await;
    let pods = "/api/v1/namespaces/limits/pods";
    let range = json!({ "metadata": { "name": "l" }, "spec": { "limits": [
        {
            "type": "Container", "min": { "cpu": "100m" }, "max": { "cpu": "1" },
            "default": { "cpu": "500m", "memory": "256Mi" }, "defaultRequest": { "cpu": "200m" },
            "maxLimitRequestRatio": { "cpu": "3" },
        },
        { "type": "PersistentVolumeClaim", "max": { "storage": "2Gi" }, "min": { "storage": "1Gi" } },
        { "type": "Pod", "max": { "memory": "300Mi" } },
    ] } });
    both.ask("POST", "/api/v1/namespaces/limits/limitranges", &range).await;
    for (number, resources) in [
        json!({}),
        json!({ "requests": { "cpu": "50m" } }),
        json!({ "requests": { "cpu": "50m" }, "limits": { "cpu": "100m" } }),
        json!({ "limits": { "cpu": "2" } }),
        json!({ "requests": { "cpu": "100m" }, "limits": { "cpu": "1" } }),
        json!({ "requests": { "cpu": "500m", "memory": "1Gi" }, "limits": { "cpu": "1", "memory": "1Gi" } }),
        json!({ "requests": { "cpu": "500m" }, "limits": { "cpu": "1" } }),
    ]
    .iter()
    .enumerate()
    {
        both.ask("POST", pods, &pod(&format!("p{number}"), resources)).await;
    }
    let claim = |name: &str, storage: &str| {
        json!({
            "metadata": { "name": name },
            "spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                "resources": { "requests": { "storage": storage } },
            },
        })
    };
    for (name, storage) in [("a", "6Gi"), ("b", "1"), ("c", "1500Mi")] {
        both.ask("POST", "/api/v1/namespaces/limits/persistentvolumeclaims", &claim(name, storage)).await;
    }
    both.end();
}

#[tokio::test]
async fn quotas_of_a_namespace() {
    let mut both = Both::new("quota").await;
    let base = "/api/v1/namespaces/quota";
    let hard = json!({
        "pods": "2", "requests.cpu": "1", "limits.memory": "1Gi", "configmaps": "2", "count/deployments.apps": "0",
        "services.nodeports": "0", "requests.storage": "5Gi",
    });
    let quota = json!({ "metadata": { "name": "q" }, "spec": { "hard": hard } });
    both.ask("POST", &format!("{base}/resourcequotas"), &quota).await;
    let map = |name: &str| json!({ "metadata": { "name": name } });
    // No controller runs: a quota without a status holds nothing.
    both.ask("POST", &format!("{base}/configmaps"), &map("free")).await;
    let used = json!({
        "pods": "0", "requests.cpu": "0", "limits.memory": "0", "configmaps": "1", "count/deployments.apps": "0",
        "services.nodeports": "0", "requests.storage": "0",
    });
    let status = json!({ "status": { "hard": hard, "used": used } });
    both.ask("MERGE", &format!("{base}/resourcequotas/q/status"), &status).await;
    until_known(&both, base).await;
    for (name, resources) in [
        ("a", json!({})),
        ("b", json!({ "requests": { "cpu": "2" }, "limits": { "memory": "2Gi" } })),
        ("c", json!({ "requests": { "cpu": "500m" }, "limits": { "memory": "100Mi" } })),
        ("c", json!({ "requests": { "cpu": "100m" }, "limits": { "memory": "100Mi" } })),
        ("d", json!({ "requests": { "cpu": "600m" }, "limits": { "memory": "100Mi" } })),
    ] {
        both.ask("POST", &format!("{base}/pods"), &pod(name, &resources)).await;
    }
    for name in ["one", "two"] {
        both.ask("POST", &format!("{base}/configmaps"), &map(name)).await;
    }
    let service =
        json!({ "metadata": { "name": "s" }, "spec": { "type": "NodePort", "ports": [{ "port": 80 }] } });
    both.ask("POST", &format!("{base}/services"), &service).await;
    let claim = json!({
        "metadata": { "name": "p" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "6Gi" } } },
    });
    both.ask("POST", &format!("{base}/persistentvolumeclaims"), &claim).await;
    both.end();
}

#[tokio::test]
async fn default_classes() {
    let mut both = Both::new("classes").await;
    let storage = json!({
        "metadata": { "name": "classes-s", "annotations": { "storageclass.kubernetes.io/is-default-class": "true" } },
        "provisioner": "a.b/c",
    });
    both.ask("POST", "/apis/storage.k8s.io/v1/storageclasses", &storage).await;
    let ingress = json!({
        "metadata": { "name": "classes-i", "annotations": { "ingressclass.kubernetes.io/is-default-class": "true" } },
        "spec": { "controller": "a.b/c" },
    });
    both.ask("POST", "/apis/networking.k8s.io/v1/ingressclasses", &ingress).await;
    let claim = |name: &str, class: &Value| {
        json!({
            "metadata": { "name": name },
            "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } },
                "storageClassName": class,
            },
        })
    };
    for (name, class) in [("a", NONE), ("b", json!("")), ("c", json!("other"))] {
        both.ask("POST", "/api/v1/namespaces/classes/persistentvolumeclaims", &claim(name, &class)).await;
    }
    let backend = json!({ "service": { "name": "s", "port": { "number": 80 } } });
    for (name, class) in [("a", NONE), ("b", json!("other"))] {
        let ingress = json!({
            "metadata": { "name": name }, "spec": { "defaultBackend": backend, "ingressClassName": class },
        });
        both.ask("POST", "/apis/networking.k8s.io/v1/namespaces/classes/ingresses", &ingress).await;
    }
    both.ask("DELETE", "/apis/storage.k8s.io/v1/storageclasses/classes-s", &NONE).await;
    both.ask("DELETE", "/apis/networking.k8s.io/v1/ingressclasses/classes-i", &NONE).await;
    both.end();
}
