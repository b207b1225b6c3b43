//! What our own managers own of an object, shared by all objects of which they own the same.
//!
//! The fields that a controller applies are the same for each of its objects, but for one place: the owner references name the
//! owner's uid. So that place is cut out and kept with the object; the rest is there once.
//!
//! # Guarantees
//! - What is put together again is what was taken apart, but for the time of the entry, which nobody decides by.
//! - What no object refers to any more is let go.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher},
    sync::{Arc, OnceLock, Weak},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    owned::{Applied, AppliedFields, Owned},
    scan::range_within,
};

/// The entries of our own managers in one object's `managedFields`.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Own {
    entries: Arc<[Entry]>,
    /// What was cut out of them, in order.
    owners: Box<[Box<str>]>,
}

/// An entry, without its time.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Entry {
    api_version: Option<Box<str>>,
    fields_type: Option<Box<str>>,
    manager: Option<Box<str>>,
    operation: Option<Box<str>>,
    subresource: Option<Box<str>>,
    fields: Option<Fields>,
}

/// JSON, with a hole where the owners are.
#[derive(Debug)]
struct Fields {
    text: Box<str>,
    hole: Option<usize>,
    /// What it says, where several objects share it and somebody has asked.
    parsed: OnceLock<Owned>,
}

impl Fields {
    fn parse(&self) -> Owned {
        match self.hole {
            Some(hole) => Owned::parse(&[&self.text[..hole], "{}", &self.text[hole..]].concat()),
            None => Owned::parse(&self.text),
        }
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.hole) == (&other.text, other.hole)
    }
}

impl Eq for Fields {}

impl Hash for Fields {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.text, self.hole).hash(state);
    }
}

impl Own {
    /// The entries as the API spells them, their fields as text: a tree of maps takes about twenty times its text, and the type
    /// has no place for text but this one.
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

    /// What `manager` has applied to the main resource; `None` where it never has, or where that isn't understood.
    pub(super) fn applied_by(&self, manager: &str) -> Option<Applied<'_>> {
        let (mut owners, mut found) = (self.owners.iter(), None);
        for entry in &*self.entries {
            let fields = entry.fields.as_ref();
            let owners = fields.filter(|fields| fields.hole.is_some()).and_then(|_| owners.next());
            let is_it = entry.manager.as_deref() == Some(manager)
                && entry.operation.as_deref() == Some("Apply")
                && entry.subresource.as_deref().unwrap_or_default().is_empty();
            // The server writes one such entry at most.
            if is_it && found.replace((entry, owners)).is_some() {
                return None;
            }
        }
        let (entry, owners) = found?;
        if !matches!(entry.fields_type.as_deref(), None | Some("FieldsV1")) {
            return None;
        }
        let fields = entry.fields.as_ref()?;
        // What one object has alone isn't worth the memory.
        let fields = match Arc::strong_count(&self.entries) {
            1 => AppliedFields::Alone(fields.parse()),
            _ => AppliedFields::Shared(fields.parsed.get_or_init(|| fields.parse())),
        };
        Some(Applied {
            api_version: entry.api_version.as_deref(),
            fields,
            owners: owners.map(|owners| &**owners),
        })
    }
}

/// What the objects of one informer share.
#[derive(Debug, Default)]
pub(in crate::cache) struct Sharing {
    hasher: BuildHasherDefault<DefaultHasher>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_hash: HashMap<u64, Vec<Weak<[Entry]>>>,
    /// How many there were when the dead ones were last looked for.
    living: usize,
}

impl Sharing {
    /// Finds the entries of `managers` in an object's managed fields. An entry that can't be understood is as good as none: the
    /// next apply writes it anew.
    pub(in crate::cache) fn own(&self, managed_fields: &RawValue, managers: &[String]) -> Option<Own> {
        if managers.is_empty() {
            return None;
        }
        let entries: Vec<&RawValue> = serde_json::from_str(managed_fields.get()).unwrap_or_default();
        let (mut own, mut owners) = (Vec::new(), Vec::new());
        for entry in entries {
            // Most of an entry is its fields, so those of others are passed over.
            let Ok(entry) = serde_json::from_str::<Read<'_>>(entry.get()) else { continue };
            if entry.manager.as_ref().is_some_and(|manager| managers.contains(manager)) {
                own.push(entry.taken_apart(&mut owners));
            }
        }
        self.of(own, owners)
    }

    /// The same of entries that were decoded already.
    pub(in crate::cache) fn own_of(
        &self,
        entries: Option<Vec<ManagedFieldsEntry>>,
        managers: &[String],
    ) -> Option<Own> {
        let mut owners = Vec::new();
        let own = entries?
            .into_iter()
            .filter(|entry| entry.manager.as_ref().is_some_and(|manager| managers.contains(manager)));
        let own = own.map(|entry| {
            let fields = entry.fields_v1.map(|FieldsV1(fields)| match fields {
                Value::String(text) => text,
                tree => tree.to_string(),
            });
            Read {
                api_version: entry.api_version,
                fields_type: entry.fields_type,
                manager: entry.manager,
                operation: entry.operation,
                subresource: entry.subresource,
                fields_v1: None,
            }
            .with(fields.as_deref(), &mut owners)
        });
        let own = own.collect();
        self.of(own, owners)
    }

    fn of(&self, entries: Vec<Entry>, owners: Vec<Box<str>>) -> Option<Own> {
        if entries.is_empty() {
            return None;
        }
        let hash = self.hasher.hash_one(&entries);
        let known = &mut *self.known.lock();
        let same = known.by_hash.get(&hash).into_iter().flatten().filter_map(Weak::upgrade);
        let shared = same.into_iter().find(|shared| **shared == *entries);
        let entries = shared.unwrap_or_else(|| {
            let entries: Arc<[Entry]> = entries.into();
            known.add(hash, &entries);
            entries
        });
        Some(Own { entries, owners: owners.into() })
    }

    /// How many different ones there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let known = self.known.lock();
        known.by_hash.values().flatten().filter(|entries| entries.strong_count() > 0).count()
    }
}

impl Known {
    fn add(&mut self, hash: u64, entries: &Arc<[Entry]>) {
        let same = self.by_hash.entry(hash).or_default();
        same.retain(|entries| entries.strong_count() > 0);
        same.push(Arc::downgrade(entries));
        // Looked through when it has doubled, so that each addition costs the same in the long run.
        if self.by_hash.len() > 2 * self.living + 16 {
            for entries in self.by_hash.values_mut() {
                entries.retain(|entries| entries.strong_count() > 0);
            }
            self.by_hash.retain(|_, entries| !entries.is_empty());
            self.living = self.by_hash.len();
        }
    }
}

/// An entry as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read<'a> {
    api_version: Option<String>,
    fields_type: Option<String>,
    manager: Option<String>,
    operation: Option<String>,
    subresource: Option<String>,
    #[serde(borrow)]
    fields_v1: Option<&'a RawValue>,
}

impl Read<'_> {
    fn taken_apart(self, owners: &mut Vec<Box<str>>) -> Entry {
        let fields = self.fields_v1.map(RawValue::get);
        self.with(fields, owners)
    }

    fn with(self, fields: Option<&str>, owners: &mut Vec<Box<str>>) -> Entry {
        let boxed = |word: Option<String>| word.map(String::into_boxed_str);
        Entry {
            api_version: boxed(self.api_version),
            fields_type: boxed(self.fields_type),
            manager: boxed(self.manager),
            operation: boxed(self.operation),
            subresource: boxed(self.subresource),
            fields: fields.map(|fields| Fields::taken_apart(fields, owners)),
        }
    }
}

impl Fields {
    fn taken_apart(text: &str, owners: &mut Vec<Box<str>>) -> Self {
        #[derive(Deserialize)]
        struct Tree<'a> {
            #[serde(borrow, rename = "f:metadata")]
            metadata: Metadata<'a>,
        }
        #[derive(Deserialize)]
        struct Metadata<'a> {
            #[serde(borrow, rename = "f:ownerReferences")]
            owners: &'a RawValue,
        }
        match serde_json::from_str::<Tree<'_>>(text) {
            Ok(Tree { metadata: Metadata { owners: found } }) => {
                let hole = range_within(text, found.get());
                owners.push(found.get().into());
                let text = [&text[..hole.start], &text[hole.end..]].concat().into();
                Self { text, hole: Some(hole.start), parsed: OnceLock::new() }
            }
            Err(_) => Self { text: text.into(), hole: None, parsed: OnceLock::new() },
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
        let text = RawValue::from_string(entries.to_string()).unwrap();
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
