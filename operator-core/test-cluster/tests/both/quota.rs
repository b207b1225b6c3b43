//! Quotas and limits for changes of objects, and scopes of quotas.

use serde_json::{Value, json};

use super::Both;

const NONE: Value = Value::Null;

/// A quota that counts, as the controller would have written it.
async fn quota(both: &mut Both, base: &str, name: &str, spec: Value, used: Value) {
    let hard = spec["hard"].clone();
    let quota = json!({ "metadata": { "name": name }, "spec": spec });
    both.ask("POST", &format!("{base}/resourcequotas"), &quota).await;
    let status = json!({ "status": { "hard": hard, "used": used } });
    both.ask("MERGE", &format!("{base}/resourcequotas/{name}/status"), &status).await;
    until_known(both, base).await;
}

/// Waits until the real server counts by the quotas that have been written: it learns of them a moment later, in their order. A
/// further one, by which no Lease may be made, tells.
pub(super) async fn until_known(both: &Both, base: &str) {
    let hard = json!({ "count/leases.coordination.k8s.io": "0" });
    let (quotas, probe) = (format!("{base}/resourcequotas"), format!("{base}/resourcequotas/probe"));
    let wanted = json!({ "metadata": { "name": "probe" }, "spec": { "hard": hard } });
    both.until(201, "POST", &quotas, &wanted).await;
    let status = json!({ "status": { "hard": hard, "used": hard } });
    both.until(200, "MERGE", &format!("{probe}/status"), &status).await;
    let leases = base.replace("/api/v1", "/apis/coordination.k8s.io/v1");
    let lease = json!({ "metadata": { "name": "probe" } });
    both.until(403, "POST", &format!("{leases}/leases?dryRun=All"), &lease).await;
    both.until(200, "DELETE", &probe, &NONE).await;
}

fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({
        "metadata": { "name": name }, "spec": { "containers": [{ "name": "c", "image": "i" }] },
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    pod
}

#[tokio::test]
async fn services_that_change_their_type() {
    let mut both = Both::new("quota-services").await;
    let base = "/api/v1/namespaces/quota-services";
    let hard = json!({ "services": "3", "services.nodeports": "2", "services.loadbalancers": "1" });
    let used = json!({ "services": "0", "services.nodeports": "0", "services.loadbalancers": "0" });
    quota(&mut both, base, "q", json!({ "hard": hard }), used).await;
    let service = |name: &str, kind: &str| json!({ "metadata": { "name": name }, "spec": { "type": kind, "ports": [{ "port": 80 }] } });
    for name in ["a", "b"] {
        both.ask_code("POST", &format!("{base}/services"), &service(name, "ClusterIP")).await;
    }
    let get = format!("{base}/resourcequotas/q");
    both.ask("GET", &get, &NONE).await;
    // Ports of nodes are drawn: what is compared is asked of the quota.
    let change = async |both: &mut Both, name: &str, patch: Value| {
        both.ask_code("MERGE", &format!("{base}/services/{name}"), &patch).await;
        both.ask("GET", &get, &NONE).await;
    };
    let kind = |kind: &str| json!({ "spec": { "type": kind } });
    change(&mut both, "a", kind("NodePort")).await;
    change(
        &mut both,
        "b",
        json!({ "spec": { "type": "LoadBalancer", "allocateLoadBalancerNodePorts": false } }),
    )
    .await;
    change(
        &mut both,
        "a",
        json!({ "spec": { "ports": [{ "name": "a", "port": 80 }, { "name": "b", "port": 81 }] } }),
    )
    .await;
    change(&mut both, "a", json!({ "spec": { "ports": [{ "name": "a", "port": 80 }, { "name": "b", "port": 81 }, { "name": "c", "port": 82 }] } })).await;
    change(&mut both, "a", kind("LoadBalancer")).await;
    change(&mut both, "a", kind("ClusterIP")).await;
    both.ask("POST", &format!("{base}/services"), &service("c", "LoadBalancer")).await;
    both.end();
}

#[tokio::test]
async fn claims_that_grow() {
    let mut both = Both::new("quota-claims").await;
    let base = "/api/v1/namespaces/quota-claims";
    for (name, grows) in [("quota-grows", true), ("quota-stays", false)] {
        let class =
            json!({ "metadata": { "name": name }, "provisioner": "a.b/c", "allowVolumeExpansion": grows });
        both.ask("POST", "/apis/storage.k8s.io/v1/storageclasses", &class).await;
    }
    let of_class = "quota-grows.storageclass.storage.k8s.io/requests.storage";
    let hard = json!({ "requests.storage": "10Gi", of_class: "5Gi", "persistentvolumeclaims": "5" });
    let used = json!({ "requests.storage": "0", of_class: "0", "persistentvolumeclaims": "0" });
    quota(&mut both, base, "q", json!({ "hard": hard }), used).await;
    let range = json!({ "metadata": { "name": "l" }, "spec": { "limits": [
        { "type": "PersistentVolumeClaim", "max": { "storage": "8Gi" }, "min": { "storage": "1Gi" } },
    ] } });
    both.ask("POST", &format!("{base}/limitranges"), &range).await;
    for (name, class) in [("a", "quota-grows"), ("b", "quota-stays"), ("c", "quota-grows")] {
        let claim = json!({ "metadata": { "name": name }, "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": class, "volumeName": format!("v-{name}"),
            "resources": { "requests": { "storage": "1500Mi" } },
        } });
        both.ask("POST", &format!("{base}/persistentvolumeclaims"), &claim).await;
    }
    let bound = json!({ "status": { "phase": "Bound", "capacity": { "storage": "1500Mi" } } });
    for name in ["a", "b"] {
        both.ask("MERGE", &format!("{base}/persistentvolumeclaims/{name}/status"), &bound).await;
    }
    let get = format!("{base}/resourcequotas/q");
    for (name, size) in
        [("a", "2Gi"), ("b", "2Gi"), ("a", "6Gi"), ("a", "9Gi"), ("a", "3Gi"), ("a", "1800Mi")]
    {
        let patch = json!({ "spec": { "resources": { "requests": { "storage": size } } } });
        both.ask("MERGE", &format!("{base}/persistentvolumeclaims/{name}?dryRun=All"), &patch).await;
        both.ask("MERGE", &format!("{base}/persistentvolumeclaims/{name}"), &patch).await;
        both.ask("GET", &get, &NONE).await;
    }
    let given = json!({ "status": { "allocatedResources": { "storage": "4Gi" } } });
    both.ask("MERGE", &format!("{base}/persistentvolumeclaims/a/status"), &given).await;
    both.ask("GET", &get, &NONE).await;
    for name in ["quota-grows", "quota-stays"] {
        both.ask("DELETE", &format!("/apis/storage.k8s.io/v1/storageclasses/{name}"), &NONE).await;
    }
    both.end();
}

#[tokio::test]
async fn scopes_of_quotas() {
    let mut both = Both::new("quota-scopes").await;
    let base = "/api/v1/namespaces/quota-scopes";
    let class = json!({ "metadata": { "name": "quota-high" }, "value": 7 });
    both.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", &class).await;
    let none = json!({ "pods": "0" });
    let term = |scope: &str, operator: &str, values: Value| json!({ "matchExpressions": [{ "scopeName": scope, "operator": operator, "values": values }] });
    for (name, more) in [
        ("ends", json!({ "scopes": ["Terminating"] })),
        ("high", json!({ "scopeSelector": term("PriorityClass", "In", json!(["quota-high"])) })),
        ("low", json!({ "scopeSelector": term("PriorityClass", "DoesNotExist", NONE) })),
        ("far", json!({ "scopes": ["CrossNamespacePodAffinity"] })),
    ] {
        let mut spec = more;
        spec["hard"] = json!({ "pods": "1" });
        quota(&mut both, base, name, spec, none.clone()).await;
    }
    let affinity = json!({ "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
        { "topologyKey": "a", "namespaces": ["b"], "labelSelector": { "matchLabels": { "a": "b" } } },
    ] } });
    for (name, spec) in [
        ("a", json!({ "priorityClassName": "quota-high" })),
        ("b", json!({ "priorityClassName": "quota-high" })),
        ("c", json!({})),
        ("d", json!({})),
        ("e", json!({ "activeDeadlineSeconds": 5, "priorityClassName": "system-node-critical" })),
        ("f", json!({ "activeDeadlineSeconds": 5, "priorityClassName": "system-node-critical" })),
        ("g", json!({ "affinity": affinity, "priorityClassName": "system-node-critical" })),
        ("h", json!({ "affinity": affinity, "priorityClassName": "system-node-critical" })),
    ] {
        both.ask("POST", &format!("{base}/pods"), &pod(name, &spec)).await;
    }
    // A pod that gets a deadline is another quota's.
    let ends = json!({ "spec": { "activeDeadlineSeconds": 9 } });
    both.ask("MERGE", &format!("{base}/pods/c"), &ends).await;
    both.ask_code("DELETE", &format!("{base}/pods/e?gracePeriodSeconds=0"), &NONE).await;
    both.ask("GET", &format!("{base}/resourcequotas"), &NONE).await;
    for (number, spec) in [
        json!({ "hard": { "pods": "1" }, "scopes": ["Other"] }),
        json!({ "hard": { "pods": "1" }, "scopes": ["BestEffort", "NotBestEffort"] }),
        json!({ "hard": { "cpu": "1" }, "scopes": ["BestEffort"] }),
        json!({ "hard": { "configmaps": "1" }, "scopes": ["PriorityClass"] }),
        json!({ "hard": { "pods": "1" }, "scopeSelector": term("PriorityClass", "In", NONE) }),
        json!({ "hard": { "pods": "1" }, "scopeSelector": term("PriorityClass", "Exists", json!(["a"])) }),
        json!({ "hard": { "pods": "1" }, "scopeSelector": term("Terminating", "In", json!(["a"])) }),
        json!({ "hard": { "secrets": "1" }, "scopeSelector": term("PriorityClass", "In", json!(["a"])) }),
        json!({ "hard": { "pods": "1" }, "scopeSelector": term("Other", "Foo", NONE) }),
        json!({ "hard": { "pods": "-1" } }),
        json!({ "hard": { "pods": "1500m" } }),
        json!({ "hard": { "storage": "1" } }),
        json!({ "hard": { "foo": "1" } }),
        json!({ "hard": { "a/b/c": "1" } }),
    ]
    .iter()
    .enumerate()
    {
        let quota = json!({ "metadata": { "name": format!("w{number}") }, "spec": spec });
        both.ask("POST", &format!("{base}/resourcequotas"), &quota).await;
    }
    both.ask(
        "MERGE",
        &format!("{base}/resourcequotas/ends"),
        &json!({ "spec": { "scopes": ["NotTerminating"] } }),
    )
    .await;
    both.ask(
        "MERGE",
        &format!("{base}/resourcequotas/ends/status"),
        &json!({ "status": { "used": { "pods": "-1" } } }),
    )
    .await;
    both.ask("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/quota-high", &NONE).await;
    both.end();
}

#[tokio::test]
async fn limits_that_do_not_fit_each_other() {
    let mut both = Both::new("quota-limits").await;
    let base = "/api/v1/namespaces/quota-limits";
    for (number, limit) in [
        json!({ "type": "Other" }),
        json!({ "type": "Container", "min": { "cpu": "2" }, "max": { "cpu": "1" } }),
        json!({ "type": "Container", "min": { "cpu": "2" }, "default": { "cpu": "1" }, "defaultRequest": { "cpu": "1" } }),
        json!({ "type": "Container", "default": { "cpu": "2" }, "max": { "cpu": "1" } }),
        json!({ "type": "Container", "maxLimitRequestRatio": { "cpu": "500m" } }),
        json!({ "type": "Container", "min": { "cpu": "1" }, "max": { "cpu": "2" }, "maxLimitRequestRatio": { "cpu": "3" } }),
        json!({ "type": "Container", "default": { "a.b/c": "2" }, "defaultRequest": { "a.b/c": "1" } }),
        json!({ "type": "Container", "min": { "storage": "1" } }),
        json!({ "type": "Pod", "default": { "cpu": "1" } }),
        json!({ "type": "PersistentVolumeClaim" }),
        json!({ "type": "PersistentVolumeClaim", "max": { "storage": "1Gi" }, "min": { "storage": "2Gi" } }),
    ]
    .iter()
    .enumerate()
    {
        let range = json!({ "metadata": { "name": format!("w{number}") }, "spec": { "limits": [limit] } });
        both.ask("POST", &format!("{base}/limitranges"), &range).await;
    }
    let twice = json!([{ "type": "Pod", "max": { "cpu": "3" } }, { "type": "Pod" }]);
    both.ask(
        "POST",
        &format!("{base}/limitranges"),
        &json!({ "metadata": { "name": "t" }, "spec": { "limits": twice } }),
    )
    .await;
    let pods = json!([{ "type": "Pod", "max": { "cpu": "1500m" }, "min": { "cpu": "100m" } }]);
    both.ask(
        "POST",
        &format!("{base}/limitranges"),
        &json!({ "metadata": { "name": "p" }, "spec": { "limits": pods } }),
    )
    .await;
    let resources = |cpu: &str| json!({ "requests": { "cpu": cpu }, "limits": { "cpu": cpu } });
    let container =
        |name: &str, cpu: &str| json!({ "name": name, "image": "i", "resources": resources(cpu) });
    let along = |name: &str, cpu: &str| {
        let mut container = container(name, cpu);
        container["restartPolicy"] = "Always".into();
        container
    };
    for (name, spec) in [
        ("a", json!({ "containers": [container("c", "1")], "initContainers": [container("i", "2")] })),
        ("b", json!({ "containers": [container("c", "1")], "initContainers": [along("a", "1")] })),
        (
            "c",
            json!({ "containers": [container("c", "100m")], "initContainers": [along("a", "1"), container("i", "700m")] }),
        ),
        ("d", json!({ "containers": [container("c", "50m"), { "name": "d", "image": "i" }] })),
        ("e", json!({ "resources": resources("2"), "containers": [container("c", "1")] })),
        ("f", json!({ "resources": resources("1"), "containers": [container("c", "1")] })),
    ] {
        both.ask("POST", &format!("{base}/pods"), &pod(name, &spec)).await;
    }
    both.end();
}
