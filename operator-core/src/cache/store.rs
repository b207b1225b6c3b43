//! The last state of each object that the watch has shown.

use std::{fmt, sync::Arc};

use dashmap::DashMap;

use crate::resource::ObjectKey;

/// Where an informer keeps objects. Written under the informer's lock only; read by anybody at any time.
///
/// There is one implementation now. A store that is bounded in memory needs nothing more of the informer than this.
pub(super) trait ItemStore<K>: fmt::Debug + Send + Sync {
    fn get(&self, key: &ObjectKey) -> Option<Arc<K>>;
    fn insert(&self, key: ObjectKey, object: Arc<K>) -> Option<Arc<K>>;
    fn remove(&self, key: &ObjectKey) -> Option<Arc<K>>;
    /// All objects, sorted by key, so that nothing depends on the order of a hash map.
    fn entries(&self) -> Vec<(ObjectKey, Arc<K>)>;
    fn len(&self) -> usize;
}

/// Keeps everything.
pub(super) struct FullStore<K>(DashMap<ObjectKey, Arc<K>>);

impl<K> FullStore<K> {
    pub(super) fn new() -> Self {
        Self(DashMap::new())
    }
}

impl<K: Send + Sync> ItemStore<K> for FullStore<K> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        // Cloning inside `map` drops the map's guard at once: no caller ever holds one.
        self.0.get(key).map(|object| Arc::clone(&object))
    }

    fn insert(&self, key: ObjectKey, object: Arc<K>) -> Option<Arc<K>> {
        self.0.insert(key, object)
    }

    fn remove(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.0.remove(key).map(|(_, object)| object)
    }

    fn entries(&self) -> Vec<(ObjectKey, Arc<K>)> {
        let mut entries: Vec<_> =
            self.0.iter().map(|entry| (entry.key().clone(), Arc::clone(entry.value()))).collect();
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        entries
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K> fmt::Debug for FullStore<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FullStore").field("len", &self.0.len()).finish()
    }
}
