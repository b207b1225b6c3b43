//! The table of all metrics. A name that is not here is not recorded.

use std::fmt;

use metrics::Recorder;

/// What a metric measures and how.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name as Prometheus shows it.
    pub name: &'static str,
    /// Counter, gauge or histogram.
    pub kind: MetricKind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// One sentence for the reader of a dashboard.
    pub help: &'static str,
}

/// The kinds of metrics. Displayed with Prometheus' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        })
    }
}

impl Metric {
    /// The upper bounds of the histograms' buckets, in seconds. JOSDK's.
    pub const DURATION_BUCKETS: [f64; 10] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];

    /// All metrics that the library records.
    #[must_use]
    pub fn all() -> &'static [&'static Self] {
        METRICS
    }

    /// Gives a recorder the help text. An operator does so itself, for all metrics, when it is built.
    pub(super) fn describe(&self, recorder: &dyn Recorder) {
        let (name, help) = (self.name.into(), self.help.into());
        match self.kind {
            MetricKind::Counter => recorder.describe_counter(name, None, help),
            MetricKind::Gauge => recorder.describe_gauge(name, None, help),
            MetricKind::Histogram => recorder.describe_histogram(name, None, help),
        }
    }
}

macro_rules! table {
    ($($constant:ident = $name:literal, $kind:ident, [$($label:literal),*], $help:literal;)*) => {
        $(
            #[doc = $help]
            pub(crate) static $constant: Metric =
                Metric { name: $name, kind: MetricKind::$kind, labels: &[$($label),*], help: $help };
        )*
        /// All metrics that the library records.
        pub(super) static METRICS: &[&Metric] = &[$(&$constant),*];
    };
}

table! {
    RECONCILIATIONS_ACTIVE = "reconciliations_active", Gauge, ["controller_name"], "Runs that are being executed.";
    RECONCILIATIONS_QUEUE = "reconciliations_queue", Gauge, ["controller_name"], "Runs that wait for a free place.";
    CUSTOM_RESOURCES = "custom_resources", Gauge, ["controller_name"], "Primaries that the controller knows.";
    EXECUTION_DURATION = "reconciliations_execution_duration_seconds", Histogram, ["controller_name", "name"],
        "Duration of reconcile and cleanup, in seconds.";
    RECONCILIATIONS_STARTED = "reconciliations_started_total", Counter, ["controller_name", "namespace"],
        "Runs that were submitted.";
    RECONCILIATIONS_SUCCESS = "reconciliations_success_total", Counter, ["controller_name", "namespace"],
        "Runs that ended without an error.";
    RECONCILIATIONS_FAILURE = "reconciliations_failure_total", Counter, ["controller_name", "namespace"],
        "Runs that ended with an error.";
    RECONCILIATIONS_RETRIES = "reconciliations_retries_total", Counter, ["controller_name", "namespace"],
        "Submitted runs that were retries.";
    RECONCILER_PANICS = "reconciler_panics_total", Counter, ["controller_name", "namespace"],
        "Runs that ended in a panic of user code.";
    EVENTS_RECEIVED = "events_received_total", Counter, ["controller_name", "namespace", "event", "action"],
        "Events that passed the filters of their source.";
    WATCHES_REPLACED = "watches_replaced_total", Counter, ["controller_name", "event"],
        "Watches that fell silent and were replaced.";
    UNDECODABLE_OBJECTS = "undecodable_objects", Gauge, ["controller_name", "event"],
        "Objects that exist and can't be decoded.";
    WRITES = "api_writes_total", Counter, ["controller_name", "kind", "result"],
        "Writes to the API server, by outcome.";
    REQUESTS = "api_requests_total", Counter, ["verb", "code"],
        "Requests to the API server, each attempt; the code is `none` if there was no answer.";
    REQUEST_DURATION = "api_request_duration_seconds", Histogram, ["verb"],
        "Time until the answer to a request began, in seconds.";
    LAST_EVENT_AGE = "last_event_age_seconds", Gauge, ["controller_name", "event"],
        "Time since the last event of the source, in seconds.";
    OBJECTS_HELD = "objects_held", Gauge, ["controller_name", "event"], "Objects that the source holds in memory.";
    LONGEST_WAIT = "reconciliations_oldest_waiting_seconds", Gauge, ["controller_name"],
        "How long the oldest waiting run has waited for a free place, in seconds; 0 if none waits.";
    EVENTS_RECORDED = "kubernetes_events_total", Counter, ["controller_name", "result"],
        "Events about primaries that the controller has recorded, by outcome.";
    CONDITION_TRANSITIONS = "condition_transitions_total", Counter, ["controller_name", "condition", "status", "reason"],
        "Conditions of primaries that got this status and reason.";
    PRIMARY_CONDITIONS = "primary_conditions", Gauge, ["controller_name", "condition", "status"],
        "Primaries whose condition has this status.";
    PAUSED_PRIMARIES = "paused_primaries", Gauge, ["controller_name"], "Primaries that are paused.";
    PROCESSING_STARTED_LATENCY = "processing_started_latency_seconds", Gauge, ["controller_name"],
        "From the operator's start until the controller's first run could start, in seconds.";
    LEADER = "leader", Gauge, ["lease"], "Whether this replica leads: 1 or 0.";
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

    #[test]
    fn the_documentation_shows_this_table() {
        let page = include_str!("../../../docs/src/operating.md");
        let shown: Vec<&str> = page
            .lines()
            .skip_while(|line| *line != "| metric | type | labels | meaning |")
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .collect();
        let row = |metric: &&Metric| {
            let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
            format!("| `{}` | {} | {} | {} |", metric.name, metric.kind, labels.join(", "), metric.help)
        };
        let expected: Vec<String> = METRICS.iter().map(row).collect();
        assert_eq!(shown, expected, "the page should show\n{}\n", expected.join("\n"));
    }
}
