//! Reads of a cache by code that knows the type of its objects.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{Informer, TextObject};
use crate::resource::{KubeObject, ObjectKey};

/// The followed objects of one type, read from memory. Cheap to clone; clones share everything. JOSDK:
/// `IndexedResourceCache`.
///
/// It shows the newest known state of an object: the response to the operator's own write until the watch has caught up
/// with it. An object that can't be decoded is left out.
pub struct ResourceCache<K: KubeObject> {
    informer: Informer,
    of: PhantomData<fn() -> K>,
}

impl<K: KubeObject> ResourceCache<K> {
    /// Reads this informer, whose objects must be of that type; objects of another type aren't found.
    pub(crate) fn of(informer: Informer) -> Self {
        Self { informer, of: PhantomData }
    }

    /// An object. From a bounded source, `None` also stands for an object that is not held in full.
    #[must_use]
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.informer.get(key)?.typed()
    }

    /// Whether an object exists as far as is known, held in full or not.
    #[must_use]
    pub fn contains(&self, key: &ObjectKey) -> bool {
        self.informer.contains(key)
    }

    /// All objects, sorted by key. From a bounded source all of them have metadata only: none can be mistaken for a
    /// complete object.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<K>> {
        self.opened(&self.informer.entries())
    }

    /// All objects of a namespace, sorted by name; like [`ResourceCache::list`].
    #[must_use]
    pub fn list_in(&self, namespace: &str) -> Vec<Arc<K>> {
        let mut entries = self.informer.entries();
        entries.retain(|(key, _)| key.namespace() == Some(namespace));
        self.opened(&entries)
    }

    /// The keys of all objects, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.informer.keys()
    }

    /// All objects for which the named index has `value`, sorted by key. Empty if the index is unknown.
    #[must_use]
    pub fn by_index(&self, index: &str, value: &str) -> Vec<Arc<K>> {
        self.opened(&self.informer.by_index(index, value))
    }

    fn opened(&self, entries: &[(ObjectKey, Arc<TextObject>)]) -> Vec<Arc<K>> {
        entries.iter().filter_map(|(_, kept)| self.informer.open(kept)?.typed()).collect()
    }
}

impl<K: KubeObject> Clone for ResourceCache<K> {
    fn clone(&self) -> Self {
        Self::of(self.informer.clone())
    }
}

impl<K: KubeObject> fmt::Debug for ResourceCache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.informer.fmt(f)
    }
}
