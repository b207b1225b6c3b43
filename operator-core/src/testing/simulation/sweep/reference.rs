//! The calm runs with which schedules are compared.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use super::{Moment, SOMEBODY_ACTS, moment};
use crate::testing::simulation::{
    CalmRun, Choices, Tape,
    check::Test,
    cluster::{Readiness, writes_workloads},
    report::Failure,
    schedule::run,
    world::Apart,
};

/// A calm run that is made when it is first needed.
type Reference = Arc<OnceLock<Result<Arc<CalmRun>, Box<Failure>>>>;

/// The calm run, and those in which something else happens.
pub(in crate::testing::simulation) struct References<'t> {
    name: &'t str,
    test: Test<'t>,
    pub(in crate::testing::simulation) calm: Arc<CalmRun>,
    /// By what users had written before an act, and the description of what happens.
    others: Mutex<BTreeMap<(usize, String), Reference>>,
}

impl<'t> References<'t> {
    pub(in crate::testing::simulation) fn new(name: &'t str, test: Test<'t>, calm: Arc<CalmRun>) -> Self {
        Self { name, test, calm, others: Mutex::default() }
    }

    /// The calm run with which the schedule of a tape is compared. Must not be called inside a runtime.
    ///
    /// # Errors
    /// If even a calm run goes wrong when someone acts in it.
    pub(in crate::testing::simulation) fn of(&self, tape: &Tape) -> Result<Arc<CalmRun>, Box<Failure>> {
        let given = |at: usize| tape.0.get(SOMEBODY_ACTS).and_then(|lane| lane.get(at)).copied().unwrap_or(0);
        let moment = moment(&self.calm.points, given(0), given(1));
        // When the end has come and all is quiet, there is nothing left to act upon.
        let Some((point, moment)) = moment.filter(|(point, _)| !point.is_farewell) else {
            return Ok(Arc::clone(&self.calm));
        };
        let what = format!("at a calm time somebody does this: {}", moment.act);
        let act = Some(Moment { calmly: true, ..moment });
        self.other(point.written, &what, &self.apart(Apart { act, ..Apart::default() }))
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
        self.other(0, readiness.words(), &self.apart(Apart { readiness, ..Apart::default() }))
    }

    fn apart(&self, apart: Apart) -> Apart {
        Apart { made_up: self.calm.made_up.clone(), checkpoint: self.calm.checkpoint.clone(), ..apart }
    }

    fn other(&self, written: usize, what: &str, apart: &Apart) -> Result<Arc<CalmRun>, Box<Failure>> {
        let reference = Arc::clone(self.others.lock().entry((written, what.to_owned())).or_default());
        let made = reference.get_or_init(|| {
            let outcome = run(self.test, &Choices::replayed(Tape::calm()), None, apart);
            if outcome.is_unfit && apart.act.is_none() {
                return Ok(Arc::clone(&self.calm));
            }
            if !outcome.violations.is_empty() {
                return Err(Box::new(Failure::calm(&format!("{}, where {},", self.name, what), outcome)));
            }
            let (points, made_up) = (Arc::clone(&self.calm.points), self.calm.made_up.clone());
            Ok(Arc::new(CalmRun { points, made_up, ..outcome.run }))
        });
        made.clone()
    }
}
