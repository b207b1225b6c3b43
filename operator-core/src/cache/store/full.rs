//! The store that holds every object in full.

use std::{
    fmt,
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dashmap::DashMap;
use kube::Resource;

use crate::resource::ObjectKey;

use super::ItemStore;

/// An object as the watch showed it last.
struct Entry<K> {
    object: Arc<K>,
    /// What it is known to match; 0 for nothing. It goes with this state of the object.
    matched: AtomicU64,
}

/// Keeps everything.
pub(in crate::cache) struct FullStore<K>(DashMap<ObjectKey, Entry<K>>);

impl<K> FullStore<K> {
    pub(in crate::cache) fn new() -> Self {
        Self(DashMap::new())
    }
}

impl<K: Resource + Send + Sync> ItemStore<K> for FullStore<K> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        // Cloning inside `map` drops the map's guard at once: no caller ever holds one.
        self.0.get(key).map(|entry| Arc::clone(&entry.object))
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    fn shown(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key)
    }

    fn version(&self, key: &ObjectKey) -> Option<String> {
        self.0.get(key).and_then(|entry| entry.object.meta().resource_version.clone())
    }

    fn insert(&self, key: ObjectKey, object: Arc<K>) {
        self.0.insert(key, Entry { object, matched: AtomicU64::new(0) });
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
            self.0.iter().map(|entry| (entry.key().clone(), Arc::clone(&entry.object))).collect();
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

    fn matched(&self, key: &ObjectKey, object: &K) -> Option<NonZeroU64> {
        let entry = self.0.get(key)?;
        let matched = is_same_state(&*entry.object, object).then(|| entry.matched.load(Ordering::Relaxed))?;
        NonZeroU64::new(matched)
    }

    fn note_match(&self, key: &ObjectKey, object: &K, desired: NonZeroU64) {
        if let Some(entry) = self.0.get(key)
            && is_same_state(&*entry.object, object)
        {
            entry.matched.store(desired.get(), Ordering::Relaxed);
        }
    }
}

/// What has no version may be in any state.
fn is_same_state<K: Resource>(stored: &K, object: &K) -> bool {
    let (stored, object) = (stored.meta(), object.meta());
    stored.uid == object.uid
        && stored.resource_version.is_some()
        && stored.resource_version == object.resource_version
}

impl<K> fmt::Debug for FullStore<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FullStore").field("len", &self.0.len()).finish()
    }
}
