//! The first roles, aggregation, and who may grant what.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use test_cluster::InProcessServer;

use super::{Both, masked, send};

const NONE: Value = Value::Null;
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[tokio::test]
async fn the_first_roles_are_those_of_the_real_server() {
    // What other tests add is not compared, nor what the controllers do that don't run there.
    let still = || jiff::Timestamp::UNIX_EPOCH;
    let ours = InProcessServer::with_controllers(still, test_cluster::Controllers::Off).client();
    let real = super::real().await;
    for plural in ["clusterroles", "clusterrolebindings", "roles", "rolebindings"] {
        let path = format!("{RBAC}/{plural}?labelSelector=kubernetes.io%2Fbootstrapping%3Drbac-defaults");
        let of = |(code, list): (u16, Value)| {
            let items = list["items"].as_array().cloned().unwrap_or_default();
            let named = items.into_iter().map(|item| {
                let at = |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
                (format!("{}/{}", at("namespace"), at("name")), masked((code, item)))
            });
            named.collect::<BTreeMap<_, _>>()
        };
        let real = of(send(&real, None, "GET", &path, &NONE).await);
        let ours = of(send(&ours, None, "GET", &path, &NONE).await);
        assert!(real.len() > 5, "{real:?}");
        assert_eq!(ours.keys().collect::<Vec<_>>(), real.keys().collect::<Vec<_>>());
        for (name, role) in &real {
            assert_eq!(&ours[name], role, "{plural} {name}");
        }
    }
}

fn role(name: &str, rules: &Value) -> Value {
    json!({ "metadata": { "name": name }, "rules": rules })
}

fn binding(name: &str, kind: &str, role: &str, user: &str) -> Value {
    json!({
        "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
        "subjects": [{ "kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io" }],
    })
}

#[tokio::test]
async fn nobody_grants_what_they_lack() {
    let mut both = Both::new("grant").await;
    let (roles, bindings) = (format!("{RBAC}/clusterroles"), format!("{RBAC}/clusterrolebindings"));
    let in_namespace = format!("{RBAC}/namespaces/grant");
    let verbs = json!(["get", "list", "create", "update", "patch", "delete"]);
    let kinds = json!(["roles", "clusterroles", "rolebindings", "clusterrolebindings"]);
    let writer = json!([
        { "apiGroups": ["rbac.authorization.k8s.io"], "resources": kinds, "verbs": verbs },
        { "apiGroups": [""], "resources": ["pods", "configmaps"], "verbs": ["get"] },
        { "apiGroups": ["*"], "resources": ["*/scale"], "verbs": ["update"] },
        { "nonResourceURLs": ["/y/*"], "verbs": ["get"] },
    ]);
    both.ask("POST", &roles, &role("grant:writer", &writer)).await;
    both.ask("POST", &bindings, &binding("grant:writer", "ClusterRole", "grant:writer", "dora")).await;
    let create = json!({ "group": "rbac.authorization.k8s.io", "resource": "roles", "verb": "create" });
    both.until_allowed("dora", &create).await;
    both.be("dora", &["dev"]);
    let wide = json!([
        { "apiGroups": ["", "apps"], "resources": ["pods", "secrets"], "verbs": ["get", "list"] },
        { "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a", "b"], "verbs": ["get", "list"] },
        { "apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["update", "patch"] },
    ]);
    let narrow = json!([
        { "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] },
        { "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["get"] },
        { "apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["update"] },
    ]);
    let paths = json!([
        { "nonResourceURLs": ["/x", "/y/*", "/y/a"], "verbs": ["get"] },
        { "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] },
    ]);
    let in_roles = format!("{in_namespace}/roles");
    both.ask("POST", &in_roles, &role("r", &wide)).await;
    both.ask("POST", &in_roles, &role("r", &narrow)).await;
    both.ask("PUT", &format!("{in_roles}/r"), &role("r", &wide)).await;
    both.ask("MERGE", &format!("{in_roles}/r"), &json!({ "metadata": { "finalizers": ["a.b/c"] } })).await;
    both.ask("MERGE", &format!("{in_roles}/r"), &json!({ "metadata": { "finalizers": null } })).await;
    both.ask("PUT", &format!("{in_roles}/new"), &role("new", &wide)).await;
    both.ask("POST", &roles, &role("grant:paths", &paths)).await;
    let aggregated = json!({
        "metadata": { "name": "grant:aggregated" }, "rules": [],
        "aggregationRule": { "clusterRoleSelectors": [{ "matchLabels": { "grant": "yes" } }] },
    });
    both.ask("POST", &roles, &aggregated).await;
    for (kind, name) in [
        ("ClusterRole", "none"),
        ("ClusterRole", "system:discovery"),
        ("ClusterRole", "cluster-admin"),
        ("Role", "r"),
        ("Role", "none"),
    ] {
        let asked = binding("grant:one", kind, name, "eve");
        if kind == "ClusterRole" {
            both.ask("POST", &bindings, &asked).await;
        }
        both.ask("POST", &format!("{in_namespace}/rolebindings"), &asked).await;
        both.ask("DELETE", &format!("{bindings}/grant:one"), &NONE).await;
        both.ask("DELETE", &format!("{in_namespace}/rolebindings/grant:one"), &NONE).await;
    }
    // With these verbs they may.
    both.be("", &[]);
    let more = json!([
        { "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["escalate"] },
        { "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "resourceNames": ["view"], "verbs": ["bind"] },
    ]);
    both.ask("POST", &in_roles, &role("more", &more)).await;
    both.ask("POST", &format!("{in_namespace}/rolebindings"), &binding("more", "Role", "more", "dora")).await;
    let escalate = json!({
        "group": "rbac.authorization.k8s.io", "resource": "roles", "verb": "escalate", "namespace": "grant",
    });
    both.until_allowed("dora", &escalate).await;
    both.be("dora", &["dev"]);
    both.ask("POST", &in_roles, &role("wide", &wide)).await;
    both.ask("POST", &format!("{in_namespace}/rolebindings"), &binding("v", "ClusterRole", "view", "eve"))
        .await;
    both.ask(
        "POST",
        &format!("{in_namespace}/rolebindings"),
        &binding("e", "ClusterRole", "cluster-admin", "eve"),
    )
    .await;
    both.end();
}

#[tokio::test]
async fn a_user_may_ask_for_their_rules() {
    let mut both = Both::new("rules").await;
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    both.ask("POST", path, &json!({ "spec": {} })).await;
    both.ask("GET", path, &NONE).await;
    for user in [None, Some(("carl".to_owned(), vec![]))] {
        let body = json!({ "spec": { "namespace": "rules" } });
        // The real server lists bindings in no order.
        let sorted = |(code, mut review): (u16, Value)| {
            for rules in ["resourceRules", "nonResourceRules"] {
                if let Some(rules) = review["status"][rules].as_array_mut() {
                    rules.sort_by_key(Value::to_string);
                }
            }
            masked((code, review))
        };
        let real = sorted(send(&both.real, user.as_ref(), "POST", path, &body).await);
        let ours = sorted(send(&both.ours, user.as_ref(), "POST", path, &body).await);
        assert_eq!(ours, real);
    }
    both.end();
}

#[tokio::test]
async fn reviews_that_ask_nothing_or_too_much() {
    let both = Both::new("questions").await;
    let reviews = "/apis/authorization.k8s.io/v1";
    let local = format!("{reviews}/namespaces/questions/localsubjectaccessreviews");
    let resource = |namespace: &str| json!({ "verb": "get", "resource": "pods", "namespace": namespace });
    // Two bindings allow others, and the real server names any of them.
    let path = json!({ "verb": "get", "path": "/api" });
    for spec in [
        json!({}),
        json!({ "user": "", "groups": [] }),
        json!({ "user": "eve", "resourceAttributes": resource("other") }),
        json!({ "user": "eve", "nonResourceAttributes": path }),
        json!({ "groups": ["nobodies"], "nonResourceAttributes": path }),
        json!({ "user": "eve", "groups": ["system:authenticated"], "nonResourceAttributes": path }),
        json!({ "user": "eve", "uid": "1", "extra": { "a": ["b"] }, "other": 1, "resourceAttributes": resource("questions") }),
        json!({ "groups": ["nobodies"], "resourceAttributes": resource("questions"), "nonResourceAttributes": path }),
    ] {
        for at in [
            &format!("{reviews}/selfsubjectaccessreviews"),
            &format!("{reviews}/subjectaccessreviews"),
            &local,
        ] {
            both.same("POST", at, &json!({ "spec": spec })).await;
        }
    }
}

#[tokio::test]
async fn who_may_only_change_objects_creates_none_by_that() {
    let mut both = Both::new("patches").await;
    let (roles, bindings) = (format!("{RBAC}/clusterroles"), format!("{RBAC}/clusterrolebindings"));
    let patch = json!([{ "apiGroups": ["", "coordination.k8s.io"], "resources": ["*"], "verbs": ["patch", "update"] }]);
    both.ask("POST", &roles, &role("patches:patch", &patch)).await;
    both.ask("POST", &bindings, &binding("patches:patch", "ClusterRole", "patches:patch", "pat")).await;
    both.until_allowed("pat", &json!({ "resource": "configmaps", "verb": "patch" })).await;
    both.be("pat", &[]);
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" } });
    let wrong =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" }, "data": { "/": "" } });
    let maps = "/api/v1/namespaces/patches/configmaps/b?fieldManager=pat";
    both.ask("APPLY", maps, &wrong).await;
    both.ask("APPLY", maps, &map).await;
    both.ask("APPLY", &format!("{maps}&dryRun=All"), &map).await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "patches-2" } });
    both.ask("APPLY", "/api/v1/namespaces/patches-2?fieldManager=pat", &namespace).await;
    let lease = json!({ "metadata": { "name": "l" } });
    both.ask("PUT", "/apis/coordination.k8s.io/v1/namespaces/patches/leases/l", &lease).await;
    both.end();
}
