//! Scale, eviction, binding, tokens, and the finalizers of namespaces.

use serde_json::{Value, json};

use super::{Both, masked, send};

const NONE: Value = Value::Null;

fn workload(api_version: &str, kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind, "metadata": { "name": name },
        "spec": {
            "replicas": 2,
            "selector": {
                "matchLabels": { "app": "web" },
                "matchExpressions": [
                    { "key": "b", "operator": "In", "values": ["z", "y"] },
                    { "key": "c", "operator": "Exists" },
                ],
            },
            "template": {
                "metadata": { "labels": { "app": "web", "b": "y", "c": "1" } },
                "spec": { "containers": [{ "name": "c", "image": "i" }] },
            },
        },
    })
}

fn scale(name: &str, replicas: &Value) -> Value {
    json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": name },
        "spec": { "replicas": replicas },
    })
}

#[tokio::test]
async fn the_scale_of_workloads() {
    for (plural, kind) in
        [("deployments", "Deployment"), ("replicasets", "ReplicaSet"), ("statefulsets", "StatefulSet")]
    {
        let mut both = Both::new(&format!("scale-{plural}")).await;
        let all = format!("/apis/apps/v1/namespaces/scale-{plural}/{plural}");
        let (object, path) = (format!("{all}/web"), format!("{all}/web/scale"));
        both.ask("POST", &all, &workload("apps/v1", kind, "web")).await;
        for (method, query, body) in [
            ("GET", "", NONE),
            ("PUT", "", scale("web", &json!(2))),
            ("PUT", "?fieldManager=other", scale("web", &json!(3))),
            ("PUT", "?dryRun=All", scale("web", &json!(9))),
            ("PUT", "", scale("web", &json!(-3))),
            ("PUT", "", scale("web", &json!("x"))),
            ("PUT", "", scale("other", &json!(3))),
            (
                "PUT",
                "",
                json!({ "metadata": { "name": "web", "namespace": "x" }, "spec": { "replicas": 4 } }),
            ),
            ("PUT", "", json!({ "metadata": {}, "spec": { "replicas": 4 } })),
            ("PUT", "", json!({ "metadata": { "name": "web" }, "spec": {} })),
            ("PUT", "", json!({ "metadata": { "name": "web" }, "spec": { "replicas": 4 } })),
            (
                "PUT",
                "",
                json!({ "metadata": { "name": "web", "resourceVersion": "0" }, "spec": { "replicas": 4 } }),
            ),
            (
                "PUT",
                "",
                json!({ "metadata": { "name": "web", "resourceVersion": "1" }, "spec": { "replicas": 4 } }),
            ),
            (
                "PUT",
                "",
                json!({ "metadata": { "name": "web", "resourceVersion": "x" }, "spec": { "replicas": 4 } }),
            ),
            ("PUT", "", json!({ "metadata": { "name": "web", "uid": "x" }, "spec": { "replicas": 4 } })),
            (
                "PUT",
                "?fieldValidation=Strict",
                json!({ "metadata": { "name": "web" }, "spec": { "foo": 4 } }),
            ),
            ("PUT", "", workload("apps/v1", "Deployment", "web")),
            ("MERGE", "", json!({ "spec": { "replicas": 5 } })),
            ("STRATEGIC", "?fieldManager=other", json!({ "spec": { "replicas": 6 } })),
            ("JSON", "", json!([{ "op": "replace", "path": "/spec/replicas", "value": 7 }])),
            ("MERGE", "", json!({ "spec": { "replicas": -5 } })),
            ("APPLY", "?fieldManager=me", scale("web", &json!(8))),
            ("APPLY", "?fieldManager=me&force=true", scale("web", &json!(8))),
            ("APPLY", "?fieldManager=me", scale("web", &json!("8"))),
            (
                "APPLY",
                "?fieldManager=me",
                json!({ "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": "web" }, "spec": { "foo": 1 } }),
            ),
            ("APPLY", "?fieldManager=you", scale("web", &json!(8))),
            ("APPLY", "", scale("web", &json!(8))),
            (
                "APPLY",
                "?fieldManager=me",
                json!({ "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": "web" } }),
            ),
            ("PUT", "", scale("web", &json!(0))),
            ("GET", "", NONE),
            ("POST", "", scale("web", &json!(8))),
            ("DELETE", "", NONE),
        ] {
            both.ask(method, &format!("{path}{query}"), &body).await;
            both.ask("GET", &object, &NONE).await;
        }
        both.ask("GET", &format!("{all}/none/scale"), &NONE).await;
        both.ask("PUT", &format!("{all}/none/scale"), &scale("none", &json!(1))).await;
        both.ask("MERGE", &format!("{all}/none/scale"), &json!({})).await;
        both.end();
    }
}

fn pod(name: &str) -> Value {
    json!({
        "metadata": { "name": name, "labels": { "app": "web" } },
        "spec": { "containers": [{ "name": "c", "image": "i" }], "terminationGracePeriodSeconds": 0 },
    })
}

fn eviction(name: &str, options: &Value) -> Value {
    let mut eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name } });
    if !options.is_null() {
        eviction["deleteOptions"] = options.clone();
    }
    eviction
}

fn running(ready: bool) -> Value {
    let ready = if ready { "True" } else { "False" };
    json!({ "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": ready }] } })
}

#[tokio::test]
async fn evictions_and_budgets() {
    let mut both = Both::new("evict").await;
    let pods = "/api/v1/namespaces/evict/pods";
    let budgets = "/apis/policy/v1/namespaces/evict/poddisruptionbudgets";
    let path = format!("{pods}/a/eviction");
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    both.ask("POST", pods, &pod("a")).await;
    both.ask("GET", &path, &NONE).await;
    both.ask("POST", &path, &eviction("b", &NONE)).await;
    both.ask("POST", &path, &json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "a" } })).await;
    both.ask("POST", &path, &eviction("a", &json!({ "dryRun": ["All"] }))).await;
    both.ask("POST", &format!("{path}?dryRun=All"), &eviction("a", &NONE)).await;
    both.ask("POST", &path, &eviction("a", &json!({ "preconditions": { "uid": "other" } }))).await;
    both.ask("GET", &format!("{pods}/a"), &NONE).await;
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    both.ask("GET", &format!("{pods}/a"), &NONE).await;

    both.ask("POST", pods, &pod("a")).await;
    both.ask("MERGE", &format!("{pods}/a/status"), &running(true)).await;
    let budget = |name: &str| {
        json!({
            "metadata": { "name": name },
            "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } },
        })
    };
    both.ask("POST", budgets, &budget("one")).await;
    // No controller has looked at it.
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    let status = |allowed: i64, healthy: i64| {
        json!({ "status": {
            "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy,
            "desiredHealthy": 1, "expectedPods": healthy,
        } })
    };
    both.ask("MERGE", &format!("{budgets}/one/status"), &status(0, 1)).await;
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    both.ask("MERGE", &format!("{budgets}/one/status"), &status(0, 2)).await;
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    both.ask("POST", budgets, &budget("two")).await;
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    both.ask("DELETE", &format!("{budgets}/two"), &NONE).await;
    both.ask("MERGE", &format!("{budgets}/one/status"), &status(1, 2)).await;
    both.ask("POST", &path, &eviction("a", &json!({ "dryRun": ["All"] }))).await;
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    let after = both.ask("GET", &format!("{budgets}/one"), &NONE).await;
    assert_eq!(after["status"]["disruptionsAllowed"], 0, "{after}");
    both.ask("GET", &format!("{pods}/a"), &NONE).await;

    // One that isn't ready is no disruption while enough others are.
    both.ask("POST", pods, &pod("a")).await;
    both.ask("MERGE", &format!("{pods}/a/status"), &running(false)).await;
    both.ask("MERGE", &format!("{budgets}/one/status"), &status(0, 0)).await;
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    both.ask("MERGE", &format!("{budgets}/one/status"), &status(0, 1)).await;
    both.ask("POST", &path, &eviction("a", &NONE)).await;
    both.end();
}

#[tokio::test]
async fn a_pod_is_bound_to_a_node_once() {
    let mut both = Both::new("bind").await;
    let pods = "/api/v1/namespaces/bind/pods";
    both.ask("POST", pods, &pod("a")).await;
    let path = format!("{pods}/a/binding");
    let to = |name: &str, kind: &str, node: &str| json!({ "metadata": { "name": name, "annotations": { "a": "b" } }, "target": { "kind": kind, "name": node } });
    both.ask("POST", &path, &to("a", "", "")).await;
    both.ask("POST", &path, &to("a", "Foo", "n")).await;
    both.ask("POST", &path, &to("a", "Foo", "")).await;
    both.ask("POST", &path, &to("b", "Node", "n")).await;
    both.ask("GET", &path, &NONE).await;
    both.ask("POST", &format!("{path}?dryRun=All"), &to("a", "Node", "n")).await;
    both.ask("POST", &path, &to("a", "Node", "n")).await;
    both.ask("GET", &format!("{pods}/a"), &NONE).await;
    both.ask("POST", &path, &to("a", "Node", "n")).await;
    both.ask("POST", "/api/v1/namespaces/bind/bindings", &to("a", "Node", "n")).await;
    both.ask("POST", "/api/v1/namespaces/bind/bindings", &to("none", "Node", "n")).await;
    for what in ["log", "exec"] {
        both.ask("GET", &format!("{pods}/none/{what}"), &NONE).await;
    }
    both.end();
}

#[tokio::test]
async fn the_tokens_of_service_accounts() {
    let mut both = Both::new("token").await;
    let accounts = "/api/v1/namespaces/token/serviceaccounts";
    let path = format!("{accounts}/me/token");
    both.ask("POST", &path, &json!({ "spec": {} })).await;
    both.ask("POST", accounts, &json!({ "metadata": { "name": "me" } })).await;
    both.ask("GET", &path, &NONE).await;
    let bound = |kind: &str, name: &str| json!({ "spec": { "boundObjectRef": { "apiVersion": "v1", "kind": kind, "name": name } } });
    for body in [
        json!({ "spec": {} }),
        json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": { "audiences": ["a", "b"], "expirationSeconds": 600 } }),
        json!({ "spec": { "expirationSeconds": 60 } }),
        json!({ "spec": { "expirationSeconds": 4_294_967_297_i64 } }),
        json!({ "metadata": { "name": "other" }, "spec": {} }),
        json!({ "metadata": { "namespace": "other" }, "spec": {} }),
        json!({ "metadata": { "uid": "other" }, "spec": {} }),
        json!({ "apiVersion": "v1", "kind": "Pod", "spec": {} }),
        bound("Pod", "none"),
        bound("Secret", "none"),
        bound("Foo", "none"),
    ] {
        both.ask("POST", &path, &body).await;
    }
    both.ask("POST", "/api/v1/namespaces/token/secrets", &json!({ "metadata": { "name": "s" } })).await;
    both.ask("POST", &path, &bound("Secret", "s")).await;
    both.end();
}

#[tokio::test]
async fn tokens_are_known_again() {
    let mut both = Both::new("review").await;
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let of = |token: &str| json!({ "spec": { "token": token } });
    both.ask("POST", reviews, &of("abc")).await;
    both.ask("POST", reviews, &json!({ "spec": {} })).await;
    both.ask("GET", reviews, &NONE).await;
    let accounts = "/api/v1/namespaces/review/serviceaccounts";
    both.ask("POST", accounts, &json!({ "metadata": { "name": "me" } })).await;
    let path = format!("{accounts}/me/token");
    let mut answers = Vec::new();
    for client in [both.real.clone(), both.ours.clone()] {
        let (_, made) = send(&client, None, "POST", &path, &json!({ "spec": {} })).await;
        let token = made["status"]["token"].as_str().expect("a token").to_owned();
        let other = json!({ "spec": { "token": token, "audiences": ["other"] } });
        let mut said = String::new();
        for review in [of(&token), other] {
            said += &masked(send(&client, None, "POST", reviews, &review).await);
        }
        answers.push(said);
    }
    assert_eq!(answers[1], answers[0]);
    both.end();
}

#[tokio::test]
async fn the_finalizers_of_a_namespace() {
    let mut both = Both::new("finalize").await;
    let object = "/api/v1/namespaces/finalize";
    let path = format!("{object}/finalize");
    let with = |names: &Value| json!({ "metadata": { "name": "finalize" }, "spec": { "finalizers": names } });
    both.ask("GET", &path, &NONE).await;
    both.ask("MERGE", &path, &json!({})).await;
    both.ask("PUT", &path, &with(&json!(["kubernetes", "foo.com/x"]))).await;
    both.ask("PUT", &path, &with(&json!(["kubernetes", "foo"]))).await;
    both.ask(
        "PUT",
        &path,
        &json!({ "metadata": { "name": "finalize", "labels": { "a": "b" } }, "spec": {} }),
    )
    .await;
    both.ask("PUT", &path, &with(&json!(["kubernetes"]))).await;
    both.ask("DELETE", object, &NONE).await;
    both.ask("GET", object, &NONE).await;
    both.ask("PUT", &path, &with(&json!([]))).await;
    both.ask("GET", object, &NONE).await;
    both.end();
}

#[tokio::test]
async fn what_is_served_below_objects() {
    let mut both = Both::new("discovery").await;
    // The rest of discovery is compared elsewhere.
    for (path, plural) in
        [("/apis/apps/v1", "deployments/"), ("/api/v1", "serviceaccounts/"), ("/api/v1", "namespaces/")]
    {
        let ask = |client| async move { super::send(&client, None, "GET", path, &NONE).await.1 };
        let entries = |list: &Value| {
            let all = list["resources"].as_array().cloned().unwrap_or_default();
            let is_meant =
                |entry: &Value| entry["name"].as_str().is_some_and(|name| name.starts_with(plural));
            all.into_iter().filter(is_meant).collect::<Vec<_>>()
        };
        let (real, ours) = (ask(both.real.clone()).await, ask(both.ours.clone()).await);
        assert_eq!(entries(&ours), entries(&real));
    }
    both.ask("GET", "/api/v1/namespaces/discovery", &NONE).await;
    both.end();
}
