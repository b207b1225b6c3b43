//! The calls of others: reads, the operator's own writes, and objects that were read from the server.
//!
//! Reads look at the operator's own writes first, then at the store. None of them takes the lock under which changes are
//! handed over.

use std::{collections::BTreeMap, sync::Arc};

use super::{Engine, ScopeIndex};
use crate::{
    cache::text::{Answer, TextObject},
    observe::SourceHealth,
    resource::{AnyObject, ObjectKey, ResourceVersion},
};

/// The form in which an object is held.
#[derive(Debug)]
pub(in crate::cache) enum Presence {
    /// The whole object.
    Full(Arc<TextObject>),
    /// It exists in this version, and only its minimal form is held.
    Minimal(Option<String>),
    /// It doesn't exist as far as is known.
    Nothing,
}

impl Engine {
    pub(in crate::cache) fn get(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        // In this order: see `Recent`.
        self.recent.get(key).or_else(|| self.store.get(key))
    }

    /// The newest state of all objects, sorted by key.
    pub(in crate::cache) fn entries(&self) -> Vec<(ObjectKey, Arc<TextObject>)> {
        // In this order: see `Recent`.
        let recent = self.recent.entries();
        let stored = self.store.entries();
        if recent.is_empty() {
            return stored;
        }
        let mut merged: BTreeMap<ObjectKey, Arc<TextObject>> = stored.into_iter().collect();
        for (key, object) in recent {
            // The store may have moved on since the first look.
            let newer =
                merged.get(&key).is_none_or(|stored| stored.resource_version() < object.resource_version());
            if newer {
                let listed = self.store.listed_form(&key, object);
                merged.insert(key, listed);
            }
        }
        merged.into_iter().collect()
    }

    /// The keys of all objects, sorted.
    pub(in crate::cache) fn keys(&self) -> Vec<ObjectKey> {
        // In this order: see `Recent`.
        let recent = self.recent.entries();
        let mut keys = self.store.shown_keys();
        keys.retain(|key| self.store.contains(key));
        keys.extend(recent.into_iter().map(|(key, _)| key));
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Whether an object exists as far as is known.
    pub(in crate::cache) fn contains(&self, key: &ObjectKey) -> bool {
        self.recent.get(key).is_some() || self.store.contains(key)
    }

    /// The objects for which the index gives `value` and `is` is true, sorted by key.
    pub(in crate::cache) fn by_index(
        &self,
        index: &str,
        value: &str,
        is: &dyn Fn(&ObjectKey, &TextObject) -> bool,
    ) -> Vec<(ObjectKey, Arc<TextObject>)> {
        // In this order: see `Recent`.
        let mut keys = self.recent.keys(index, value);
        keys.append(&mut self.indexers.keys(index, value));
        // A key that is among the recent ones is judged by its newer state.
        let found = keys.into_iter().filter_map(|key| self.get(&key).map(|object| (key, object)));
        // The values of an object come last, because a search through its text may be needed for them.
        let found = found.filter(|(key, object)| is(key, object));
        found.filter(|(_, object)| self.indexers.matches(index, value, object)).collect()
    }

    /// The keys of the objects for which the index gives `value`, and perhaps further keys; sorted.
    pub(in crate::cache) fn keys_by_index(&self, index: &str, value: &str) -> Vec<ObjectKey> {
        // In this order: see `Recent`.
        let mut keys = self.recent.keys(index, value);
        keys.append(&mut self.indexers.keys(index, value));
        keys.into_iter().collect()
    }

    /// The newest answer to one of the operator's own writes, until the watch has caught up with it.
    pub(in crate::cache) fn answered(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.recent.get(key)
    }

    pub(in crate::cache) fn health(&self) -> SourceHealth {
        self.lock().health.clone()
    }

    pub(in crate::cache) fn last_sync(&self, scope: ScopeIndex) -> Option<ResourceVersion> {
        self.lock().overlay.last_sync(scope)
    }

    pub(in crate::cache) fn stored(&self) -> usize {
        self.store.len()
    }

    pub(in crate::cache) fn full(&self) -> usize {
        self.store.full()
    }

    pub(in crate::cache) fn recent(&self) -> usize {
        self.recent.len()
    }

    pub(in crate::cache) fn windows(&self) -> usize {
        self.lock().overlay.windows()
    }

    pub(in crate::cache) fn awaited(&self) -> usize {
        self.lock().overlay.awaited()
    }

    /// The number of keys that a collection counts as its own, although no reader finds them.
    pub(in crate::cache) fn collection_leftovers(&self) -> usize {
        let state = self.lock();
        let keys = state.collections.values().filter_map(|collection| collection.stored.as_ref()).flatten();
        keys.filter(|key| self.store.shown(key).is_none()).count()
    }

    pub(in crate::cache) fn index_leftovers(&self) -> usize {
        self.indexers.leftovers(|key| self.contains(key))
    }

    pub(in crate::cache) fn index_values(&self) -> usize {
        self.indexers.len() + self.recent.index_values()
    }

    /// An own write to `key` starts. Returns the newest known state.
    pub(in crate::cache) fn begin_write(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.lock().overlay.begin(key);
        self.base(key)
    }

    /// The state that an own write starts from: the newest known one, in its minimal form if no more is held.
    pub(in crate::cache) fn base(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.get(key).or_else(|| self.store.contains(key).then(|| self.store.shown(key)).flatten())
    }

    /// An own write that started from `base` was answered.
    pub(in crate::cache) fn wrote(
        &self,
        key: &ObjectKey,
        base: Option<&TextObject>,
        answer: &Arc<TextObject>,
    ) {
        let state = &mut *self.lock();
        let stored = self.store.shown(key);
        let changes =
            state.overlay.wrote(key, base.and_then(TextObject::resource_version), answer, stored.as_deref());
        self.hand_over_all(changes);
    }

    /// An own write has ended, in any way.
    pub(in crate::cache) fn finish_write(&self, key: &ObjectKey) {
        let state = &mut *self.lock();
        self.hand_over_all(state.overlay.finish(key));
    }

    /// Remembers the answer of a write whose echo is to be handed over.
    pub(in crate::cache) fn remember(&self, key: &ObjectKey, answer: &Arc<TextObject>) {
        let state = &mut *self.lock();
        let stored = self.store.shown(key);
        state.overlay.put(key, answer, stored.as_deref());
    }

    /// See [`ItemStore::pin`](crate::cache::store::ItemStore::pin).
    pub(in crate::cache) fn pin(&self, key: &ObjectKey) {
        // The object must not be replaced before it is pinned.
        let _in_order = self.lock();
        self.store.pin(key);
    }

    /// See [`ItemStore::unpin`](crate::cache::store::ItemStore::unpin).
    pub(in crate::cache) fn unpin(&self, key: &ObjectKey) {
        self.store.unpin(key);
    }

    /// See [`ItemStore::is_readable`](crate::cache::store::ItemStore::is_readable).
    pub(in crate::cache) fn is_readable(&self, key: &ObjectKey) -> bool {
        self.store.is_readable(key)
    }

    pub(in crate::cache) fn held(&self, key: &ObjectKey) -> Presence {
        if let Some(object) = self.get(key).filter(|_| !self.store.is_outdated(key)) {
            return Presence::Full(object);
        }
        if self.store.contains(key) { Presence::Minimal(self.store.version(key)) } else { Presence::Nothing }
    }

    /// An object that is followed from now on is being read.
    pub(in crate::cache) fn admission_begins(&self, key: &ObjectKey) {
        self.lock().admitting.insert(key.clone(), false);
    }

    /// It was read: `None` if it doesn't exist. Returns false if it may have ended since then.
    pub(in crate::cache) fn admitted(&self, key: &ObjectKey, read: Option<Arc<TextObject>>) -> bool {
        let state = &mut *self.lock();
        if state.admitting.remove(key) == Some(true) && read.is_some() {
            return false;
        }
        let shown = self.store.shown(key).and_then(|shown| shown.resource_version());
        if let (Some(kept), Some(scope)) = (read, self.scopes.of(key))
            && kept.resource_version() >= shown
        {
            self.applied(state, scope, key, Arc::clone(&kept), true);
            self.store.fill(key, kept);
        }
        true
    }

    /// The server was asked for an object that was known in version `asked`, and answered with `object`. Returns what
    /// the caller may see; `None` if the watch has shown something newer in the meantime, which takes precedence.
    pub(in crate::cache) fn fetched(
        &self,
        key: &ObjectKey,
        asked: Option<&str>,
        object: Arc<TextObject>,
    ) -> Option<Arc<TextObject>> {
        let state = &mut *self.lock();
        if !self.store.contains(key) {
            return None;
        }
        let shown = self.store.version(key);
        let current = match (shown.as_deref().and_then(ResourceVersion::parse), object.resource_version()) {
            (Some(shown), Some(fetched)) => fetched >= shown,
            // Versions that can't be compared: it counts only if nothing has happened.
            (None, _) | (_, None) => shown.as_deref() == asked,
        };
        if !current {
            return None;
        }
        self.store.fill(key, Arc::clone(&object));
        // An own write may have been answered meanwhile.
        let own = state.overlay.recent().get(key);
        Some(match own {
            Some(own) if own.resource_version() > object.resource_version() => own,
            Some(_) | None => object,
        })
    }

    /// The server was asked for an object that was known in version `asked`, and doesn't have it. Readers no longer
    /// find it; the handler is notified, and the rest forgotten, when the watch or a list shows it. Returns false if
    /// the watch has shown something newer in the meantime, which takes precedence.
    pub(in crate::cache) fn not_found(&self, key: &ObjectKey, asked: Option<&str>) -> bool {
        let _state = self.lock();
        if self.store.version(key).as_deref() != asked {
            return false;
        }
        self.store.hide(key);
        true
    }
}

/// One of the operator's own writes to an object, from before its request until after its answer. While this guard
/// lives, events of the object wait; dropping it releases them. JOSDK:
/// `eventFilteringUpdateAndCacheResource`.
///
/// # Guarantees
/// - The echo of an answer given to [`AnyWrite::answered`] is not handed to the informer's handler.
/// - Without an answer (the request failed, or was dropped in flight) nothing is filtered: every event counts as
///   foreign.
///
/// # Assumptions
/// - The request carries an optimistic lock on the resourceVersion of [`AnyWrite::base`] (or creates, if there is no
///   base): no foreign change lies between the base and the answer. After a conflict, begin another write.
#[must_use = "dropping it ends the write"]
pub(crate) struct AnyWrite {
    pub(in crate::cache) engine: Arc<Engine>,
    pub(in crate::cache) key: ObjectKey,
    pub(in crate::cache) base: Option<Arc<TextObject>>,
}

impl AnyWrite {
    pub(in crate::cache) fn begin(engine: Arc<Engine>, key: ObjectKey) -> Self {
        let base = engine.begin_write(&key);
        Self { engine, key, base }
    }

    /// The newest state that was known when the write began, or when it was rebased, or the last answer.
    pub(crate) fn base(&self) -> Option<&Arc<TextObject>> {
        self.base.as_ref()
    }

    /// The write was answered with `answer`.
    pub(crate) fn answered(&mut self, answer: Answer) -> AnyObject {
        if let Some(kept) = answer.kept {
            self.engine.wrote(&self.key, self.base.as_deref(), &kept);
            self.base = Some(kept);
        }
        answer.object
    }
}

impl Drop for AnyWrite {
    fn drop(&mut self) {
        self.engine.finish_write(&self.key);
    }
}
