//! The metrics of one operator, for tests.

use std::{collections::BTreeMap, sync::Arc};

use operator_core::metrics::{Labels, Metric, Metrics};
use parking_lot::Mutex;

/// Keeps what is measured. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Numbers(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

impl Numbers {
    /// The sum of what was measured for a metric, written as Prometheus would: `name{label="value"}` with the labels in
    /// the alphabetical order of their names. Zero for one that was never touched.
    #[must_use]
    pub fn sum(&self, series: &str) -> f64 {
        self.0.lock().get(series).map_or(0.0, |values| values.iter().sum())
    }

    /// How many times something was measured for a metric.
    #[must_use]
    pub fn times(&self, series: &str) -> usize {
        self.0.lock().get(series).map_or(0, Vec::len)
    }

    /// All that was ever measured.
    #[must_use]
    pub fn series(&self) -> Vec<String> {
        self.0.lock().keys().cloned().collect()
    }

    fn note(&self, metric: &Metric, labels: Labels<'_>, value: f64) {
        let mut labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        labels.sort();
        let series = format!("{}{{{}}}", metric.name, labels.join(","));
        self.0.lock().entry(series).or_default().push(value);
    }
}

impl Metrics for Numbers {
    fn increment(&self, metric: &'static Metric, labels: Labels<'_>) {
        self.note(metric, labels, 1.0);
    }

    fn add(&self, metric: &'static Metric, labels: Labels<'_>, delta: f64) {
        self.note(metric, labels, delta);
    }

    fn record(&self, metric: &'static Metric, labels: Labels<'_>, value: f64) {
        self.note(metric, labels, value);
    }
}
