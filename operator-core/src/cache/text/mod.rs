//! An object as the cache keeps it: the text that the server sent, and the metadata that the library uses. It has no
//! type parameter: code that uses it is compiled once.
//!
//! ```text
//!  text of the server ──scan──▶ TextObject { text without managed fields, header, own managed fields }
//!                                 │ open                                    └─ shared by objects with equal ones
//!                                 ▼
//!                         Arc<K>: the same one while it is in use, or in the memo
//! ```
//!
//! # Guarantees
//! - While the object that a state was decoded to is in use, all readers of the state get the same one; afterwards
//!   another one with the same content.
//! - The text of a Secret is overwritten when it is dropped, decoded Secrets aren't held longer than by their readers,
//!   and no text is ever printed.

mod entry;
mod kind;
mod lazy;
mod memo;
mod own;
mod scan;
#[cfg(test)]
mod tests;
mod view;

use std::{
    collections::BTreeMap,
    num::NonZeroU64,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta, OwnerReference, Time};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use zeroize::Zeroize;

use crate::resource::{AnyObject, Object, ObjectKey, ResourceType, ResourceVersion};

pub(crate) use kind::{AnyKind, kind_of, transformed_kind};
pub(super) use memo::Memo;
use memo::Seat;
pub(crate) use own::Applied;
use own::{Own, Sharing};
pub(crate) use scan::range_within;
use scan::{Header, NOTHING, Span, entry_of};
pub(in crate::cache) use scan::{Item, Outline, Scanned};
pub(crate) use view::{Answer, View};
pub(super) use view::{Answered, Face};

/// One state of an object.
pub(crate) struct TextObject {
    text: Text,
    header: Header,
    own: Option<Own>,
    opened: Mutex<Option<Box<Opened>>>,
    verdict: Verdict,
    verdict_of_status: Verdict,
    /// The values of the user's indexes for it, once they were called, by the view of the informer that has them.
    /// Usually there are none.
    indexed: OnceLock<Box<IndexedByView>>,
}

/// The values of a state, index by index.
pub(super) type Indexed = Vec<Vec<String>>;

/// The same for each view that has indexes.
type IndexedByView = Mutex<Vec<(u64, Arc<Indexed>)>>;

/// The fingerprint of the desired state that this was found to match; 0 for none. It is forgotten with the state,
/// unless it holds for the next one, too.
#[derive(Default)]
pub(crate) struct Verdict(AtomicU64);

/// Set if a verdict holds while the operator's managers own the same. Fingerprints leave this bit free, so one word contains both.
const LASTING: u64 = 1;

impl Verdict {
    pub(crate) fn get(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.0.load(Ordering::Relaxed) & !LASTING)
    }

    /// Remembers the result for this state; `lasts` if it is the same for each state in which the operator's managers
    /// own the same.
    pub(crate) fn note(&self, desired: NonZeroU64, lasts: bool) {
        let lasting = if lasts { LASTING } else { 0 };
        self.0.store(desired.get() & !LASTING | lasting, Ordering::Relaxed);
    }

    /// The verdict that holds for the next state, too, if the operator's managers own the same.
    fn lasting(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|word| word & LASTING != 0)
    }

    /// The next state isn't the one that was compared: the operator writes the object.
    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The same verdict as for an earlier state, unless there is already one for this state.
    fn inherit(&self, lasting: u64) {
        let _ = self.0.compare_exchange(0, lasting, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// JSON without managed fields.
struct Text {
    text: Box<str>,
    is_sensitive: bool,
}

impl Text {
    fn wipe(&mut self) {
        if self.is_sensitive {
            self.text.zeroize();
        }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// The decoded form of a state.
struct Opened {
    object: Weak<dyn Object>,
    seat: Option<Seat>,
}

/// How the objects of one informer are kept.
#[derive(Debug)]
pub(super) struct Keeping {
    pub(super) own_managers: Vec<String>,
    sharing: Sharing,
    is_sensitive: bool,
}

impl Keeping {
    pub(super) fn new(resource_type: &ResourceType, own_managers: &[String]) -> Self {
        let is_sensitive = resource_type.is_sensitive();
        Self { own_managers: own_managers.to_vec(), sharing: Sharing::default(), is_sensitive }
    }

    /// Keeps an object with this text; its key is unknown if it has no name. `None` if its metadata can't be read.
    pub(super) fn keep(&self, item: &Item<'_>) -> Option<(Option<ObjectKey>, TextObject)> {
        Some((item.key(), self.keep_text(item)?))
    }

    /// The same for a caller that knows the key.
    fn keep_text(&self, item: &Item<'_>) -> Option<TextObject> {
        let (item, outline) = (item.text, item.outline.as_ref()?);
        let (text, own) = match &outline.managed_fields {
            None => (item.into(), None),
            Some(cut) => {
                let text = [&item[..cut.start], NOTHING, &item[cut.end..]].concat();
                (text.into_boxed_str(), self.sharing.own(&item[cut.clone()], &self.own_managers))
            }
        };
        let text = Text { text, is_sensitive: self.is_sensitive };
        Some(TextObject::new(text, outline.header.clone(), own))
    }
}

impl TextObject {
    fn new(text: Text, header: Header, own: Option<Own>) -> Self {
        Self {
            text,
            header,
            own,
            opened: Mutex::new(None),
            verdict: Verdict::default(),
            verdict_of_status: Verdict::default(),
            indexed: OnceLock::new(),
        }
    }

    /// An object of which only the metadata is known; the rest is that of `template`.
    pub(super) fn minimal(mut template: Value, meta: &ObjectMeta) -> Self {
        template["metadata"] = json!(meta);
        let text = template.to_string();
        let header = Item::of(&text).outline.map(|outline| outline.header.clone()).unwrap_or_default();
        Self::new(Text { text: text.into(), is_sensitive: false }, header, None)
    }

    /// JSON without managed fields.
    pub(crate) fn text(&self) -> &str {
        &self.text.text
    }

    fn part(&self, span: Span) -> Option<&str> {
        span.of(&self.text.text)
    }

    pub(crate) fn uid(&self) -> Option<&str> {
        self.part(self.header.uid)
    }

    pub(crate) fn version(&self) -> Option<&str> {
        self.part(self.header.version)
    }

    /// Whether `object` is the same state of the same object. An object without a version may be in any state.
    pub(crate) fn is_state_of(&self, object: &dyn Object) -> bool {
        self.is_state(object.uid(), object.version())
    }

    fn is_state(&self, uid: Option<&str>, version: Option<&str>) -> bool {
        version.is_some() && self.version() == version && self.uid() == uid
    }

    /// Its version, if it can be compared.
    pub(crate) fn resource_version(&self) -> Option<ResourceVersion> {
        self.version().and_then(ResourceVersion::parse)
    }

    pub(crate) fn generation(&self) -> Option<i64> {
        self.header.generation
    }

    /// Whether it is marked for deletion.
    pub(crate) fn is_marked(&self) -> bool {
        self.part(self.header.marked).is_some()
    }

    /// When it was marked for deletion.
    pub(crate) fn marked_at(&self) -> Option<Time> {
        self.read(self.header.marked)
    }

    pub(crate) fn labels(&self) -> Option<BTreeMap<String, String>> {
        self.read(self.header.labels)
    }

    /// One of its labels.
    pub(crate) fn label(&self, name: &str) -> Option<String> {
        entry_of(self.part(self.header.labels)?, name)
    }

    /// One of its annotations.
    pub(crate) fn annotation(&self, name: &str) -> Option<String> {
        entry_of(self.part(self.header.annotations)?, name)
    }

    pub(crate) fn annotations(&self) -> Option<BTreeMap<String, String>> {
        self.read(self.header.annotations)
    }

    pub(crate) fn owners(&self) -> Option<Vec<OwnerReference>> {
        self.read(self.header.owners)
    }

    pub(crate) fn finalizers(&self) -> Option<Vec<String>> {
        self.read(self.header.finalizers)
    }

    /// A part that can't be read counts as absent: decoding the whole object reports it.
    fn read<T: DeserializeOwned>(&self, span: Span) -> Option<T> {
        serde_json::from_str(self.part(span)?).ok()
    }

    /// The entries of the operator's own managers, their fields as text.
    pub(crate) fn own_managed_fields(&self) -> Option<Vec<ManagedFieldsEntry>> {
        self.own.as_ref().map(Own::entries)
    }

    /// The entries of applies of the main resource by `manager`: usually one.
    pub(crate) fn applied_by<'o>(&'o self, manager: &'o str) -> impl Iterator<Item = Applied<'o>> {
        self.own.iter().flat_map(move |own| own.applied_by(manager))
    }

    /// The part of the metadata that the library uses.
    fn meta(&self, key: &ObjectKey) -> ObjectMeta {
        ObjectMeta {
            name: Some(key.name().to_owned()),
            namespace: key.namespace().map(str::to_owned),
            uid: self.uid().map(str::to_owned),
            resource_version: self.version().map(str::to_owned),
            generation: self.generation(),
            deletion_timestamp: self.marked_at(),
            labels: self.labels(),
            annotations: self.annotations(),
            owner_references: self.owners(),
            finalizers: self.finalizers(),
            managed_fields: self.own_managed_fields(),
            ..ObjectMeta::default()
        }
    }

    /// The fingerprint that it is known to match.
    pub(crate) fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Takes over the verdict of the `older` state, if it depends only on the owned fields.
    pub(in crate::cache) fn take_over_verdict(&self, older: &Self) {
        if let Some(lasting) = older.verdict.lasting()
            && self.owns_the_same(older)
        {
            self.verdict.inherit(lasting);
        }
    }

    /// Whether the operator's managers own the same fields in both states.
    fn owns_the_same(&self, other: &Self) -> bool {
        matches!((&self.own, &other.own), (Some(own), Some(other)) if own.is_same(other))
    }

    /// The fingerprint that its status is known to match.
    pub(crate) fn verdict_of_status(&self) -> &Verdict {
        &self.verdict_of_status
    }

    /// The values of all indexes of the informer with the view `of`; they are called once. Two may be called at the same
    /// time, because one index may read another.
    pub(super) fn indexed(&self, of: u64, ask: impl FnOnce() -> Indexed) -> Arc<Indexed> {
        let known = |all: &[(u64, Arc<Indexed>)]| {
            all.iter().find(|(view, _)| *view == of).map(|(_, values)| Arc::clone(values))
        };
        if let Some(values) = self.indexed.get().and_then(|all| known(&all.lock())) {
            return values;
        }
        let asked = Arc::new(ask());
        let mut all = self.indexed.get_or_init(Box::default).lock();
        known(&all).unwrap_or_else(|| {
            all.push((of, Arc::clone(&asked)));
            asked
        })
    }

    /// The informer with the view `of` is dropped: its values are removed from the objects that others share.
    pub(super) fn forget_indexed(&self, of: u64) {
        if let Some(all) = self.indexed.get() {
            all.lock().retain(|(view, _)| *view != of);
        }
    }

    /// The decoded object: by `decode`, unless it is already in use.
    fn open(
        self: &Arc<Self>,
        memo: &Arc<Memo>,
        decode: &dyn Fn(&Self) -> Result<AnyObject, String>,
    ) -> Result<AnyObject, String> {
        let object = {
            let mut opened = self.opened.lock();
            if let Some(held) = opened.as_ref().and_then(|opened| opened.object.upgrade()) {
                return Ok(held);
            }
            let object = decode(self)?;
            *opened = Some(Box::new(Opened { object: Arc::downgrade(&object), seat: None }));
            object
        };
        self.seat(memo, &object);
        Ok(object)
    }

    /// The decoded object, if it is in use.
    fn held(&self) -> Option<AnyObject> {
        self.opened.lock().as_ref()?.object.upgrade()
    }

    /// It is already decoded to this object.
    fn opened_as(self: &Arc<Self>, memo: &Arc<Memo>, object: &AnyObject) {
        *self.opened.lock() = Some(Box::new(Opened { object: Arc::downgrade(object), seat: None }));
        self.seat(memo, object);
    }

    fn seat(self: &Arc<Self>, memo: &Arc<Memo>, object: &AnyObject) {
        if self.text.is_sensitive {
            return;
        }
        let seat = memo.seat(self, Arc::clone(object));
        // Outside of the other object's lock: an object that leaves the memo for it takes its own lock.
        let mut opened = self.opened.lock();
        let replaced = match opened.as_mut() {
            Some(opened) if opened.object.strong_count() > 0 => opened.seat.replace(seat),
            _ => Some(seat),
        };
        drop(opened);
        drop(replaced);
    }

    /// The memo no longer holds the object. When its last user drops it, its memory is freed.
    fn leave(&self, object: &AnyObject) {
        let mut opened = self.opened.lock();
        let gone = if Arc::strong_count(object) == 1 { opened.take() } else { None };
        drop(opened);
        drop(gone);
    }
}

debug_of!(TextObject: "TextObject", |it| uid: it.uid(), version: it.version());
