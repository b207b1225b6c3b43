//! The report of a simulation, and the story of a schedule that failed.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use super::{
    Tape, Violation,
    cluster::{self, Troubles},
    made_up::MadeUp,
    outside,
    record::Call,
    schedule::ScheduleOutcome,
    storm,
};

/// With this number of schedules of a storm, each of its faults should happen.
const ENOUGH: u64 = 500;

/// With this number of storms in which the operator waits for something, enough of them should have trouble with that.
const ENOUGH_WAITING: u64 = 30;

/// What has happened in the schedules of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of schedules.
    pub schedules: u64,
    /// The number of requests that have reached the server.
    pub calls: u64,
    /// The virtual time that has passed.
    pub time: Duration,
    /// How often each fault has taken effect.
    pub faults: BTreeMap<&'static str, u64>,
    /// The readiness of what the operator waits for.
    pub(super) readiness: ReadinessCounts,
    /// The places whose values the operator makes by chance.
    pub(super) made_up: Vec<MadeUp>,
    /// Whether all kinds of faults were requested.
    storms: bool,
    /// Whether some type had several objects, so that the events of one can come before those of another.
    several: bool,
}

/// In how many storms the operator has written objects that get ready, and in how many of them something was wrong with
/// that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadinessCounts {
    pub(super) waits: u64,
    pub(super) late: u64,
    pub(super) went: u64,
    pub(super) never: u64,
    pub(super) any: u64,
}

impl ReadinessCounts {
    fn count(&mut self, troubles: Troubles) {
        let Troubles { waits, late, went, never } = troubles;
        self.add(Self {
            waits: waits.into(),
            late: late.into(),
            went: went.into(),
            never: never.into(),
            any: (waits && troubles.any()).into(),
        });
    }

    fn add(&mut self, other: Self) {
        self.waits += other.waits;
        self.late += other.late;
        self.went += other.went;
        self.never += other.never;
        self.any += other.any;
    }

    /// A test with too little of it has not tested what it claims.
    fn check(self) -> Result<(), Box<Failure>> {
        if self.waits < ENOUGH_WAITING || 3 * self.any >= self.waits {
            return Ok(());
        }
        let Self { waits, any, .. } = self;
        let message = format!(
            "in only {any} of {waits} storms was something that the operator waits for ready late, not ready any more, or never ready"
        );
        Err(Box::new(Failure::of_the_storm(message)))
    }
}

impl fmt::Display for ReadinessCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { waits, late, went, never, any } = self;
        write!(
            f,
            "in {any} of {waits} storms readiness was late ({late}), went ({went}), or didn't come before the bad luck ended ({never})"
        )
    }
}

impl Report {
    pub(super) fn count(&mut self, outcome: &ScheduleOutcome, is_drawn: bool) {
        self.schedules += 1;
        self.calls += outcome.run.calls.len() as u64;
        self.time += outcome.took;
        outcome.faults.iter().for_each(|(fault, times)| *self.faults.entry(fault).or_default() += times);
        self.storms |= outcome.plan.is_storm();
        // The schedules of sweeps have no luck but their own.
        if is_drawn {
            self.readiness.count(outcome.troubles);
        }
        self.several = self.several || have_several(&outcome.run.calls);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.schedules += other.schedules;
        self.calls += other.calls;
        self.time += other.time;
        other.faults.iter().for_each(|(fault, times)| *self.faults.entry(fault).or_default() += times);
        self.storms |= other.storms;
        self.readiness.add(other.readiness);
        self.several |= other.several;
    }

    /// A storm in which some fault never happened has not tested what it claims.
    pub(super) fn complete(self, asked: u64) -> Result<Self, Box<Failure>> {
        // Counted where they took effect: a watch in which nothing happens can't be cut.
        let missing = storm::kinds().filter(|kind| self.several || *kind != storm::SWAPPED);
        let calls_others = outside::kinds().any(|kind| self.faults.contains_key(kind));
        let missing = missing.chain(outside::kinds().filter(|_| calls_others));
        let missing = missing.chain(cluster::kinds().filter(|_| self.readiness.waits >= ENOUGH));
        self.readiness.check()?;
        let missing: Vec<&str> = missing.filter(|kind| !self.faults.contains_key(kind)).collect();
        if self.storms && asked >= ENOUGH && self.schedules >= ENOUGH && !missing.is_empty() {
            let message =
                format!("in {} schedules these never happened: {}", self.schedules, missing.join(", "));
            return Err(Box::new(Failure::of_the_storm(message)));
        }
        Ok(self)
    }
}

/// Whether two objects of one type were written.
fn have_several(calls: &[Call]) -> bool {
    let mut first = BTreeMap::new();
    let written = calls.iter().filter(|call| call.target.verb.is_write() && call.took_effect());
    written
        .filter_map(|call| Some((&call.target.resource, call.target.name.as_ref()?)))
        .any(|(resource, name)| *first.entry(resource).or_insert(name) != name)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: u64 = self.faults.values().sum();
        let hours = self.time.as_secs() / 3600;
        let Self { schedules, calls, .. } = self;
        write!(
            f,
            "{schedules} schedules, {calls} calls, {faults} faults and crashes, {hours} h of virtual time"
        )?;
        if self.readiness.waits > 0 {
            write!(f, "; {}", self.readiness)?;
        }
        if !self.made_up.is_empty() {
            let places: Vec<String> = self.made_up.iter().map(|(of, path)| format!("{of} {path}")).collect();
            write!(f, "\nmade by chance, and not compared: {}", places.join(", "))?;
        }
        self.faults.iter().try_for_each(|(fault, times)| write!(f, "\n{times:>9} {fault}"))
    }
}

/// A schedule that violates an oracle, as small as it could be made.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The test's name.
    pub name: String,
    /// The seed that led to it; `None` for the calm run, and for one of a sweep.
    pub seed: Option<u64>,
    /// The remaining decisions.
    pub tape: Tape,
    /// What was violated.
    pub violations: Vec<Violation>,
    /// What happened, as text.
    pub story: Vec<String>,
    /// Where the schedule took another course when it was run again; `None` if it is repeatable.
    pub diverges: Option<String>,
    pub(super) file: Option<PathBuf>,
    /// The number of decisions before and after shrinking.
    pub(super) weights: (usize, usize),
}

impl Failure {
    pub(super) fn calm(name: &str, outcome: ScheduleOutcome) -> Self {
        Self::of(name, outcome.violations, outcome.story)
    }

    fn of_the_storm(message: String) -> Self {
        let violation = Violation { oracle: super::Oracle::Test, message };
        Self::of("the storm", vec![violation], Vec::new())
    }

    fn of(name: &str, violations: Vec<Violation>, story: Vec<String>) -> Self {
        let (name, tape) = (name.to_owned(), Tape::calm());
        Self { name, seed: None, tape, violations, story, diverges: None, file: None, weights: (0, 0) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, weights: (before, after), .. } = self;
        match (self.seed, before) {
            (Some(seed), _) => writeln!(f, "{name} fails with seed {seed}:")?,
            (None, 0) => writeln!(f, "{name} fails without any bad luck:")?,
            (None, _) => writeln!(f, "{name} fails:")?,
        }
        self.violations.iter().try_for_each(|violation| writeln!(f, "  {violation}"))?;
        writeln!(f, "what happened (of {before} decisions {after} are left):")?;
        self.story.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        let reorders = self.tape.0.keys().filter(|lane| lane.starts_with("order ")).count();
        if reorders > 0 {
            writeln!(f, "  and the order of {reorders} tasks is not that of the calm run")?;
        }
        if let Some(difference) = &self.diverges {
            writeln!(
                f,
                "It did something else when it was run again: something in it doesn't come from the tape, such as a thread, a hash map's order, or a `select!` that is not `biased`: {difference}"
            )?;
        }
        match (&self.file, self.seed) {
            (Some(file), _) => writeln!(f, "replay this: SIM_TAPE={}", file.display())?,
            (None, Some(seed)) => writeln!(f, "replay this: SIM_SEED={seed}")?,
            (None, None) => {}
        }
        match (&self.file, self.seed) {
            (Some(_), Some(seed)) => write!(f, "replay the whole schedule: SIM_SEED={seed}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// Writes a tape to a file from which it can be replayed, with the calls of its schedule as comments.
pub(super) fn save(name: &str, tape: &Tape, calls: &[String]) -> Option<PathBuf> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let file = format!("simulation-{}.tape", name.chars().map(plain).collect::<String>());
    let file = std::env::temp_dir().join(file);
    let calls: String = calls.iter().map(|call| format!("# {call}\n")).collect();
    std::fs::write(&file, format!("# {name}\n{tape}{calls}")).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_with_too_little_trouble_with_readiness_fails() {
        let of = |waits, any| ReadinessCounts { waits, any, ..ReadinessCounts::default() };
        assert!(of(30, 10).check().is_ok());
        let failure = of(30, 9).check().expect_err("less than a third");
        assert!(failure.to_string().contains("in only 9 of 30 storms"), "{failure}");
        assert!(of(29, 0).check().is_ok(), "by so few nothing is said");
        let report = Report { readiness: of(60, 19), ..Report::default() };
        assert!(report.complete(60).is_err());
    }
}
