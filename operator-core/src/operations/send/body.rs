//! The bodies of requests: objects as JSON, without what only the server sets, and with the lock of the write. Pure.
//!
//! ```text
//!  {"apiVersion":"v1","kind":"ConfigMap","data":{…},"metadata":{"name":"a",…}}
//!                                                               ▲ the lock
//! ```
//!
//! # Guarantees
//! - Sent as text, without a tree of values in between, an object is what [`applied`] makes of it.

use std::sync::OnceLock;

use bytes::Bytes;
use kube::api::PropagationPolicy;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value, json, value::RawValue};

use crate::operations::{
    error::{Error, masked},
    matcher::{Part, strip_nulls},
};
use crate::{
    cache::range_within,
    resource::{Object, ObjectKey, ResourceType},
};

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

/// Leaves out of an apply what only the server sets, and these annotations.
fn leave_out(metadata: &mut Value, own: [&str; 4]) {
    if let Some(annotations) = metadata["annotations"].as_object_mut() {
        annotations.retain(|name, _| !own.contains(&&**name));
    }
    for of_the_server in OF_THE_SERVER {
        metadata[of_the_server] = Value::Null;
    }
}

/// A primary as the body of a server-side apply: without its status and what only the server sets. The finalizers are
/// exactly `finalizer`: without it the apply would give it up, and those of others, which the caller's copy may
/// contain, must not become ours. `own` are the annotations that the framework writes itself: an apply would own them, and
/// the next one drop them, or put an older state back.
pub(in crate::operations) fn applied_primary(
    primary: &dyn Object,
    kind: &ResourceType,
    key: &ObjectKey,
    finalizer: Option<&str>,
    own: [&str; 4],
) -> Result<Value, Error> {
    let mut body = plain(primary, kind)?;
    let metadata = &mut body["metadata"];
    leave_out(metadata, own);
    if metadata["annotations"].as_object().is_some_and(Map::is_empty) {
        metadata["annotations"] = Value::Null;
    }
    metadata["name"] = key.name().into();
    metadata["finalizers"] = finalizer.map_or(Value::Null, |finalizer| json!([finalizer]));
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
    own: [&str; 4],
) -> Result<Value, Error> {
    let wrong = |what: String| Error::PartialApply { kind: kind.clone(), key: key.clone(), what };
    if !part.is_object() {
        return Err(wrong(
            "must be a JSON object; name the fields, for example `{ \"metadata\": { … } }`".to_owned(),
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
    leave_out(metadata, own);
    metadata["namespace"] = identity["metadata"]["namespace"].clone();
    if let Some(finalizer) = finalizer {
        add_finalizer(finalizer, &mut part);
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

/// The part of `object` that a JSON patch may change. What the server decides is left out, so a difference there doesn't
/// count.
pub(in crate::operations) fn patched_part(
    object: &dyn Object,
    kind: &ResourceType,
    part: Part,
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
                let finalizers = metadata.get("finalizers").and_then(Value::as_array);
                // An empty list is stored as none.
                if finalizers.is_some_and(Vec::is_empty) {
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

/// Sets these annotations in `to` to their values in `from`, so that a change from the one to the other doesn't include them.
pub(in crate::operations) fn keep_annotations(from: &Value, to: &mut Value, names: [&str; 4]) {
    let before = from["metadata"]["annotations"].as_object();
    let kept = |name: &&str| Some(((*name).to_owned(), before?.get(*name)?.clone()));
    let kept: Map<String, Value> = names.iter().filter_map(kept).collect();
    if to["metadata"].get("annotations").is_none_or(Value::is_null) {
        if before.is_none() {
            return;
        }
        // Without any, all would go.
        to["metadata"]["annotations"] = json!({});
    }
    if let Some(annotations) = to["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|name, _| !names.contains(&&**name));
        annotations.extend(kept);
    }
}

/// Adds the finalizer to `body`, if it is missing.
pub(in crate::operations) fn add_finalizer(finalizer: &str, body: &mut Value) {
    if !lists_finalizer(finalizer, body) {
        let finalizers = body.pointer_mut("/metadata/finalizers").map(Value::take);
        let mut finalizers = finalizers.and_then(|all| all.as_array().cloned()).unwrap_or_default();
        finalizers.push(finalizer.into());
        body["metadata"]["finalizers"] = finalizers.into();
    }
}

/// Whether the finalizer is among those of `body`.
pub(in crate::operations) fn lists_finalizer(finalizer: &str, body: &Value) -> bool {
    let finalizers = body.pointer("/metadata/finalizers").and_then(Value::as_array);
    finalizers.is_some_and(|all| all.iter().any(|name| name == finalizer))
}

/// Takes the field at `path` out of a merge patch of `state`. What takes away an object with it takes away its other fields.
pub(in crate::operations) fn leave(state: &Value, patch: &mut Value, path: &[&str]) {
    let Some((name, rest)) = path.split_first() else { return };
    let Some(fields) = patch.as_object_mut() else { return };
    match fields.get_mut(*name) {
        None => {}
        Some(_) if rest.is_empty() => drop(fields.remove(*name)),
        Some(inner) => {
            let state = &state[*name];
            if let (false, Some(fields)) = (inner.is_object(), state.as_object()) {
                *inner = fields.keys().map(|name| (name.clone(), Value::Null)).collect();
            }
            leave(state, inner, rest);
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
pub(in crate::operations) fn deletion(
    uid: Option<&str>,
    version: Option<&str>,
    propagation: &PropagationPolicy,
) -> Value {
    let mut preconditions = json!({ "uid": uid, "resourceVersion": version });
    strip_nulls(&mut preconditions);
    json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": propagation,
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

/// A body whose metadata has this version, and this uid, if one is given: serialized as it is sent, without a copy.
pub(in crate::operations) struct Locked<'a> {
    pub(in crate::operations) body: &'a Value,
    pub(in crate::operations) version: Option<&'a str>,
    pub(in crate::operations) uid: Option<&'a str>,
}

/// The metadata of such a body.
struct LockedMetadata<'a> {
    fields: Option<&'a Map<String, Value>>,
    version: Option<&'a str>,
    uid: Option<&'a str>,
}

impl Serialize for Locked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.body.as_object() else { return self.body.serialize(serializer) };
        let (version, uid) = (self.version, self.uid);
        let metadata = |fields| LockedMetadata { fields, version, uid };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in fields {
            match value {
                Value::Object(fields) if name == "metadata" => {
                    map.serialize_entry(name, &metadata(Some(fields)))?;
                }
                value => map.serialize_entry(name, value)?,
            }
        }
        if !fields.contains_key("metadata") && (version.is_some() || uid.is_some()) {
            map.serialize_entry("metadata", &metadata(None))?;
        }
        map.end()
    }
}

impl Serialize for LockedMetadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let given = [("resourceVersion", self.version), ("uid", self.uid)];
        let given = || given.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.fields.into_iter().flatten() {
            if !given().any(|(given, _)| given == name) {
                map.serialize_entry(name, value)?;
            }
        }
        for (name, value) in given() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The body of an object that is sent as it writes itself.
pub(in crate::operations) struct Text {
    text: String,
    /// The place of the first field of the metadata.
    metadata: usize,
    value: OnceLock<Value>,
}

impl Text {
    /// `None` if something has to be changed first: then the body is built as a value.
    pub(in crate::operations) fn of(object: &dyn Object, kind: &ResourceType) -> Option<Self> {
        let meta = object.meta();
        if meta.managed_fields.is_some() || meta.resource_version.is_some() {
            return None;
        }
        let text = object.to_text().ok()?;
        let (version, kind) = (kind.api_version(), kind.kind());
        // An apply of a null would own the field.
        let is_plain = text.starts_with(&format!(r#"{{"apiVersion":"{version}","kind":"{kind}","#))
            && !text.contains("null");
        let metadata = is_plain.then(|| metadata_in(&text)).flatten()?;
        Some(Self { text, metadata, value: OnceLock::new() })
    }

    /// The bytes to send, locked to this version, and to this uid, if they are given.
    pub(in crate::operations) fn locked(&self, version: Option<&str>, uid: Option<&str>) -> Option<Bytes> {
        // It may contain one of its own already.
        if uid.is_some() {
            return None;
        }
        let Some(version) = version else { return Some(self.text.clone().into()) };
        let (head, rest) = self.text.split_at(self.metadata);
        let comma = if rest.starts_with('}') { "" } else { "," };
        let lock = serde_json::to_string(version).ok()?;
        Some([head, "\"resourceVersion\":", &lock, comma, rest].concat().into())
    }

    /// The same as a value.
    pub(in crate::operations) fn value(&self) -> &Value {
        // It was written as JSON.
        self.value.get_or_init(|| serde_json::from_str(&self.text).unwrap_or_default())
    }
}

/// The place of the first field of the metadata; `None` if there is no metadata.
fn metadata_in(text: &str) -> Option<usize> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        metadata: &'a RawValue,
    }
    let metadata = serde_json::from_str::<Object<'_>>(text).ok()?.metadata.get();
    metadata.starts_with('{').then(|| range_within(text, metadata).start + "{".len())
}

// The content is not shown because it may be a Secret's.
debug_of!(Text: "Text", |it| bytes: it.text.len());

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::{apps::v1::Deployment, core::v1::ConfigMap},
        apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry,
    };
    use kube::core::DynamicObject;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::resource::KubeObject;

    fn kind<K: KubeObject<DynamicType = ()>>() -> ResourceType {
        ResourceType::of::<K>()
    }

    /// What is sent, if text is.
    fn sent(text: &Text, version: Option<&str>) -> Value {
        serde_json::from_slice(&text.locked(version, None).expect("there is no uid")).expect("it is JSON")
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn it_is_what_the_tree_of_values_is(
            name in ".{0,8}", labels in prop::option::of(prop::collection::btree_map(".{0,5}", ".{0,9}", 0..3)),
            data in prop::option::of(prop::collection::btree_map(".{0,5}", ".{0,9}", 0..3)),
            version in prop::option::of("[0-9]{1,4}"), uid: bool,
        ) {
            let mut map = ConfigMap { data, ..ConfigMap::default() };
            (map.metadata.name, map.metadata.labels) = (Some(name).filter(|name| !name.is_empty()), labels);
            map.metadata.uid = uid.then(|| "its own".to_owned());
            let kind = kind::<ConfigMap>();
            let body = applied(&map, &kind).unwrap();
            if let Some(text) = Text::of(&map, &kind) {
                let locked = Locked { body: &body, version: version.as_deref(), uid: None };
                prop_assert_eq!(sent(&text, version.as_deref()), serde_json::to_value(&locked).unwrap());
                prop_assert_eq!(text.value(), &body);
            } else {
                let words = format!("{map:?}");
                prop_assert!(words.contains("null"), "{words}");
            }
        }
    }

    #[test]
    fn what_has_to_be_changed_first_is_no_text() {
        let map = |edit: fn(&mut ConfigMap)| {
            let mut map = ConfigMap::default();
            map.metadata.name = Some("a".to_owned());
            edit(&mut map);
            Text::of(&map, &kind::<ConfigMap>()).is_some()
        };
        assert!(map(|_| ()));
        assert!(!map(|map| map.metadata.resource_version = Some("7".to_owned())));
        assert!(!map(|map| map.metadata.managed_fields = Some(vec![ManagedFieldsEntry::default()])));
        assert!(!map(|map| map.data = Some([("a".to_owned(), "null".to_owned())].into())));
        assert!(Text::of(&Deployment::default(), &kind::<ConfigMap>()).is_none(), "another type");
        let object = json!({ "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": null } });
        let dynamic: DynamicObject = serde_json::from_value(object).unwrap();
        assert!(
            Text::of(&dynamic, &kind::<ConfigMap>()).is_none(),
            "it doesn't begin with its type, and has a null"
        );
        let text = Text::of(&ConfigMap::default(), &kind::<ConfigMap>()).unwrap();
        assert!(text.locked(None, Some("uid")).is_none(), "a uid is for the tree of values");
        assert!(!format!("{text:?}").contains("metadata"));
    }
}
