//! Metrics: one table of names, recorded through the `metrics` crate's own `Recorder`.
//!
//! An operator records into the recorder given to [`OperatorBuilder::metrics`](crate::OperatorBuilder::metrics), or else
//! into the one that the program has installed globally. Operators that run side by side (as in tests)
//! therefore read their own metrics. With an HTTP address there is a second recorder, which `/metrics` serves. JOSDK:
//! `MicrometerMetricsV2`.
//!
//! # Guarantees
//! - No metric has the name of an object as a label: the number of metrics doesn't grow with the number of objects.
//! - Gauges don't drift: when a run ends in any way, or its controller stops, each addition is subtracted again.

mod observer;
#[cfg(feature = "http")]
mod prometheus;
mod recorders;
mod table;

pub(crate) use observer::MetricsObserver;
#[cfg(feature = "http")]
pub(crate) use prometheus::PrometheusMetrics;
pub(crate) use recorders::Recorders;
pub use table::{Metric, MetricKind};
