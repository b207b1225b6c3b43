//! What is wrong with the question that an access review asks, in the words of the real server. Pure.

use serde_json::Value;

use crate::in_process::failure::Cause;

/// The causes for which a review is refused. `own` is about whoever asks; `namespace` is that of a review of one
/// namespace.
pub(in crate::in_process) fn wrong_question(spec: &Value, own: bool, namespace: Option<&str>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut add = |field: &str, value: &str, why: &str| {
        let message = format!("Invalid value: {value}: {why}");
        causes.push(("FieldValueInvalid".to_owned(), format!("spec.{field}"), message));
    };
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let text = |field: &str| path[field].as_str().unwrap_or_default();
    let shown = format!("{{\"Path\":{:?},\"Verb\":{:?}}}", text("path"), text("verb"));
    if !resource.is_null() && !path.is_null() {
        add("nonResourceAttributes", &shown, "cannot be specified in combination with resourceAttributes");
    }
    if resource.is_null() && path.is_null() {
        let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        add("resourceAttributes", "null", why);
    }
    let has_user = spec["user"].as_str().is_some_and(|user| !user.is_empty());
    let has_groups = spec["groups"].as_array().is_some_and(|groups| !groups.is_empty());
    if !own && !has_user && !has_groups {
        add("user", "\"\"", "at least one of user or group must be specified");
    }
    if let Some(namespace) = namespace {
        let asked = resource["namespace"].as_str().unwrap_or_default();
        if !resource.is_null() && asked != namespace {
            add("resourceAttributes.namespace", &format!("{asked:?}"), "must match metadata.namespace");
        }
        if !path.is_null() {
            add("nonResourceAttributes", &shown, "disallowed on this kind of request");
        }
    }
    causes
}
