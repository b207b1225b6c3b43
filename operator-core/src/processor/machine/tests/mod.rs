//! Tests of the machine: one table test for each rule, and properties of random schedules.

mod ends;
mod failures;
mod lifecycle;
mod limits;
mod order;
mod parts;
mod runs;
mod spread;
mod trouble;

mod model;
mod properties;

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;

use super::*;
use crate::{
    environment::Jitter,
    observe::{Cause, Causes, SourceIndex},
    processor::{FailureKind, GenericRetry},
    resource::{Departed, Uid},
};

const SOURCE: Cause = Cause::Source(SourceIndex(0));
const SUCCESS: Outcome = Outcome::Success { reschedule: None };
const FAILURE: Outcome = failure(FailureKind::Retryable);
const REFUSAL: Outcome = failure(FailureKind::Permanent);
const TROUBLE: Outcome = failure(FailureKind::Server);
const OUTSIDE: Outcome = failure(FailureKind::Outside);

const START: Input = Input::Start { opening: 0, namespace: None };

const fn failure(kind: FailureKind) -> Outcome {
    Outcome::Failed { kind, not_before: None, again: None }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("test", name)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A machine, a clock that moves by hand, and the effects of the last step.
struct Bench {
    machine: Machine,
    now: Now,
    effects: Vec<Effect>,
}

impl Bench {
    fn stopped(config: MachineConfig) -> Self {
        Self { machine: Machine::new(config), now: Now::START, effects: Vec::new() }
    }

    fn started(config: MachineConfig) -> Self {
        let mut bench = Self::stopped(config);
        bench.on(START);
        bench
    }

    /// With the default settings.
    fn new() -> Self {
        Self::started(MachineConfig::default())
    }

    fn on(&mut self, input: Input) -> &mut Self {
        self.effects.clear();
        self.machine.on(input, self.now, &mut self.effects);
        self
    }

    /// The object `name` with uid `name-1` was created or changed.
    fn changed(&mut self, name: &str, cause: Cause) -> &mut Self {
        self.changed_uid(name, 1, cause)
    }

    fn changed_uid(&mut self, name: &str, uid: u32, cause: Cause) -> &mut Self {
        let deleting = cause == Cause::MarkedForDeletion;
        self.on(Input::PrimaryChanged { key: key(name), uid: uid_of(name, uid), cause, deleting })
    }

    fn deleted(&mut self, name: &str) -> &mut Self {
        self.deleted_uid(name, 1)
    }

    fn deleted_uid(&mut self, name: &str, uid: u32) -> &mut Self {
        self.on(Input::PrimaryDeleted { key: key(name), uid: uid_of(name, uid), last: None })
    }

    /// The object `name` is gone, and a run has to see that.
    fn ended(&mut self, name: &str) -> &mut Self {
        self.ended_uid(name, 1)
    }

    fn ended_uid(&mut self, name: &str, uid: u32) -> &mut Self {
        self.on(Input::PrimaryDeleted { key: key(name), uid: uid_of(name, uid), last: Some(departed()) })
    }

    fn related(&mut self, name: &str) -> &mut Self {
        self.on(Input::Related { key: key(name), cause: SOURCE })
    }

    fn finished(&mut self, run: &Run, outcome: Outcome) -> &mut Self {
        self.on(Input::Finished { run: run.id, key: run.key.clone(), outcome })
    }

    /// Passes time as the shell does, from deadline to deadline; all effects meanwhile.
    fn pass(&mut self, time: Duration) -> &mut Self {
        let end = self.now + time;
        self.effects.clear();
        while let Some(deadline) = self.machine.next_deadline().filter(|deadline| *deadline <= end) {
            self.now = self.now.max(deadline);
            self.machine.tick(self.now, &mut self.effects);
        }
        self.now = end;
        self
    }

    /// The runs that the last step started.
    fn runs(&self) -> Vec<Run> {
        let run = |effect: &Effect| if let Effect::Run(run) = effect { Some(run.clone()) } else { None };
        self.effects.iter().filter_map(run).collect()
    }

    /// The only run that the last step started.
    #[track_caller]
    fn run(&self) -> Run {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{:?}", self.effects);
        runs[0].clone()
    }

    /// The last step started no run.
    #[track_caller]
    fn idle(&mut self) -> &mut Self {
        assert_eq!(self.runs(), [], "no run expected");
        self
    }

    /// The retry that the last step scheduled.
    fn retry(&self) -> Option<(u32, Duration)> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::RetryScheduled { attempt: Some(attempt), after, .. } => Some((*attempt, *after)),
            _ => None,
        })
    }

    /// The delay after a failure of the server.
    fn wait(&self) -> Option<Duration> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::RetryScheduled { attempt: None, after, .. } => Some(*after),
            _ => None,
        })
    }

    /// Nothing is known and nothing planned.
    #[track_caller]
    fn empty(&self) {
        let left = Snapshot { inputs: 0, is_running: false, ..self.machine.snapshot() };
        assert_eq!(left, Snapshot::default());
        assert_eq!(self.machine.next_deadline(), None);
        assert_eq!(self.machine.core.ready.len(), 0);
    }
}

/// The last state of an object that is gone.
fn departed() -> Arc<Departed> {
    Arc::new(Departed { last: Arc::new(ConfigMap::default()), final_state_unknown: false })
}

fn uid_of(name: &str, uid: u32) -> Uid {
    Uid::new(&format!("{name}-{uid}"))
}

fn names(runs: &[Run]) -> Vec<&str> {
    runs.iter().map(|run| run.key.name()).collect()
}

fn linear(interval: u64, attempts: u32) -> MachineConfig {
    let retry = Arc::new(GenericRetry::linear(millis(interval), attempts).unwrap());
    MachineConfig { retry, ..MachineConfig::default() }
}
