//! The adapter to the `metrics` crate.

use metrics::{Label, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use super::{Labels, Metric, MetricKind, Metrics};

/// Passes every measurement on to the recorder that the program has installed for the `metrics` crate; without one they
/// are dropped, as is usual there.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricsFacade;

impl MetricsFacade {
    /// Gives the help text of each metric to the recorder that the program has installed.
    pub fn describe() {
        for metric in Metric::all() {
            match metric.kind {
                MetricKind::Counter => describe_counter!(metric.name, metric.help),
                MetricKind::Gauge => describe_gauge!(metric.name, metric.help),
                MetricKind::Histogram => describe_histogram!(metric.name, metric.help),
            }
        }
    }
}

fn owned(labels: Labels<'_>) -> Vec<Label> {
    labels.iter().map(|(name, value)| Label::new(*name, (*value).to_owned())).collect()
}

impl Metrics for MetricsFacade {
    fn increment(&self, metric: &'static Metric, labels: Labels<'_>) {
        counter!(metric.name, owned(labels)).increment(1);
    }

    fn add(&self, metric: &'static Metric, labels: Labels<'_>, delta: f64) {
        gauge!(metric.name, owned(labels)).increment(delta);
    }

    fn record(&self, metric: &'static Metric, labels: Labels<'_>, value: f64) {
        match metric.kind {
            MetricKind::Histogram => histogram!(metric.name, owned(labels)).record(value),
            MetricKind::Gauge | MetricKind::Counter => gauge!(metric.name, owned(labels)).set(value),
        }
    }
}
