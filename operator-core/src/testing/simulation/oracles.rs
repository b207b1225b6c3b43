//! What has to hold after every schedule, whatever went wrong in it.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    checkpoint::Checkpoint,
    cluster::Readiness,
    load::Load,
    made_up::MadeUp,
    record::{Call, Violation},
    state::ClusterState,
    sweep::Point,
};
use crate::operator::Footprint;

/// Something that has to hold in every schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Oracle {
    /// At the end the same exists as after a calm run, apart from uids, versions, times and addresses.
    SameState,
    /// From then on, nothing is written in the next ten minutes, in every twentieth schedule in the next eleven
    /// hours, and runs and reads are as rare as in the calm run.
    Quiet,
    /// Nothing is deleted that the calm run doesn't delete in the same part, and nothing is created twice.
    NothingForbidden,
    /// There are never two runs of one primary at the same time, nor two writes of one object; with a leader
    /// election, nothing is written without the lease.
    OneRun,
    /// When everything is deleted, nothing is kept about it, and no task is left over.
    NoLeak,
    /// There are not many more writes, runs and reads than in the calm run, for each fault, and time advances.
    BoundedLoad,
    /// No value of a Secret appears in a log, an Event, a status or a metric.
    NoSecret,
    /// The operator is alive, and nothing has panicked: no task, no run, no mapper, no filter, no handler.
    Alive,
    /// Each status that is written is about a generation that its run was given.
    OwnGeneration,
    /// The calm run, in which nothing goes wrong, logs no warning and no error, no run of it fails, no request is
    /// refused, and no status is about another generation than its object's.
    CalmRun,
    /// A check of the test itself.
    Test,
}

impl Oracle {
    const fn words(self) -> &'static str {
        match self {
            Self::SameState => "the same state as after a calm run",
            Self::Quiet => "nothing more to write",
            Self::NothingForbidden => "nothing deleted or created that should not be",
            Self::OneRun => "one run of a primary at a time",
            Self::NoLeak => "nothing kept of what is gone",
            Self::BoundedLoad => "a bounded number of calls",
            Self::NoSecret => "no secret told",
            Self::Alive => "the operator lives",
            Self::OwnGeneration => "a status about what its run was given",
            Self::CalmRun => "nothing to complain about",
            Self::Test => "what it asserts",
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?} ({})", self.words())
    }
}

/// How long nothing may be written.
pub(super) const QUIET_FOR: Duration = Duration::from_secs(600);

/// The longer time in some schedules, and in the calm run: more than the maximum interval between two runs.
pub(super) const LONG_QUIET_FOR: Duration = Duration::from_secs(11 * 60 * 60);

/// One schedule out of this number: such a quiet time costs as much as some whole schedules, because its watches are
/// opened again and again.
pub(super) const LONG_QUIET_ONE_IN: u32 = 20;

/// The result of a run without bad luck, with which the others are compared.
#[derive(Clone, Debug, Default)]
pub(super) struct CalmRun {
    pub(super) states: Vec<ClusterState>,
    pub(super) calls: Vec<Call>,
    /// The call with which the end starts.
    pub(super) farewell: usize,
    /// What it did, without the quiet time.
    pub(super) load: Load,
    /// What it did in the quiet time, and in the long one after it.
    pub(super) quiet: [Load; 2],
    /// The first call of the long quiet time, and the first one after it.
    pub(super) long_quiet: (usize, usize),
    pub(super) footprint: Footprint,
    /// Writes of the operator, over the whole run.
    pub(super) writes: u64,
    /// The moments of calls of other systems.
    pub(super) moments: u64,
    /// Whether a crash at each of them is wanted.
    pub(super) sweep: bool,
    /// Whether pairs of faults are wanted.
    pub(super) pairs: bool,
    /// Whether there are storms.
    pub(super) storms: bool,
    /// How readiness ends in it.
    pub(super) readiness: Readiness,
    /// The state before readiness went for good.
    pub(super) before: Option<ClusterState>,
    /// The requests from which sweeps are made.
    pub(super) points: Arc<Vec<Point>>,
    /// The places whose values the operator makes by chance.
    pub(super) made_up: Vec<MadeUp>,
    /// The state from which the others start; `None` in those others.
    pub(super) checkpoint: Option<Checkpoint>,
}

impl CalmRun {
    /// The values at these places aren't compared from here on.
    pub(super) fn forget(&mut self, made_up: Vec<MadeUp>) {
        self.states.iter_mut().chain(&mut self.before).for_each(|state| state.forget_places(&made_up));
        self.made_up = made_up;
    }
}

/// SameState.
pub(super) fn same_state(when: &str, here: &ClusterState, calm: &ClusterState) -> Option<Violation> {
    let differences = here.differences(calm);
    let message = || format!("{when}: {}", differences.join("; "));
    (!differences.is_empty()).then(|| Violation { oracle: Oracle::SameState, message: message() })
}

/// what is kept when everything is gone. `tasks` are compared with the calm run's.
pub(super) fn no_leak(here: &Footprint, calm: Option<&Footprint>) -> Vec<Violation> {
    let violation = |message| Violation { oracle: Oracle::NoLeak, message };
    let mut violations = Vec::new();
    if here.primaries > 0 {
        violations.push(violation(format!("{} primaries are known though all are deleted", here.primaries)));
    }
    for (source, leftovers) in &here.leftovers {
        violations
            .push(violation(format!("event source {source} keeps {leftovers} entries about what is gone")));
    }
    if let Some(calm) = calm.filter(|calm| calm.tasks != here.tasks) {
        violations.push(violation(format!(
            "these tasks run in the end: {:?}, and after a calm run: {:?}",
            here.tasks, calm.tasks
        )));
    }
    violations
}
