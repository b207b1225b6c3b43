//! Measurements in the text format of Prometheus.

use std::fmt;

use metrics::with_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use super::{Labels, Metric, Metrics, MetricsFacade};

/// A separate Prometheus recorder, in addition to the one that the program may have installed for the `metrics` crate.
///
/// An operator with an HTTP address has one and serves it; build one yourself to serve it elsewhere.
pub struct PrometheusMetrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl PrometheusMetrics {
    /// A recorder that has the table's names and buckets, and no measurement yet.
    #[must_use]
    pub fn new() -> Self {
        let recorder = PrometheusBuilder::new()
            .set_buckets(&Metric::DURATION_BUCKETS)
            .expect("there are buckets")
            .build_recorder();
        with_local_recorder(&recorder, MetricsFacade::describe);
        let handle = recorder.handle();
        Self { recorder, handle }
    }

    /// All measurements, in Prometheus' text format.
    #[must_use]
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Sorts the values of histograms into their buckets. Until then each value takes memory, so this has to be called
    /// every few seconds if [`PrometheusMetrics::render`] isn't called.
    pub fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    /// Measures through the facade, with this recorder installed for the duration of the call.
    fn with(&self, measure: impl FnOnce(MetricsFacade)) {
        with_local_recorder(&self.recorder, || measure(MetricsFacade));
    }
}

impl Default for PrometheusMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for PrometheusMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrometheusMetrics")
    }
}

impl Metrics for PrometheusMetrics {
    fn increment(&self, metric: &'static Metric, labels: Labels<'_>) {
        self.with(|facade| facade.increment(metric, labels));
    }

    fn add(&self, metric: &'static Metric, labels: Labels<'_>, delta: f64) {
        self.with(|facade| facade.add(metric, labels, delta));
    }

    fn record(&self, metric: &'static Metric, labels: Labels<'_>, value: f64) {
        self.with(|facade| facade.record(metric, labels, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::table;

    #[test]
    fn recorders_side_by_side_know_their_own_numbers_only() {
        let (one, other) = (PrometheusMetrics::new(), PrometheusMetrics::new());
        one.increment(&table::RECONCILER_PANICS, &[("controller_name", "web"), ("namespace", "shop")]);
        one.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", "web")], 3.0);
        one.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", "web")], -1.0);
        let text = one.render();
        for line in [
            "# HELP reconciler_panics_total Runs that ended in a panic of user code.",
            "# TYPE reconciler_panics_total counter",
            r#"reconciler_panics_total{controller_name="web",namespace="shop"} 1"#,
            r#"reconciliations_queue{controller_name="web"} 2"#,
        ] {
            assert!(text.lines().any(|of| of == line), "{line} is not in\n{text}");
        }
        assert_eq!(other.render(), "");
    }

    #[test]
    fn durations_are_sorted_into_the_buckets_of_the_table() {
        let metrics = PrometheusMetrics::new();
        for seconds in [0.01, 0.2, 31.0] {
            metrics.record(&table::EXECUTION_DURATION, &[("name", "reconcile")], seconds);
        }
        metrics.upkeep();
        let text = metrics.render();
        let buckets: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("reconciliations_execution_duration_seconds_bucket"))
            .collect();
        let expected = [
            ("0.01", 1),
            ("0.05", 1),
            ("0.1", 1),
            ("0.25", 2),
            ("0.5", 2),
            ("1", 2),
            ("2", 2),
            ("5", 2),
            ("10", 2),
            ("30", 2),
            ("+Inf", 3),
        ];
        let expected: Vec<String> = expected
            .iter()
            .map(|(bound, count)| format!(r#"{{name="reconcile",le="{bound}"}} {count}"#))
            .collect();
        assert_eq!(buckets, expected);
        assert!(text.contains(r#"reconciliations_execution_duration_seconds_count{name="reconcile"} 3"#));
    }
}
