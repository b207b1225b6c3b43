//! The state of each primary, which is removed with the primary.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::SetOnce;

use crate::{
    environment::Now,
    event_source::{
        Filters,
        external::{cache::ExternalCache, schedule::Schedule},
    },
    resource::ObjectKey,
};

/// The access to one primary's resources. It belongs to one incarnation of the primary: a successor of its name has
/// another one.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Held while a fetch is in progress: an older answer can't come after a newer one.
    pub(super) one_at_a_time: tokio::sync::Mutex<()>,
    /// Set when the primary is gone.
    pub(super) gone: SetOnce<()>,
}

/// A primary that exists.
#[derive(Debug, Default)]
struct Member {
    gate: Arc<Gate>,
    /// It is polled.
    polled: bool,
    /// Whether the last poll succeeded; none before the first.
    last_poll: Option<bool>,
}

/// All primaries that exist, with their known resources and the times of the next fetches.
#[derive(Debug)]
pub(super) struct Members<R, I> {
    pub(super) cache: ExternalCache<R, I>,
    pub(super) schedule: Schedule,
    /// All primaries have been seen: any other one doesn't exist.
    pub(super) all_seen: bool,
    members: BTreeMap<ObjectKey, Member>,
    /// The number of primaries whose last polls failed, and of those whose last polls succeeded.
    failing: usize,
    fine: usize,
}

impl<R: PartialEq, I: Ord + Clone> Members<R, I> {
    pub(super) fn new(filters: Filters<R>) -> Self {
        Self {
            cache: ExternalCache::new(filters),
            schedule: Schedule::default(),
            all_seen: false,
            members: BTreeMap::new(),
            failing: 0,
            fine: 0,
        }
    }

    /// A primary exists, and should be polled or not. Returns whether its first poll was scheduled.
    pub(super) fn seen(&mut self, key: &ObjectKey, polled: bool, now: Now, delay: Duration) -> bool {
        let member = self.members.entry(key.clone()).or_default();
        if member.polled == polled {
            if polled && !self.schedule.has(key) {
                // A poll is in progress, which may have begun before this change.
                self.schedule.set(key, now, delay);
            }
            return false;
        }
        member.polled = polled;
        if polled {
            self.schedule.set(key, now, delay);
        } else {
            self.schedule.cancel(key);
            self.count(key, None);
        }
        polled
    }

    /// A poll has found that the primary should not be polled. If it was seen meanwhile, the next poll decides.
    pub(super) fn rejected(&mut self, key: &ObjectKey) {
        if let Some(member) = self.members.get_mut(key).filter(|_| !self.schedule.has(key)) {
            member.polled = false;
            self.count(key, None);
        }
    }

    /// A primary is gone, and everything about it with it.
    pub(super) fn gone(&mut self, key: &ObjectKey) {
        self.count(key, None);
        self.schedule.cancel(key);
        self.cache.remove(key);
        if let Some(member) = self.members.remove(key) {
            // Nothing else sets it.
            let _ = member.gate.gone.set(());
        }
    }

    /// The number of entries about primaries that don't exist.
    pub(super) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        let all = self.members.keys().chain(self.cache.primaries()).chain(self.schedule.keys());
        all.filter(|primary| !exists(primary)).count()
    }

    /// The access to the resources of a primary that exists.
    pub(super) fn gate(&self, key: &ObjectKey) -> Option<Arc<Gate>> {
        self.members.get(key).map(|member| Arc::clone(&member.gate))
    }

    /// Whether the primary still is the one that `gate` was for.
    pub(super) fn lives(&self, key: &ObjectKey, gate: &Arc<Gate>) -> bool {
        self.members.get(key).is_some_and(|member| Arc::ptr_eq(&member.gate, gate))
    }

    pub(super) fn exists(&self, key: &ObjectKey) -> bool {
        self.members.contains_key(key)
    }

    /// From now on only primaries that were seen exist.
    pub(super) fn all_seen(&mut self) {
        self.all_seen = true;
        self.cache.retain(|key| self.members.contains_key(key));
    }

    /// Sets the time of the next poll. Returns whether the primary is polled at all.
    pub(super) fn next_poll(&mut self, key: &ObjectKey, now: Now, delay: Duration) -> bool {
        let polled = self.members.get(key).is_some_and(|member| member.polled);
        if polled {
            self.schedule.set(key, now, delay);
        }
        polled
    }

    /// A poll has ended. Returns whether its outcome differs from the last one; before the first poll, success is
    /// expected.
    pub(super) fn polled(&mut self, key: &ObjectKey, succeeded: bool) -> bool {
        let before = self.members.get(key).and_then(|member| member.last_poll).unwrap_or(true);
        self.count(key, Some(succeeded));
        before != succeeded
    }

    /// No poll works: the other system is at fault, not a primary.
    pub(super) fn none_works(&self) -> bool {
        self.failing > 0 && self.fine == 0
    }

    fn count(&mut self, key: &ObjectKey, last_poll: Option<bool>) {
        let Some(member) = self.members.get_mut(key) else { return };
        let before = std::mem::replace(&mut member.last_poll, last_poll.filter(|_| member.polled));
        for (poll, by) in [(before, -1), (member.last_poll, 1)] {
            match poll {
                Some(true) => self.fine = self.fine.saturating_add_signed(by),
                Some(false) => self.failing = self.failing.saturating_add_signed(by),
                None => {}
            }
        }
    }

    /// The number of entries: members, cached primaries, deadlines, counted polls.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.members.len() + self.cache.len() + self.schedule.len() + self.fine + self.failing
    }
}
