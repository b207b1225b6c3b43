//! What has to be written, and how it is checked.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    body::{self, Locked, Text},
    request::Verb,
};
use crate::operations::{
    error::Error,
    matcher::{
        Match, Part, matches_merged, matches_owned_fields, matches_replaced_status, matches_replacement,
    },
};
use crate::resource::{Object, ObjectKey, ResourceType};

/// How a write is checked before it is sent, and what happens to its watch event. JOSDK: `ResourceOperations.Options`.
///
/// By default, an apply and both kinds of patch use [`MatchAndFilter`](Self::MatchAndFilter), and a replacement
/// [`FilterWithOptimisticLocking`](Self::FilterWithOptimisticLocking). A creation is filtered in every mode except
/// [`CacheOnly`](Self::CacheOnly), and never matched.
///
/// Any filtered write is locked to a version, so that filtering can't hide anyone else's change; the modes differ in
/// which version that is, and in what a conflict leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteMode {
    /// Sends nothing if the cached object is as desired. Otherwise the write is locked to the cached version, and its
    /// watch event triggers no run. After a conflict it is repeated, so only a replacement fails with it. JOSDK:
    /// `matchAndFilter`.
    MatchAndFilter,
    /// The same, but locked to the version that the caller started from, which the desired object must contain. A
    /// conflict is an error: the caller has to read the object again. JOSDK: `filterWithOptimisticLocking`.
    FilterWithOptimisticLocking,
    /// Always sends, without a lock. From then on reads return the answer; the watch event counts like any other change
    /// and triggers the primary. JOSDK: `cacheOnly`.
    CacheOnly,
    /// Always sends, and filters the echo: for callers that have compared the states themselves. JOSDK:
    /// `forceFilterEvents`.
    ForceFilter,
}

impl WriteMode {
    /// Whether the desired state is compared with the known one first.
    pub(in crate::operations) const fn matches(self) -> bool {
        matches!(self, Self::MatchAndFilter | Self::FilterWithOptimisticLocking)
    }

    /// Whether the echo is filtered.
    pub(in crate::operations) const fn filters(self) -> bool {
        !matches!(self, Self::CacheOnly)
    }
}

/// One write, whatever its type.
#[derive(Debug)]
pub(in crate::operations) struct Intent {
    pub(in crate::operations) verb: Verb,
    pub(in crate::operations) part: Part,
    pub(in crate::operations) key: ObjectKey,
    content: Content,
    /// The uid of the object, if it is not the run's own primary.
    uid: Option<String>,
    /// The version of the state that the caller made it from, if that matters.
    given: Option<String>,
}

#[derive(Debug)]
enum Content {
    /// The body of an apply, a creation, a replacement or a merge patch.
    Object(Arc<Value>),
    /// The same as it is sent.
    Text(Box<Text>),
    /// A JSON patch.
    Operations {
        operations: Vec<Value>,
        /// Tests that each list which the operations reach into is still the same, because they count its items. Needed
        /// if the version that they were made from isn't tested.
        same_lists: Vec<Value>,
    },
}

/// The condition to which a filtered write is bound.
#[derive(Debug)]
pub(in crate::operations) enum Lock {
    /// The server refuses it if the object has another version by now.
    Version(String),
    /// The server refuses it if the object exists.
    Absence,
}

impl Intent {
    /// A write whose body is an object, or looks like one.
    pub(in crate::operations) fn of(
        verb: Verb,
        part: Part,
        key: ObjectKey,
        body: impl Into<Arc<Value>>,
    ) -> Self {
        Self::with(verb, part, key, Content::Object(body.into()))
    }

    fn with(verb: Verb, part: Part, key: ObjectKey, content: Content) -> Self {
        Self { verb, part, key, content, uid: None, given: None }
    }

    /// An apply of an object that is sent as it writes itself.
    pub(in crate::operations) fn of_text(key: ObjectKey, body: Text) -> Self {
        Self::with(Verb::Apply, Part::Object, key, Content::Text(Box::new(body)))
    }

    /// The JSON patch that leads from one state of `part` to another.
    pub(in crate::operations) fn difference(part: Part, key: ObjectKey, from: &Value, to: &Value) -> Self {
        let mut same_lists: Vec<Value> = Vec::new();
        let patch = json_patch::diff(from, to);
        let operations = patch
            .iter()
            .map(|operation| {
                if let Some(test) = same_list(from, operation.path().as_str())
                    && !same_lists.contains(&test)
                {
                    same_lists.push(test);
                }
                json!(operation)
            })
            .collect();
        Self::with(Verb::JsonPatch, part, key, Content::Operations { operations, same_lists })
    }

    /// The same write, of the object with this uid and no other.
    pub(in crate::operations) fn upon(mut self, uid: Option<&str>) -> Self {
        self.uid = uid.map(str::to_owned);
        self
    }

    /// The same, made from this version.
    pub(in crate::operations) fn made_from(mut self, version: Option<&str>) -> Self {
        self.given = version.filter(|version| !version.is_empty()).map(str::to_owned);
        self
    }

    /// The body, unless it is a JSON patch.
    fn object(&self) -> Option<&Value> {
        match &self.content {
            Content::Object(body) => Some(body),
            Content::Text(body) => Some(body.value()),
            Content::Operations { .. } => None,
        }
    }

    /// Whether the body names an owner with this uid.
    pub(in crate::operations) fn names_owner(&self, uid: &str) -> bool {
        let Some(body) = self.object() else { return false };
        let owners = body.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        self.part == Part::Object && owners.into_iter().flatten().any(|owner| owner["uid"] == uid)
    }

    /// Whether nothing would change if `actual` is the state on the server.
    pub(in crate::operations) fn is_met_by(
        &self,
        actual: &dyn Object,
        kind: &ResourceType,
        manager: &str,
    ) -> Result<bool, Error> {
        let Some(desired) = self.object() else {
            return Ok(
                matches!(&self.content, Content::Operations { operations, .. } if operations.is_empty()),
            );
        };
        let is_status = self.part == Part::Status;
        let plain = body::plain(actual, kind)?;
        Ok(match self.verb {
            Verb::Apply => {
                let managed = actual.meta().managed_fields.as_deref().unwrap_or_default();
                let result = matches_owned_fields(desired, &plain, managed, manager, self.part.subresource());
                if let Match::Differs(paths) = &result {
                    tracing::debug!(%kind, ?paths, "differs from the desired state");
                }
                result.is_equal()
            }
            // What was made from another state than the known one is not known to be met, whatever it looks like.
            Verb::Update if self.given.is_some() && self.given.as_deref() != actual.version() => false,
            Verb::Update if is_status => matches_replaced_status(desired, &plain),
            Verb::Update => matches_replacement(desired, &plain),
            Verb::MergePatch => matches_merged(desired, &plain, is_status),
            Verb::Create | Verb::Delete | Verb::JsonPatch => false,
        })
    }

    /// What to lock the write to, if `base` is the newest known state; `None` if it is sent without a lock, and so
    /// without a filter.
    pub(in crate::operations) fn lock(
        &self,
        mode: WriteMode,
        base: Option<&dyn Object>,
        kind: &ResourceType,
    ) -> Result<Option<Lock>, Error> {
        if !mode.filters() {
            return Ok(None);
        }
        let given = || self.given.clone();
        let known = || base.and_then(|base| base.version().map(str::to_owned));
        let version = match self.verb {
            Verb::Create => return Ok(Some(Lock::Absence)),
            _ if mode == WriteMode::FilterWithOptimisticLocking => {
                let unversioned = || Error::Unversioned { kind: kind.clone(), key: self.key.clone() };
                Some(given().ok_or_else(unversioned)?)
            }
            Verb::Update | Verb::JsonPatch | Verb::MergePatch | Verb::Delete => given().or_else(known),
            // An object that is applied mostly comes without a version, or with an old one: an apply says what is wanted,
            // whatever there is.
            Verb::Apply => known(),
        };
        // Only an apply creates what isn't there, and never a status.
        let creates = self.verb == Verb::Apply && self.part == Part::Object;
        Ok(version.or_else(|| creates.then(|| body::ABSENT.to_owned())).map(Lock::Version))
    }

    /// Whether a conflict has to be resolved by the caller.
    pub(in crate::operations) fn is_strict(&self, mode: WriteMode) -> bool {
        match self.verb {
            Verb::Create | Verb::Update | Verb::Delete => true,
            // Whoever puts a version into a merge patch means it.
            Verb::MergePatch => self.given.is_some(),
            Verb::Apply | Verb::JsonPatch => mode == WriteMode::FilterWithOptimisticLocking,
        }
    }

    /// The bytes to send: with the uid if one is given, and locked if a version is given.
    pub(in crate::operations) fn bytes(&self, uid: Option<&str>, version: Option<&str>) -> Bytes {
        match &self.content {
            Content::Object(body) => {
                let given = self.given.as_deref().filter(|_| self.verb != Verb::Apply);
                let uid = uid.or(self.uid.as_deref());
                body::bytes(&Locked { body, version: version.or(given), uid })
            }
            Content::Text(body) => {
                let uid = uid.or(self.uid.as_deref());
                body.locked(version, uid)
                    .unwrap_or_else(|| body::bytes(&Locked { body: body.value(), version, uid }))
            }
            Content::Operations { operations, same_lists } => {
                let mut body = body::bound_to(uid, version);
                // The version says it all where it is the one that the operations were made from.
                if version.is_none() || version != self.given.as_deref() {
                    body.extend(same_lists.iter().cloned());
                }
                body.extend(operations.iter().cloned());
                body::bytes(&body)
            }
        }
    }
}

/// The test that the outermost list on the path to `path` is still the one of `base`.
fn same_list(base: &Value, path: &str) -> Option<Value> {
    let ends = path.match_indices('/').map(|(end, _)| end).skip(1).chain([path.len()]);
    ends.map(|end| &path[..end]).find_map(|path| {
        let list = base.pointer(path).filter(|value| value.is_array())?;
        Some(body::test(path, list.clone()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::resource::arbitrary_tests::any_json;

    use super::*;

    fn sent(intent: &Intent, uid: Option<&str>, version: Option<&str>) -> Value {
        serde_json::from_slice(&intent.bytes(uid, version)).unwrap()
    }

    #[test]
    fn a_json_patch_without_a_version_tests_the_lists_it_counts_in() {
        let (from, to) = (json!({ "a": [{ "b": 1 }], "c": 1 }), json!({ "a": [{ "b": 2 }], "c": 2 }));
        let key = ObjectKey::namespaced("shop", "one");
        let intent = Intent::difference(Part::Object, key, &from, &to);
        let paths = |body: Value| -> Vec<String> {
            let operations = body.as_array().cloned().unwrap_or_default();
            operations.iter().map(|one| format!("{} {}", one["op"], one["path"]).replace('"', "")).collect()
        };
        assert_eq!(paths(sent(&intent, None, None)), ["test /a", "replace /a/0/b", "replace /c"]);
        assert_eq!(
            paths(sent(&intent, Some("u"), Some("7"))),
            [
                "test /metadata/uid",
                "test /metadata/resourceVersion",
                "test /a",
                "replace /a/0/b",
                "replace /c"
            ],
            "a version that it was not made from says nothing about the lists"
        );
        let intent = intent.made_from(Some("7"));
        assert_eq!(
            paths(sent(&intent, Some("u"), Some("7"))),
            ["test /metadata/uid", "test /metadata/resourceVersion", "replace /a/0/b", "replace /c"]
        );
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn a_difference_leads_from_any_state_to_any_other(from in any_json(), to in any_json()) {
            let key = ObjectKey::namespaced("shop", "one");
            let intent = Intent::difference(Part::Object, key, &from, &to);
            // Its tests hold where nobody has changed anything.
            let patch: json_patch::Patch = serde_json::from_value(sent(&intent, None, None)).unwrap();
            let mut patched = from.clone();
            json_patch::patch(&mut patched, &patch).unwrap();
            prop_assert_eq!(patched, to);
        }

        #[test]
        fn a_body_has_its_lock_and_is_the_same_else(
            body in any_json(), metadata in any_json(), uid: Option<u8>, version: Option<u8>,
        ) {
            let mut body = body;
            if let (Some(fields), true) = (body.as_object_mut(), metadata.is_object()) {
                fields.insert("metadata".to_owned(), metadata);
            }
            let word = |number: Option<u8>| number.map(|number| number.to_string());
            let (uid, version) = (word(uid), word(version));
            let key = ObjectKey::namespaced("shop", "one");
            let intent = Intent::of(Verb::Apply, Part::Object, key, body.clone()).upon(uid.as_deref());
            let is_object = body.is_object();
            let fits = body.get("metadata").is_none_or(Value::is_object);
            if is_object && fits {
                for (name, value) in [("uid", &uid), ("resourceVersion", &version)] {
                    if let Some(value) = value {
                        body["metadata"][name] = value.as_str().into();
                    }
                }
            }
            prop_assert_eq!(sent(&intent, None, version.as_deref()), body);
        }

        #[test]
        fn a_locked_patch_begins_with_its_tests(from in any_json(), to in any_json(), version: u64) {
            let key = ObjectKey::namespaced("shop", "one");
            let intent = Intent::difference(Part::Object, key, &from, &to);
            let body = sent(&intent, Some("the uid"), Some(&version.to_string()));
            prop_assert_eq!(&body[0]["path"], "/metadata/uid");
            prop_assert_eq!(&body[1]["path"], "/metadata/resourceVersion");
            prop_assert!(serde_json::from_value::<json_patch::Patch>(body).is_ok());
        }
    }
}
