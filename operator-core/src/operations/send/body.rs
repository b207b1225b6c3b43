//! The bodies of requests: objects as JSON, without what only the server sets.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::intent::Part;
use crate::operations::{
    error::{Error, masked},
    matcher::strip_nulls,
};
use crate::resource::{Object, ObjectKey, ResourceType};

/// `object` as the body of a server-side apply: with its type, without nulls, managed fields and version.
pub(in crate::operations) fn applied(object: &dyn Object, kind: &ResourceType) -> Result<Value, Error> {
    let mut body = plain(object, kind)?;
    strip_nulls(&mut body);
    if let Some(metadata) = metadata(&mut body) {
        metadata.remove("resourceVersion");
    }
    Ok(body)
}

/// Fields that the server decides, and that a body must not or need not contain.
const OF_THE_SERVER: [&str; 6] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// A primary as the body of a server-side apply: without its status and what only the server sets. The finalizers are
/// exactly `finalizer`: without it the apply would give it up, and those of others, which the caller's copy may
/// contain, must not become ours. `done_jobs` is an annotation that the framework writes itself: an apply would own it,
/// and the next one drop it.
pub(in crate::operations) fn applied_primary(
    primary: &dyn Object,
    kind: &ResourceType,
    key: &ObjectKey,
    finalizer: Option<&str>,
    done_jobs: &str,
) -> Result<Value, Error> {
    let mut body = plain(primary, kind)?;
    let metadata = &mut body["metadata"];
    if let Some(annotations) = metadata["annotations"].as_object_mut() {
        annotations.remove(done_jobs);
        if annotations.is_empty() {
            metadata["annotations"] = Value::Null;
        }
    }
    metadata["name"] = key.name().into();
    metadata["finalizers"] = finalizer.map_or(Value::Null, |finalizer| json!([finalizer]));
    for of_the_server in OF_THE_SERVER {
        metadata[of_the_server] = Value::Null;
    }
    body["status"] = Value::Null;
    strip_nulls(&mut body);
    Ok(body)
}

/// Some fields of a primary as the body of a server-side apply, with `finalizer` among its finalizers.
pub(in crate::operations) fn applied_part(
    mut part: Value,
    kind: &ResourceType,
    key: &ObjectKey,
    finalizer: Option<&str>,
    done_jobs: &str,
) -> Result<Value, Error> {
    let wrong = |what: String| Error::PartialApply { kind: kind.clone(), key: key.clone(), what };
    if !part.is_object() {
        return Err(wrong(
            "is no json object; name the fields, for example `{ \"metadata\": { … } }`".to_owned(),
        ));
    }
    if !part["status"].is_null() {
        return Err(wrong("has a status; leave that to the function given to `.status(…)`".to_owned()));
    }
    let said = |pointer: &str| part.pointer(pointer).filter(|said| !said.is_null());
    match said("/metadata/name").and_then(Value::as_str) {
        None | Some("") => {
            return Err(wrong("has no `metadata.name`; give it the primary's".to_owned()));
        }
        Some(name) if name != key.name() => {
            return Err(wrong(format!("is for `{name}`; give it the name of the primary")));
        }
        Some(_) => {}
    }
    let identity = identity(kind, key);
    for pointer in ["/apiVersion", "/kind", "/metadata/namespace"] {
        let ours = identity.pointer(pointer);
        if let Some(other) = said(pointer).filter(|said| Some(*said) != ours) {
            return Err(wrong(format!(
                "has the `{}` {other}; leave it out",
                &pointer[1..].replace('/', ".")
            )));
        }
    }
    for field in ["apiVersion", "kind"] {
        part[field] = identity[field].clone();
    }
    let metadata = &mut part["metadata"];
    if let Some(annotations) = metadata["annotations"].as_object_mut() {
        annotations.remove(done_jobs);
    }
    for of_the_server in OF_THE_SERVER {
        metadata[of_the_server] = Value::Null;
    }
    metadata["namespace"] = identity["metadata"]["namespace"].clone();
    if let Some(finalizer) = finalizer {
        let mut finalizers = metadata["finalizers"].as_array().cloned().unwrap_or_default();
        if !finalizers.iter().any(|name| name == finalizer) {
            finalizers.push(finalizer.into());
        }
        metadata["finalizers"] = finalizers.into();
    }
    strip_nulls(&mut part);
    Ok(part)
}

/// `object` as the body of a server-side apply of its status, which contains nothing else.
pub(in crate::operations) fn applied_status(
    object: &dyn Object,
    kind: &ResourceType,
    key: &ObjectKey,
) -> Result<Value, Error> {
    let mut body = of_status(kind, key, plain(object, kind)?["status"].take());
    strip_nulls(&mut body);
    Ok(body)
}

/// The same if the status is known. An apply without a status would leave the old one; an empty one gives its fields
/// up.
pub(in crate::operations) fn of_status(kind: &ResourceType, key: &ObjectKey, status: Value) -> Value {
    let mut body = identity(kind, key);
    body["status"] = if status.is_null() { json!({}) } else { status };
    body
}

/// The part of `object` that a JSON patch may change, with `finalizer` among its finalizers. What the server decides is
/// left out, so a difference there doesn't count.
pub(in crate::operations) fn patched_part(
    object: &dyn Object,
    kind: &ResourceType,
    part: Part,
    finalizer: Option<&str>,
) -> Result<Value, Error> {
    let mut whole = plain(object, kind)?;
    strip_nulls(&mut whole);
    let Some(fields) = whole.as_object_mut() else { return Ok(whole) };
    match part {
        Part::Status => fields.retain(|name, _| name == "status"),
        Part::Object => {
            fields.remove("status");
            if let Some(metadata) = metadata(&mut whole) {
                let of_the_server = |name: &str| OF_THE_SERVER.contains(&name) || name == "uid";
                metadata.retain(|name, _| !of_the_server(name));
                let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
                if let (Some(finalizer), Some(finalizers)) = (finalizer, finalizers.as_array_mut())
                    && !finalizers.iter().any(|name| name == finalizer)
                {
                    finalizers.push(finalizer.into());
                }
                // An empty list is stored as none.
                if finalizers.as_array().is_some_and(Vec::is_empty) {
                    metadata.remove("finalizers");
                }
            }
        }
    }
    Ok(whole)
}

/// `object` as the body of a POST or PUT: with its type, without managed fields.
pub(in crate::operations) fn plain(object: &dyn Object, kind: &ResourceType) -> Result<Value, Error> {
    let serialize = |source| Error::Serialize { kind: kind.clone(), source: masked(kind, source) };
    let mut body = object.to_value().map_err(serialize)?;
    if let Some(fields) = body.as_object_mut() {
        fields.insert("apiVersion".to_owned(), kind.api_version().into());
        fields.insert("kind".to_owned(), kind.kind().into());
    }
    if let Some(metadata) = metadata(&mut body) {
        metadata.remove("managedFields");
    }
    Ok(body)
}

/// Sets that annotation in `to` to its value in `from`, so that a change from the one to the other doesn't include it.
pub(in crate::operations) fn keep_annotation(from: &Value, to: &mut Value, name: &str) {
    let Some(annotations) = from["metadata"]["annotations"].as_object() else {
        if let Some(annotations) = to["metadata"]["annotations"].as_object_mut() {
            annotations.remove(name);
        }
        return;
    };
    let kept = annotations.get(name);
    let to = &mut to["metadata"]["annotations"];
    if to.is_null() {
        // Without any, all would go.
        *to = json!({});
    }
    if let Some(annotations) = to.as_object_mut() {
        match kept {
            Some(value) => drop(annotations.insert(name.to_owned(), value.clone())),
            None => drop(annotations.remove(name)),
        }
    }
}

/// A body that only identifies the object: type, name and namespace.
pub(in crate::operations) fn identity(kind: &ResourceType, key: &ObjectKey) -> Value {
    let mut body = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind(),
        "metadata": { "name": key.name() },
    });
    if let Some(namespace) = key.namespace() {
        body["metadata"]["namespace"] = namespace.into();
    }
    body
}

/// A version that no existing object has. An apply locked to it creates, and is refused with 409 if the object exists
/// already.
pub(in crate::operations) const ABSENT: &str = "1";

/// The version that `object` is locked to, or [`ABSENT`] without one.
pub(in crate::operations) fn version_of(object: Option<&dyn Object>) -> &str {
    object.and_then(Object::version).unwrap_or(ABSENT)
}

/// The body of a deletion, refused with 409 if the object has another uid, or another version by now.
pub(in crate::operations) fn deletion(uid: Option<&str>, version: Option<&str>) -> Value {
    let mut preconditions = json!({ "uid": uid, "resourceVersion": version });
    strip_nulls(&mut preconditions);
    json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": preconditions,
    })
}

/// An operation of a JSON patch: the server refuses the patch with 422 if there is another value at `path`.
pub(in crate::operations) fn test(path: &str, value: impl Into<Value>) -> Value {
    json!({ "op": "test", "path": path, "value": value.into() })
}

/// The tests that bind a JSON patch to the object with this uid, at this version.
pub(in crate::operations) fn bound_to(uid: Option<&str>, version: Option<&str>) -> Vec<Value> {
    let uid = uid.map(|uid| test("/metadata/uid", uid));
    uid.into_iter().chain(version.map(|version| test("/metadata/resourceVersion", version))).collect()
}

/// The bytes of a JSON value; one that was built from strings and maps always has some.
pub(in crate::operations) fn bytes(body: &impl Serialize) -> Bytes {
    // Values and their locks have no keys but strings, which is all that could be refused.
    serde_json::to_vec(body).unwrap_or_default().into()
}

fn metadata(body: &mut Value) -> Option<&mut Map<String, Value>> {
    body.get_mut("metadata").and_then(Value::as_object_mut)
}

/// The key of an object that is about to be written.
pub(in crate::operations) fn key_of(object: &dyn Object, kind: &ResourceType) -> Result<ObjectKey, Error> {
    let meta = object.meta();
    let Some(name) = meta.name.as_deref().filter(|name| !name.is_empty()) else {
        return Err(Error::Unnamed { kind: kind.clone() });
    };
    if kind.is_namespaced() && meta.namespace.as_deref().is_none_or(str::is_empty) {
        return Err(Error::NoNamespace { kind: kind.clone(), name: name.to_owned() });
    }
    Ok(ObjectKey::in_meta(meta))
}
