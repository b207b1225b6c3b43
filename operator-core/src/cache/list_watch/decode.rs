//! Parses what the server sent, item by item.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use kube::core::{ListMeta, Status};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::{
    cache::{
        engine::{Decoded, WatchEvent},
        text::{Answered, Face, Item, Outline, Scanned, range_within},
    },
    resource::{Cluster, ObjectKey, ResourceType},
};

use super::failure::Failure;

/// A page of a list, its items not decoded yet. The text of each of them is that of the body.
#[derive(Debug)]
pub(in crate::cache) struct Page {
    body: String,
    metadata: ListMeta,
    items: Vec<ItemRange>,
}

/// The position of an item in the body, and of its parts in it.
#[derive(Debug)]
pub(super) struct ItemRange {
    pub(super) range: Range<usize>,
    pub(super) outline: Option<Outline>,
}

#[derive(Deserialize)]
pub(super) struct List<I> {
    pub(super) metadata: ListMeta,
    /// Go writes an empty list as `null` at times.
    pub(super) items: Option<Vec<I>>,
}

impl Page {
    pub(in crate::cache) fn parse(body: String, resource_type: &ResourceType) -> Result<Self, Failure> {
        if let Some((metadata, items)) = as_go_spells_it(&body) {
            return Ok(Self { body, metadata, items });
        }
        let no_list = |error| format!("the response isn't a list: {}", resource_type.masked(error));
        let list = serde_json::from_str::<List<&RawValue>>(&body);
        let List { metadata, items } = list.map_err(|error| Failure::new(no_list(error)))?;
        let found = |item: &RawValue| ItemRange {
            range: range_within(&body, item.get()),
            outline: Item::of(item.get()).into_outline(),
        };
        let items = items.into_iter().flatten().map(found).collect();
        Ok(Self { body, metadata, items })
    }

    /// Each item.
    pub(in crate::cache) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        self.items.iter().map(|item| Item::with(&self.body[item.range.clone()], item.outline.as_ref()))
    }

    /// The start of the next page; the server sends an empty token if there is none.
    pub(in crate::cache) fn continue_token(&self) -> Option<String> {
        self.metadata.continue_.clone().filter(|token| !token.is_empty())
    }

    pub(in crate::cache) fn version(&self) -> Option<String> {
        self.metadata.resource_version.clone().filter(|version| !version.is_empty())
    }
}

/// The metadata of a list, and its items, in one pass; `None` if it is not in Go's form, or can't be parsed.
pub(super) fn as_go_spells_it(body: &str) -> Option<(ListMeta, Vec<ItemRange>)> {
    #[derive(Deserialize)]
    struct Items {
        #[serde(rename = "items")]
        _items: Vec<IgnoredAny>,
    }
    const ITEMS: &str = "\"items\":[";
    let mut at = body.find(ITEMS)? + ITEMS.len();
    let head = &body[..at];
    // The keys of the list itself, not of something in it.
    serde_json::from_str::<Items>(&[head, "]}"].concat()).ok()?;
    let mut items = Vec::new();
    while body[at..].starts_with('{') {
        let mut objects = serde_json::Deserializer::from_str(&body[at..]).into_iter::<Scanned<'_>>();
        let object = objects.next()?.ok()?;
        let range = at..at + objects.byte_offset();
        at = range.end;
        let outline = object.outline(&body[range.clone()]);
        items.push(ItemRange { range, outline });
        if body[at..].starts_with(",{") {
            at += 1;
        }
    }
    // Types that the server knows have their metadata before the items, custom ones after them.
    let around = serde_json::from_str::<List<IgnoredAny>>(&[head, &body[at..]].concat()).ok()?;
    around.items.is_some_and(|further| further.is_empty()).then_some((around.metadata, items))
}

/// The identity of an object that can't be decoded as a whole.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::cache) struct Identity {
    name: Option<String>,
    namespace: Option<String>,
    resource_version: Option<String>,
}

impl Identity {
    pub(in crate::cache) fn of(item: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Identity,
        }
        serde_json::from_str::<Object>(item).ok().map(|object| object.metadata)
    }

    pub(in crate::cache) fn key(&self) -> Option<ObjectKey> {
        let name = self.name.as_deref()?;
        Some(ObjectKey::new(Cluster::local(), self.namespace.as_deref(), name))
    }

    pub(in crate::cache) fn version(self) -> Option<String> {
        self.resource_version.filter(|version| !version.is_empty())
    }
}

/// A line of a watch.
#[derive(Debug)]
pub(super) enum Line {
    /// An event of an object, and the object's version.
    Event(WatchEvent, Option<String>),
    /// There was nothing else up to this version.
    Bookmark {
        version: Option<String>,
        /// It ends the initial events of a streamed list.
        initial_end: bool,
    },
    /// The server can't go on.
    Error(Failure),
    /// Not a valid line of a watch: something was lost.
    Broken(Failure),
}

#[derive(Deserialize)]
pub(super) struct RawLine<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) object: &'a RawValue,
}

/// The object in a line, in one pass: what has happened, and the object; `None` if the line shows something else, is
/// not in Go's form, or can't be parsed.
pub(super) fn shown(line: &[u8]) -> Option<(&str, Item<'_>)> {
    let line = str::from_utf8(line).ok()?;
    let (kind, object) = line.trim_end().strip_prefix("{\"type\":\"")?.split_once("\",\"object\":")?;
    let item = Item::of(object.strip_suffix('}')?);
    (matches!(kind, "ADDED" | "MODIFIED" | "DELETED") && item.is_understood()).then_some((kind, item))
}

/// Parses one line of a watch.
pub(super) fn line(line: &[u8], resource_type: &ResourceType, face: &dyn Face, known: Answered<'_>) -> Line {
    let event = |wrap: fn(Decoded) -> WatchEvent, decoded: Decoded| {
        let version = match &decoded {
            Decoded::Object { kept, .. } => kept.version().map(str::to_owned),
            Decoded::Undecodable(undecodable) => undecodable.version.clone(),
        };
        Line::Event(wrap(decoded), version)
    };
    let of_object = |kind: &str, item: &Item<'_>| match kind {
        "ADDED" | "MODIFIED" => Some(event(WatchEvent::Applied, face.take_changed(item, known))),
        "DELETED" => Some(event(WatchEvent::Deleted, face.take(item))),
        _ => None,
    };
    if let Some((kind, item)) = shown(line)
        && let Some(line) = of_object(kind, &item)
    {
        return line;
    }
    let raw: RawLine<'_> = match serde_json::from_slice(line) {
        Ok(raw) => raw,
        Err(error) => {
            let error = resource_type.masked(error);
            return Line::Broken(Failure::new(format!("a line of the watch isn't an event: {error}")));
        }
    };
    if let Some(line) = of_object(&raw.kind, &Item::of(raw.object.get())) {
        return line;
    }
    match &*raw.kind {
        "BOOKMARK" => Line::Bookmark {
            version: Identity::of(raw.object.get()).and_then(Identity::version),
            initial_end: ends_initial_events(raw.object),
        },
        "ERROR" => Line::Error(match serde_json::from_str::<Status>(raw.object.get()) {
            Ok(status) => refusal(status.code, &status, resource_type),
            Err(_) => Failure::new(resource_type.masked(raw.object.get())),
        }),
        other => {
            let other = resource_type.masked(format_args!("`{other}`"));
            Line::Broken(Failure::new(format!("the watch showed an unknown event {other}")))
        }
    }
}

/// Whether a bookmark ends the initial events: all objects that existed when the watch was opened have been shown.
fn ends_initial_events(bookmark: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Bookmark {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        #[serde(default)]
        annotations: BTreeMap<String, String>,
    }
    serde_json::from_str::<Bookmark>(bookmark.get()).is_ok_and(|bookmark| {
        bookmark.metadata.annotations.get("k8s.io/initial-events-end").is_some_and(|end| end == "true")
    })
}

/// A failure by the server's own description. A text about a request contains no values, but one about an error inside
/// the server may.
pub(in crate::cache) fn refusal(code: u16, status: &Status, resource_type: &ResourceType) -> Failure {
    let retry_after = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    let reason = [&status.message, &status.reason].into_iter().find(|text| !text.is_empty());
    // A watch reports an expired version by its reason; old servers leave the code out.
    let code = if status.reason == "Expired" || status.reason == "Gone" { 410 } else { code };
    let words = reason.cloned().unwrap_or_else(|| format!("the server answered {code}"));
    let is_about_request = matches!(code, 400..500 | 503 | 504);
    let object = status.details.as_ref().map(|details| details.name.clone()).filter(|name| !name.is_empty());
    Failure {
        status: (code != 0).then_some(code),
        reason: if is_about_request { words } else { resource_type.masked(words) },
        retry_after: (retry_after > 0).then(|| std::time::Duration::from_secs(retry_after.into())),
        object,
    }
}
