//! Writes of a dependent in the cluster, which has been compared with its own matcher, and removals, which are bound to the
//! state that was judged.

use std::{
    num::NonZeroU64,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    error::{Error, masked},
    matcher::{Desired, Match, Part, Seen, digest, fingerprint, same_values, still_owned},
    resource::ResourceOperations,
    send::{
        Target, body,
        intent::{Intent, Lock, WriteMode},
        request::{Verb, WriteRequest},
    },
};
use crate::{
    environment::Now,
    event_source::RustType,
    resource::{AnyObject, Object, ObjectKey, ResourceType, digits},
};

/// The number of states of an object that are judged in one run.
const ATTEMPTS: u32 = 3;

/// How far a deletion has progressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// Nothing of ours exists any more.
    Gone,
    /// Finalizers, or a grace period, keep it for now.
    Going,
    /// It exists, and isn't ours any more.
    NotOurs,
}

impl Removed {
    /// The meaning of the server's answer to a deletion: if the object is gone, the answer contains no object with a
    /// deletion timestamp.
    pub(in crate::operations) fn answered(answer: &[u8]) -> Self {
        let answer = serde_json::from_slice::<Value>(answer).unwrap_or_default();
        match answer.pointer("/metadata/deletionTimestamp") {
            Some(_) => Self::Going,
            None => Self::Gone,
        }
    }
}

/// Writes one dependent. The echo of each write is filtered.
pub(crate) struct DependentWriter<'c> {
    pub(super) target: Target<'c>,
    key: ObjectKey,
    desired: &'c dyn Object,
    /// Made when it is needed, which is rare.
    body: OnceLock<Arc<Value>>,
    /// The annotation that notes the digest of what is applied, if it is noted.
    mark: Option<&'c str>,
    /// JSON pointers to the fields that are left to others once the object exists: no part of the body.
    left: &'c [String],
}

impl<'c> ResourceOperations<'c> {
    /// The way to write `desired`, a dependent of this node. A digest of what is applied is noted in the annotation `mark`,
    /// which the object has. JSON pointers lead to the fields that are left to others once the object exists.
    pub(crate) fn dependent<'d>(
        &self,
        of: RustType,
        desired: &'d dyn Object,
        node: &'d str,
        mark: Option<&'d str>,
        left: &'d [String],
    ) -> Result<DependentWriter<'d>, Error>
    where
        'c: 'd,
    {
        let (mut target, key): (Target<'d>, _) = self.target(of, desired)?;
        target.node = Some(node);
        Ok(DependentWriter { target, key, desired, body: OnceLock::new(), mark, left })
    }

    /// Removes what a dependent has made: deletes this very state of an object. If someone else has changed it in the
    /// meantime the server refuses, and the live object is deleted only if `is_ours` is true for it, too. An object that
    /// is gone, or isn't ours any more, counts as removed.
    pub(crate) async fn remove(
        &self,
        of: RustType,
        object: &AnyObject,
        is_ours: &(dyn Fn(&dyn Object) -> bool + Send + Sync),
    ) -> Result<Removed, Error> {
        let (target, key) = self.target(of, &**object)?;
        let mut object = AnyObject::clone(object);
        let mut attempt = 1;
        loop {
            let meta = object.meta();
            if meta.deletion_timestamp.is_some() {
                return Ok(Removed::Going);
            }
            let (uid, version) = (meta.uid.as_deref(), meta.resource_version.as_deref());
            let write = self.run.deletion(target.kind(), &key, uid, version);
            let error = match self.run.send(&write).await {
                Ok(answer) => return Ok(Removed::answered(&answer)),
                Err(error) if error.is_not_found() => return Ok(Removed::Gone),
                Err(error) => error,
            };
            if !error.is_conflict() {
                return Err(error);
            }
            let found = target.look(&key).await?;
            let Some(found) = found.filter(|found| found.meta().uid == object.meta().uid) else {
                return Ok(Removed::Gone);
            };
            if !is_ours(&*found) {
                tracing::info!(kind = %target.kind(), %key, "not removed: it is no longer ours");
                return Ok(Removed::NotOurs);
            }
            // The server had another reason, or somebody changes it again and again.
            let is_same = found.meta().resource_version == object.meta().resource_version;
            if is_same || attempt == ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
            object = found;
        }
    }
}

/// Adds to the annotation `mark` of a body, if the body has it, a digest of what is applied.
pub(crate) fn note_digest(body: &mut Value, mark: &str, kind: &ResourceType) {
    let digest = digest(body, mark, kind.is_sensitive());
    if let Some(Value::String(mark)) = body["metadata"]["annotations"].get_mut(mark) {
        mark.push('.');
        mark.push_str(&digest);
    }
}

/// The place of a JSON pointer: its parent's pointer, and its last name.
fn place(pointer: &str) -> Option<(&str, String)> {
    let (parent, name) = pointer.rsplit_once('/')?;
    Some((parent, name.replace("~1", "/").replace("~0", "~")))
}

/// Gives `into` what `from` has at this pointer, with the objects around it. A list isn't made: its items have no place without
/// each other.
fn put(into: &mut Value, from: &Value, pointer: &str) {
    let value = from.pointer(pointer).filter(|value| !value.is_null());
    let (Some((parent, name)), Some(value)) = (place(pointer), value) else { return };
    surround(into, from, parent);
    match into.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(fields.insert(name, value.clone())),
        Some(Value::Array(items)) => {
            let at = name.parse::<usize>().ok();
            if let Some(item) = at.and_then(|at| items.get_mut(at)) {
                item.clone_from(value);
            }
        }
        _ => {}
    }
}

/// Makes the object at this pointer, and those around it, where `from` has objects.
fn surround(into: &mut Value, from: &Value, pointer: &str) {
    let is_made = into.pointer(pointer).is_some() || !from.pointer(pointer).is_some_and(Value::is_object);
    let Some((parent, name)) = place(pointer).filter(|_| !is_made) else { return };
    surround(into, from, parent);
    if let Some(Value::Object(fields)) = into.pointer_mut(parent) {
        fields.insert(name, Value::Object(Map::new()));
    }
}

/// The body with what another state of the object has in the fields that are left to others.
fn completed(body: &Value, beside: &Value, left: &[String]) -> Value {
    let mut sent = body.clone();
    left.iter().for_each(|pointer| put(&mut sent, beside, pointer));
    sent
}

/// Takes a field out of an object. An item of a list stays: the others would get another position.
fn take(from: &mut Value, pointer: &str) {
    if let Some((parent, name)) = place(pointer)
        && let Some(Value::Object(fields)) = from.pointer_mut(parent)
    {
        fields.remove(&name);
    }
}

/// Takes out of the `wanted` spec of a Service what only the `live` one can have while it exists.
fn release(wanted: &mut Value, live: &Value) {
    for field in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        if wanted[field] == live[field] {
            wanted[field] = Value::Null;
        }
    }
    let live: Vec<_> = live["ports"].as_array().into_iter().flatten().map(|port| &port["nodePort"]).collect();
    for port in wanted["ports"].as_array_mut().into_iter().flatten() {
        if live.contains(&&port["nodePort"]) {
            port["nodePort"] = Value::Null;
        }
    }
}

impl<'c> DependentWriter<'c> {
    /// What is sent: the body, with what another state of the object has in the fields that are left to others.
    fn sent(&self, beside: &dyn Object) -> Result<Arc<Value>, Error> {
        let body = self.body()?;
        if self.left.is_empty() {
            return Ok(Arc::clone(body));
        }
        let beside = beside.to_value().map_err(|source| self.serialize(source))?;
        Ok(Arc::new(completed(body, &beside, self.left)))
    }

    /// The whole body, if everything is sent: with its type, without nulls and version.
    pub(crate) fn body(&self) -> Result<&Arc<Value>, Error> {
        if let Some(body) = self.body.get() {
            return Ok(body);
        }
        let mut body = body::applied(self.desired, self.kind())?;
        self.left.iter().for_each(|pointer| take(&mut body, pointer));
        if let Some(mark) = self.mark {
            note_digest(&mut body, mark, self.kind());
        }
        Ok(self.body.get_or_init(|| Arc::new(body)))
    }

    /// Distinguishes the desired state from others.
    pub(crate) fn state(&self) -> Result<Option<NonZeroU64>, Error> {
        let body = self.body()?;
        // The digest says it all, unless it is silent about values.
        let noted = self.mark.filter(|_| !self.kind().is_sensitive());
        let state = noted.map_or(&**body, |mark| &body["metadata"]["annotations"][mark]);
        Ok(fingerprint(["", ""], |to| serde_json::to_writer(to, state)))
    }

    /// Distinguishes what clients have written into `actual` from other content.
    pub(crate) fn content(&self, actual: &dyn Object) -> Option<NonZeroU64> {
        let content = body::patched_part(actual, self.kind(), Part::Object).ok()?;
        fingerprint(["", ""], |to| serde_json::to_writer(to, &content))
    }

    /// Whether the server would create the desired object under a name that no object has. Then a change of `live` that it
    /// refused as invalid was refused because of what exists. An answer that says nothing about that counts as no.
    pub(crate) async fn is_valid_alone(&self, live: &dyn Object) -> Result<bool, Error> {
        let (mut body, live) = (Value::clone(self.body()?), body::plain(live, self.kind())?);
        let name = format!("x-{}", digits(Sha256::digest(live["metadata"]["uid"].to_string()), 16));
        body["metadata"]["name"] = name.as_str().into();
        if (self.kind().group(), self.kind().kind()) == ("", "Service") {
            release(&mut body["spec"], &live["spec"]);
        }
        let key = ObjectKey::new(self.key.cluster().clone(), self.key.namespace(), &name);
        Ok(self.try_out(Verb::Create, &key, body::bytes(&body)).await.is_ok())
    }

    pub(crate) fn now(&self) -> Now {
        self.target.run.writer.environment.now()
    }

    /// Whether `actual` is what applying the desired object has made of it: the object says so itself, and what was
    /// applied is still ours. `seen` is `actual` as the cache has it, if it has it.
    pub(crate) fn was_applied(&self, actual: &dyn Object, seen: Option<&Seen<'_>>) -> Result<Match, Error> {
        let (body, meta) = (self.body()?, actual.meta());
        let mark = self.mark.unwrap_or_default();
        let noted = meta.annotations.as_ref().and_then(|annotations| annotations.get(mark));
        if body["metadata"]["annotations"][mark].as_str() != noted.map(String::as_str) {
            return Ok(Match::Differs(vec![format!("metadata.annotations[{mark}]")]));
        }
        let managed = meta.managed_fields.as_deref().unwrap_or_default();
        let owned = |body: &Value| match seen {
            Some(seen) => seen.is_still_owned(body),
            None => still_owned(body, managed, self.field_manager()),
        };
        let mut found = owned(body);
        if !self.left.is_empty() && !found.is_equal() {
            // What was sent with them stays ours until others write it.
            let actual = actual.to_value().map_err(|source| self.serialize(source))?;
            let mut ours = Value::clone(body);
            for pointer in self.left {
                let with = completed(&ours, &actual, std::slice::from_ref(pointer));
                let matched = owned(&with);
                if matched.differences() < found.differences() {
                    (ours, found) = (with, matched);
                }
            }
        }
        match found {
            Match::Equal if self.kind().is_sensitive() => {
                let actual = actual.to_value().map_err(|source| self.serialize(source))?;
                Ok(same_values(body, &actual))
            }
            found => Ok(found),
        }
    }

    /// This state of the object beside the desired one; `None` for one that was read past the cache.
    pub(crate) fn seen<'w>(&self, actual: &dyn Object, desired: Desired<'w>) -> Option<Seen<'w>>
    where
        'c: 'w,
    {
        let kept = self.target.informer().kept_as(&self.key, actual)?;
        Some(self.target.seen(kept, Part::Object, desired))
    }

    pub(super) fn kind(&self) -> &ResourceType {
        self.target.kind()
    }

    pub(crate) fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub(crate) fn field_manager(&self) -> &'c str {
        &self.target.run.writer.field_manager
    }

    /// Creates it by server-side apply, or is refused with 409 if it exists.
    pub(crate) async fn apply_new(&self) -> Result<AnyObject, Error> {
        let lock = Lock::Version(body::ABSENT.to_owned());
        self.target.write_locked(&self.intent(Verb::Apply, self.sent(self.desired)?), &lock).await
    }

    /// Creates it by POST, or is refused with 409 if it exists.
    pub(crate) async fn create(&self) -> Result<AnyObject, Error> {
        self.target.write(&self.intent(Verb::Create, self.sent(self.desired)?), WriteMode::ForceFilter).await
    }

    /// Applies it to `actual`: it is refused (409, or 422) if there is no such object any more.
    /// `version` is that of `actual`, or a later one.
    pub(crate) async fn apply(&self, actual: &dyn Object, version: Option<&str>) -> Result<AnyObject, Error> {
        let meta = actual.meta();
        let intent = self.intent(Verb::Apply, self.sent(actual)?).upon(meta.uid.as_deref());
        // What the event source doesn't show was looked at, and may be changed only as it was then.
        match (version, self.target.newest(&self.key)?) {
            (Some(version), None) => {
                self.target.may_own(&intent, Some(actual)).await?;
                self.target.write_locked(&intent, &Lock::Version(version.to_owned())).await
            }
            _ => self.target.write(&intent, WriteMode::ForceFilter).await,
        }
    }

    /// Replaces `actual`; `body` carries the version that it was made from, and is refused with 409 if that is not the
    /// newest.
    pub(crate) async fn replace(&self, actual: &dyn Object, body: Value) -> Result<AnyObject, Error> {
        let version = body.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned);
        let Some(version) = version else {
            return Err(Error::Unversioned { kind: self.kind().clone(), key: self.key.clone() });
        };
        let intent = self.intent(Verb::Update, body);
        self.target.may_own(&intent, Some(actual)).await?;
        self.target.write_locked(&intent, &Lock::Version(version)).await
    }

    /// Changes the metadata of this very state of `actual` by a merge patch, and is refused with 409 if that is not the newest.
    pub(crate) async fn patch_metadata(&self, actual: &dyn Object, patch: Value) -> Result<AnyObject, Error> {
        let Some(version) = actual.version() else {
            return Err(Error::Unversioned { kind: self.kind().clone(), key: self.key.clone() });
        };
        let intent = self.intent(Verb::MergePatch, patch).upon(actual.uid());
        self.target.may_own(&intent, Some(actual)).await?;
        self.target.write_locked(&intent, &Lock::Version(version.to_owned())).await
    }

    /// What the server would answer to the creation, which it doesn't carry out. An object that exists is a conflict.
    pub(crate) async fn try_to_create(&self, applies: bool) -> Result<(), Error> {
        let intent = self.intent(if applies { Verb::Apply } else { Verb::Create }, Arc::clone(self.body()?));
        let body = intent.bytes(None, applies.then_some(body::ABSENT));
        self.try_out(intent.verb, &self.key, body).await
    }

    /// What the server would answer to such a write, which it doesn't carry out.
    async fn try_out(&self, verb: Verb, key: &ObjectKey, body: Bytes) -> Result<(), Error> {
        let write = WriteRequest::of(verb, self.kind(), key, body);
        self.target.run.writer.try_out(&write).await.map(drop)
    }

    /// Reads the live object, past the cache.
    pub(crate) async fn live(&self) -> Result<Option<AnyObject>, Error> {
        self.target.look(&self.key).await
    }

    /// Puts a live object into the cache, so that it is read from there from now on.
    pub(crate) fn remember(&self, live: AnyObject) -> AnyObject {
        self.target.remember(live)
    }

    /// Notifies the observers that nothing differed.
    pub(crate) fn matched(&self) {
        self.target.run.writer.matched(self.target.run.key, self.kind(), &self.key, None);
    }

    /// An object can't be turned into JSON.
    pub(crate) fn serialize(&self, source: serde_json::Error) -> Error {
        Error::Serialize { kind: self.kind().clone(), source: masked(self.kind(), source) }
    }

    fn intent(&self, verb: Verb, body: impl Into<Arc<Value>>) -> Intent {
        Intent::of(verb, Part::Object, self.key.clone(), body)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn without(mut object: Value, pointers: &[&str]) -> Value {
        pointers.iter().for_each(|pointer| take(&mut object, pointer));
        object
    }

    fn with(body: &Value, beside: &Value, pointer: &str) -> Value {
        completed(body, beside, &[pointer.to_owned()])
    }

    #[test]
    fn a_field_that_is_left_to_others_is_sent_as_they_have_it() {
        let desired = json!({ "spec": { "replicas": 1, "paused": true } });
        let body = without(desired.clone(), &["/spec/replicas"]);
        assert_eq!(body, json!({ "spec": { "paused": true } }));
        assert_eq!(with(&body, &desired, "/spec/replicas"), desired, "when it is created");
        let live = json!({ "spec": { "replicas": 7, "paused": false } });
        let sent = with(&body, &live, "/spec/replicas");
        assert_eq!(sent, json!({ "spec": { "replicas": 7, "paused": true } }));
        let nothing = json!({ "spec": { "paused": false } });
        assert_eq!(with(&body, &nothing, "/spec/replicas"), body, "they have none");
        let null = json!({ "spec": { "replicas": null } });
        assert_eq!(with(&body, &null, "/spec/replicas"), body, "nothing is sent as null");
    }

    #[test]
    fn names_in_pointers_are_unescaped() {
        let (key, pointer) = ("a/b~c~1", "/metadata/annotations/a~1b~0c~01");
        assert_eq!(place(pointer), Some(("/metadata/annotations", key.to_owned())));
        let object = json!({ "metadata": { "annotations": { (key): "x", "d": "y" } } });
        let body = without(object.clone(), &[pointer]);
        assert_eq!(body, json!({ "metadata": { "annotations": { "d": "y" } } }));
        assert_eq!(with(&body, &object, pointer), object);
        assert_eq!(
            with(&json!({}), &object, pointer),
            json!({ "metadata": { "annotations": { (key): "x" } } })
        );
    }

    #[test]
    fn the_objects_around_a_field_are_made_and_lists_are_not() {
        let live = json!({ "a": { "b": { "c": 1, "d": 2 } }, "list": [{ "x": { "y": 1 } }, { "z": 2 }] });
        assert_eq!(with(&json!({}), &live, "/a/b/c"), json!({ "a": { "b": { "c": 1 } } }));
        for body in [json!({}), json!({ "list": [] }), json!({ "list": "text" }), json!([])] {
            for pointer in ["/list/0", "/list/0/x", "/list/0/x/y", "/list/1/z", "/list/x", ""] {
                assert_eq!(with(&body, &live, pointer), body, "{pointer}");
            }
        }
        let body = json!({ "list": [{}] });
        assert_eq!(with(&body, &live, "/list/0/x/y"), json!({ "list": [{ "x": { "y": 1 } }] }));
        assert_eq!(with(&body, &live, "/list/0"), json!({ "list": [{ "x": { "y": 1 } }] }));
        assert_eq!(with(&body, &live, "/list/1"), body, "an item that isn't there");
    }

    #[test]
    fn an_item_of_a_list_stays_as_the_others_would_move() {
        let object = json!({ "list": [{ "x": 1, "y": 2 }, 3], "n": 1 });
        assert_eq!(without(object.clone(), &["/list/0", "/list/x", "/n/x", "/none/x", ""]), object);
        assert_eq!(without(object, &["/list/0/x"]), json!({ "list": [{ "y": 2 }, 3], "n": 1 }));
    }

    fn any_object() -> impl Strategy<Value = Value> {
        let leaf = (0..3_u8).prop_map(Value::from);
        let any = leaf.prop_recursive(4, 16, 3, |below| {
            let fields = prop::collection::btree_map("[ab~/0]", below.clone(), 0..3);
            let object = fields.prop_map(|fields| Value::Object(fields.into_iter().collect()));
            prop_oneof![3 => object, 1 => prop::collection::vec(below, 0..3).prop_map(Value::from)]
        });
        prop::collection::btree_map("[ab~/0]", any, 1..3)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// What is taken out comes back from the same object, and nothing else changes.
        #[test]
        fn what_is_taken_comes_back(object in any_object(), pointers in prop::collection::vec("(/(a|b|~0|~1|0|1)){1,4}", 1..4)) {
            let mut body = object.clone();
            pointers.iter().for_each(|pointer| take(&mut body, pointer));
            prop_assert_eq!(completed(&body, &object, &pointers), object.clone());
            for pointer in &pointers {
                let is_item = place(pointer).and_then(|(parent, _)| object.pointer(parent)).is_some_and(Value::is_array);
                prop_assert!(is_item || body.pointer(pointer).is_none(), "{}", pointer);
            }
        }
    }
}
