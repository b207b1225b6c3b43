//! The words for what is applied and fits no type.

use kube::core::GroupVersionKind;
use serde_json::Value;

use super::{Refusal, recorded::at};

/// A value that fits the schema and yet can't be read is found only after the merge.
pub(super) fn inconvertible(applied: &Value, kind: &GroupVersionKind, refusal: Refusal) -> Refusal {
    let Refusal::BadRequest(message) = refusal else { return refusal };
    let what = format!("{}, Kind={}", kind.api_version(), kind.kind);
    let reason =
        message.split_once(&format!("handled as a {}: ", kind.kind)).map_or("", |(_, reason)| reason);
    Refusal::Internal(format!(
        "failed to convert new object ({}; {what}) to proper version: unable to convert unstructured object to {what}: {reason}",
        name(applied)
    ))
}

/// Namespace and name, as the API server names an object for which it fails.
fn name(object: &Value) -> String {
    let text = |field| at(at(object, "metadata"), field).as_str().unwrap_or("");
    format!("{}/{}", text("namespace"), text("name"))
}

pub(super) fn untypable(applied: &Value, kind: &GroupVersionKind, errors: &[String]) -> String {
    let errors = match errors {
        [error] => error.clone(),
        errors => format!("errors:\n  {}", errors.join("\n  ")),
    };
    format!(
        "failed to create typed patch object ({}; {}/{}, Kind={}): {errors}",
        name(applied),
        kind.group,
        kind.version,
        kind.kind
    )
}
