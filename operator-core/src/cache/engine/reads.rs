//! Reads: the operator's own writes first, then the store. None of them takes the lock under which changes are handed
//! over.

use std::{collections::BTreeMap, num::NonZeroU64, sync::Arc};

use crate::{
    observe::SourceHealth,
    resource::{KubeObject, ObjectKey, ResourceVersion},
};

use super::{Engine, ScopeIndex};

impl<K: KubeObject> Engine<K> {
    pub(in crate::cache) fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        // In this order: see `Recent`.
        self.recent.get(key).or_else(|| self.store.get(key))
    }

    /// The newest state of all objects, sorted by key.
    pub(in crate::cache) fn entries(&self) -> Vec<(ObjectKey, Arc<K>)> {
        // In this order: see `Recent`.
        let recent = self.recent.entries();
        let stored = self.store.entries();
        if recent.is_empty() {
            return stored;
        }
        let mut merged: BTreeMap<ObjectKey, Arc<K>> = stored.into_iter().collect();
        for (key, object) in recent {
            // The store may have moved on since the first look.
            let newer = merged
                .get(&key)
                .is_none_or(|stored| ResourceVersion::of(&**stored) < ResourceVersion::of(&*object));
            if newer {
                merged.insert(key, self.store.listed_form(object));
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

    pub(in crate::cache) fn by_index(&self, index: &str, value: &str) -> Vec<Arc<K>> {
        let mut found = BTreeMap::new();
        for (key, object) in self.recent.entries() {
            found.insert(key, object);
        }
        for key in self.indexers.keys(index, value) {
            // A key that is among the recent ones is judged by its newer state.
            if let Some(object) = self.get(&key) {
                found.insert(key, object);
            }
        }
        found.into_values().filter(|object| self.indexers.matches(index, value, object)).collect()
    }

    pub(in crate::cache) fn matched(&self, key: &ObjectKey, object: &K) -> Option<NonZeroU64> {
        self.store.matched(key, object)
    }

    pub(in crate::cache) fn note_match(&self, key: &ObjectKey, object: &K, desired: NonZeroU64) {
        self.store.note_match(key, object, desired);
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

    pub(in crate::cache) fn index_leftovers(&self) -> usize {
        self.indexers.leftovers(|key| self.contains(key))
    }

    pub(in crate::cache) fn index_values(&self) -> usize {
        self.indexers.len()
    }
}
