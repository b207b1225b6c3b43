//! The store that holds every object in full.

use std::{fmt, sync::Arc};

use dashmap::DashMap;
use kube::Resource;

use crate::resource::ObjectKey;

use super::ItemStore;

/// Keeps everything.
pub(in crate::cache) struct FullStore<K>(DashMap<ObjectKey, Arc<K>>);

impl<K> FullStore<K> {
    pub(in crate::cache) fn new() -> Self {
        Self(DashMap::new())
    }
}

impl<K: Resource + Send + Sync> ItemStore<K> for FullStore<K> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        // Cloning inside `map` drops the map's guard at once: no caller ever holds one.
        self.0.get(key).map(|object| Arc::clone(&object))
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    fn shown(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key)
    }

    fn version(&self, key: &ObjectKey) -> Option<String> {
        self.0.get(key).and_then(|object| object.meta().resource_version.clone())
    }

    fn insert(&self, key: ObjectKey, object: Arc<K>) {
        self.0.insert(key, object);
    }

    fn remove(&self, key: &ObjectKey) {
        self.0.remove(key);
    }

    fn shown_keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<_> = self.0.iter().map(|entry| entry.key().clone()).collect();
        keys.sort_unstable();
        keys
    }

    fn entries(&self) -> Vec<(ObjectKey, Arc<K>)> {
        let mut entries: Vec<_> =
            self.0.iter().map(|entry| (entry.key().clone(), Arc::clone(entry.value()))).collect();
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        entries
    }

    fn listed_form(&self, object: Arc<K>) -> Arc<K> {
        object
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn full(&self) -> usize {
        self.0.len()
    }

    // Whatever is known is held, so nobody reads from the server, and there is nothing to do.
    fn fill(&self, _: &ObjectKey, _: Arc<K>) {}

    fn hide(&self, _: &ObjectKey) {}

    fn tidy(&self) {}
}

impl<K> fmt::Debug for FullStore<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FullStore").field("len", &self.0.len()).finish()
    }
}
