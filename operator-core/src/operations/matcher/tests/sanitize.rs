use serde_json::{Value, json};

use super::super::sanitize::sanitized;

/// A pod with this container, and the server's.
fn pods(desired: &Value, actual: &Value) -> (Value, Value) {
    let pod = |container: &Value| json!({ "apiVersion": "v1", "kind": "Pod", "spec": { "containers": [container] } });
    (pod(desired), pod(actual))
}

#[test]
fn what_is_spelled_alike_is_not_copied() {
    let container =
        json!({ "name": "a", "resources": { "limits": { "cpu": "1" } }, "env": [{ "name": "E" }] });
    let (desired, actual) = pods(&container, &container);
    assert_eq!(sanitized(&desired, &actual), None);
    assert_eq!(sanitized(&json!({}), &actual), None);
    assert_eq!(sanitized(&Value::Null, &Value::Null), None);
}

#[test]
fn only_what_means_the_same_is_adapted() {
    let (desired, actual) = pods(
        &json!({ "name": "a", "tty": false, "resources": { "limits": { "cpu": "1000m", "memory": "1Gi", "x": "1" } } }),
        &json!({ "name": "a", "resources": { "limits": { "cpu": "1", "memory": "2Gi" }, "claims": [] } }),
    );
    let adapted = sanitized(&desired, &actual).unwrap();
    let expected =
        json!({ "name": "a", "resources": { "limits": { "cpu": "1", "memory": "1Gi", "x": "1" } } });
    assert_eq!(adapted["spec"]["containers"][0], expected);
}

#[test]
fn containers_correspond_by_name() {
    let limits = |name: &str, cpu: &str| json!({ "name": name, "resources": { "limits": { "cpu": cpu } } });
    let pod = |containers: Value| json!({ "apiVersion": "v1", "kind": "Pod", "spec": { "containers": containers } });
    let desired = pod(json!([limits("a", "1000m"), limits("b", "2000m"), limits("c", "3000m")]));
    let actual = pod(json!([limits("injected", "1"), limits("b", "2"), limits("a", "1")]));
    let adapted = sanitized(&desired, &actual).unwrap();
    assert_eq!(adapted, pod(json!([limits("a", "1"), limits("b", "2"), limits("c", "3000m")])));
}

#[test]
fn a_kind_of_the_same_name_in_another_group_is_another_kind() {
    let object = |cpu: &str| json!({ "apiVersion": "example.com/v1", "kind": "ResourceQuota", "spec": { "hard": { "cpu": cpu } } });
    assert_eq!(sanitized(&object("1000m"), &object("1")), None);
}

#[test]
fn a_default_is_only_taken_where_it_is_the_default() {
    let binding = |group: Option<&str>| {
        let mut binding = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": { "name": "r" } });
        if let Some(group) = group {
            binding["roleRef"]["apiGroup"] = group.into();
        }
        binding
    };
    let default = binding(Some("rbac.authorization.k8s.io"));
    assert_eq!(sanitized(&binding(None), &default), Some(default));
    assert_eq!(sanitized(&binding(None), &binding(Some("other"))), None);
}
