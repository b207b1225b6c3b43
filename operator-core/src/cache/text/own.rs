//! The fields that the operator's own managers own in an object, shared by all objects with the same owned fields.
//!
//! The fields that a controller applies are the same for each of its objects, except for one place: the owner
//! references contain the owner's uid. That place is cut out and kept with the object; the rest is stored only once.
//!
//! # Guarantees
//! - The reassembled entry equals the original, except for the time of the entry, of which only a change is noticed.
//! - An entry to which no object refers any more is dropped.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher},
    sync::{Arc, Weak},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use parking_lot::Mutex;
use serde_json::Value;

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

    /// Whether the other one has the same owned fields, in the same form, and none of our managers has changed a value
    /// in between. Times are whole seconds.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
            && self.owners == other.owners
            && self.written == other.written
    }
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
        self.of(&own.into_iter().map(Read::taken_apart).collect::<Vec<_>>(), written)
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
