//! The cells of Kubernetes' own kinds, and what they have in common.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{columns, duration::since, network, others, pods, workloads};

/// The cells of an object's row.
pub(super) fn of(api_version: &str, kind: &str, object: &Value, now: Timestamp) -> Vec<Value> {
    let name = &object["metadata"]["name"];
    if columns::are_default(api_version, kind) {
        return vec![name.clone(), object["metadata"]["creationTimestamp"].clone()];
    }
    let age = &Value::from(since(&object["metadata"]["creationTimestamp"], now));
    match kind {
        "Pod" => pods::cells(object, name, age, now),
        "Deployment"
        | "ReplicaSet"
        | "StatefulSet"
        | "DaemonSet"
        | "Job"
        | "CronJob"
        | "PodDisruptionBudget"
        | "HorizontalPodAutoscaler"
        | "ControllerRevision"
        | "ReplicationController"
        | "PodTemplate" => workloads::cells(kind, object, name, age, now),
        "Service" | "Endpoints" | "EndpointSlice" | "Ingress" | "IngressClass" | "NetworkPolicy" => {
            network::cells(kind, object, name, age)
        }
        _ => others::cells(kind, object, name, age, now),
    }
}

/// A text at a pointer; empty if there is none.
pub(super) fn text<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A text at a pointer, or what stands for none.
pub(super) fn text_or(object: &Value, pointer: &str, none: &str) -> String {
    let found = text(object, pointer);
    if found.is_empty() { none.to_owned() } else { found.to_owned() }
}

/// A number at a pointer; 0 if there is none.
pub(super) fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// A list at a pointer; empty if there is none.
pub(super) fn list<'o>(object: &'o Value, pointer: &str) -> &'o [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The entries of a map at a pointer, by key.
pub(super) fn entries<'o>(object: &'o Value, pointer: &str) -> Vec<(&'o String, &'o Value)> {
    object.pointer(pointer).and_then(Value::as_object).into_iter().flat_map(Map::iter).collect()
}

/// A text or number as text.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The names and images of containers.
pub(super) fn containers(object: &Value, pointer: &str) -> [Value; 2] {
    let of = |field: &str| {
        let texts = list(object, pointer).iter().map(|container| text(container, field));
        Value::from(texts.collect::<Vec<_>>().join(","))
    };
    [of("/name"), of("/image")]
}

/// Labels as `key=value`, or `<none>`.
pub(super) fn labels(object: &Value, pointer: &str) -> String {
    let labels = entries(object, pointer).into_iter();
    let labels: Vec<_> = labels.map(|(key, value)| format!("{key}={}", plain(value))).collect();
    or(labels.join(","), "<none>")
}

/// A label selector as its text; empty if it selects everything or there is none.
pub(super) fn selector(object: &Value, pointer: &str) -> String {
    let Some(selector) = object.pointer(pointer) else { return String::new() };
    let labels = entries(selector, "/matchLabels").into_iter();
    let mut parts: Vec<(String, String)> =
        labels.map(|(key, value)| (key.clone(), format!("{key}={}", plain(value)))).collect();
    for expression in list(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let mut values: Vec<_> = list(expression, "/values").iter().map(plain).collect();
        values.sort();
        let values = values.join(",");
        let shown = match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        parts.push((key.to_owned(), shown));
    }
    parts.sort_by(|(one, _), (two, _)| one.cmp(two));
    parts.into_iter().map(|(_, shown)| shown).collect::<Vec<_>>().join(",")
}

/// A text, or what stands for none.
pub(super) fn or(text: String, none: &str) -> String {
    if text.is_empty() { none.to_owned() } else { text }
}

/// The first texts of a list, and how many more there are.
pub(super) fn first(mut shown: Vec<String>, most: usize, separator: &str, none: &str) -> String {
    let all = shown.len();
    shown.truncate(most);
    let text = shown.join(separator);
    if all > most { format!("{text} + {} more...", all - most) } else { or(text, none) }
}

/// The condition of a type.
pub(super) fn condition<'o>(object: &'o Value, kind: &str) -> Option<&'o Value> {
    list(object, "/status/conditions").iter().find(|condition| condition["type"] == kind)
}

/// Whether the condition of a type is true.
pub(super) fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition["status"] == "True")
}

/// Cells of values that have a JSON form.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$(serde_json::json!($cell)),*] };
}
pub(super) use row;

/// Whether an object is being deleted.
pub(super) fn is_deleting(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// A cell of a flag, as a text.
pub(super) fn flag(value: &Value) -> Value {
    match value.as_bool() {
        Some(true) => json!("True"),
        Some(false) => json!("False"),
        None => json!("<unset>"),
    }
}
