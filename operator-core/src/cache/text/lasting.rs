//! Whether the result of a matcher for one state of an object holds for the next one, too. Pure.
//!
//! A foreign label, or the status that a controller writes, doesn't matter to a matcher that uses managed fields.
//! Without this, the matcher would still be evaluated for each such change, because each makes another state.
//!
//! ```text
//!  {"metadata":{"name":"a","resourceVersion":"7","labels":{"app":"a"},…},"spec":{…},"status":{…}}
//!   ───────────── same ─────────────────── any ── same ─── entries ──────── same ────────── any ─
//! ```
//!
//! # Guarantees
//! - Two states that are alike are the same except for their versions, their status, and labels and annotations that
//!   none of the operator's managers owns; and the operator's managers own the same in both.
//! - The items of a list may leave out their type, which a watch tells: that makes no difference.
//!
//! # Assumptions
//! - A matcher that uses managed fields compares labels and annotations one by one, by the names that are owned or
//!   desired. One that is desired and not owned matches nothing.
//! - No key occurs twice in a text.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    TextObject,
    own::Own,
    scan::{Key, Span, range_within},
};

/// The parts that may differ between two states that are alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Version,
    /// These entries of the metadata, as far as they belong to others.
    Entries(&'static str),
}

impl TextObject {
    /// Whether it differs from `other`, another state of the object, only in what none of the operator's managers owns,
    /// and in its status.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let (Some(own), Some(others_own)) = (&self.own, &other.own) else { return false };
        own.is_same(others_own) && self.has_text_like(other, own)
    }

    fn has_text_like(&self, other: &Self, own: &Own) -> bool {
        let (text, other_text) = (self.text(), other.text());
        let (mut at, mut other_at) = match (end_of_type(text), end_of_type(other_text)) {
            (Some(end), None) => (end, OPENING),
            (None, Some(end)) => (OPENING, end),
            // Compared with the rest.
            (Some(_), Some(_)) | (None, None) => (0, 0),
        };
        for ((part, span), (other_part, other_span)) in self.parts().into_iter().zip(other.parts()) {
            if (span, other_span) == (Span::NONE, Span::NONE) && part == other_part {
                continue;
            }
            let (range, other_range) = (span.range(), other_span.range());
            if range.start < at || other_range.start < other_at {
                return false;
            }
            let is_like = part == other_part
                && text[at..range.start] == other_text[other_at..other_range.start]
                && match part {
                    Part::Version => true,
                    Part::Entries(map) => {
                        let (entries, others) = (&text[range.clone()], &other_text[other_range.clone()]);
                        entries == others
                            || differing(entries, others).is_some_and(|names| own.leaves(map, &names))
                    }
                };
            if !is_like {
                return false;
            }
            (at, other_at) = (range.end, other_range.end);
        }
        text[at..] == other_text[other_at..] || is_same_but_for_status((text, at), (other_text, other_at))
    }

    /// In the order of the text; missing ones come first.
    fn parts(&self) -> [(Part, Span); 3] {
        let mut parts = [
            (Part::Version, self.header.version),
            (Part::Entries("labels"), self.header.labels),
            (Part::Entries("annotations"), self.header.annotations),
        ];
        parts.sort_by_key(|(_, span)| span.range().start);
        parts
    }
}

/// What an object's text begins with.
const OPENING: usize = "{".len();

/// Where the type ends that a text begins with, as the API server writes it; `None` if it doesn't begin with one.
fn end_of_type(text: &str) -> Option<usize> {
    let word = |rest: &str, name: &str| {
        let value = rest.strip_prefix(name)?;
        let end = value.find('"')?;
        value[end..].starts_with("\",").then_some(name.len() + end + "\",".len())
    };
    let (kind, version) = ("\"kind\":\"", "\"apiVersion\":\"");
    let rest = text.get(OPENING..)?;
    let (first, second) = if rest.starts_with(kind) { (kind, version) } else { (version, kind) };
    let first = word(rest, first)?;
    Some(OPENING + first + word(&rest[first..], second)?)
}

/// The names of the entries that only one of the two has, or that have different values; `None` if that can't be
/// determined.
fn differing(entries: &str, others: &str) -> Option<Vec<String>> {
    type Entries<'a> = BTreeMap<Key<'a>, &'a RawValue>;

    fn among<'e>(entries: &'e Entries<'_>, others: &'e Entries<'_>) -> impl Iterator<Item = String> + 'e {
        let differs = |(name, value): &(&Key<'_>, &&RawValue)| {
            others.get(*name).is_none_or(|other| other.get() != value.get())
        };
        entries.iter().filter(differs).map(|(name, _)| name.0.to_string())
    }

    let (entries, others): (Entries<'_>, Entries<'_>) =
        (serde_json::from_str(entries).ok()?, serde_json::from_str(others).ok()?);
    Some(among(&entries, &others).chain(among(&others, &entries)).collect())
}

/// The text between this place and the status, and the text after it.
fn around_status(text: &str, at: usize) -> Option<(&str, &str)> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        status: &'a RawValue,
    }
    let status = range_within(text, serde_json::from_str::<Object<'_>>(text).ok()?.status.get());
    Some((text.get(at..status.start)?, &text[status.end..]))
}

/// Whether two texts are the same from these places on, except for their status.
fn is_same_but_for_status((text, at): (&str, usize), (other, other_at): (&str, usize)) -> bool {
    // Mostly something else differs, and the texts needn't be read.
    let before = |text: &str| text.find("\"status\":");
    match (before(&text[at..]), before(&other[other_at..])) {
        (Some(end), Some(other_end)) if text[at..at + end] == other[other_at..other_at + other_end] => {}
        _ => return false,
    }
    let found = around_status(text, at);
    found.is_some() && found == around_status(other, other_at)
}
