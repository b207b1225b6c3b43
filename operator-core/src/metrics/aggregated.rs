//! One measurement, many recorders.

use std::sync::Arc;

use super::{Labels, Metric, Metrics};

/// Passes every measurement on to several recorders, in their order. JOSDK's `AggregatedMetrics`.
#[derive(Clone, Debug)]
pub struct AggregatedMetrics(Arc<[Arc<dyn Metrics>]>);

impl AggregatedMetrics {
    /// Records into all of `recorders`.
    #[must_use]
    pub fn new(recorders: impl IntoIterator<Item = Arc<dyn Metrics>>) -> Self {
        Self(recorders.into_iter().collect())
    }
}

impl Metrics for AggregatedMetrics {
    fn increment(&self, metric: &'static Metric, labels: Labels<'_>) {
        self.0.iter().for_each(|recorder| recorder.increment(metric, labels));
    }

    fn add(&self, metric: &'static Metric, labels: Labels<'_>, delta: f64) {
        self.0.iter().for_each(|recorder| recorder.add(metric, labels, delta));
    }

    fn record(&self, metric: &'static Metric, labels: Labels<'_>, value: f64) {
        self.0.iter().for_each(|recorder| recorder.record(metric, labels, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Recorded, table};

    #[test]
    fn every_recorder_gets_every_measurement() {
        let (one, other) = (Arc::new(Recorded::new()), Arc::new(Recorded::new()));
        let all = AggregatedMetrics::new([Arc::clone(&one) as Arc<dyn Metrics>, Arc::clone(&other) as _]);
        all.increment(&table::WRITES, &[("kind", "Pod")]);
        all.add(&table::RECONCILIATIONS_QUEUE, &[], 2.0);
        all.record(&table::EXECUTION_DURATION, &[], 0.5);
        for recorded in [one, other] {
            assert_eq!(recorded.value("api_writes_total", &[("kind", "Pod")]), 1.0);
            assert_eq!(recorded.value("reconciliations_queue", &[]), 2.0);
            assert_eq!(recorded.values("reconciliations_execution_duration_seconds", &[]), [0.5]);
        }
    }
}
