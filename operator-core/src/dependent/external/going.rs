//! Resources whose deletion was requested and isn't done, if an object in the cluster keeps their ids: it is deleted
//! after them, and only they tell which one it is.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use crate::resource::ObjectKey;

/// What is being deleted, by the primary that it belongs to. Nearly always empty; after a restart the objects are
/// deleted with their primaries.
#[derive(Debug)]
pub(super) struct Going<K, R>(Mutex<BTreeMap<ObjectKey, BTreeMap<K, Arc<R>>>>);

impl<K, R> Default for Going<K, R> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord + Clone, R> Going<K, R> {
    /// The deletion was requested.
    pub(super) fn asked(&self, primary: &ObjectKey, key: &K, resource: &Arc<R>) {
        self.0.lock().entry(primary.clone()).or_default().insert(key.clone(), Arc::clone(resource));
    }

    /// The resources that are gone by now. Primaries that don't exist any more are forgotten as well.
    pub(super) fn gone(
        &self,
        primary: &ObjectKey,
        is_there: impl Fn(&K) -> bool,
        exists: impl Fn(&ObjectKey) -> bool,
    ) -> Vec<(K, Arc<R>)> {
        let mut all = self.0.lock();
        if all.is_empty() {
            return Vec::new();
        }
        all.retain(|key, _| exists(key));
        let going = all.get(primary).into_iter().flatten();
        going.filter(|(key, _)| !is_there(key)).map(|(key, of)| (key.clone(), Arc::clone(of))).collect()
    }

    /// The number of primaries that don't exist and for which something was requested.
    pub(super) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.0.lock().keys().filter(|primary| !exists(primary)).count()
    }

    /// Nothing is left to be done about it.
    pub(super) fn forget(&self, primary: &ObjectKey, key: &K) {
        let mut all = self.0.lock();
        let Some(going) = all.get_mut(primary) else { return };
        going.remove(key);
        if going.is_empty() {
            all.remove(primary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_told_once_it_is_gone_until_it_is_forgotten() {
        let (a, b) = (ObjectKey::namespaced("shop", "a"), ObjectKey::namespaced("shop", "b"));
        let going = Going::default();
        going.asked(&a, &1, &Arc::new("one"));
        going.asked(&b, &2, &Arc::new("two"));
        assert!(going.gone(&a, |_| true, |_| true).is_empty(), "it is still there");
        for _ in 0..2 {
            assert_eq!(going.gone(&a, |_| false, |_| true), [(1, Arc::new("one"))]);
        }
        going.forget(&a, &1);
        assert!(going.gone(&a, |_| false, |key| *key != b).is_empty());
        assert!(going.0.lock().is_empty(), "b is gone, and what it had with it");
    }
}
