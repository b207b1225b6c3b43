//! JSON patches (RFC 6902), with the habits of the real server's library. Pure.
//!
//! It differs from the standard: `replace` of a member that is missing adds it, `copy` of one copies a null, `test` of
//! one against null succeeds, a missing value is null, and what stands before the first slash of a path is no part of it. An operation that can't be performed refuses the whole
//! patch, without a reason.

use json_patch::{Patch, PatchOperation};
use serde_json::{Value, json};

use super::patch::form;
use crate::in_process::{failure::Failure, go::json};

/// Applies a patch.
pub(super) fn apply(live: &Value, patch: &[u8]) -> Result<Value, Failure> {
    let operations: Value = json::read(patch).map_err(|error| {
        // Go names the field that the number is in.
        let error = match error.split_once(" into Go value of type float64") {
            Some((number, _)) => format!("{number} into Go struct field jsonPatchOp.value of type float64"),
            None => error,
        };
        Failure::bad_request(format!("error decoding patch: {error}"))
    })?;
    let operations = match operations {
        Value::Array(operations) => operations,
        Value::Null => Vec::new(),
        other => {
            let form = form(&other);
            let why = format!("json: cannot unmarshal {form} into Go value of type []handlers.jsonPatchOp");
            return Err(Failure::bad_request(format!("error decoding patch: {why}")));
        }
    };
    let is_none = |operation: &&Value| !operation.is_object() && !operation.is_null();
    if let Some(other) = operations.iter().find(is_none) {
        let why =
            format!("json: cannot unmarshal {} into Go value of type handlers.jsonPatchOp", form(other));
        return Err(Failure::bad_request(format!("error decoding patch: {why}")));
    }
    let mut object = live.clone();
    for operation in operations {
        let operation = lenient(&object, operation);
        let Some(operation) = operation else { continue };
        let operation: PatchOperation = serde_json::from_value(operation).map_err(|_| Failure::rejected())?;
        json_patch::patch(&mut object, &Patch(vec![operation])).map_err(|_| Failure::rejected())?;
    }
    Ok(object)
}

/// The operation as in the standard; `None` if nothing is left to do.
fn lenient(object: &Value, mut operation: Value) -> Option<Value> {
    let needs_value = matches!(operation["op"].as_str(), Some("add" | "replace"));
    if needs_value && operation.get("value").is_none() {
        operation["value"] = Value::Null;
    }
    for field in ["path", "from"] {
        let path = operation
            .get(field)
            .and_then(Value::as_str)
            .and_then(|path| path.find('/').map(|at| &path[at..]));
        if let Some(path) = path.map(str::to_owned) {
            operation[field] = path.into();
        }
    }
    if operation["op"] == "add" && operation["path"] == "" {
        operation["path"] = "none".into();
    }
    let given = operation.clone();
    let text = |field: &str| given.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let missing_member = |path: &str| {
        let parent = path.rsplit_once('/').and_then(|(parent, _)| object.pointer(parent));
        parent.is_some_and(Value::is_object) && object.pointer(path).is_none()
    };
    match text("op").as_str() {
        "replace" if missing_member(&text("path")) => operation["op"] = "add".into(),
        "copy" if missing_member(&text("from")) => {
            operation = json!({ "op": "add", "path": text("path"), "value": null });
        }
        "test" if missing_member(&text("path")) && operation["value"].is_null() => return None,
        _ => {}
    }
    Some(operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patch: &Value, expected: Option<Value>) {
        let object = json!({ "map": { "a": "1" }, "list": [1, 2] });
        let applied = apply(&object, patch.to_string().as_bytes());
        match expected {
            Some(expected) => assert_eq!(applied, Ok(expected), "{patch}"),
            None => assert_eq!(applied, Err(Failure::rejected()), "{patch}"),
        }
    }

    #[test]
    fn missing_members_are_treated_as_by_the_real_library() {
        let with_b = |b: Value| Some(json!({ "map": { "a": "1", "b": b }, "list": [1, 2] }));
        check(&json!([{ "op": "replace", "path": "/map/b", "value": "2" }]), with_b(json!("2")));
        check(&json!([{ "op": "copy", "from": "/map/c", "path": "/map/b" }]), with_b(Value::Null));
        check(
            &json!([{ "op": "test", "path": "/map/c", "value": null }, { "op": "add", "path": "/map/b", "value": 1 }]),
            with_b(json!(1)),
        );
        check(&json!([{ "op": "test", "path": "/map/c", "value": 1 }]), None);
        check(&json!([{ "op": "replace", "path": "/none/b", "value": "2" }]), None);
        check(&json!([{ "op": "remove", "path": "/map/b" }]), None);
        check(&json!([{ "op": "add", "path": "/list/7", "value": 1 }]), None);
        check(&json!([{ "op": "dance", "path": "/map" }]), None);
        check(&json!([{ "op": "add", "path": "x/map/b", "value": "2" }]), with_b(json!("2")));
        check(&json!([{ "op": "add", "path": "map", "value": 1 }]), None);
        check(&json!([{ "op": "add", "path": "", "value": 1 }]), None);
    }

    #[test]
    fn a_patch_that_is_no_list_is_a_bad_request() {
        let failure = apply(&json!({}), b"{}").expect_err("refused");
        assert_eq!(failure.code(), 400);
    }
}
