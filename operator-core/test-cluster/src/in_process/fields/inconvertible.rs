//! What fits no type, and the words for it.

use kube::core::GroupVersionKind;
use serde_json::Value;

use super::{Origin, Refusal, Schema, recorded::at, typed::validate::validate};

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

/// Whether what is applied has the types of its kind.
pub(super) fn check_patch(schema: &Schema, applied: &Value) -> Result<(), Refusal> {
    refused(untyped(schema, applied, false), schema, applied, |whose, why| {
        format!("failed to create typed patch object {whose}: {why}")
    })
}

/// Whether an object that is applied to has them: the definition of its kind may have changed since it was written.
pub(super) fn check_live(schema: &Schema, live: &Value) -> Result<(), Refusal> {
    refused(misfits(schema, live), schema, live, |whose, why| {
        format!("failed to create typed live object {whose}: {why}")
    })
}

/// Whether somebody can be noted for the fields of an object that has nobody noted.
pub(super) fn check_existing(schema: &Schema, live: &Value) -> Result<(), Refusal> {
    refused(misfits(schema, live), schema, live, |whose, why| {
        format!(
            "failed to create manager for existing fields: failed to convert new object {whose} to smd typed: {why}"
        )
    })
}

/// What of an object doesn't have the types of its kind. Those of Kubernetes' kinds don't change.
pub(super) fn misfits(schema: &Schema, object: &Value) -> Vec<String> {
    if matches!(schema.0.origin, Origin::Builtin { .. }) {
        return Vec::new();
    }
    untyped(schema, object, true)
}

fn untyped(schema: &Schema, object: &Value, duplicates: bool) -> Vec<String> {
    let (types, root) = schema.types();
    validate(types, root, object, duplicates)
}

fn refused(
    mut errors: Vec<String>,
    schema: &Schema,
    object: &Value,
    words: impl FnOnce(String, String) -> String,
) -> Result<(), Refusal> {
    let why = match errors.len() {
        0 => return Ok(()),
        1 => errors.remove(0),
        _ => format!("errors:\n  {}", errors.join("\n  ")),
    };
    let GroupVersionKind { group, version, kind } = &schema.0.kind;
    Err(Refusal::Internal(words(format!("({}; {group}/{version}, Kind={kind})", name(object)), why)))
}
