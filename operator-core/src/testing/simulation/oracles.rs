//! What has to hold after every schedule, whatever went wrong in it.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use super::{
    checkpoint::Checkpoint,
    record::{Call, Violation},
    state::State,
    sweep::Point,
};
use crate::operator::Footprint;

/// Something that has to hold in every schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Oracle {
    /// O1: what exists in the end is what exists after a calm run, without uids, versions, times and addresses.
    SameState,
    /// O2: once that is so, nothing is written in the next ten minutes.
    Quiet,
    /// O3: nothing is deleted that the calm run doesn't delete, and nothing is created twice.
    NothingForbidden,
    /// O4: there are never two runs of one primary at the same time.
    OneRun,
    /// O5: when everything is deleted, nothing is kept about it, and no task is left over.
    NoLeak,
    /// O6: there are not many more calls than in the calm run, for each fault.
    BoundedLoad,
    /// O7: no secret stands in a log, an Event, a status or a metric.
    NoSecret,
    /// O8: the operator lives, and neither a task nor a run of it has panicked.
    Alive,
    /// What the test itself says.
    Test,
}

impl Oracle {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::SameState => ("O1", "the same state as after a calm run"),
            Self::Quiet => ("O2", "nothing more to write"),
            Self::NothingForbidden => ("O3", "nothing deleted or created that should not be"),
            Self::OneRun => ("O4", "one run of a primary at a time"),
            Self::NoLeak => ("O5", "nothing kept of what is gone"),
            Self::BoundedLoad => ("O6", "a bounded number of calls"),
            Self::NoSecret => ("O7", "no secret told"),
            Self::Alive => ("O8", "the operator lives"),
            Self::Test => ("the test", "what it asserts"),
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, words) = self.words();
        write!(f, "{name} ({words})")
    }
}

/// How long nothing may be written for.
pub(super) const QUIET_FOR: Duration = Duration::from_secs(600);

/// What a run without bad luck came to: what the others are held against.
#[derive(Clone, Debug, Default)]
pub(super) struct CalmRun {
    pub(super) states: Vec<State>,
    pub(super) calls: Vec<Call>,
    pub(super) footprint: Footprint,
    /// Writes of the operator, over the whole run.
    pub(super) writes: u64,
    /// Whether a crash at each of them is wanted.
    pub(super) sweep: bool,
    /// Whether pairs of faults are wanted.
    pub(super) pairs: bool,
    /// The requests that sweeps are made of.
    pub(super) points: Arc<Vec<Point>>,
    /// From where the others start; of those themselves there is none.
    pub(super) checkpoint: Option<Checkpoint>,
}

/// O1.
pub(super) fn same_state(when: &str, here: &State, calm: &State) -> Option<Violation> {
    let differences = here.differences(calm);
    let message = || format!("{when}: {}", differences.join("; "));
    (!differences.is_empty()).then(|| Violation { oracle: Oracle::SameState, message: message() })
}

/// O2: the writes among these calls, which were made when all was done.
pub(super) fn quiet(calls: &[Call]) -> Option<Violation> {
    let writes = calls.iter().filter(|call| call.by_operator() && call.target.verb.is_write());
    let writes: Vec<String> = writes.map(|call| call.to_string().trim().to_owned()).collect();
    let message = || format!("{} writes when all was done: {}", writes.len(), some(&writes));
    (!writes.is_empty()).then(|| Violation { oracle: Oracle::Quiet, message: message() })
}

/// O3: creations and deletions by the operator, by object, held against those of the calm run. Creations of one object by
/// name follow one another only when somebody has deleted it, so what is left to count are objects whose names are made up.
pub(super) fn nothing_forbidden(calls: &[Call], calm: &[Call]) -> Vec<Violation> {
    let violation = |message| Violation { oracle: Oracle::NothingForbidden, message };
    let (deleted, deleted_calmly) = (count(calls, Call::deleted), count(calm, Call::deleted));
    let gone = deleted.keys().filter(|object| !deleted_calmly.contains_key(*object));
    let mut violations: Vec<_> = gone
        .map(|object| violation(format!("{object} is deleted, which it never is in the calm run")))
        .collect();
    let unnamed = |call: &Call| call.created() && call.target.name.is_none();
    let calmly = count(calm, unnamed);
    for (object, times) in count(calls, unnamed) {
        let wanted = calmly.get(&object).copied().unwrap_or(0);
        if times > wanted {
            violations.push(violation(format!(
                "{object} with a generated name: {times} are created, and {wanted} in the calm run"
            )));
        }
    }
    violations
}

fn count(calls: &[Call], counts: impl Fn(&Call) -> bool) -> BTreeMap<String, u64> {
    let mut objects = BTreeMap::new();
    for call in calls.iter().filter(|call| call.by_operator() && counts(call)) {
        *objects.entry(call.target.object()).or_default() += 1;
    }
    objects
}

/// O5: what is kept when everything is gone. `tasks` are compared with the calm run's.
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
            "{} tasks run in the end, and {} after a calm run",
            here.tasks, calm.tasks
        )));
    }
    violations
}

/// O6: four times what the calm run needs, and room for each fault. Looks of the simulation itself count, too.
pub(super) fn bounded_load(calls: &[Call], calm: &[Call], faults: u64) -> Vec<Violation> {
    let writes = |calls: &[Call]| {
        calls.iter().filter(|call| call.by_operator() && call.target.verb.is_write()).count() as u64
    };
    let (made, calmly) = (writes(calls), writes(calm));
    let most = 4 * calmly + 20 * faults + 20;
    let message =
        || format!("{made} writes, and {calmly} in the calm run; {most} are the most for {faults} faults");
    (made > most).then(|| Violation { oracle: Oracle::BoundedLoad, message: message() }).into_iter().collect()
}

fn some(texts: &[String]) -> String {
    match texts {
        [first, second, third, .., last] if texts.len() > 4 => {
            format!("{first}; {second}; {third}; … {last}")
        }
        _ => texts.join("; "),
    }
}
