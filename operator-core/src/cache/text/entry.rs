//! One entry of `managedFields`: read, split, and kept.
//!
//! ```text
//! text ─▶ Read ─▶ NewEntry, of the same text ──▶ is there an equal ManagerEntry? ─ no ─▶ ManagerEntry
//!                  └─ owners, which differ from object to object
//! ```

use std::{
    borrow::Cow,
    hash::{Hash, Hasher},
    sync::OnceLock,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::scan::range_within;

/// An entry, without its time.
#[derive(Debug)]
pub(super) struct ManagerEntry {
    pub(super) api_version: Option<Box<str>>,
    pub(super) fields_type: Option<Box<str>>,
    pub(super) manager: Option<Box<str>>,
    pub(super) operation: Option<Box<str>>,
    pub(super) subresource: Option<Box<str>>,
    pub(super) fields: Option<Fields>,
}

/// JSON, with a gap in place of the owners.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) text: Box<str>,
    pub(super) hole: Option<usize>,
    content: OnceLock<Option<Map<String, Value>>>,
}

impl Fields {
    /// The content, with nothing in the gap. It is kept if several objects share it: a tree takes much memory.
    pub(super) fn content(&self, is_shared: bool) -> Option<Cow<'_, Map<String, Value>>> {
        let (before, after) = self.text.split_at(self.hole.unwrap_or_default());
        let gap = if self.hole.is_some() { "{}" } else { "" };
        let parsed = || serde_json::from_str(&[before, gap, after].concat()).ok();
        match is_shared {
            true => self.content.get_or_init(parsed).as_ref().map(Cow::Borrowed),
            false => parsed().map(Cow::Owned),
        }
    }
}

/// The entries that can be parsed.
pub(super) fn read(managed_fields: &str) -> Vec<Read<'_>> {
    serde_json::from_str(managed_fields).unwrap_or_else(|_| {
        let entries: Vec<&RawValue> = serde_json::from_str(managed_fields).unwrap_or_default();
        entries.into_iter().filter_map(|entry| serde_json::from_str(entry.get()).ok()).collect()
    })
}

/// An entry as it is read. Most of it is its fields, so those of other managers are skipped.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Read<'a> {
    #[serde(borrow)]
    api_version: Option<Word<'a>>,
    #[serde(borrow)]
    fields_type: Option<Word<'a>>,
    #[serde(borrow)]
    manager: Option<Word<'a>>,
    #[serde(borrow)]
    operation: Option<Word<'a>>,
    #[serde(borrow)]
    subresource: Option<Word<'a>>,
    #[serde(borrow)]
    time: Option<Word<'a>>,
    #[serde(borrow)]
    fields_v1: Option<&'a RawValue>,
}

/// Part of the text itself, unless it contains escapes.
#[derive(Deserialize)]
struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

impl Read<'static> {
    /// The same for an entry that was already decoded, and its fields as text.
    pub(super) fn of(entry: ManagedFieldsEntry) -> (Self, Option<String>) {
        let word = |word: Option<String>| word.map(|word| Word(word.into()));
        let fields = entry.fields_v1.map(|FieldsV1(fields)| match fields {
            Value::String(text) => text,
            tree => tree.to_string(),
        });
        let read = Self {
            api_version: word(entry.api_version),
            fields_type: word(entry.fields_type),
            manager: word(entry.manager),
            operation: word(entry.operation),
            subresource: word(entry.subresource),
            time: word(entry.time.map(|time| time.0.to_string())),
            fields_v1: None,
        };
        (read, fields)
    }
}

impl<'a> Read<'a> {
    pub(super) fn is_of(&self, managers: &[String]) -> bool {
        self.manager.as_ref().is_some_and(|manager| managers.iter().any(|known| *known == manager.0))
    }

    /// When the manager last changed something.
    pub(super) fn time(&self) -> Option<&str> {
        self.time.as_ref().map(|Word(time)| &**time)
    }

    pub(super) fn taken_apart(&self) -> NewEntry<'_> {
        self.with(self.fields_v1.map(RawValue::get))
    }

    /// The same with fields that are elsewhere.
    pub(super) fn with<'p>(&'p self, fields: Option<&'p str>) -> NewEntry<'p> {
        let word = |word: &'p Option<Word<'a>>| word.as_ref().map(|Word(word)| &**word);
        NewEntry {
            api_version: word(&self.api_version),
            fields_type: word(&self.fields_type),
            manager: word(&self.manager),
            operation: word(&self.operation),
            subresource: word(&self.subresource),
            fields: fields.map(Split::of),
        }
    }
}

/// An entry before it is known whether other objects have an equal one.
#[derive(Hash)]
pub(super) struct NewEntry<'a> {
    api_version: Option<&'a str>,
    fields_type: Option<&'a str>,
    manager: Option<&'a str>,
    operation: Option<&'a str>,
    subresource: Option<&'a str>,
    pub(super) fields: Option<Split<'a>>,
}

impl NewEntry<'_> {
    /// Whether `entry` has the same content, except for the owners.
    pub(super) fn is(&self, entry: &ManagerEntry) -> bool {
        let fields = match (self.fields, &entry.fields) {
            (Some(part), Some(kept)) => part.is(kept),
            (part, kept) => part.is_none() && kept.is_none(),
        };
        fields
            && self.api_version == entry.api_version.as_deref()
            && self.fields_type == entry.fields_type.as_deref()
            && self.manager == entry.manager.as_deref()
            && self.operation == entry.operation.as_deref()
            && self.subresource == entry.subresource.as_deref()
    }

    pub(super) fn kept(&self) -> ManagerEntry {
        ManagerEntry {
            api_version: self.api_version.map(Box::from),
            fields_type: self.fields_type.map(Box::from),
            manager: self.manager.map(Box::from),
            operation: self.operation.map(Box::from),
            subresource: self.subresource.map(Box::from),
            fields: self.fields.map(Split::kept),
        }
    }
}

/// The fields of an entry before and after the owners, which distinguish it from other objects' entries.
#[derive(Clone, Copy)]
pub(super) struct Split<'a> {
    before: &'a str,
    pub(super) owners: Option<&'a str>,
    after: &'a str,
}

impl Hash for Split<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.before, self.owners.is_some(), self.after).hash(state);
    }
}

impl<'a> Split<'a> {
    fn of(text: &'a str) -> Self {
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
            Ok(Tree { metadata: Metadata { owners } }) => {
                let hole = range_within(text, owners.get());
                Self { before: &text[..hole.start], owners: Some(owners.get()), after: &text[hole.end..] }
            }
            Err(_) => Self { before: text, owners: None, after: "" },
        }
    }

    fn is(self, kept: &Fields) -> bool {
        kept.hole == self.owners.map(|_| self.before.len())
            && kept.text.len() == self.before.len() + self.after.len()
            && kept.text.starts_with(self.before)
            && kept.text.ends_with(self.after)
    }

    fn kept(self) -> Fields {
        let hole = self.owners.map(|_| self.before.len());
        Fields { text: [self.before, self.after].concat().into(), hole, content: OnceLock::new() }
    }
}
