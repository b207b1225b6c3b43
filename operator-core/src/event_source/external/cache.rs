//! The known resources of another system, by the primaries that they belong to. Pure.
//!
//! ```text
//! poll, fetch, push ──full set──▶ unconfirmed own writes correct it ──▶ entry of the primary ──changed, and accepted──▶ due
//! own write ────────────────────────────────────────────────────────▶ entry, and a mark until the next full set
//! ```
//!
//! # Guarantees
//! - The operator's own write is seen at once, unless something newer is known already. If the next full set is older
//!   than the write, it doesn't undo the write.
//! - A foreign state is seen as soon as it is shown, and after two full sets without a write between them the cache is
//!   what the second one shows.
//! - Nothing is kept about a primary after [`ExternalCache::remove`].
//!
//! # Assumptions
//! - `PartialEq` compares what matters: two states that are equal count as no change.
//! - A write that was answered is reported before the next one to the same resource is.

use std::{collections::BTreeMap, mem, sync::Arc};

use super::unconfirmed::Unconfirmed;
use crate::{
    cache::ChangeKind,
    event_source::{Filters, filter::fenced_or},
    resource::ObjectKey,
};

/// All resources of one primary, by their id.
pub(super) type Set<R, I> = BTreeMap<I, Arc<R>>;

/// JOSDK: `ExternalResourceCachingEventSource` without its events.
#[derive(Debug)]
pub(super) struct ExternalCache<R, I> {
    filters: Filters<R>,
    entries: BTreeMap<ObjectKey, Entry<R, I>>,
}

#[derive(Debug)]
struct Entry<R, I> {
    resources: Set<R, I>,
    unconfirmed: Unconfirmed<R, I>,
    /// How often the other system has reported something: this detects an answer that was overtaken.
    version: u64,
    /// A full set has been shown, even if it was empty.
    complete: bool,
}

impl<R, I> Default for Entry<R, I> {
    fn default() -> Self {
        Self { resources: BTreeMap::new(), unconfirmed: Unconfirmed::default(), version: 0, complete: false }
    }
}

impl<R: PartialEq, I: Ord + Clone> ExternalCache<R, I> {
    pub(super) fn new(filters: Filters<R>) -> Self {
        Self { filters, entries: BTreeMap::new() }
    }

    /// The resources of a primary, in the order of their ids.
    pub(super) fn get(&self, primary: &ObjectKey) -> Vec<Arc<R>> {
        let entry = self.entries.get(primary);
        entry.map(|entry| entry.resources.values().cloned().collect()).unwrap_or_default()
    }

    /// Whether a full set of the primary has been shown: then an empty set means that there is nothing.
    pub(super) fn is_complete(&self, primary: &ObjectKey) -> bool {
        self.entries.get(primary).is_some_and(|entry| entry.complete)
    }

    /// Grows with everything that the other system reports about the primary.
    pub(super) fn version(&self, primary: &ObjectKey) -> u64 {
        self.entries.get(primary).map_or(0, |entry| entry.version)
    }

    /// A full set of one primary was shown. Whether an event is due.
    pub(super) fn update(&mut self, primary: &ObjectKey, shown: Set<R, I>) -> bool {
        let entry = self.entries.entry(primary.clone()).or_default();
        let resources = entry.unconfirmed.settle(shown, &entry.resources);
        let old = mem::replace(&mut entry.resources, resources);
        entry.version += 1;
        entry.complete = true;
        is_due(&self.filters, &old, &entry.resources)
    }

    /// The full sets of all primaries were shown: one that is missing has none. The primaries for which an event is due.
    pub(super) fn update_all(&mut self, mut shown: BTreeMap<ObjectKey, Set<R, I>>) -> Vec<ObjectKey> {
        for known in self.entries.keys() {
            if !shown.contains_key(known) {
                shown.insert(known.clone(), Set::new());
            }
        }
        let due = shown.into_iter().filter_map(|(key, set)| self.update(&key, set).then_some(key)).collect();
        self.entries.retain(|_, entry| !entry.resources.is_empty());
        due
    }

    /// The other system reported that one resource is gone. Whether an event is due.
    pub(super) fn vanished(&mut self, primary: &ObjectKey, id: &I) -> bool {
        let entry = self.entries.entry(primary.clone()).or_default();
        entry.version += 1;
        entry.unconfirmed.confirm(id);
        let last = entry.resources.remove(id);
        last.is_some_and(|last| {
            self.filters.accepts(&ChangeKind::Deleted { last, final_state_unknown: false })
        })
    }

    /// The operator has created a resource. If the resource is known already, that state is newer than the answer.
    pub(super) fn created(&mut self, primary: &ObjectKey, id: I, new: Arc<R>) {
        let entry = self.entries.entry(primary.clone()).or_default();
        if !entry.resources.contains_key(&id) {
            entry.resources.insert(id.clone(), new);
            entry.unconfirmed.wrote(id, None, entry.resources.len());
        }
    }

    /// The operator has changed a resource. The answer counts only if the known state is the one that the write was
    /// based on.
    pub(super) fn updated(&mut self, primary: &ObjectKey, id: I, previous: &R, new: Arc<R>) {
        let Some(entry) = self.entries.get_mut(primary) else { return };
        if let Some(known) = entry.resources.get_mut(&id).filter(|known| same(&***known, previous)) {
            let replaced = mem::replace(known, new);
            entry.unconfirmed.wrote(id, Some(replaced), entry.resources.len());
        }
    }

    /// The operator has deleted a resource.
    pub(super) fn deleted(&mut self, primary: &ObjectKey, id: I) {
        let Some(entry) = self.entries.get_mut(primary) else { return };
        if let Some(replaced) = entry.resources.remove(&id) {
            entry.unconfirmed.wrote(id, Some(replaced), entry.resources.len());
        }
    }

    /// Starts with the contents of another cache.
    pub(super) fn adopt(&mut self, other: Self) {
        self.entries = other.entries;
    }

    /// The primaries about which something is known.
    pub(super) fn primaries(&self) -> impl ExactSizeIterator<Item = &ObjectKey> {
        self.entries.keys()
    }

    /// Forgets a primary.
    pub(super) fn remove(&mut self, primary: &ObjectKey) {
        self.entries.remove(primary);
    }

    /// Forgets all primaries for which `keep` is false.
    pub(super) fn retain(&mut self, keep: impl Fn(&ObjectKey) -> bool) {
        self.entries.retain(|primary, _| keep(primary));
    }

    /// The number of primaries with entries.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Whether two states are equal. If their `PartialEq` panics, they aren't.
pub(super) fn same<R: PartialEq>(one: &R, other: &R) -> bool {
    fenced_or(|| one == other, false)
}

/// Whether something was added, changed or removed that the filters accept.
fn is_due<R: PartialEq, I: Ord>(filters: &Filters<R>, old: &Set<R, I>, new: &Set<R, I>) -> bool {
    let changed = new.iter().any(|(id, new)| match old.get(id) {
        None => filters.accepts(&ChangeKind::Added { new: Arc::clone(new), initial: false }),
        Some(old) if same(&**old, &**new) => false,
        Some(old) => filters.accepts(&ChangeKind::Updated { old: Arc::clone(old), new: Arc::clone(new) }),
    });
    let removed = old.iter().filter(|(id, _)| !new.contains_key(*id));
    changed
        || removed.into_iter().any(|(_, last)| {
            let last = Arc::clone(last);
            filters.accepts(&ChangeKind::Deleted { last, final_state_unknown: false })
        })
}
