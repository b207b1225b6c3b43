//! Bugs that a test plants around a processor: a simulation has to find them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;

use crate::{
    environment::{Environment, PlantedBug},
    event_source::{EventSink, PrimaryChange},
    observe::Cause,
    processor::{Input, Outcome, Processor, Run, RunExecutor, RunId},
    resource::{Departed, ObjectKey},
};

/// The bug of one controller, if it has one.
pub(super) struct Planted {
    bug: Option<PlantedBug>,
    under_way: Arc<UnderWay>,
}

/// The runs in progress.
#[derive(Default)]
struct UnderWay(Mutex<BTreeMap<ObjectKey, RunId>>);

/// Inserts the bug between the sources and the processor, if it belongs there.
pub(super) fn around_sink(
    sink: Arc<dyn EventSink>,
    processor: &Processor,
    environment: &Environment,
) -> (Arc<dyn EventSink>, Planted) {
    let planted = Planted { bug: environment.planted_bug(), under_way: Arc::default() };
    let on_deletion = match planted.bug {
        Some(PlantedBug::KeptPrimary) => OnDeletion::Ignored,
        Some(PlantedBug::ForgottenRun) => OnDeletion::EndsTheRun,
        _ => return (sink, planted),
    };
    let (processor, under_way) = (processor.clone(), Arc::clone(&planted.under_way));
    (Arc::new(WrongSink { sink, processor, under_way, on_deletion }), planted)
}

impl Planted {
    /// Inserts the bug after the processor, if it belongs there.
    pub(super) fn around_runs(&self, runs: Arc<dyn RunExecutor>) -> Arc<dyn RunExecutor> {
        match self.bug {
            Some(bug) => Arc::new(WrongRuns { runs, bug, under_way: Arc::clone(&self.under_way) }),
            None => runs,
        }
    }
}

/// What happens to a deletion during a run.
#[derive(Clone, Copy)]
enum OnDeletion {
    Ignored,
    EndsTheRun,
}

struct WrongSink {
    sink: Arc<dyn EventSink>,
    processor: Processor,
    under_way: Arc<UnderWay>,
    on_deletion: OnDeletion,
}

impl EventSink for WrongSink {
    fn primary_changed(&self, change: PrimaryChange<'_>) {
        self.sink.primary_changed(change);
    }

    fn primary_deleted(&self, key: &ObjectKey, uid: &str, last: Option<Departed>) {
        let run = self.under_way.0.lock().get(key).copied();
        match (run, self.on_deletion) {
            (Some(_), OnDeletion::Ignored) => return,
            (Some(run), OnDeletion::EndsTheRun) => {
                self.processor.send(Input::Finished { run, key: key.clone(), outcome: Outcome::Gone });
            }
            (None, _) => {}
        }
        self.sink.primary_deleted(key, uid, last);
    }

    fn related_changed(&self, primary: &ObjectKey, cause: Cause) {
        self.sink.related_changed(primary, cause);
    }
}

struct WrongRuns {
    runs: Arc<dyn RunExecutor>,
    bug: PlantedBug,
    under_way: Arc<UnderWay>,
}

impl RunExecutor for WrongRuns {
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome> {
        let (bug, guard) = (self.bug, Guard::begin(&self.under_way, &run));
        let work = self.runs.execute(run);
        async move {
            let _guard = guard;
            match (bug, work.await) {
                (PlantedBug::LostRequeue, _) => Outcome::Success { reschedule: None },
                (PlantedBug::NoBackoff, Outcome::Failed { .. }) => {
                    Outcome::Success { reschedule: Some(Duration::ZERO) }
                }
                (_, outcome) => outcome,
            }
        }
        .boxed()
    }
}

/// One run in progress.
struct Guard(Arc<UnderWay>, ObjectKey, RunId);

impl Guard {
    fn begin(under_way: &Arc<UnderWay>, run: &Run) -> Self {
        under_way.0.lock().insert(run.key.clone(), run.id);
        Self(Arc::clone(under_way), run.key.clone(), run.id)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut all = self.0.0.lock();
        if all.get(&self.1) == Some(&self.2) {
            all.remove(&self.1);
        }
    }
}
