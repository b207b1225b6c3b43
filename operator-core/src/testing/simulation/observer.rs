//! What the operator says of itself: whether two runs of one primary overlap, and whether a secret stands in a metric.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::Mutex;

use super::{Oracle, life::Life, record::Record};
use crate::{
    metrics::{Labels, Metric, Metrics},
    observe::{Observation, Observer, RunEnd},
    resource::ObjectKey,
};

/// Follows the runs of the incarnation that lives.
#[derive(Debug)]
pub(super) struct Exclusive {
    record: Arc<Record>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    life: Option<Arc<Life>>,
    running: BTreeMap<(String, ObjectKey), u32>,
    labels: BTreeSet<String>,
}

impl Exclusive {
    pub(super) fn new(record: Arc<Record>) -> Self {
        Self { record, state: Mutex::default() }
    }

    /// An incarnation begins, with no run under way.
    pub(super) fn begins(&self, life: &Arc<Life>) {
        let mut state = self.state.lock();
        state.life = Some(Arc::clone(life));
        state.running.clear();
    }

    /// The one that lives crashes.
    pub(super) fn crash(&self) {
        let life = self.state.lock().life.clone();
        if let Some(life) = life {
            life.crash();
        }
    }

    /// All values of labels that metrics were recorded with.
    pub(super) fn labels(&self) -> BTreeSet<String> {
        self.state.lock().labels.clone()
    }

    /// The primaries whose runs are under way.
    pub(super) fn under_way(&self) -> Vec<ObjectKey> {
        self.state.lock().running.keys().map(|(_, key)| key.clone()).collect()
    }

    fn label(&self, labels: Labels<'_>) {
        let mut state = self.state.lock();
        for (_, value) in labels {
            if !state.labels.contains(*value) {
                state.labels.insert((*value).to_owned());
            }
        }
    }
}

impl Observer for Exclusive {
    fn observe(&self, observation: &Observation<'_>) {
        let state = &mut *self.state.lock();
        // What the dead say, while they are taken apart, is of no concern.
        if state.life.as_ref().is_none_or(|life| !life.is_alive()) {
            return;
        }
        match observation {
            Observation::RunStarted { controller, key, .. } => {
                let runs = state.running.entry(((*controller).to_owned(), (*key).clone())).or_default();
                *runs += 1;
                if *runs > 1 {
                    self.record.violated(
                        Oracle::OneRun,
                        format!("{controller}: {runs} runs of {key} at the same time"),
                    );
                }
            }
            Observation::RunFinished { controller, key, end, .. } => {
                if let RunEnd::Failed { error, panicked: true } = end {
                    self.record
                        .violated(Oracle::Alive, format!("{controller}: the run of {key} panics: {error}"));
                }
                let key = ((*controller).to_owned(), (*key).clone());
                match state.running.get_mut(&key) {
                    Some(runs) if *runs > 1 => *runs -= 1,
                    _ => drop(state.running.remove(&key)),
                }
            }
            _ => {}
        }
    }
}

impl Metrics for Exclusive {
    fn increment(&self, _: &'static Metric, labels: Labels<'_>) {
        self.label(labels);
    }

    fn add(&self, _: &'static Metric, labels: Labels<'_>, _: f64) {
        self.label(labels);
    }

    fn record(&self, _: &'static Metric, labels: Labels<'_>, _: f64) {
        self.label(labels);
    }
}
