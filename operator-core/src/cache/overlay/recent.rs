//! The answers of own writes that the watch has not shown yet, readable at any time.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use dashmap::DashMap;

use crate::{cache::kept::Kept, resource::ObjectKey};

/// Newer states than the store's. Written by the [`Overlay`](super::Overlay) under the informer's lock only.
///
/// Readers look here first and into the store afterwards. The writer works the other way round: an entry is dropped only
/// after the store holds something at least as new (or after the object is gone from it). So a reader who comes too late
/// for the entry finds the store up to date, and no order of the two steps shows an older state than before.
pub(in crate::cache) struct Recent {
    objects: DashMap<ObjectKey, Arc<Kept>>,
    /// How many entries there are; mostly none, and then a reader doesn't touch the map at all.
    ///
    /// It is raised (Release) before an own write returns to its caller, so whoever knows of the write sees it raised. It
    /// is lowered (Release) after the store was changed; a reader who loads the lowered value (Acquire) therefore also
    /// sees the store's change. It is raised before the insertion and lowered after the removal, so that it never is too
    /// low for what the map holds.
    len: AtomicUsize,
}

impl Recent {
    pub(super) fn new() -> Self {
        Self { objects: DashMap::new(), len: AtomicUsize::new(0) }
    }

    pub(in crate::cache) fn get(&self, key: &ObjectKey) -> Option<Arc<Kept>> {
        if self.len() == 0 {
            return None;
        }
        self.objects.get(key).map(|object| Arc::clone(&object))
    }

    /// All entries, sorted by key.
    pub(in crate::cache) fn entries(&self) -> Vec<(ObjectKey, Arc<Kept>)> {
        if self.len() == 0 {
            return Vec::new();
        }
        let mut entries: Vec<_> =
            self.objects.iter().map(|entry| (entry.key().clone(), Arc::clone(entry.value()))).collect();
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        entries
    }

    pub(in crate::cache) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub(super) fn insert(&self, key: ObjectKey, object: Arc<Kept>) {
        self.len.fetch_add(1, Ordering::Release);
        if self.objects.insert(key, object).is_some() {
            self.len.fetch_sub(1, Ordering::Release);
        }
    }

    pub(super) fn remove(&self, key: &ObjectKey) {
        if self.objects.remove(key).is_some() {
            self.len.fetch_sub(1, Ordering::Release);
        }
    }
}

impl fmt::Debug for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").field("len", &self.len()).finish()
    }
}
