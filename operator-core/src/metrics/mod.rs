//! Metrics: one table of names, recorded through an injected recorder.
//!
//! The library never uses a global recorder by itself: each operator has an `Arc<dyn Metrics>`, so operators that run
//! side by side (as in tests) read their own metrics. [`MetricsFacade`] passes everything to the `metrics` crate, and
//! so to the exporter that the program has installed; [`PrometheusMetrics`] is what the operator's own HTTP listener
//! serves; [`Recorded`] is for tests; [`AggregatedMetrics`] fans out. JOSDK's `MicrometerMetricsV2`.
//!
//! # Guarantees
//! - No metric carries the name of an object: their number stays bounded however many objects there are.
//! - Gauges don't drift: however a run ends, and whenever its controller stops, what was added is subtracted again.

mod aggregated;
mod facade;
mod observer;
mod prometheus;
mod recorded;
mod table;

use std::fmt;

pub use aggregated::AggregatedMetrics;
pub use facade::MetricsFacade;
pub(crate) use observer::MetricsObserver;
pub use prometheus::PrometheusMetrics;
pub use recorded::Recorded;
pub use table::{Metric, MetricKind};

/// Labels of one measurement: names and values.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// Takes measurements. Implementations must not block.
pub trait Metrics: fmt::Debug + Send + Sync {
    /// Adds one to a counter.
    fn increment(&self, metric: &'static Metric, labels: Labels<'_>);

    /// Adds `delta`, which may be negative, to a gauge.
    fn add(&self, metric: &'static Metric, labels: Labels<'_>, delta: f64);

    /// Records one value of a histogram or sets a gauge.
    fn record(&self, metric: &'static Metric, labels: Labels<'_>, value: f64);
}
