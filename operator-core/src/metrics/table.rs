//! The table of all metrics. A name that is not here is not recorded.

/// What a metric measures and how.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name as Prometheus shows it.
    pub name: &'static str,
    /// Counter, gauge or histogram.
    pub kind: MetricKind,
    /// One sentence for the reader of a dashboard.
    pub help: &'static str,
}

/// The kinds of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

macro_rules! table {
    ($($constant:ident = $name:literal, $kind:ident, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub(crate) static $constant: Metric = Metric { name: $name, kind: MetricKind::$kind, help: $help };
        )*
        /// All metrics that the library records.
        pub static METRICS: &[&Metric] = &[$(&$constant),*];
    };
}

table! {
    RECONCILIATIONS_ACTIVE = "reconciliations_active", Gauge, "Runs that are being executed.";
    RECONCILIATIONS_QUEUE = "reconciliations_queue", Gauge, "Runs that wait for a free place.";
    CUSTOM_RESOURCES = "custom_resources", Gauge, "Primaries that the controller knows.";
    EXECUTION_DURATION = "reconciliations_execution_duration_seconds", Histogram,
        "Duration of reconcile and cleanup, in seconds.";
    RECONCILIATIONS_STARTED = "reconciliations_started_total", Counter, "Runs that were submitted.";
    RECONCILIATIONS_SUCCESS = "reconciliations_success_total", Counter, "Runs that ended without an error.";
    RECONCILIATIONS_FAILURE = "reconciliations_failure_total", Counter, "Runs that ended with an error.";
    RECONCILIATIONS_RETRIES = "reconciliations_retries_total", Counter, "Submitted runs that were retries.";
    RECONCILER_PANICS = "reconciler_panics_total", Counter, "Runs that ended in a panic of user code.";
    EVENTS_RECEIVED = "events_received_total", Counter, "Events that passed the filters of their source.";
    WRITES = "api_writes_total", Counter, "Writes to the API server, by what came of them.";
    PROCESSING_STARTED_LATENCY = "processing_started_latency_seconds", Gauge,
        "From the operator's start until the controller's first run could start, in seconds.";
}

/// Tells the installed exporter of the `metrics` crate the help text of each metric.
pub fn describe() {
    for metric in METRICS {
        match metric.kind {
            MetricKind::Counter => metrics::describe_counter!(metric.name, metric.help),
            MetricKind::Gauge => metrics::describe_gauge!(metric.name, metric.help),
            MetricKind::Histogram => metrics::describe_histogram!(metric.name, metric.help),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_end_as_their_kind_demands() {
        let names: BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS {
            assert_eq!(
                metric.kind == MetricKind::Counter,
                metric.name.ends_with("_total"),
                "{}",
                metric.name
            );
        }
    }
}
