//! The way from kubectl's own apply to the server's: what the first one has noted may be taken by the second.

use serde_json::Value;

use super::{
    managed::Context,
    recorded::at,
    set::Set,
    typed::{compare::compare, to_set::to_set, validate::validate},
};
use crate::in_process::{go::json, values::json as as_json};

/// Where kubectl keeps what it applied without the server's help.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Only this manager goes that way.
const KUBECTL: &str = "kubectl";

/// The fields of the live object that were applied without the server's help, and are as they were.
pub(super) fn fields(context: &Context<'_>, manager: &str, live: &Value) -> Option<Set> {
    if manager != KUBECTL {
        return None;
    }
    let noted = at(at(at(live, "metadata"), "annotations"), LAST_APPLIED).as_str()?;
    let applied: Value = json::read(noted.as_bytes()).ok()?;
    let (types, root) = (context.types, context.root);
    if at(&applied, "apiVersion") != context.api_version || !validate(types, root, &applied, false).is_empty()
    {
        return None;
    }
    let changed = compare(types, root, &applied, live);
    let mut fields = to_set(types, root, &applied);
    [changed.modified, changed.added, changed.removed].iter().for_each(|changed| fields.subtract(changed));
    Some(fields)
}

/// Notes what was applied, for those who still do without the server's help.
pub(super) fn renew(manager: &str, applied: &Value, object: &mut Value) {
    let has_note = !at(at(at(object, "metadata"), "annotations"), LAST_APPLIED).is_null();
    if manager != KUBECTL || !has_note {
        return;
    }
    let mut applied = applied.clone();
    if let Some(annotations) = applied.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    if let Some(metadata) = applied.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object["metadata"]["annotations"][LAST_APPLIED] = format!("{}\n", as_json(&applied, &[])).into();
}
