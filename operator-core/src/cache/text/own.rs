//! The fields that the operator's own managers own in an object, shared by all objects with the same owned fields.
//!
//! The fields that a controller applies are the same for each of its objects, except for one place: the owner
//! references contain the owner's uid. That place is cut out and kept with the object; the rest is stored only once.
//!
//! # Guarantees
//! - The reassembled entry equals the original, except for the time of the entry, of which only a change is noticed.
//! - An entry to which no object refers any more is dropped.

use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher},
    sync::{Arc, Weak},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::entry::{ManagerEntry, NewEntry, Read, read};

/// The entries of the operator's own managers in one object's `managedFields`.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Own {
    entries: Arc<[ManagerEntry]>,
    /// The parts that were cut out of them, in order.
    owners: Box<[Box<str>]>,
    /// A hash of their times.
    written: u64,
}

impl Own {
    /// The entries in the API's form, their fields as text: a tree of maps takes about twenty times as much memory, and
    /// the type has no other place for text.
    pub(in crate::cache) fn entries(&self) -> Vec<ManagedFieldsEntry> {
        let word = |word: &Option<Box<str>>| word.as_deref().map(str::to_owned);
        let mut owners = self.owners.iter();
        let entries = self.entries.iter().map(|entry| ManagedFieldsEntry {
            api_version: word(&entry.api_version),
            fields_type: word(&entry.fields_type),
            fields_v1: entry.fields.as_ref().map(|fields| {
                let text = match fields.hole {
                    Some(hole) => {
                        let owners = owners.next().map_or("{}", |owners| owners);
                        [&fields.text[..hole], owners, &fields.text[hole..]].concat()
                    }
                    None => fields.text.to_string(),
                };
                FieldsV1(Value::String(text))
            }),
            manager: word(&entry.manager),
            operation: word(&entry.operation),
            subresource: word(&entry.subresource),
            time: None,
        });
        entries.collect()
    }

    /// The entries of applies of the main resource by `manager`.
    pub(super) fn applied_by<'o>(&'o self, manager: &'o str) -> impl Iterator<Item = Applied<'o>> {
        let (mut owners, is_shared) = (self.owners.iter(), Arc::strong_count(&self.entries) > 1);
        let entries = self.entries.iter().map(move |entry| {
            let owners = entry.fields.as_ref().and_then(|fields| fields.hole).and_then(|_| owners.next());
            (entry, owners)
        });
        let is_it = move |entry: &ManagerEntry| {
            entry.manager.as_deref() == Some(manager)
                && entry.operation.as_deref() == Some("Apply")
                && entry.subresource.as_deref().is_none_or(str::is_empty)
        };
        entries.filter(move |(entry, _)| is_it(entry)).map(move |(entry, owners)| Applied {
            api_version: entry.api_version.as_deref(),
            fields: match entry.fields_type.as_deref() {
                None | Some("FieldsV1") => entry.fields.as_ref().and_then(|fields| fields.content(is_shared)),
                Some(_) => None,
            },
            owners: owners.and_then(|owners| serde_json::from_str(owners).ok()),
        })
    }

    /// Whether the other one has the same owned fields, in the same form, and none of our managers has changed a value
    /// in between. Times are whole seconds.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
            && self.owners == other.owners
            && self.written == other.written
    }
}

/// The fields that were applied, as far as they can be parsed.
pub(crate) struct Applied<'o> {
    pub(crate) api_version: Option<&'o str>,
    pub(crate) fields: Option<Cow<'o, Map<String, Value>>>,
    /// The owner references, if `fields` doesn't contain them.
    pub(crate) owners: Option<Value>,
}

/// The data that the objects of one informer share.
#[derive(Debug, Default)]
pub(in crate::cache) struct Sharing {
    hasher: BuildHasherDefault<DefaultHasher>,
    known: Mutex<KnownEntries>,
}

#[derive(Debug, Default)]
struct KnownEntries {
    by_hash: HashMap<u64, Vec<Weak<[ManagerEntry]>>>,
    /// The number of entries when dead ones were last removed.
    living: usize,
}

impl Sharing {
    /// Finds the entries of `managers` in an object's managed fields. An entry that can't be parsed counts as absent:
    /// the next apply writes it again.
    pub(in crate::cache) fn own(&self, managed_fields: &str, managers: &[String]) -> Option<Own> {
        if managers.is_empty() {
            return None;
        }
        let mut own = read(managed_fields);
        own.retain(|entry| entry.is_of(managers));
        let written = self.hash_times(own.iter());
        self.of(&own.iter().map(Read::taken_apart).collect::<Vec<_>>(), written)
    }

    /// The same for entries that were already decoded.
    pub(in crate::cache) fn own_of(
        &self,
        entries: Option<Vec<ManagedFieldsEntry>>,
        managers: &[String],
    ) -> Option<Own> {
        let read = entries?.into_iter().map(Read::of);
        let own: Vec<_> = read.filter(|(entry, _)| entry.is_of(managers)).collect();
        let parts = own.iter().map(|(entry, fields)| entry.with(fields.as_deref()));
        let written = self.hash_times(own.iter().map(|(entry, _)| entry));
        self.of(&parts.collect::<Vec<_>>(), written)
    }

    fn hash_times<'r>(&self, entries: impl Iterator<Item = &'r Read<'r>>) -> u64 {
        let mut hash = self.hasher.build_hasher();
        entries.for_each(|entry| entry.time().hash(&mut hash));
        hash.finish()
    }

    fn of(&self, parts: &[NewEntry<'_>], written: u64) -> Option<Own> {
        if parts.is_empty() {
            return None;
        }
        let owners = parts.iter().filter_map(|part| part.fields?.owners).map(Box::from).collect();
        let hash = self.hasher.hash_one(parts);
        let known = &mut *self.known.lock();
        let same = known.by_hash.get(&hash).into_iter().flatten().filter_map(Weak::upgrade);
        let is_same = |shared: &Arc<[ManagerEntry]>| {
            shared.len() == parts.len() && parts.iter().zip(&**shared).all(|(part, entry)| part.is(entry))
        };
        let shared = same.into_iter().find(is_same);
        let entries = shared.unwrap_or_else(|| {
            let entries: Arc<[ManagerEntry]> = parts.iter().map(NewEntry::kept).collect();
            known.add(hash, &entries);
            entries
        });
        Some(Own { entries, owners, written })
    }
}

impl KnownEntries {
    fn add(&mut self, hash: u64, entries: &Arc<[ManagerEntry]>) {
        let same = self.by_hash.entry(hash).or_default();
        same.retain(|entries| entries.strong_count() > 0);
        same.push(Arc::downgrade(entries));
        // Searched when it has doubled: each addition costs the same in the long run.
        if self.by_hash.len() > 2 * self.living + 16 {
            for entries in self.by_hash.values_mut() {
                entries.retain(|entries| entries.strong_count() > 0);
            }
            self.by_hash.retain(|_, entries| !entries.is_empty());
            self.living = self.by_hash.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::resource::arbitrary_tests::any_json;

    use super::*;

    fn me() -> Vec<String> {
        vec!["me".to_owned()]
    }

    fn read(sharing: &Sharing, entries: &Value) -> Option<Own> {
        let text = entries.to_string();
        sharing.own(&text, &me())
    }

    fn applied(owner: &str) -> Value {
        let owners = json!({ format!("k:{{\"uid\":\"{owner}\"}}"): {} });
        json!([
            { "manager": "kubectl", "operation": "Update", "fieldsV1": { "f:spec": {} } },
            {
                "manager": "me", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "time": "2026-11-21T12:00:00Z",
                "fieldsV1": { "f:data": { "f:a": {} }, "f:metadata": { "f:labels": {}, "f:ownerReferences": owners } },
            },
        ])
    }

    fn without_owners(fields: &Value) -> Value {
        let mut fields = fields.clone();
        fields["f:metadata"]["f:ownerReferences"] = json!({});
        fields
    }

    #[test]
    fn what_one_object_has_alone_is_parsed_each_time_and_only_applies_of_the_object_count() {
        let fields = json!({ "f:data": {} });
        let entry = |operation, subresource, kind| json!({ "manager": "me", "operation": operation, "subresource": subresource, "fieldsType": kind, "fieldsV1": fields.clone() });
        let alone = |entry: Value| read(&Sharing::default(), &json!([entry])).unwrap();
        let of =
            |own: &Own| own.applied_by("me").map(|of| of.fields.map(Cow::into_owned)).collect::<Vec<_>>();
        let plain = alone(entry("Apply", "", "FieldsV1"));
        assert!(
            plain.applied_by("me").all(|of| matches!(of.fields, Some(Cow::Owned(_))) && of.owners.is_none())
        );
        assert_eq!(of(&plain), [fields.as_object().cloned()]);
        assert_eq!(of(&alone(entry("Apply", "status", "FieldsV1"))), []);
        assert_eq!(of(&alone(entry("Update", "", "FieldsV1"))), []);
        assert_eq!(of(&alone(entry("Apply", "", "FieldsV2"))), [None]);
    }

    impl Sharing {
        /// The number of different entries.
        fn len(&self) -> usize {
            let known = self.known.lock();
            known.by_hash.values().flatten().filter(|entries| entries.strong_count() > 0).count()
        }
    }

    #[test]
    fn objects_of_different_owners_share_what_is_the_same() {
        let sharing = Sharing::default();
        let all: Vec<Own> =
            (0..100).map(|owner| read(&sharing, &applied(&format!("uid-{owner}"))).unwrap()).collect();
        assert_eq!(sharing.len(), 1);
        for (owner, own) in all.iter().enumerate() {
            let mut expected = applied(&format!("uid-{owner}"))[1].clone();
            expected.as_object_mut().unwrap().remove("time");
            expected["fieldsV1"] = expected["fieldsV1"].to_string().into();
            assert_eq!(json!(own.entries()), json!([expected]));
            assert_eq!(own.applied_by("you").count(), 0);
            let [of_me]: [_; 1] = own.applied_by("me").collect::<Vec<_>>().try_into().ok().unwrap();
            let fields = of_me.fields.unwrap();
            assert!(matches!(fields, Cow::Borrowed(_)), "it is parsed once for all of them");
            assert_eq!(json!(fields), applied("").pointer("/1/fieldsV1").map(without_owners).unwrap());
            assert_eq!(of_me.owners.unwrap(), json!({ format!("k:{{\"uid\":\"uid-{owner}\"}}"): {} }));
        }
        drop(all);
        assert_eq!(sharing.len(), 0, "nobody refers to it");
    }

    #[test]
    fn what_nobody_refers_to_is_let_go() {
        let sharing = Sharing::default();
        for number in 0..10_000 {
            // Nobody has the same one any more, and nobody has another one.
            drop(read(&sharing, &applied("uid")));
            drop(read(
                &sharing,
                &json!([{ "manager": "me", "fieldsV1": { "f:data": { format!("f:{number}"): {} } } }]),
            ));
        }
        let left: usize = sharing.known.lock().by_hash.values().map(Vec::len).sum();
        assert!(left < 40, "{left}");
        let sharing = Sharing::default();
        for _ in 0..1_000 {
            drop(read(&sharing, &applied("uid")));
        }
        let left: usize = sharing.known.lock().by_hash.values().map(Vec::len).sum();
        assert_eq!(left, 1, "the same one again and again");
    }

    #[test]
    fn an_entry_that_is_not_understood_is_none() {
        let sharing = Sharing::default();
        assert!(read(&sharing, &json!(7)).is_none());
        assert!(read(&sharing, &json!([{ "manager": 7 }, { "manager": "you" }])).is_none());
        let own = read(&sharing, &json!([7, { "manager": "me" }])).unwrap();
        assert_eq!(json!(own.entries()), json!([{ "manager": "me" }]));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn any_fields_are_put_together_as_they_were(fields in any_json(), owners in any_json(), nested: bool) {
            let mut fields = json!({ "f:data": fields });
            if nested {
                fields["f:metadata"] = json!({ "a": 1, "f:ownerReferences": owners, "z": 2 });
            }
            let sharing = Sharing::default();
            let entries = json!([{ "manager": "me", "fieldsV1": fields.clone() }]);
            let text = |own: Own| {
                let FieldsV1(kept) = own.entries().remove(0).fields_v1.unwrap();
                kept.as_str().unwrap().to_owned()
            };
            prop_assert_eq!(text(read(&sharing, &entries).unwrap()), fields.to_string());
            let decoded = serde_json::from_value(entries).unwrap();
            prop_assert_eq!(text(sharing.own_of(decoded, &me()).unwrap()), fields.to_string());
        }
    }
}
