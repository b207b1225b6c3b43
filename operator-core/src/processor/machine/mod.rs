//! The state machine of one controller: events and ends of runs in, runs out.
//!
//! Pure: no task, no client, no clock. The moment is an argument; deadlines are kept inside, and
//! [`Machine::next_deadline`] returns the earliest. The states of one primary:
//!
//! ```text
//!   PrimaryChanged (unknown)                           event, start
//! ───────────────────────────▶ ┌──────┐ ────────────────────────────────────▶ ┌────────┐
//!                              │ Idle │    ┌─────────┐   due, event           │ Queued │
//!      PrimaryDeleted ◀─────── └──────┘    │ Waiting │ ─────────────────────▶ └────────┘
//!        (dropped)                ▲        └─────────┘                             │ a place is free
//!                                 │             ▲ retry, reschedule,               ▼
//!                                 │             │ maximum interval,          ┌─────────┐ ⟲ events become pending
//!                                 │             │ rate limit                 │ Running │
//!                                 └─────────────┴─────────────────────────── └─────────┘
//!                                                     Finished                     │ PrimaryDeleted
//!                                                                                  ▼
//!                            (dropped) ◀──────────── Finished ───────────── Running, Deleted
//! ```
//!
//! `Finished` with something pending leads through `Idle` to `Queued` at once. After `FinalizerRemoved` a primary is idle
//! and ignores everything but its end and its successor; after `Gone` as well, but for the maximum interval.
//!
//! A `PrimaryDeleted` with the last state of the object is an event like others (JOSDK: `triggerReconcilerOnAllEvents`):
//! ```text
//!  any state ──PrimaryDeleted(last)──▶ Ended, as in any state: Queued, Waiting, Running
//!                                        ├─ a run that was told ends well, or no attempt is left ──▶ (dropped)
//!                                        └─ the same, and another object has the name ─────────────▶ its record
//! ```
//!
//! # Guarantees
//! - At most one run of a primary, at most `max_concurrent` runs in all, and none starts before the machine is started,
//!   or its namespace: events in the meantime are kept, as one run for each primary. After a stop no run starts at all.
//! - In a namespace that was left no run starts and no timer is set, and the only data about its primaries is that of
//!   runs in progress. An opening that began before the namespaces were changed starts nothing.
//! - Each change is followed by the start of a run, unless the primary is gone, is awaiting its end, or the machine is
//!   stopped. Any number of events during a run cause exactly one more; events of a primary that is queued join its run.
//! - A primary has one timer, or a place in the queue, or a run in progress: never two of them. A run therefore
//!   supersedes the timer that was set before it.
//! - After a success the next run starts within the maximum interval, unless user code has requested another time.
//! - A failure leads to at most one immediate run, and only if an event came during the failed one; then to the retry's
//!   delay.
//! - If a server requests a pause after a failed write (`Retry-After`), no retry and no event causes a run before that
//!   time.
//! - An object that replaces another of its name starts with fresh retry and rate state, and never runs at the same
//!   time.
//! - A deletion that has to be reported is reported to exactly one run, which starts after it and before any run for a new
//!   object of the same name, and is retried like other runs.
//! - First in, first out; objects found in the initial list that have not been changed since yield to all others, but
//!   get at least every fifth place.
//! - No state is kept about a primary that is gone. An event that joins a pending one allocates nothing and
//!   needs one lookup in the map of primaries.
//! - Effects are a function of inputs and moments; the order of a hash map never has an effect.
//!
//! # Assumptions
//! - `now` never goes back from call to call.
//! - `PrimaryChanged` and `PrimaryDeleted` of one primary arrive in the order in which they happened; a `DELETED` and a
//!   change of uid are never filtered.
//! - Each [`Effect::Run`] is answered by one [`Input::Finished`].

mod config;
mod effect;
mod gate;
mod input;
mod snapshot;

mod arrive;
mod core;
mod finish;
mod ready;
mod state;
mod timers;

#[cfg(test)]
mod tests;

use std::{collections::HashMap, mem};

use self::{core::Core, gate::Gate, ready::Ready, state::Record, timers::Timers};
use crate::{environment::Now, resource::ObjectKey};

pub(crate) use config::DEFAULT_SPREAD;
pub use config::MachineConfig;
pub use effect::{Effect, Run};
pub(crate) use input::FailureKind;
pub use input::{Input, Outcome, Reschedule, RunId};
pub(crate) use snapshot::Snapshot;

/// Decides which primary runs when. Starts nothing before its first [`Input::Start`] or after an [`Input::Stop`].
#[derive(Debug)]
pub struct Machine {
    records: HashMap<ObjectKey, Record>,
    core: Core,
    next_arrival: u64,
    inputs: u64,
}

impl Machine {
    /// A machine that knows no primary and is stopped.
    #[must_use]
    pub fn new(config: MachineConfig) -> Self {
        let core = Core {
            config,
            ready: Ready::default(),
            timers: Timers::default(),
            started: false,
            opening: Some(0),
            gate: Gate::default(),
            running: 0,
            next_run: 0,
            now: Now::START,
            effects: Vec::new(),
        };
        Self { records: HashMap::new(), core, next_arrival: 0, inputs: 0 }
    }

    /// Takes one input, and appends the effects that follow.
    pub fn on(&mut self, input: Input, now: Now, effects: &mut Vec<Effect>) {
        self.inputs += 1;
        self.step(now, effects, |machine| match input {
            Input::PrimaryChanged { key, uid, cause, deleting } => {
                machine.primary_changed(key, uid, cause, deleting)
            }
            Input::PrimaryDeleted { key, uid, last } => machine.primary_deleted(key, &uid, last),
            Input::Related { key, cause } => machine.related(&key, cause),
            Input::Finished { run, key, outcome } => machine.finished(run, key, outcome),
            Input::Start { opening, namespace } => machine.start(opening, namespace),
            Input::Rescoped { opening, before, now } => machine.rescoped(opening, before.as_ref(), now),
            Input::Redefined { cause } => machine.redefined(cause),
            Input::Stop => (machine.core.started, machine.core.opening) = (false, None),
        });
    }

    /// Fires the timers that are due, and appends the effects that follow.
    pub fn tick(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.step(now, effects, Self::fire);
    }

    /// A transition at this time, and the runs that start because of it.
    fn step(&mut self, now: Now, effects: &mut Vec<Effect>, transition: impl FnOnce(&mut Self)) {
        self.core.now = now;
        // The effects are appended to those of the caller without a copy.
        mem::swap(&mut self.core.effects, effects);
        transition(self);
        self.core.hand_out(&mut self.records);
        mem::swap(&mut self.core.effects, effects);
    }

    /// When [`Machine::tick`] has something to do next; `None` if no timer is set.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Now> {
        self.core.timers.next_deadline()
    }
}
