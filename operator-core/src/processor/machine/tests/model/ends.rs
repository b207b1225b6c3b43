//! Ends that a run has to see.

use super::*;

impl Name {
    /// The number of the object that exists.
    pub(in super::super) fn existing(&self) -> Option<u32> {
        if self.ended { self.successor.map(|(object, _)| object) } else { self.object }
    }

    /// An object appears, or changes, before a run has seen the end of the one before it.
    pub(super) fn follow_successor(&mut self, key: &ObjectKey, uid: &Uid, cause: Cause) {
        match &mut self.successor {
            Some((object, owed)) if uid_of(key.name(), *object) == *uid => owed.insert(cause),
            successor => {
                self.last_object += 1;
                *successor = Some((self.last_object, cause.into()));
            }
        }
    }

    /// An object is gone; `seen` if a run has to see that. Returns whether everything is said.
    pub(super) fn follow_deletion(&mut self, key: &ObjectKey, uid: &Uid, seen: bool, step: u64) -> bool {
        if self.ended {
            self.successor.take_if(|(object, _)| uid_of(key.name(), *object) == *uid);
            return true;
        }
        if seen {
            self.ended = true;
            self.released = false;
            self.reschedule = None;
            self.event(Cause::Deleted, step);
        }
        seen
    }

    /// Nothing leads to a run that sees the end, or a new object waits for its place.
    pub(super) fn gives_up(&self) -> bool {
        self.ended
            && self.exhausted
            && self.owed.is_empty()
            && self.flight.is_none()
            && (self.successor.is_some() || self.timer.is_none())
    }

    /// The end was seen, or never will be.
    pub(super) fn end(&mut self, step: u64) {
        let Self { last_object, successor, known, submitted, .. } = std::mem::take(self);
        *self = Self { last_object, known, submitted, ..Self::default() };
        if let Some((object, owed)) = successor {
            (self.object, self.owed, self.last_change) = (Some(object), owed, step);
        }
    }
}
