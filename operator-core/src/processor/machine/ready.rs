//! The order in which waiting primaries run.

use std::collections::BTreeMap;

use crate::{
    environment::Now,
    observe::{Cause, Causes},
    resource::ObjectKey,
};

/// The number of foreground primaries that are served in a row while others wait in the background.
pub(super) const FOREGROUND_IN_A_ROW: u32 = 4;

/// Two queues, each first in, first out.
///
/// The foreground holds the primaries that were created, changed, marked for deletion or deleted, and goes first: a user's
/// change doesn't wait behind ten thousand objects that have probably not changed while the operator was down. The
/// background gets every fifth place, and is never starved.
///
/// A primary that is triggered by a secondary or a timer is in the background, behind the initial list. If many
/// primaries share a secondary, each of their first runs may change it and trigger all the others: in this way a second
/// run starts when all first ones have ended, and only once.
///
/// Ordered maps instead of ring buffers: a primary that is deleted or promoted leaves from the middle at once, without
/// a trace.
#[derive(Debug, Default)]
pub(super) struct Ready {
    foreground: BTreeMap<u64, (ObjectKey, Now)>,
    background: BTreeMap<u64, (ObjectKey, Now)>,
    next: u64,
    in_a_row: u32,
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    lane: Lane,
    number: u64,
}

/// Which of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// Served first.
    Foreground,
    /// Found in the initial list, triggered by something other than itself, or by a timer. Moves to the foreground when
    /// the primary itself changes.
    Background,
}

impl Lane {
    fn of(causes: Causes) -> Self {
        let touched = [Cause::Created, Cause::Changed, Cause::MarkedForDeletion, Cause::Deleted]
            .iter()
            .any(|cause| causes.contains(*cause));
        if touched { Self::Foreground } else { Self::Background }
    }
}

impl Ready {
    /// Appends a primary, which waits from `now` on.
    pub(super) fn push(&mut self, key: ObjectKey, causes: Causes, now: Now) -> Ticket {
        self.append((key, now), causes)
    }

    fn append(&mut self, waiting: (ObjectKey, Now), causes: Causes) -> Ticket {
        let ticket = Ticket { lane: Lane::of(causes), number: self.next };
        self.next += 1;
        self.lane(ticket.lane).insert(ticket.number, waiting);
        ticket
    }

    /// Moves a primary to the foreground if `causes` has become a reason for it; returns its place.
    pub(super) fn promote(&mut self, ticket: Ticket, causes: Causes) -> Ticket {
        if ticket.lane == Lane::of(causes) {
            return ticket;
        }
        match self.lane(ticket.lane).remove(&ticket.number) {
            Some(waiting) => self.append(waiting, causes),
            None => ticket,
        }
    }

    /// Takes a primary out.
    pub(super) fn remove(&mut self, ticket: Ticket) {
        self.lane(ticket.lane).remove(&ticket.number);
    }

    /// Takes the next primary.
    pub(super) fn pop(&mut self) -> Option<ObjectKey> {
        let turn_of_background = self.in_a_row >= FOREGROUND_IN_A_ROW || self.foreground.is_empty();
        if turn_of_background && let Some((_, (key, _))) = self.background.pop_first() {
            self.in_a_row = 0;
            return Some(key);
        }
        let (_, (key, _)) = self.foreground.pop_first()?;
        self.in_a_row = if self.background.is_empty() { 0 } else { self.in_a_row + 1 };
        Some(key)
    }

    /// The number of waiting primaries.
    pub(super) fn len(&self) -> usize {
        self.foreground.len() + self.background.len()
    }

    /// Since when the one that has waited longest has been waiting. Visits each.
    pub(super) fn oldest(&self) -> Option<Now> {
        self.foreground.values().chain(self.background.values()).map(|(_, since)| *since).min()
    }

    fn lane(&mut self, lane: Lane) -> &mut BTreeMap<u64, (ObjectKey, Now)> {
        match lane {
            Lane::Foreground => &mut self.foreground,
            Lane::Background => &mut self.background,
        }
    }
}
