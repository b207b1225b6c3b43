//! Measurements in memory.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::{Labels, Metric, MetricKind, Metrics};

type Series = (&'static str, Vec<(&'static str, String)>);

/// Keeps what an operator measures, for tests: `builder.metrics(Arc::clone(&recorded))`. The values of histograms are
/// kept one by one, so it is not for production.
#[derive(Debug, Default)]
pub struct Recorded {
    numbers: Mutex<BTreeMap<Series, f64>>,
    values: Mutex<BTreeMap<Series, Vec<f64>>>,
}

fn series(metric: &'static Metric, labels: Labels<'_>) -> Series {
    (metric.name, labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
}

/// The series of that name that have all of `labels`.
fn find<'s, T>(
    all: &'s BTreeMap<Series, T>,
    name: &'s str,
    labels: Labels<'s>,
) -> impl Iterator<Item = &'s T> {
    let has = |of: &[(&str, String)]| {
        labels.iter().all(|(name, value)| of.iter().any(|of| of.0 == *name && of.1 == *value))
    };
    all.iter().filter(move |((of, with), _)| *of == name && has(with)).map(|(_, number)| number)
}

impl Recorded {
    /// Without measurements.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The sum of all counters or gauges of that name that have `labels` among their labels; zero if there are none.
    #[must_use]
    pub fn value(&self, name: &str, labels: Labels<'_>) -> f64 {
        find(&self.numbers.lock(), name, labels).sum()
    }

    /// The values of all histograms of that name that have `labels` among their labels: one series after another, each
    /// in the order of time.
    #[must_use]
    pub fn values(&self, name: &str, labels: Labels<'_>) -> Vec<f64> {
        find(&self.values.lock(), name, labels).flatten().copied().collect()
    }

    /// All series, in the notation of Prometheus: `name{label="value"}`.
    #[must_use]
    pub fn series(&self) -> Vec<String> {
        let print = |(name, labels): &Series| {
            let labels: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
            format!("{name}{{{}}}", labels.join(","))
        };
        let mut series: Vec<String> = self.numbers.lock().keys().map(print).collect();
        series.extend(self.values.lock().keys().map(print));
        series
    }
}

impl Metrics for Recorded {
    fn increment(&self, metric: &'static Metric, labels: Labels<'_>) {
        self.add(metric, labels, 1.0);
    }

    fn add(&self, metric: &'static Metric, labels: Labels<'_>, delta: f64) {
        *self.numbers.lock().entry(series(metric, labels)).or_default() += delta;
    }

    fn record(&self, metric: &'static Metric, labels: Labels<'_>, value: f64) {
        let series = series(metric, labels);
        match metric.kind {
            MetricKind::Histogram => self.values.lock().entry(series).or_default().push(value),
            MetricKind::Gauge | MetricKind::Counter => {
                self.numbers.lock().insert(series, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::table;

    #[test]
    fn series_are_found_by_some_of_their_labels_and_added_up() {
        let recorded = Recorded::new();
        for (kind, result) in [("Pod", "created"), ("Pod", "updated"), ("Secret", "created")] {
            recorded.increment(&table::WRITES, &[("kind", kind), ("result", result)]);
        }
        assert_eq!(recorded.value("api_writes_total", &[]), 3.0);
        assert_eq!(recorded.value("api_writes_total", &[("kind", "Pod")]), 2.0);
        assert_eq!(recorded.value("api_writes_total", &[("result", "created"), ("kind", "Secret")]), 1.0);
        assert_eq!(recorded.value("api_writes_total", &[("kind", "Service")]), 0.0);
        assert_eq!(recorded.value("api_writes", &[]), 0.0);
    }
}
