//! The calm runs with which schedules are compared.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use super::{Moment, Point, SOMEBODY_ACTS, moment};
use crate::testing::simulation::{
    CalmRun, Choices, Tape,
    check::Test,
    cluster::{Readiness, writes_workloads},
    report::Failure,
    schedule::run,
    world::Apart,
};

/// A calm run with an act, made when it is first needed.
type Known = Arc<OnceLock<Result<Arc<CalmRun>, Box<Failure>>>>;

/// The calm run, and those in which someone acts when all is quiet.
pub(in crate::testing::simulation) struct References<'t> {
    name: &'t str,
    test: Test<'t>,
    calm: Arc<CalmRun>,
    /// By what users had written before the act, and the description of the act.
    with_acts: Mutex<BTreeMap<(usize, String), Known>>,
    /// By how readiness ends.
    endings: Mutex<BTreeMap<Readiness, Known>>,
}

impl<'t> References<'t> {
    pub(in crate::testing::simulation) fn new(name: &'t str, test: Test<'t>, calm: Arc<CalmRun>) -> Self {
        Self { name, test, calm, with_acts: Mutex::default(), endings: Mutex::default() }
    }

    pub(in crate::testing::simulation) fn calm(&self) -> &Arc<CalmRun> {
        &self.calm
    }

    /// The calm run with which the schedule of a tape is compared. Must not be called inside a runtime.
    ///
    /// # Errors
    /// If even a calm run goes wrong when someone acts in it.
    pub(in crate::testing::simulation) fn of(&self, tape: &Tape) -> Result<Arc<CalmRun>, Box<Failure>> {
        let given = |at: usize| tape.0.get(SOMEBODY_ACTS).and_then(|lane| lane.get(at)).copied().unwrap_or(0);
        let Some(moment) = moment(&self.calm.points, given(0), given(1)) else {
            return Ok(Arc::clone(&self.calm));
        };
        let Some(point) = self.calm.points.iter().find(|point| point.number == moment.number) else {
            return Ok(Arc::clone(&self.calm));
        };
        // When the end has come and all is quiet, there is nothing left to act upon.
        if point.is_farewell {
            return Ok(Arc::clone(&self.calm));
        }
        let known =
            Arc::clone(self.with_acts.lock().entry((point.written, moment.act.to_string())).or_default());
        known.get_or_init(|| self.run(moment, point)).clone()
    }

    /// The calm run in which readiness ends in this way. If the operator waits for nothing, or asks for it again and again,
    /// or if the test can't be run to its end because it waits for readiness itself, it is the one in which readiness
    /// comes. Must not be called inside a runtime.
    ///
    /// # Errors
    /// If even a calm run goes wrong then.
    pub(in crate::testing::simulation) fn ending(
        &self,
        readiness: Readiness,
    ) -> Result<Arc<CalmRun>, Box<Failure>> {
        if readiness == Readiness::Comes || !self.calm.storms || !writes_workloads(&self.calm.calls) {
            return Ok(Arc::clone(&self.calm));
        }
        let known = Arc::clone(self.endings.lock().entry(readiness).or_default());
        known.get_or_init(|| self.run_ending(readiness)).clone()
    }

    fn run_ending(&self, readiness: Readiness) -> Result<Arc<CalmRun>, Box<Failure>> {
        let apart = Apart { readiness, ..Apart::default() };
        let outcome = run(self.test, &Choices::replayed(Tape::calm()), None, &apart);
        if outcome.is_unfit {
            return Ok(Arc::clone(&self.calm));
        }
        if !outcome.violations.is_empty() {
            let what = format!("{}, where {},", self.name, readiness.words());
            return Err(Box::new(Failure::calm(&what, outcome)));
        }
        Ok(Arc::new(CalmRun { points: Arc::clone(&self.calm.points), ..outcome.run }))
    }

    fn run(&self, moment: Moment, point: &Point) -> Result<Arc<CalmRun>, Box<Failure>> {
        let what = format!("{}, where at a calm time somebody does this: {},", self.name, moment.act);
        let calmly = Moment { number: point.number, calmly: true, ..moment };
        let apart = Apart { act: Some(calmly), ..Apart::default() };
        let outcome = run(self.test, &Choices::replayed(Tape::calm()), None, &apart);
        if !outcome.violations.is_empty() {
            return Err(Box::new(Failure::calm(&what, outcome)));
        }
        Ok(Arc::new(CalmRun { points: Arc::clone(&self.calm.points), ..outcome.run }))
    }
}
