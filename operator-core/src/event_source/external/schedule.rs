//! The order in which primaries' resources are fetched. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{environment::Now, resource::ObjectKey};

/// One deadline for each key.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    by_time: BTreeSet<(Now, ObjectKey)>,
    by_key: BTreeMap<ObjectKey, Now>,
}

impl Schedule {
    /// Sets the deadline of a key; an earlier one is forgotten.
    pub(super) fn set(&mut self, key: &ObjectKey, now: Now, delay: Duration) {
        self.cancel(key);
        let due = now + delay;
        self.by_time.insert((due, key.clone()));
        self.by_key.insert(key.clone(), due);
    }

    /// Whether the key has a deadline.
    pub(super) fn has(&self, key: &ObjectKey) -> bool {
        self.by_key.contains_key(key)
    }

    pub(super) fn cancel(&mut self, key: &ObjectKey) {
        if let Some(due) = self.by_key.remove(key) {
            self.by_time.remove(&(due, key.clone()));
        }
    }

    /// Removes and returns the keys that are due, the longest overdue first, but at most `most`.
    pub(super) fn take(&mut self, now: Now, most: usize) -> Vec<ObjectKey> {
        let mut taken = Vec::new();
        while taken.len() < most
            && let Some((due, _)) = self.by_time.first()
            && *due <= now
            && let Some((_, key)) = self.by_time.pop_first()
        {
            self.by_key.remove(&key);
            taken.push(key);
        }
        taken
    }

    /// All keys that have a deadline.
    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.by_time.iter().map(|(_, key)| key).chain(self.by_key.keys())
    }

    /// The next deadline.
    pub(super) fn next(&self) -> Option<Now> {
        self.by_time.first().map(|(due, _)| *due)
    }

    /// The number of keys with a deadline.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.by_time.len(), self.by_key.len(), "both sides hold the same");
        self.by_key.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_when_they_are_due_and_no_more_than_there_is_room_for() {
        let at = |seconds| Now::at(Duration::from_secs(seconds));
        let (a, b, c) =
            (ObjectKey::cluster_scoped("a"), ObjectKey::cluster_scoped("b"), ObjectKey::cluster_scoped("c"));
        let mut schedule = Schedule::default();
        schedule.set(&a, at(0), Duration::from_secs(5));
        schedule.set(&b, at(0), Duration::from_secs(2));
        schedule.set(&c, at(0), Duration::from_secs(3));
        schedule.set(&a, at(0), Duration::from_secs(1));
        assert_eq!((schedule.next(), schedule.len()), (Some(at(1)), 3));
        assert!(schedule.take(at(0), 9).is_empty());
        assert_eq!(schedule.take(at(2), 1), [a]);
        schedule.cancel(&c);
        assert_eq!(schedule.take(at(9), 9), [b]);
        assert_eq!((schedule.next(), schedule.len()), (None, 0));
        schedule.set(&c, at(0), Duration::MAX);
        assert!(schedule.take(at(1_000_000), 9).is_empty(), "beyond all time means never");
    }
}
