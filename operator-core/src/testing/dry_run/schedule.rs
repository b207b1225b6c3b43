//! Which run it is, and what follows it, as decided by the processor's own machine.

use std::{sync::Arc, time::Duration};

use crate::{
    environment::Now,
    observe::Cause,
    processor::{Effect, FailureKind, Input, Machine, MachineConfig, Outcome, Run},
    resource::{Departed, ObjectKey, Uid},
};

/// The machine of a controller with one primary.
pub(super) struct Schedule {
    machine: Machine,
    now: Now,
    effects: Vec<Effect>,
}

impl Schedule {
    /// A schedule in which the primary has just been seen; or its end, if `departed` is given.
    pub(super) fn new(
        config: MachineConfig,
        (key, uid): (ObjectKey, Uid),
        deleting: bool,
        departed: Option<Departed>,
    ) -> Self {
        let mut schedule = Self { machine: Machine::new(config), now: Now::START, effects: Vec::new() };
        schedule.take(Input::Start { opening: 0, namespace: None });
        let cause = if deleting { Cause::MarkedForDeletion } else { Cause::Changed };
        schedule.take(Input::PrimaryChanged { key: key.clone(), uid: uid.clone(), cause, deleting });
        if let Some(departed) = departed {
            if let Some(run) = schedule.next() {
                schedule.ended(&run, Outcome::Success { reschedule: None });
            }
            schedule.take(Input::PrimaryDeleted { key, uid, last: Some(Arc::new(departed)) });
        }
        schedule
    }

    /// The next run, after this number of failed runs. `None` if the policy doesn't allow as many retries.
    pub(super) fn run(&mut self, failed: u32) -> Option<Run> {
        let mut run = self.next()?;
        for _ in 0..failed {
            self.ended(&run, Outcome::Failed { kind: FailureKind::Retryable, not_before: None, again: None });
            run = self.next()?;
        }
        let attempt = run.retry.as_ref().map_or(0, |retry| retry.attempt);
        (attempt == failed).then_some(run)
    }

    /// The run has ended.
    pub(super) fn ended(&mut self, run: &Run, outcome: Outcome) {
        self.take(Input::Finished { run: run.id, key: run.key.clone(), outcome });
    }

    /// The primary is gone.
    pub(super) fn gone(&mut self, run: &Run) {
        self.take(Input::PrimaryDeleted { key: run.key.clone(), uid: run.uid.clone(), last: None });
    }

    /// The time until the next run, if nothing happens before.
    pub(super) fn next_in(&self) -> Option<Duration> {
        if self.effects.iter().any(|effect| matches!(effect, Effect::Run(_))) {
            return Some(Duration::ZERO);
        }
        self.machine.next_deadline().map(|deadline| deadline - self.now)
    }

    fn take(&mut self, input: Input) {
        self.machine.on(input, self.now, &mut self.effects);
    }

    fn next(&mut self) -> Option<Run> {
        loop {
            let run = self.effects.drain(..).find_map(|effect| match effect {
                Effect::Run(run) => Some(run),
                _ => None,
            });
            if run.is_some() {
                return run;
            }
            self.now = self.machine.next_deadline()?;
            self.machine.tick(self.now, &mut self.effects);
        }
    }
}
