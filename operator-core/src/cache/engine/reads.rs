//! Reads: the operator's own writes first, then the store. None of them takes the lock under which changes are handed
//! over.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    cache::text::Kept,
    observe::SourceHealth,
    resource::{ObjectKey, ResourceVersion},
};

use super::{Engine, ScopeIndex};

impl Engine {
    pub(in crate::cache) fn get(&self, key: &ObjectKey) -> Option<Arc<Kept>> {
        // In this order: see `Recent`.
        self.recent.get(key).or_else(|| self.store.get(key))
    }

    /// The newest state of all objects, sorted by key.
    pub(in crate::cache) fn entries(&self) -> Vec<(ObjectKey, Arc<Kept>)> {
        // In this order: see `Recent`.
        let recent = self.recent.entries();
        let stored = self.store.entries();
        if recent.is_empty() {
            return stored;
        }
        let mut merged: BTreeMap<ObjectKey, Arc<Kept>> = stored.into_iter().collect();
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

    /// Those for which the index gives `value` and `is` is true, sorted by key.
    pub(in crate::cache) fn by_index(
        &self,
        index: &str,
        value: &str,
        is: &dyn Fn(&ObjectKey, &Kept) -> bool,
    ) -> Vec<(ObjectKey, Arc<Kept>)> {
        // In this order: see `Recent`.
        let mut keys = self.recent.keys(index, value);
        keys.append(&mut self.indexers.keys(index, value));
        // A key that is among the recent ones is judged by its newer state.
        let found = keys.into_iter().filter_map(|key| self.get(&key).map(|object| (key, object)));
        // The values of an object are asked for last, as they may have to be looked for in its text.
        let found = found.filter(|(key, object)| is(key, object));
        found.filter(|(_, object)| self.indexers.matches(index, value, object)).collect()
    }

    /// The keys of those for which the index gives `value`, and perhaps of others; sorted.
    pub(in crate::cache) fn keys_by_index(&self, index: &str, value: &str) -> Vec<ObjectKey> {
        // In this order: see `Recent`.
        let mut keys = self.recent.keys(index, value);
        keys.append(&mut self.indexers.keys(index, value));
        keys.into_iter().collect()
    }

    /// The newest answer to one of the operator's own writes, until the watch has caught up with it.
    pub(in crate::cache) fn answered(&self, key: &ObjectKey) -> Option<Arc<Kept>> {
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

    /// The number of keys that a collection counts as its own and that no reader finds.
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
}
