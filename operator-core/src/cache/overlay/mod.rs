//! The operator's own writes on top of what the watch has shown. Pure: called under the informer's lock, returns the
//! changes to hand over.
//!
//! ```text
//! begin ──▶ window open ──▶ wrote(answer): own version, recent entry ──▶ finish
//!              ▲                                                           │
//!   event ─────┘ waits, is swallowed as an echo, or handed over ◀──────────┘
//! advance(version): what the collection has passed is dropped
//! ```
//!
//! Two things are kept apart. The *recent entry* is the newest state of an object that the operator has written, and
//! answers reads until the watch has caught up. The *window* decides which events are only the echo of the operator's
//! own writes. JOSDK: `TemporaryResourceCache` and `EventFilterSupport`.
//!
//! # Differences from JOSDK, and why
//! - A deletion is handed over at once and covers everything that waited before it. Own versions known by then are
//!   forgotten: if one of them is the operator's re-creation, its echo is handed over, because a handler that was
//!   notified of the deletion must also be notified that the object exists again. JOSDK drops a deletion that is
//!   followed by an own creation, and reports neither.
//! - A change that marks an object for deletion is never swallowed.
//! - A merged change whose first part was an appearance is handed over as an appearance.
//! - Own versions and recent entries that the collection has passed are dropped at once, also those of other objects:
//!   nothing lingers until "any later event".
//! - A write whose answer has the version it started from has changed nothing, and that version isn't an own one: it may
//!   belong to a foreign change whose event is still waiting.

mod recent;
mod window;

#[cfg(test)]
mod golden_tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::resource::{ObjectKey, ResourceVersion};

use super::{
    Change,
    indexers::Indexers,
    scopes::{Changed, ScopeIndex, Scopes},
    text::TextObject,
};

pub(super) use recent::Recent;
pub(super) use window::Observed;
use window::Window;

/// The operator's own writes of one informer.
#[derive(Debug)]
pub(super) struct Overlay {
    scopes: Scopes,
    recent: Arc<Recent>,
    windows: BTreeMap<ObjectKey, Window>,
    collections: BTreeMap<ScopeIndex, WatchProgress>,
}

/// The progress of one list-watch.
#[derive(Debug, Default)]
struct WatchProgress {
    /// `None` for all namespaces.
    namespace: Option<String>,
    /// The version up to which former collections had seen a namespace, if that is more than `last_sync`.
    seen_before: BTreeMap<String, ResourceVersion>,
    /// Everything up to this version has been seen; `None` before the first list is complete.
    last_sync: Option<ResourceVersion>,
    /// Ends that a streamed list has shown before its own end, with their versions.
    ends: BTreeMap<ObjectKey, ResourceVersion>,
    /// The versions of the recent entries, which the collection has not passed yet.
    recent: BTreeSet<(ResourceVersion, ObjectKey)>,
    /// Own versions that the collection has not passed yet.
    own: BTreeSet<(ResourceVersion, ObjectKey)>,
}

/// The maximum number of own versions of one collection that are awaited. While its watch is broken for a long time
/// they would grow without limit, because writes go on; the oldest of them is then given up, so its echo, if it ever
/// arrives, counts as foreign.
const MOST_AWAITED: usize = 10_000;

/// The result of having seen a collection up to some version.
#[derive(Debug)]
pub(super) struct Advanced {
    /// To be handed over.
    pub(super) changes: Vec<Change>,
    /// Recent entries that were passed without an event, and are dropped.
    pub(super) not_shown: Vec<ObjectKey>,
}

impl Overlay {
    /// `indexers` are those of the store; written objects are found by them, too.
    pub(super) fn new(scopes: Scopes, indexers: &Indexers) -> Self {
        let collections = scopes.indexes().map(|scope| (scope, WatchProgress::of(&scopes, scope))).collect();
        Self { scopes, recent: Arc::new(Recent::new(indexers.anew())), windows: BTreeMap::new(), collections }
    }

    /// The entries that readers look at before the store.
    pub(super) fn recent(&self) -> Arc<Recent> {
        Arc::clone(&self.recent)
    }

    /// The version up to which a collection has been seen.
    pub(super) fn last_sync(&self, scope: ScopeIndex) -> Option<ResourceVersion> {
        self.collections.get(&scope)?.last_sync
    }

    /// The version up to which all events of an object have been seen.
    pub(super) fn seen(&self, scope: ScopeIndex, key: &ObjectKey) -> Option<ResourceVersion> {
        let collection = self.collections.get(&scope)?;
        collection.seen(key.namespace()).max(collection.ends.get(key).copied())
    }

    /// A list that isn't complete yet has shown the end of an object.
    pub(super) fn ended(&mut self, scope: ScopeIndex, key: ObjectKey, version: Option<ResourceVersion>) {
        if let (Some(collection), Some(version)) = (self.collections.get_mut(&scope), version) {
            collection.ends.insert(key, version);
        }
    }

    /// Whether former collections had seen more than its list-watch has shown.
    pub(super) fn is_behind(&self, scope: ScopeIndex) -> bool {
        let is_behind = |of: &WatchProgress| !of.seen_before.is_empty() || !of.ends.is_empty();
        self.collections.get(&scope).is_some_and(is_behind)
    }

    /// Whether an event of this collection waits for an own write to end.
    pub(super) fn has_waiting_events(&self, scope: ScopeIndex) -> bool {
        self.windows
            .iter()
            .any(|(key, window)| self.scopes.of(key) == Some(scope) && window.has_waiting_events())
    }

    /// The number of open windows.
    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    /// The number of own versions that the collections have not passed yet.
    pub(super) fn awaited(&self) -> usize {
        self.collections.values().map(|collection| collection.own.len()).sum()
    }

    /// One of the operator's own writes starts: from now on, events of the object wait. Each call is paired with one of
    /// [`Overlay::finish`].
    pub(super) fn begin(&mut self, key: &ObjectKey) {
        self.windows.entry(key.clone()).or_default().active += 1;
    }

    /// One of the operator's own writes, which started from version `base`, was answered.
    pub(super) fn wrote(
        &mut self,
        key: &ObjectKey,
        base: Option<ResourceVersion>,
        answer: &Arc<TextObject>,
        stored: Option<&TextObject>,
    ) -> Vec<Change> {
        let (Some(version), Some(scope)) = (answer.resource_version(), self.scopes.of(key)) else {
            return Vec::new();
        };
        let changed = base != Some(version);
        let mut changes = Vec::new();
        if changed
            && let Some(window) = self.windows.get_mut(key)
            && let Some(collection) = self.collections.get_mut(&scope)
        {
            window.own(version, answer.uid().map(Box::from));
            let mut given_up = None;
            if collection.seen(key.namespace()) >= Some(version) {
                window.passed(version);
            } else {
                collection.own.insert((version, key.clone()));
                if collection.own.len() > MOST_AWAITED {
                    given_up = collection.own.pop_first();
                }
            }
            changes.extend(window.check().map(|kind| Change { key: key.clone(), kind }));
            changes.extend(given_up.and_then(|(oldest, of)| self.passed(&of, oldest)));
        }
        self.put(key, answer, stored);
        changes
    }

    /// Remembers the answer of a write until the watch shows it. Ignored if the watch has passed it already: a late answer
    /// must not bring back an object that has been deleted since.
    pub(super) fn put(&mut self, key: &ObjectKey, answer: &Arc<TextObject>, stored: Option<&TextObject>) {
        let (Some(version), Some(scope)) = (answer.resource_version(), self.scopes.of(key)) else {
            return;
        };
        let Some(collection) = self.collections.get_mut(&scope) else { return };
        let entry = self.recent.get(key).and_then(|entry| entry.resource_version());
        let known = [collection.seen(key.namespace()), stored.and_then(TextObject::resource_version), entry];
        if known.into_iter().flatten().all(|known| known < version) {
            if let Some(entry) = entry {
                collection.recent.remove(&(entry, key.clone()));
            }
            collection.recent.insert((version, key.clone()));
            self.recent.insert(key.clone(), Arc::clone(answer));
        }
    }

    /// One of the operator's own writes has ended, in any way.
    pub(super) fn finish(&mut self, key: &ObjectKey) -> Option<Change> {
        let window = self.windows.get_mut(key)?;
        window.active = window.active.saturating_sub(1);
        self.check(key)
    }

    /// The watch or a list showed a state of an object that differs from the stored one. The store already holds it.
    pub(super) fn observed(&mut self, key: &ObjectKey, event: Observed) -> Option<Change> {
        let Some(version) = event.new.resource_version() else {
            return Some(Change { key: key.clone(), kind: event.into_change() });
        };
        self.evict(key, version);
        let Some(window) = self.windows.get_mut(key) else {
            return Some(Change { key: key.clone(), kind: event.into_change() });
        };
        window.buffer(version, event);
        self.check(key)
    }

    /// An object is gone, as of `version`. The store has already removed it.
    pub(super) fn deleted(&mut self, key: &ObjectKey, version: Option<ResourceVersion>) {
        if let Some(version) = version {
            self.evict(key, version);
        }
        if let Some(window) = self.windows.get_mut(key) {
            window.deleted();
            if window.is_over() {
                self.windows.remove(key);
            }
        }
    }

    /// Everything up to `version` has been seen of a collection: by an event, a bookmark or a complete list. Entries
    /// for earlier versions are dropped. The events themselves were given to [`Overlay::observed`] before.
    pub(super) fn advance(&mut self, scope: ScopeIndex, version: ResourceVersion) -> Advanced {
        let mut advanced = Advanced { changes: Vec::new(), not_shown: Vec::new() };
        let Some(collection) = self.collections.get_mut(&scope) else { return advanced };
        collection.last_sync = collection.last_sync.max(Some(version));
        collection.seen_before.retain(|_, seen| *seen > version);
        collection.ends.retain(|_, end| *end > version);
        for (_, key) in take_passed(&mut collection.recent, version) {
            self.recent.remove(&key);
            advanced.not_shown.push(key);
        }
        for (passed, key) in take_passed(&mut collection.own, version) {
            advanced.changes.extend(self.passed(&key, passed));
        }
        advanced
    }

    /// A complete list of version `version` was processed, item by item. It counts even if the version is lower than
    /// what was seen before, which happens when the server's storage was restored from a backup.
    pub(super) fn relisted(&mut self, scope: ScopeIndex, version: ResourceVersion) -> Advanced {
        if let Some(collection) = self.collections.get_mut(&scope) {
            collection.last_sync = None;
            collection.seen_before.clear();
            collection.ends.clear();
        }
        self.advance(scope, version)
    }

    /// Recent entries that a complete list of version `version` should have shown and didn't: the objects were deleted
    /// before the watch ever showed them. They are dropped here and returned in order.
    pub(super) fn take_ghosts(
        &mut self,
        scope: ScopeIndex,
        version: ResourceVersion,
        listed: impl Fn(&ObjectKey) -> bool,
    ) -> Vec<(ObjectKey, Arc<TextObject>)> {
        let ghosts: Vec<_> = self
            .recent
            .entries()
            .into_iter()
            .filter(|(key, entry)| {
                self.scopes.of(key) == Some(scope)
                    && entry.resource_version() <= Some(version)
                    && !listed(key)
            })
            .collect();
        for (key, _) in &ghosts {
            self.deleted(key, Some(version));
        }
        ghosts
    }

    /// Drops a recent entry that is no newer than `version`.
    fn evict(&mut self, key: &ObjectKey, version: ResourceVersion) {
        let entry = self.recent.get(key).and_then(|entry| entry.resource_version());
        if let Some(entry) = entry.filter(|entry| *entry <= version) {
            self.recent.remove(key);
            if let Some(collection) = self.collection_of(key) {
                collection.recent.remove(&(entry, key.clone()));
            }
        }
    }

    /// The collection that an object belongs to.
    fn collection_of(&mut self, key: &ObjectKey) -> Option<&mut WatchProgress> {
        self.collections.get_mut(&self.scopes.of(key)?)
    }

    /// The collections have changed. The awaited versions of an object move with it to its new collection.
    pub(super) fn rescoped(&mut self, changed: &Changed) {
        let left: Vec<WatchProgress> =
            changed.left.iter().filter_map(|left| self.collections.remove(left)).collect();
        for new in &changed.new {
            let mut collection = WatchProgress::of(&self.scopes, *new);
            for left in &left {
                if let (Some(namespace), None) | (None, Some(namespace)) =
                    (&left.namespace, &collection.namespace)
                    && let Some(seen) = left.seen(Some(namespace))
                {
                    collection.seen_before.insert(namespace.clone(), seen);
                }
            }
            self.collections.insert(*new, collection);
        }
        for WatchProgress { recent, own, ends, .. } in left {
            for (key, end) in ends {
                if let Some(collection) = self.collection_of(&key) {
                    collection.ends.insert(key, end);
                }
            }
            for (version, key) in recent {
                if let Some(collection) = self.collection_of(&key) {
                    collection.recent.insert((version, key));
                }
            }
            for (version, key) in own {
                if let Some(collection) = self.collection_of(&key) {
                    collection.own.insert((version, key));
                }
            }
        }
    }

    /// The objects with entries here that belong to no collection any more.
    pub(super) fn not_followed(&self) -> Vec<ObjectKey> {
        let recent = self.recent.entries().into_iter().map(|(key, _)| key);
        let keys = recent.chain(self.windows.keys().cloned());
        keys.filter(|key| self.scopes.of(key).is_none()).collect()
    }

    /// An object isn't followed any more. A write of it that is in progress still ends.
    pub(super) fn left(&mut self, key: &ObjectKey) {
        self.recent.remove(key);
        self.deleted(key, None);
    }

    /// An own version is no longer awaited.
    fn passed(&mut self, key: &ObjectKey, version: ResourceVersion) -> Option<Change> {
        self.windows.get_mut(key)?.passed(version);
        self.check(key)
    }

    fn check(&mut self, key: &ObjectKey) -> Option<Change> {
        let window = self.windows.get_mut(key)?;
        let change = window.check().map(|kind| Change { key: key.clone(), kind });
        if window.is_over() {
            self.windows.remove(key);
        }
        change
    }
}

impl WatchProgress {
    fn of(scopes: &Scopes, scope: ScopeIndex) -> Self {
        Self { namespace: scopes.namespace(scope), ..Self::default() }
    }

    /// The version up to which a namespace was seen.
    fn seen(&self, namespace: Option<&str>) -> Option<ResourceVersion> {
        let before = namespace.and_then(|namespace| self.seen_before.get(namespace).copied());
        self.last_sync.max(before)
    }
}

/// Takes out the entries that aren't newer than `version`, in order.
fn take_passed(
    awaited: &mut BTreeSet<(ResourceVersion, ObjectKey)>,
    version: ResourceVersion,
) -> Vec<(ResourceVersion, ObjectKey)> {
    std::iter::from_fn(|| {
        awaited.first().is_some_and(|(first, _)| *first <= version).then(|| awaited.pop_first())?
    })
    .collect()
}
