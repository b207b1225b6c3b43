//! What is warned of in objects that are taken.

use serde_json::{Value, json};

use super::Both;

const NONE: Value = Value::Null;

/// A pod's spec with more than one container needs.
fn spec(more: &Value) -> Value {
    let mut spec = json!({ "containers": [{ "name": "c", "image": "i" }] });
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    spec
}

/// Specs of pods that are warned of.
fn pods() -> Vec<Value> {
    let container = |more: Value| {
        let mut container = json!({ "name": "c", "image": "i" });
        container.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        container
    };
    let items = |paths: &[&str]| -> Value {
        paths.iter().map(|path| json!({ "key": "k", "path": path })).collect::<Vec<_>>().into()
    };
    let with = |volume: Value| {
        let mut volume = volume;
        volume["name"] = "v".into();
        json!({ "volumes": [volume] })
    };
    vec![
        json!({ "nodeSelector": { "beta.kubernetes.io/arch": "a", "node-role.kubernetes.io/master": "" } }),
        json!({ "affinity": { "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
                { "matchExpressions": [{ "key": "beta.kubernetes.io/os", "operator": "In", "values": ["-x"] }] },
            ] },
            "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1, "preference": {
                "matchExpressions": [{ "key": "failure-domain.beta.kubernetes.io/zone", "operator": "In", "values": ["-x"] }],
            } }],
        } } }),
        json!({ "affinity": {
            "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{ "topologyKey": "a" }] },
            "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [
                { "weight": 1, "podAffinityTerm": { "topologyKey": "a" } },
            ] },
        } }),
        json!({ "topologySpreadConstraints": [
            { "maxSkew": 1, "topologyKey": "failure-domain.beta.kubernetes.io/region", "whenUnsatisfiable": "DoNotSchedule" },
        ] }),
        json!({ "hostAliases": [{ "ip": "1.2.3.4" }, { "ip": "1.2.3.4" }, { "ip": "::0:1" }] }),
        json!({ "imagePullSecrets": [{ "name": "a" }, { "name": "b" }] }),
        json!({ "dnsConfig": { "nameservers": ["fe80:0:0::1"] } }),
        json!({ "terminationGracePeriodSeconds": -1 }),
        json!({ "containers": [container(json!({ "env": [
            { "name": "A", "value": "1" }, { "name": "A", "value": "2" }, { "name": "A", "value": "$(A)3" },
            { "name": "A", "value": "$(A)" }, { "name": "A", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
        ] }))] }),
        json!({ "containers": [container(json!({ "resources": {
            "requests": { "memory": "100m", "ephemeral-storage": "1500m" }, "limits": { "memory": "1.5", "ephemeral-storage": "2" },
        } }))] }),
        json!({ "containers": [container(json!({ "ports": [
            { "containerPort": 80, "name": "a" }, { "containerPort": 80, "hostIP": "1.2.3.4", "name": "b" },
            { "containerPort": 80, "hostPort": 81 }, { "containerPort": 80, "hostPort": 81, "hostIP": "1.2.3.4" },
            { "containerPort": 82, "protocol": "UDP" },
        ] })), { "name": "d", "image": "i", "ports": [{ "containerPort": 83, "name": "a" }, { "containerPort": 80 }] }] }),
        json!({ "initContainers": [{ "name": "d", "image": "i", "ports": [{ "containerPort": 83, "name": "a" }] }],
            "containers": [container(json!({ "ports": [{ "containerPort": 83, "name": "a" }] }))] }),
        with(json!({ "glusterfs": { "endpoints": "e", "path": "p" } })),
        with(json!({ "rbd": { "monitors": ["m"], "image": "i" } })),
        with(json!({ "cephfs": { "monitors": ["m"] } })),
        with(json!({ "gitRepo": { "repository": "r" } })),
        with(json!({ "storageos": { "volumeName": "n" } })),
        with(json!({ "flocker": { "datasetName": "n" } })),
        with(json!({ "configMap": { "name": "m", "items": items(&["a", "a/b", "c", "c"]) } })),
        with(json!({ "secret": { "secretName": "m", "items": items(&["a/b/", "a"]) } })),
        with(json!({ "downwardAPI": { "items": [
            { "path": "a", "fieldRef": { "fieldPath": "metadata.name" } },
            { "path": "a", "fieldRef": { "fieldPath": "metadata.name" } },
        ] } })),
        with(json!({ "projected": { "sources": [
            { "configMap": { "name": "m", "items": items(&["a"]) } }, { "secret": { "name": "s", "items": items(&["a/b"]) } },
            { "serviceAccountToken": { "path": "a" } },
        ] } })),
        with(json!({ "ephemeral": { "volumeClaimTemplate": { "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1500m" } },
        } } } })),
    ]
}

fn annotations() -> Value {
    json!({
        "scheduler.alpha.kubernetes.io/critical-pod": "", "security.alpha.kubernetes.io/sysctls": "a=b",
        "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
        "container.seccomp.security.alpha.kubernetes.io/c": "runtime/default",
    })
}

#[tokio::test]
async fn warnings_of_pods_and_their_templates() {
    let mut both = Both::new("warn-pods").await;
    let pods_at = "/api/v1/namespaces/warn-pods/pods?dryRun=All";
    let deployments = "/apis/apps/v1/namespaces/warn-pods/deployments";
    let deployment = |name: &str, meta: &Value, spec: &Value| {
        let mut meta = meta.clone();
        meta["labels"] = json!({ "a": "b" });
        json!({ "metadata": { "name": name }, "spec": {
            "selector": { "matchLabels": { "a": "b" } }, "template": { "metadata": meta, "spec": spec },
        } })
    };
    for more in pods() {
        let spec = spec(&more);
        both.ask_code("POST", pods_at, &json!({ "metadata": { "name": "p" }, "spec": spec })).await;
        both.ask_code("POST", &format!("{deployments}?dryRun=All"), &deployment("d", &json!({}), &spec))
            .await;
    }
    let old = json!({ "annotations": annotations() });
    both.ask_code(
        "POST",
        pods_at,
        &json!({ "metadata": { "name": "p", "annotations": annotations() }, "spec": spec(&NONE) }),
    )
    .await;
    both.ask_code("POST", &format!("{deployments}?dryRun=All"), &deployment("d.e", &old, &spec(&NONE))).await;
    both.ask_code("POST", pods_at, &json!({ "metadata": { "name": "p.q" }, "spec": spec(&NONE) })).await;
    for profile in ["runtime/default", "unconfined", "localhost/x", "other"] {
        let notes = json!({ "annotations": { "container.apparmor.security.beta.kubernetes.io/c": profile } });
        both.ask_code("POST", &format!("{deployments}?dryRun=All"), &deployment("d", &notes, &spec(&NONE)))
            .await;
    }
    // What was there is warned of again only if the template changes.
    let ports = &pods()[10];
    both.ask_code("POST", deployments, &deployment("w", &json!({}), &spec(ports))).await;
    let at = format!("{deployments}/w");
    both.ask_code("MERGE", &at, &json!({ "metadata": { "labels": { "c": "d" } } })).await;
    both.ask_code("MERGE", &at, &json!({ "spec": { "replicas": 2 } })).await;
    both.ask_code("APPLY", &format!("{at}?fieldManager=m&force=true"), &json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "w" }, "spec": { "replicas": 3 },
    }))
    .await;
    both.ask_code("MERGE", &format!("{at}/status"), &json!({ "status": { "replicas": 2 } })).await;
    both.end();
}

#[tokio::test]
async fn warnings_of_other_workloads() {
    let mut both = Both::new("warn-work").await;
    let template = json!({ "metadata": { "labels": { "a": "b" } }, "spec": spec(&json!({ "nodeSelector": { "beta.kubernetes.io/os": "a" } })) });
    let selector = json!({ "matchLabels": { "a": "b" } });
    let claim = json!({ "metadata": { "name": "v" }, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1500m" } },
    } });
    let mut once = template.clone();
    once["spec"]["restartPolicy"] = "Never".into();
    for (at, name, spec) in [
        (
            "apps/v1/namespaces/warn-work/statefulsets",
            "s.t",
            json!({
                "selector": selector, "template": template, "serviceName": "s", "volumeClaimTemplates": [claim], "revisionHistoryLimit": -1,
            }),
        ),
        (
            "apps/v1/namespaces/warn-work/daemonsets",
            "d.e",
            json!({ "selector": selector, "template": template }),
        ),
        (
            "apps/v1/namespaces/warn-work/replicasets",
            "r.s",
            json!({ "selector": selector, "template": template }),
        ),
        (
            "batch/v1/namespaces/warn-work/jobs",
            "j.k",
            json!({
                "template": once, "completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001, "suspend": true,
            }),
        ),
        (
            "batch/v1/namespaces/warn-work/cronjobs",
            "c.j",
            json!({
                "schedule": "0 0 * * *", "suspend": true, "jobTemplate": { "spec": { "template": once } },
            }),
        ),
    ] {
        both.ask_code("POST", &format!("/apis/{at}"), &json!({ "metadata": { "name": name }, "spec": spec }))
            .await;
        both.ask_code(
            "MERGE",
            &format!("/apis/{at}/{name}"),
            &json!({ "metadata": { "labels": { "x": "y" } } }),
        )
        .await;
        both.ask_code(
            "MERGE",
            &format!("/apis/{at}/{name}"),
            &json!({ "spec": { "suspend": false, "minReadySeconds": 1 } }),
        )
        .await;
        let change = json!({ "spec": { "template": { "metadata": { "labels": { "x": "y" } } } } });
        both.ask_code("MERGE", &format!("/apis/{at}/{name}"), &change).await;
    }
    let jobs = "/apis/batch/v1/namespaces/warn-work/jobs";
    both.ask_code("DELETE", &format!("{jobs}/j.k?dryRun=All"), &NONE).await;
    both.ask_code("DELETE", &format!("{jobs}/j.k?dryRun=All&propagationPolicy=Background"), &NONE).await;
    both.ask_code("DELETE", &format!("{jobs}?dryRun=All"), &NONE).await;
    both.end();
}

#[tokio::test]
async fn warnings_of_addresses_and_others() {
    let mut both = Both::new("warn-other").await;
    let base = "/api/v1/namespaces/warn-other";
    let port = json!([{ "port": 80 }]);
    for (number, spec) in [
        json!({ "ports": port, "externalIPs": ["1.2.3.4", "fe80:0::1"] }),
        json!({ "ports": port, "clusterIP": "None", "sessionAffinity": "ClientIP", "externalIPs": ["1.2.3.4"] }),
        json!({ "ports": port, "type": "LoadBalancer", "loadBalancerIP": "1.2.3.4", "loadBalancerSourceRanges": ["10.0.0.1/8", "fe80:0::/16"] }),
        json!({ "ports": port, "externalName": "a.b" }),
        json!({ "type": "ExternalName", "externalName": "a.b", "externalIPs": ["1.2.3.4"] }),
        json!({ "ports": port, "trafficDistribution": "PreferClose" }),
    ]
    .iter()
    .enumerate()
    {
        let mut service = json!({ "metadata": { "name": format!("s{number}") }, "spec": spec });
        both.ask_code("POST", &format!("{base}/services"), &service).await;
        service["metadata"]["annotations"] = json!({ "service.kubernetes.io/topology-aware-hints": "auto" });
        both.ask_code("MERGE", &format!("{base}/services/s{number}"), &service).await;
    }
    let status = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": "fe80:0::1" }] } } });
    both.ask_code("MERGE", &format!("{base}/services/s2/status"), &status).await;
    let policy = json!({ "metadata": { "name": "p" }, "spec": {
        "podSelector": {}, "ingress": [{ "from": [{ "ipBlock": { "cidr": "10.0.0.0/8", "except": ["10.1.1.1/16"] } }] }],
        "egress": [{ "to": [{ "ipBlock": { "cidr": "fe80:0::/16" } }] }],
    } });
    both.ask_code("POST", "/apis/networking.k8s.io/v1/namespaces/warn-other/networkpolicies", &policy).await;
    let ingress = json!({
        "metadata": { "name": "i", "annotations": { "kubernetes.io/ingress.class": "a" } },
        "spec": { "defaultBackend": { "service": { "name": "s", "port": { "number": 80 } } } },
    });
    both.ask_code("POST", "/apis/networking.k8s.io/v1/namespaces/warn-other/ingresses", &ingress).await;
    both.ask_code("MERGE", "/apis/networking.k8s.io/v1/namespaces/warn-other/ingresses/i/status", &status)
        .await;
    let claim = json!({
        "metadata": { "name": "c", "annotations": { "volume.beta.kubernetes.io/storage-class": "a" } },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1500m" } } },
    });
    both.ask_code("POST", &format!("{base}/persistentvolumeclaims"), &claim).await;
    both.ask_code(
        "MERGE",
        &format!("{base}/persistentvolumeclaims/c"),
        &json!({ "metadata": { "labels": { "a": "b" } } }),
    )
    .await;
    let quota = json!({ "metadata": { "name": "q" }, "spec": { "hard": { "cpu": "2", "limits.cpu": "1", "requests.memory": "2Gi", "limits.memory": "1Gi" } } });
    both.ask_code("POST", &format!("{base}/resourcequotas?dryRun=All"), &quota).await;
    let account = json!({ "metadata": { "name": "a", "annotations": { "kubernetes.io/enforce-mountable-secrets": "true" } } });
    both.ask_code("POST", &format!("{base}/serviceaccounts"), &account).await;
    both.ask_code(
        "MERGE",
        &format!("{base}/serviceaccounts/a"),
        &json!({ "metadata": { "labels": { "a": "b" } } }),
    )
    .await;
    let (pem, key) = (
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    );
    for (number, (certificate, private)) in
        [("x", "y"), (key, pem), (pem, "y"), (pem, pem)].iter().enumerate()
    {
        let secret = json!({ "metadata": { "name": format!("t{number}") }, "type": "kubernetes.io/tls", "stringData": { "tls.crt": certificate, "tls.key": private } });
        both.ask_code("POST", &format!("{base}/secrets"), &secret).await;
    }
    let endpoints = json!({ "metadata": { "name": "e" }, "subsets": [{ "addresses": [{ "ip": "fd00:0::1" }], "ports": [{ "port": 80 }] }] });
    both.ask_code("POST", &format!("{base}/endpoints"), &endpoints).await;
    let slice = json!({ "metadata": { "name": "x" }, "addressType": "FQDN", "endpoints": [{ "addresses": ["a.b"] }] });
    both.ask_code("POST", "/apis/discovery.k8s.io/v1/namespaces/warn-other/endpointslices", &slice).await;
    let class = json!({
        "metadata": { "name": "warn-other" }, "provisioner": "a.b/c",
        "allowedTopologies": [{ "matchLabelExpressions": [{ "key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"] }] }],
    });
    both.ask_code("POST", "/apis/storage.k8s.io/v1/storageclasses?dryRun=All", &class).await;
    both.end();
}
