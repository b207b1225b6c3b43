//! PATCH: merge patches, JSON patches and server-side apply.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::{
    Options, Target,
    create::finish_creation,
    endpoint, is_of_kind, json_patch, meta, metadata, strategic,
    strict::check_patched,
    update::{finish_update, update_object},
    yaml,
};
use crate::in_process::{
    api::{ApiServer, Reply},
    failure::Failure,
    fields::{self, Endpoint},
    go::json,
    kinds::Kind,
    read::{self, show},
    request::Request,
    store::Path,
};

/// PATCH of an object or its status.
pub(in crate::in_process) fn patch(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    path: &Path,
) -> Result<Reply, Failure> {
    if request.content_type == "application/apply-patch+yaml" {
        return apply(api, request, kind, path);
    }
    let is_strategic = request.content_type == "application/strategic-merge-patch+json";
    let change: fn(&Kind, &Value, &[u8]) -> _ = match request.content_type.as_str() {
        "application/merge-patch+json" => |_, live, patch| merge(live, patch),
        "application/json-patch+json" => |_, live, patch| json_patch::apply(live, patch),
        "application/strategic-merge-patch+json" if !kind.is_custom() => strategic::apply,
        "application/strategic-merge-patch+json" => {
            let message = "the body of the request was in an unknown format - accepted media types include: \
                application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
            return Err(Failure::new(415, "UnsupportedMediaType", message));
        }
        _ => {
            return Err(Failure::new(415, "UnsupportedMediaType", "415: Unsupported Media Type")
                .with(serde_json::json!({})));
        }
    };
    let options = Options::new(request, "PatchOptions")?;
    if request.query.flag("force").is_some() {
        let message = "Forbidden: may not be specified for non-apply patch";
        return Err(Failure::option("PatchOptions", "force", "FieldValueForbidden", message));
    }
    let live = read::live(&api.store, kind, path)?;
    let mut object = change(kind, &live, &request.body)?;
    let target = Target { kind, path, endpoint: endpoint(request), manager: request.manager(), options };
    metadata::check_name(&object, path.name())?;
    if kind.is_custom() {
        is_of_kind(kind, &object)?;
    }
    if object["kind"] != live["kind"] || object["apiVersion"] != live["apiVersion"] {
        let message = "Invalid value: the patch changes the type of the object".to_owned();
        let cause = ("FieldValueInvalid".to_owned(), "patch".to_owned(), message);
        return Err(Failure::invalid(kind, path.name(), &[cause]));
    }
    metadata::place(&mut object, path.namespace())?;
    let checked = check_patched(&mut api.warnings, kind, options, &object, request);
    let object = checked.and_then(|()| update_object(api, &target, &live, object));
    let object = object.map_err(|failure| match is_strategic {
        true => strategic::refused(failure, &request.body),
        false => failure.of_patch(),
    })?;
    show(request, kind, &object).map(Reply::ok)
}

/// Server-side apply.
fn apply(api: &mut ApiServer, request: &Request, kind: &Arc<Kind>, path: &Path) -> Result<Reply, Failure> {
    let options = Options::new(request, "PatchOptions")?;
    let Some(manager) = request.query.get("fieldManager") else {
        let message = "Required value: is required for apply patch";
        return Err(Failure::option("PatchOptions", "fieldManager", "FieldValueRequired", message));
    };
    let applied =
        yaml(&request.body).map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))?;
    check_type(kind, &applied)?;
    if !applied["metadata"]["managedFields"].is_null() {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    let target = Target { kind, path, endpoint: endpoint(request), manager: manager.to_owned(), options };
    let write = target.fields(api.now)?;
    let force = request.query.is_true("force");
    let live = read::live(&api.store, kind, path);
    match live {
        Ok(live) => {
            let version = meta(&applied, "resourceVersion").to_owned();
            let mut object =
                fields::apply(&write, Some(&live), &applied, force).map_err(Failure::of_fields)?;
            metadata::check_name(&object, path.name())?;
            metadata::place(&mut object, path.namespace())?;
            // Of a status, the rest of the body is forgotten; not so the version that it builds upon.
            if !version.is_empty() {
                object["metadata"]["resourceVersion"] = version.into();
            }
            let object = finish_update(api, &target, &live, object)?;
            show(request, kind, &object).map(Reply::ok)
        }
        Err(absent) if target.endpoint == Endpoint::Status => match kind.behaviour.put_creates {
            // The real server asks the same strategy as for a PUT, and makes a half of the object.
            true => Err(Failure::not_modelled("objects that are created by their status")),
            false => Err(absent),
        },
        Err(_) => {
            let uid = meta(&applied, "uid").to_owned();
            let mut object = fields::apply(&write, None, &applied, force).map_err(Failure::of_fields)?;
            metadata::check_name(&object, path.name())?;
            metadata::place(&mut object, path.namespace())?;
            if !uid.is_empty() {
                let why = format!(
                    "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                );
                return Err(Failure::conflict(kind, path.name(), &why));
            }
            let object = finish_creation(api, &target, object)?;
            show(request, kind, &object).map(|shown| Reply::Json(StatusCode::CREATED, shown))
        }
    }
}

/// An applied object must contain its type.
fn check_type(kind: &Kind, applied: &Value) -> Result<(), Failure> {
    let text = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, name) = (text("apiVersion"), text("kind"));
    if api_version == kind.api_version() && name == kind.kind {
        return Ok(());
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Err(Failure::bad_request(format!("invalid object type: {group}/{version}, Kind={name}")))
}

/// A merge patch (RFC 7386), with the habits of the real server's library.
pub(super) fn merge(live: &Value, patch: &[u8]) -> Result<Value, Failure> {
    let patch: Value =
        json::read(patch).map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
    match &patch {
        Value::Object(_) => {}
        Value::Null => return Err(Failure::bad_request("Invalid JSON Patch")),
        other => {
            return Err(Failure::bad_request(format!("error decoding patch: {}", not_a_map(other))));
        }
    }
    let mut object = live.clone();
    merge_value(&mut object, patch);
    Ok(object)
}

fn merge_value(value: &mut Value, patch: Value) {
    match (value, patch) {
        (Value::Object(fields), Value::Object(patch)) => {
            for (name, patch) in patch {
                match fields.get_mut(&name) {
                    _ if patch.is_null() => drop(fields.remove(&name)),
                    Some(field) if !field.is_null() => merge_value(field, patch),
                    _ => drop(fields.insert(name, without_nulls(patch))),
                }
            }
        }
        // What takes the place of an object that isn't one stays as it is.
        (value @ Value::Object(_), patch) => *value = patch,
        (value, patch) => *value = without_nulls(patch),
    }
}

/// A value without fields that are null, in lists as well: there the standard leaves them. Items of lists stay.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// What Go calls the form of a value.
pub(super) fn form(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Array(_) => "array",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Object(_) => "object",
    }
}

/// What Go says of a patch that should have fields.
pub(super) fn not_a_map(value: &Value) -> String {
    format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", form(value))
}
