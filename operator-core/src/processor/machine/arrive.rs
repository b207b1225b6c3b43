//! Transitions caused by events: JOSDK's `handleEvent`, and its start.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Effect, Machine,
    state::{End, InFlight, Phase, Record, RetryStatus, RunState, Successor, TimerKind},
};
use crate::{
    observe::Cause,
    resource::{Departed, ObjectKey, Uid},
};

impl Machine {
    /// A primary was added or changed.
    pub(super) fn primary_changed(&mut self, key: ObjectKey, uid: Uid, cause: Cause, deleting: bool) {
        let Some(record) = self.records.get_mut(&key) else {
            let mut record = Record::new(uid, self.next_arrival);
            self.next_arrival += 1;
            self.core.effects.push(Effect::Added(key.clone()));
            self.core.note(&key, &mut record, cause);
            self.records.insert(key, record);
            return;
        };
        if let Some(end) = &mut record.end {
            match &mut end.successor {
                Some(known) if known.uid == uid => known.pending.insert(cause),
                place => {
                    *place = Some(Successor { uid, arrival: self.next_arrival, pending: cause.into() });
                    self.next_arrival += 1;
                }
            }
            return;
        }
        if record.uid != uid || record.phase == Phase::Deleted {
            // Another object of the same name: no earlier data counts, but the old object's run, if one is
            // in flight, still holds the primary.
            self.core.leave(&key, record);
            let mut fresh = Record::new(uid, self.next_arrival);
            self.next_arrival += 1;
            if let RunState::Running(flight) = record.state {
                fresh.state = RunState::Running(InFlight { superseded: true, ..flight });
            }
            *record = fresh;
            self.core.effects.push(Effect::Forgotten(key.clone()));
            self.core.effects.push(Effect::Added(key.clone()));
        } else {
            // Others still hold an object that we have released; changes of their finalizers don't concern us.
            if record.phase == Phase::AwaitingDelete && deleting {
                return;
            }
            record.phase = Phase::Live;
        }
        self.core.note(&key, record, cause);
    }

    /// A primary is gone.
    pub(super) fn primary_deleted(&mut self, key: ObjectKey, uid: &Uid, last: Option<Arc<Departed>>) {
        let Some(record) = self.records.get_mut(&key) else { return };
        if let Some(end) = &mut record.end {
            // No run has seen it, so no run has to see its end.
            end.successor.take_if(|successor| successor.uid == *uid);
            return;
        }
        if record.uid != *uid {
            return;
        }
        // While nothing is started, another replica handles it, or no run has seen anything of it.
        if let Some(departed) = last.filter(|_| self.core.starts(&key)) {
            record.phase = Phase::Ended;
            record.reschedule = None;
            record.end = Some(Box::new(End { departed, successor: None }));
            self.core.note(&key, record, Cause::Deleted);
            return;
        }
        self.forget(key);
    }

    /// The primaries are followed in these namespaces from now on. Of others, only runs in progress are kept.
    pub(super) fn rescoped(
        &mut self,
        opening: u64,
        before: Option<&BTreeSet<String>>,
        now: Option<BTreeSet<String>>,
    ) {
        if self.core.opening.is_none() {
            return;
        }
        self.core.opening = Some(opening);
        self.core.gate.rescope(before, now);
        for key in self.in_order(|key, _| !self.core.gate.follows(key.namespace())) {
            self.forget(key);
        }
    }

    /// Drops all data about a primary, except for a run in progress.
    fn forget(&mut self, key: ObjectKey) {
        let Some(record) = self.records.get_mut(&key) else { return };
        if record.is_running() {
            // The record stays, because it says that a run is in flight: an object created anew must not get a second
            // one beside it. Nothing else is kept.
            let (uid, arrival) = (record.uid.clone(), record.arrival);
            *record = Record { phase: Phase::Deleted, state: record.state, ..Record::new(uid, arrival) };
            return;
        }
        self.core.leave(&key, record);
        self.records.remove(&key);
        self.core.effects.push(Effect::Forgotten(key));
    }

    /// Something a primary depends on has changed.
    pub(super) fn related(&mut self, key: &ObjectKey, cause: Cause) {
        if let Some(record) = self.records.get_mut(key).filter(|record| record.may_run()) {
            self.core.note(key, record, cause);
        }
    }

    /// The definition of the primaries has changed, which may end a failure.
    pub(super) fn redefined(&mut self, cause: Cause) {
        for key in self.in_order(|_, record| record.retry_status != RetryStatus::Settled) {
            self.related(&key, cause);
        }
    }

    /// The primaries for which `which` is true, in the order in which they appeared and not in that of the hash map.
    fn in_order(&self, which: impl Fn(&ObjectKey, &Record) -> bool) -> Vec<ObjectKey> {
        let found = self.records.iter().filter(|(key, record)| which(key, record));
        let mut found: Vec<_> = found.map(|(key, record)| (record.arrival, key.clone())).collect();
        found.sort_unstable_by_key(|(arrival, _)| *arrival);
        found.into_iter().map(|(_, key)| key).collect()
    }

    /// Starts the runs for earlier events, of the primaries in `namespace`, or of all.
    pub(super) fn start(&mut self, opening: u64, namespace: Option<Arc<str>>) {
        if self.core.opening != Some(opening) {
            return;
        }
        self.core.started = true;
        // Of the primaries that were started before, those that wait have a reason.
        let is_new = |key: &ObjectKey| {
            let is_meant = namespace.as_deref().is_none_or(|namespace| key.namespace() == Some(namespace));
            is_meant && !self.core.gate.lets(key)
        };
        let marked = self.in_order(|key, record| record.is_marked() && is_new(key));
        self.core.gate.open(namespace);
        for key in marked {
            if let Some(record) = self.records.get_mut(&key) {
                self.core.submit(&key, record);
            }
        }
    }

    /// Fires all timers that are due.
    pub(super) fn fire(&mut self) {
        let mark = self.core.timers.next;
        while let Some(key) = self.core.timers.pop_due(self.core.now, mark) {
            let Some(record) = self.records.get_mut(&key) else { continue };
            let RunState::Waiting(timer) = record.state else { continue };
            record.state = RunState::Idle;
            if record.phase != Phase::Ended {
                record.phase = Phase::Live;
            }
            if let (TimerKind::Retry, Some(trouble)) = (timer.kind, record.trouble.as_deref_mut()) {
                // The random part has made its delay a little shorter; nothing is left of it.
                trouble.last_call = None;
            }
            if let Some(cause) = timer.kind.cause() {
                record.pending.insert(cause);
            }
            self.core.submit(&key, record);
        }
    }
}
