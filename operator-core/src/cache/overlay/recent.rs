//! The responses to the operator's own writes that the watch has not shown yet, readable at any time.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use dashmap::{DashMap, Entry};

use crate::{
    cache::{
        indexers::{Indexers, Values},
        text::TextObject,
    },
    resource::ObjectKey,
};

/// Newer states than the store's. Written by the [`Overlay`](super::Overlay) under the informer's lock only.
///
/// Readers look here first and into the store afterwards. The writer works the other way round: an entry is dropped only
/// after the store holds something at least as new (or after the object is gone from it). So a reader who comes too late
/// for the entry finds the store up to date, and no order of the two steps shows an older state than before.
pub(in crate::cache) struct Recent {
    objects: DashMap<ObjectKey, Written>,
    /// The indexes over them. An object is here before it is in the map, and leaves after it: a reader that finds a key
    /// too many finds no entry, and reads the store.
    indexers: Indexers,
    /// The number of entries; usually none, and then a reader doesn't touch the map at all.
    ///
    /// It is raised (Release) before a write returns to its caller, so a caller that knows of the write sees it raised.
    /// It is lowered (Release) after the store was changed; a reader who loads the lowered value (Acquire) therefore
    /// also sees the store's change. It is raised before the insertion and lowered after the removal: it is never too low
    /// for the entries in the map.
    len: AtomicUsize,
}

struct Written {
    object: Arc<TextObject>,
    values: Values,
}

impl Recent {
    pub(super) fn new(indexers: Indexers) -> Self {
        Self { objects: DashMap::new(), indexers, len: AtomicUsize::new(0) }
    }

    pub(in crate::cache) fn get(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        if self.len() == 0 {
            return None;
        }
        self.objects.get(key).map(|entry| Arc::clone(&entry.object))
    }

    /// All entries, sorted by key.
    pub(in crate::cache) fn entries(&self) -> Vec<(ObjectKey, Arc<TextObject>)> {
        if self.len() == 0 {
            return Vec::new();
        }
        let mut entries: Vec<_> =
            self.objects.iter().map(|entry| (entry.key().clone(), Arc::clone(&entry.object))).collect();
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        entries
    }

    /// The keys of the entries for which the index gives `value`, and perhaps further keys.
    pub(in crate::cache) fn keys(&self, index: &str, value: &str) -> BTreeSet<ObjectKey> {
        if self.len() == 0 { BTreeSet::new() } else { self.indexers.keys(index, value) }
    }

    /// The number of values in its indexes.
    pub(in crate::cache) fn index_values(&self) -> usize {
        self.indexers.len()
    }

    pub(in crate::cache) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub(super) fn insert(&self, key: ObjectKey, object: Arc<TextObject>) {
        self.len.fetch_add(1, Ordering::Release);
        let values = self.indexers.add(&key, &object);
        let new = Written { object, values };
        match self.objects.entry(key) {
            Entry::Occupied(mut known) => {
                let old = known.insert(new);
                self.indexers.remove_values(known.key(), &old.values, &known.get().values);
                self.len.fetch_sub(1, Ordering::Release);
            }
            Entry::Vacant(place) => drop(place.insert(new)),
        }
    }

    pub(super) fn remove(&self, key: &ObjectKey) {
        if let Some((_, old)) = self.objects.remove(key) {
            self.indexers.remove_values(key, &old.values, &Values::default());
            self.len.fetch_sub(1, Ordering::Release);
        }
    }
}

debug_of!(Recent: "Recent", |it| len: it.len());
