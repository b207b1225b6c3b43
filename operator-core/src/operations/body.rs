//! What is sent: objects as JSON, without what the server keeps for itself.

use serde_json::{Map, Value, json};

use super::{Error, matcher::strip_nulls};
use crate::resource::{KubeObject, ObjectKey, ResourceType, ResourceVersion};

/// `object` as the body of a server-side apply: with its type, without nulls, managed fields and version.
pub(super) fn applied<K: KubeObject>(object: &K, kind: &ResourceType) -> Result<Value, Error> {
    let mut body = plain(object, kind)?;
    strip_nulls(&mut body);
    if let Some(metadata) = metadata(&mut body) {
        metadata.remove("resourceVersion");
    }
    Ok(body)
}

/// `object` as the body of a POST or PUT: with its type, without managed fields.
pub(super) fn plain<K: KubeObject>(object: &K, kind: &ResourceType) -> Result<Value, Error> {
    let serialize = |source| Error::Serialize { kind: kind.clone(), source };
    let mut body = serde_json::to_value(object).map_err(serialize)?;
    if let Some(fields) = body.as_object_mut() {
        fields.insert("apiVersion".to_owned(), kind.api_version().into());
        fields.insert("kind".to_owned(), kind.kind().into());
    }
    if let Some(metadata) = metadata(&mut body) {
        metadata.remove("managedFields");
    }
    Ok(body)
}

/// A body that says nothing but which object it is about: type, name, namespace and uid.
pub(super) fn identity(kind: &ResourceType, key: &ObjectKey, uid: &str) -> Value {
    let mut body = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind(),
        "metadata": { "name": key.name(), "uid": uid },
    });
    if let Some(namespace) = key.namespace() {
        body["metadata"]["namespace"] = namespace.into();
    }
    body
}

/// Ties a body to the version that it builds upon: the server refuses it with 409 if there is another one by now.
pub(super) fn lock(body: &mut Value, version: &str) {
    body["metadata"]["resourceVersion"] = version.into();
}

/// A version that no existing object has. An apply locked to it creates, and is refused with 409 where the object
/// exists already.
pub(super) const ABSENT: &str = "1";

/// The version that `object` is locked to, or [`ABSENT`] without one.
pub(super) fn version_of<K: KubeObject>(object: Option<&K>) -> &str {
    object.and_then(|object| object.meta().resource_version.as_deref()).unwrap_or(ABSENT)
}

/// The comparable version of `object`, where there is an object and it has one.
pub(super) fn comparable<K: KubeObject>(object: Option<&K>) -> Option<ResourceVersion> {
    object.and_then(ResourceVersion::of)
}

/// The bytes of a JSON value; one that was built from strings and maps always has some.
pub(super) fn bytes(body: &Value) -> Vec<u8> {
    body.to_string().into_bytes()
}

fn metadata(body: &mut Value) -> Option<&mut Map<String, Value>> {
    body.get_mut("metadata").and_then(Value::as_object_mut)
}

/// The key of an object that is about to be written.
pub(super) fn target<K: KubeObject>(object: &K, kind: &ResourceType) -> Result<ObjectKey, Error> {
    let meta = object.meta();
    let Some(name) = meta.name.as_deref().filter(|name| !name.is_empty()) else {
        return Err(Error::Unnamed { kind: kind.clone() });
    };
    if kind.is_namespaced() && meta.namespace.as_deref().is_none_or(str::is_empty) {
        return Err(Error::NoNamespace { kind: kind.clone(), name: name.to_owned() });
    }
    Ok(ObjectKey::of(object))
}
