//! What the operator reports about itself: whether two runs of one primary overlap, how often it runs, whether it
//! reveals a secret.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use parking_lot::Mutex;

use super::{
    Oracle,
    life::Life,
    record::{ScheduleRecord, seconds},
};
use crate::{
    observe::{Observation, Observer, RunEnd},
    resource::ObjectKey,
};

/// A primary of a controller.
type Primary = (String, ObjectKey);

/// Follows the runs of the current incarnation.
#[derive(Debug)]
pub(super) struct Exclusive {
    record: Arc<ScheduleRecord>,
    state: Mutex<RunsInProgress>,
}

#[derive(Debug, Default)]
struct RunsInProgress {
    life: Option<Arc<Life>>,
    running: BTreeMap<Primary, u32>,
    /// How often each primary has been run, over all lives.
    runs: BTreeMap<Primary, u64>,
    /// The names of metrics and of their labels, and the values of the labels.
    metrics: BTreeSet<String>,
}

impl Exclusive {
    pub(super) fn new(record: Arc<ScheduleRecord>) -> Self {
        Self { record, state: Mutex::default() }
    }

    /// An incarnation starts, with no run in progress.
    pub(super) fn begins(&self, life: &Arc<Life>) {
        let mut state = self.state.lock();
        state.life = Some(Arc::clone(life));
        state.running.clear();
    }

    /// The current one crashes.
    pub(super) fn crash(&self) {
        let life = self.state.lock().life.clone();
        if let Some(life) = life {
            life.crash();
        }
    }

    /// How often each primary has been run so far.
    pub(super) fn runs(&self) -> BTreeMap<Primary, u64> {
        self.state.lock().runs.clone()
    }

    /// The number of runs that are in progress according to the operator.
    pub(super) fn under_way(&self) -> u32 {
        self.state.lock().running.values().sum()
    }

    /// The primaries whose runs are in progress.
    pub(super) fn running(&self) -> Vec<ObjectKey> {
        self.state.lock().running.keys().map(|(_, key)| key.clone()).collect()
    }

    /// Searches for secrets in what metrics were recorded with so far.
    pub(super) fn look_at_metrics(&self) {
        let metrics = self.state.lock().metrics.clone();
        metrics.iter().for_each(|text| self.record.canaries.look_at(text, || "a metric".to_owned()));
    }

    fn measures(&self, key: &Key) {
        let mut state = self.state.lock();
        let labels = key.labels().flat_map(|label| [label.key(), label.value()]);
        for text in [key.name()].into_iter().chain(labels) {
            if !state.metrics.contains(text) {
                state.metrics.insert(text.to_owned());
            }
        }
    }

    /// Reasons and errors are part of observations, and from there of what users see.
    fn look_at(&self, observation: &Observation<'_>) {
        if self.record.canaries.listen() {
            let text = format!("{observation:?}");
            let what = text.split(' ').next().unwrap_or_default().to_owned();
            self.record.canaries.look_at(&text, || format!("told to observers by {what}"));
        }
    }
}

impl Observer for Exclusive {
    fn observe(&self, observation: &Observation<'_>) {
        // What an operator reports after its crash doesn't matter.
        if self.state.lock().life.as_ref().is_none_or(|life| !life.is_alive()) {
            return;
        }
        self.look_at(observation);
        let state = &mut *self.state.lock();
        match observation {
            Observation::RunStarted { controller, key, .. } => {
                let primary = ((*controller).to_owned(), (*key).clone());
                *state.runs.entry(primary.clone()).or_default() += 1;
                let runs = state.running.entry(primary).or_default();
                *runs += 1;
                if *runs > 1 {
                    self.record.violated(
                        Oracle::OneRun,
                        format!("{controller}: {runs} runs of {key} at the same time"),
                    );
                }
            }
            Observation::RunFinished { controller, key, end, .. } => {
                match end {
                    RunEnd::Failed { error, panicked: true } => self
                        .record
                        .violated(Oracle::Alive, format!("{controller}: the run of {key} panics: {error}")),
                    RunEnd::Failed { error, panicked: false } => {
                        let now = seconds(self.record.now());
                        self.record.complaints.complain(format_args!("{now}a run of {key} fails: {error}"));
                    }
                    RunEnd::Succeeded | RunEnd::Abandoned => {}
                }
                let primary = ((*controller).to_owned(), (*key).clone());
                match state.running.get_mut(&primary) {
                    Some(runs) if *runs > 1 => *runs -= 1,
                    _ => drop(state.running.remove(&primary)),
                }
            }
            _ => {}
        }
    }
}

impl Recorder for Exclusive {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.measures(key);
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.measures(key);
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.measures(key);
        Histogram::noop()
    }
}
