//! Measurements in the text format of Prometheus.

use std::{sync::Arc, time::Duration};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use metrics_util::MetricKindMask;

use super::Metric;

/// A counter that hasn't changed for this long isn't shown until it changes again: namespaces come and go.
const SHOWN_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The recorder of an HTTP listener.
pub(crate) struct PrometheusMetrics {
    pub(crate) recorder: Arc<PrometheusRecorder>,
    handle: PrometheusHandle,
}

impl PrometheusMetrics {
    /// All measurements, in Prometheus' text format.
    pub(crate) fn render(&self) -> String {
        self.handle.render()
    }

    /// Sorts the values of histograms into their buckets. Until then each value takes memory, so this has to be called
    /// every few seconds if [`PrometheusMetrics::render`] isn't called.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}

impl Default for PrometheusMetrics {
    /// A recorder that has the table's buckets, and no measurement yet.
    fn default() -> Self {
        Self::showing_for(SHOWN_FOR)
    }
}

impl PrometheusMetrics {
    fn showing_for(time: Duration) -> Self {
        let recorder = PrometheusBuilder::new()
            .set_buckets(&Metric::DURATION_BUCKETS)
            .expect("there are buckets")
            .idle_timeout(MetricKindMask::COUNTER, Some(time))
            .build_recorder();
        Self { handle: recorder.handle(), recorder: Arc::new(recorder) }
    }
}

debug_of!(PrometheusMetrics: "PrometheusMetrics");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Recorders, table};

    fn recorders(metrics: &PrometheusMetrics) -> Recorders {
        let recorders = Recorders { given: Some(Arc::clone(&metrics.recorder) as _), served: None };
        recorders.describe();
        recorders
    }

    #[test]
    fn recorders_side_by_side_know_their_own_numbers_only() {
        let [one, other] = [(); 2].map(|()| PrometheusMetrics::default());
        let _other = recorders(&other);
        let recorders = recorders(&one);
        recorders.increment(&table::RECONCILER_PANICS, &[("controller_name", "web"), ("namespace", "shop")]);
        recorders.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", "web")], 3.0);
        recorders.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", "web")], -1.0);
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
    fn the_counters_of_namespaces_that_are_gone_go_too() {
        let metrics = PrometheusMetrics::showing_for(Duration::from_millis(1));
        let recorders = recorders(&metrics);
        recorders.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", "web")], 3.0);
        let series = |text: &str| text.lines().filter(|line| line.contains("namespace=")).count();
        for round in 0..100 {
            let namespace = format!("namespace-{round}");
            let labels = [("controller_name", "web"), ("namespace", &*namespace)];
            recorders.increment(&table::RECONCILIATIONS_STARTED, &labels);
            recorders.increment(&table::RECONCILIATIONS_SUCCESS, &labels);
        }
        assert_eq!(series(&metrics.render()), 200);
        let goes = (0..5_000).any(|_| series(&metrics.render()) == 0);
        assert!(goes && metrics.render().contains(r#"reconciliations_queue{controller_name="web"} 3"#));
        // It begins again.
        let labels = [("controller_name", "web"), ("namespace", "namespace-1")];
        recorders.increment(&table::RECONCILIATIONS_STARTED, &labels);
        assert!(metrics.render().contains(r#"{controller_name="web",namespace="namespace-1"} 1"#));
    }

    #[test]
    fn durations_are_sorted_into_the_buckets_of_the_table() {
        let metrics = PrometheusMetrics::default();
        let recorders = recorders(&metrics);
        for seconds in [0.01, 0.2, 31.0] {
            recorders.record(&table::EXECUTION_DURATION, &[("name", "reconcile")], seconds);
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
