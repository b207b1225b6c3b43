//! The relation between secondaries and primaries. Pure.

use std::collections::{BTreeSet, HashMap};

use crate::resource::ObjectKey;

/// Relates secondaries with the primaries they belong to, both ways. JOSDK: `DefaultPrimaryToSecondaryIndex`, which needs
/// the older version of a secondary to remove former primaries; this index remembers the primaries of a secondary
/// itself.
///
/// Nothing is kept about an object without a relation.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecondaryIndex {
    secondaries: HashMap<ObjectKey, BTreeSet<ObjectKey>>,
    primaries: HashMap<ObjectKey, BTreeSet<ObjectKey>>,
}

impl SecondaryIndex {
    /// From now on `secondary` belongs to exactly `primaries`. Returns all primaries that the change concerns: those it
    /// belonged to before and those it belongs to now.
    pub(crate) fn link(
        &mut self,
        secondary: &ObjectKey,
        primaries: BTreeSet<ObjectKey>,
    ) -> BTreeSet<ObjectKey> {
        if self.primaries.get(secondary) == Some(&primaries) {
            return primaries;
        }
        let mut concerned = self.unlink(secondary);
        if primaries.is_empty() {
            return concerned;
        }
        for primary in &primaries {
            self.secondaries.entry(primary.clone()).or_default().insert(secondary.clone());
        }
        concerned.extend(primaries.iter().cloned());
        self.primaries.insert(secondary.clone(), primaries);
        concerned
    }

    /// `secondary` is gone. Returns the primaries it belonged to.
    pub(crate) fn unlink(&mut self, secondary: &ObjectKey) -> BTreeSet<ObjectKey> {
        let former = self.primaries.remove(secondary).unwrap_or_default();
        for primary in &former {
            if let Some(secondaries) = self.secondaries.get_mut(primary) {
                secondaries.remove(secondary);
                if secondaries.is_empty() {
                    self.secondaries.remove(primary);
                }
            }
        }
        former
    }

    /// The secondaries that belong to `primary`, sorted.
    #[must_use]
    pub(crate) fn secondaries_of(&self, primary: &ObjectKey) -> Vec<ObjectKey> {
        self.secondaries.get(primary).into_iter().flatten().cloned().collect()
    }

    /// All secondaries that belong to any primary, in no order.
    pub(crate) fn secondaries(&self) -> impl Iterator<Item = &ObjectKey> {
        self.primaries.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SecondaryIndex {
        /// Whether there is no relation at all.
        fn is_empty(&self) -> bool {
            self.secondaries.is_empty() && self.primaries.is_empty()
        }
    }

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("shop", name)
    }

    fn keys<const N: usize>(names: [&str; N]) -> BTreeSet<ObjectKey> {
        names.into_iter().map(key).collect()
    }

    #[test]
    fn a_secondary_that_moves_concerns_old_and_new_primaries() {
        let mut index = SecondaryIndex::default();
        assert_eq!(index.link(&key("s"), keys(["a", "b"])), keys(["a", "b"]));
        assert_eq!(index.link(&key("s"), keys(["b", "c"])), keys(["a", "b", "c"]));
        assert!(index.secondaries_of(&key("a")).is_empty());
        assert_eq!(index.secondaries_of(&key("c")), [key("s")]);
    }

    #[test]
    fn is_empty_after_all_secondaries_are_gone() {
        let mut index = SecondaryIndex::default();
        index.link(&key("s"), keys(["a", "b"]));
        index.link(&key("t"), keys(["a"]));
        assert_eq!(index.unlink(&key("s")), keys(["a", "b"]));
        assert_eq!(index.link(&key("t"), keys([])), keys(["a"]));
        assert_eq!(index.unlink(&key("unknown")), keys([]));
        assert!(index.is_empty());
    }
}
