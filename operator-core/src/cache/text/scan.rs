//! Reads the metadata from an object's text, in one pass, without decoding the object. Pure.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::TextObject;
use crate::resource::{Cluster, ObjectKey};

/// The position of a part in a text; an object's text is never longer than 4 GiB, because etcd accepts only a few MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// Nothing.
    pub(super) const NONE: Self = Self { start: 0, len: 0 };

    /// The part, unless there is none.
    pub(super) fn of(self, text: &str) -> Option<&str> {
        let (start, len) = (self.start as usize, self.len as usize);
        if len == 0 { None } else { text.get(start..start + len) }
    }

    /// Its start and end.
    pub(super) const fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// The metadata that the library uses, as parts of the object's text: nothing is copied.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    pub(super) uid: Span,
    pub(super) version: Span,
    pub(super) generation: Option<i64>,
    /// When it was marked for deletion.
    pub(super) marked: Span,
    /// JSON, each of them.
    pub(super) labels: Span,
    pub(super) annotations: Span,
    pub(super) owners: Span,
    pub(super) finalizers: Span,
}

/// A name in an object, borrowed if the text contains it without escapes.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The value under `name` in the text of an object of strings; nothing else is decoded.
pub(super) fn entry_of(text: &str, name: &str) -> Option<String> {
    struct Entry<'n>(&'n str);

    impl<'de> Visitor<'de> for Entry<'_> {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of strings")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Key<'de>>()? {
                match key.0 == self.0 {
                    true => found = Some(map.next_value()?),
                    false => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            Ok(found)
        }
    }

    serde_json::Deserializer::from_str(text).deserialize_map(Entry(name)).ok()?
}

/// The text of one object, as it came, and what one pass has found in it.
#[derive(Debug)]
pub(in crate::cache) struct Item<'a> {
    pub(in crate::cache) text: &'a str,
    /// `None` if the text can't be parsed; the decoder has a better error message.
    pub(super) outline: Option<Cow<'a, Outline>>,
}

impl<'a> Item<'a> {
    /// An object that has not been scanned yet.
    pub(in crate::cache) fn of(text: &'a str) -> Self {
        let outline = serde_json::from_str::<Scanned<'_>>(text).ok().and_then(|found| found.outline(text));
        Self { text, outline: outline.map(Cow::Owned) }
    }

    /// The same if it was scanned before.
    pub(in crate::cache) fn with(text: &'a str, outline: Option<&'a Outline>) -> Self {
        Self { text, outline: outline.map(Cow::Borrowed) }
    }

    /// What was found in it.
    pub(in crate::cache) fn into_outline(self) -> Option<Outline> {
        self.outline.map(Cow::into_owned)
    }

    /// The object's key, if it has a name.
    pub(super) fn key(&self) -> Option<ObjectKey> {
        let outline = self.outline.as_ref()?;
        let namespace = outline.namespace.clone().map(|namespace| &self.text[namespace]);
        Some(ObjectKey::new(Cluster::local(), namespace, &self.text[outline.name.clone()?]))
    }

    /// Whether it is this state of the object.
    pub(super) fn is_state(&self, kept: &TextObject) -> bool {
        let Some(outline) = &self.outline else { return false };
        // The parts after the managed fields have moved.
        let word = |span: Span| {
            let Range { start, end } = span.range();
            let back = |place: usize| match &outline.managed_fields {
                Some(cut) if start >= cut.start => place + cut.len() - NOTHING.len(),
                _ => place,
            };
            self.text.get(back(start)..back(end)).filter(|word| !word.is_empty())
        };
        kept.is_state(word(outline.header.uid), word(outline.header.version))
    }

    pub(in crate::cache) const fn is_understood(&self) -> bool {
        self.outline.is_some()
    }
}

/// The positions of the parts in the text of an object.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Outline {
    pub(super) header: Header,
    pub(super) name: Option<Range<usize>>,
    pub(super) namespace: Option<Range<usize>>,
    /// As they came.
    pub(super) managed_fields: Option<Range<usize>>,
}

/// An object as it is read for its outline.
#[derive(Deserialize)]
pub(in crate::cache) struct Scanned<'a> {
    #[serde(borrow)]
    metadata: MetadataText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MetadataText<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    namespace: Option<&'a RawValue>,
    #[serde(borrow)]
    uid: Option<&'a RawValue>,
    #[serde(borrow)]
    resource_version: Option<&'a RawValue>,
    generation: Option<i64>,
    #[serde(borrow)]
    deletion_timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    labels: Option<&'a RawValue>,
    #[serde(borrow)]
    annotations: Option<&'a RawValue>,
    #[serde(borrow)]
    owner_references: Option<&'a RawValue>,
    #[serde(borrow)]
    finalizers: Option<&'a RawValue>,
    #[serde(borrow)]
    managed_fields: Option<&'a RawValue>,
}

impl Scanned<'_> {
    /// The same as positions in its text; `None` if the metadata isn't in the server's form.
    pub(in crate::cache) fn outline(self, text: &str) -> Option<Outline> {
        let Self { metadata } = self;
        let managed_fields = metadata.managed_fields.map(|fields| range_within(text, fields.get()));
        let span = |part: &str| {
            let Range { start, end } = range_within(text, part);
            let len = end - start;
            // The parts after the managed fields move, because these are taken out.
            let start = match &managed_fields {
                Some(cut) if start >= cut.end => start + NOTHING.len() - cut.len(),
                _ => start,
            };
            Some(Span { start: u32::try_from(start).ok()?, len: u32::try_from(len).ok()? })
        };
        let json = |part: Option<&RawValue>| part.map_or(Some(Span::NONE), |part| span(part.get()));
        let word = |part: Option<&RawValue>| part.map_or(Some(Span::NONE), |part| span(plain(part)?));
        let header = Header {
            uid: word(metadata.uid)?,
            version: word(metadata.resource_version)?,
            generation: metadata.generation,
            marked: json(metadata.deletion_timestamp)?,
            labels: json(metadata.labels)?,
            annotations: json(metadata.annotations)?,
            owners: json(metadata.owner_references)?,
            finalizers: json(metadata.finalizers)?,
        };
        let name = match metadata.name {
            Some(name) => Some(range_within(text, plain(name)?)),
            None => None,
        };
        let namespace = match metadata.namespace {
            Some(namespace) => Some(range_within(text, plain(namespace)?)),
            None => None,
        };
        Some(Outline { header, name, namespace, managed_fields })
    }
}

/// The replacement for managed fields.
pub(super) const NOTHING: &str = "null";

/// A string without escapes: names, uids and versions from the server never have any.
fn plain(part: &RawValue) -> Option<&str> {
    let inner = part.get().strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then_some(inner)
}

/// The position of `part`, which was borrowed from `whole`.
pub(crate) fn range_within(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}
