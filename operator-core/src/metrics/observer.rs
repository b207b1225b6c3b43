//! Turns observations into measurements: the only place that decides which metric moves when.

use std::sync::Arc;

use super::{Metrics, table};
use crate::{
    observe::{Observation, Observer, RunEnd, WriteEffect},
    resource::ObjectKey,
};

/// The value of the `namespace` label for cluster-scoped objects.
const NO_NAMESPACE: &str = "no_namespace";

/// Records what the library does into an injected recorder.
#[derive(Debug)]
pub struct MetricsObserver {
    metrics: Arc<dyn Metrics>,
}

impl MetricsObserver {
    /// Records into `metrics`.
    #[must_use]
    pub fn new(metrics: Arc<dyn Metrics>) -> Self {
        Self { metrics }
    }
}

/// Exact up to 2^53, more than there can be of anything.
fn count(number: usize) -> f64 {
    number as f64
}

fn namespace(key: &ObjectKey) -> &str {
    key.namespace().unwrap_or(NO_NAMESPACE)
}

impl Observer for MetricsObserver {
    fn observe(&self, observation: &Observation<'_>) {
        let metrics = &*self.metrics;
        match *observation {
            Observation::ProcessingStarted { controller, after } => metrics.record(
                &table::PROCESSING_STARTED_LATENCY,
                &[("controller_name", controller)],
                after.as_secs_f64(),
            ),
            Observation::ProcessingStopped { controller, queued, primaries } => {
                let labels = [("controller_name", controller)];
                metrics.add(&table::RECONCILIATIONS_QUEUE, &labels, -count(queued));
                metrics.add(&table::CUSTOM_RESOURCES, &labels, -count(primaries));
            }
            Observation::SourceHealth { .. } | Observation::RetryScheduled { .. } => {}
            Observation::EventReceived { controller, source, key, action } => metrics.increment(
                &table::EVENTS_RECEIVED,
                &[
                    ("controller_name", controller),
                    ("namespace", namespace(key)),
                    ("event", source),
                    ("action", action.as_str()),
                ],
            ),
            Observation::PrimaryAdded { controller, .. } => {
                metrics.add(&table::CUSTOM_RESOURCES, &[("controller_name", controller)], 1.0);
            }
            Observation::PrimaryGone { controller, .. } => {
                metrics.add(&table::CUSTOM_RESOURCES, &[("controller_name", controller)], -1.0);
            }
            Observation::RunSubmitted { controller, key, attempt } => {
                let labels = [("controller_name", controller), ("namespace", namespace(key))];
                metrics.increment(&table::RECONCILIATIONS_STARTED, &labels);
                if attempt > 0 {
                    metrics.increment(&table::RECONCILIATIONS_RETRIES, &labels);
                }
                metrics.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", controller)], 1.0);
            }
            Observation::RunWithdrawn { controller, .. } => {
                metrics.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", controller)], -1.0);
            }
            Observation::RunStarted { controller, .. } => {
                metrics.add(&table::RECONCILIATIONS_QUEUE, &[("controller_name", controller)], -1.0);
                metrics.add(&table::RECONCILIATIONS_ACTIVE, &[("controller_name", controller)], 1.0);
            }
            Observation::RunFinished { controller, key, kind, end, took } => {
                metrics.add(&table::RECONCILIATIONS_ACTIVE, &[("controller_name", controller)], -1.0);
                let duration = [("controller_name", controller), ("name", kind.as_str())];
                metrics.record(&table::EXECUTION_DURATION, &duration, took.as_secs_f64());
                let labels = [("controller_name", controller), ("namespace", namespace(key))];
                match end {
                    RunEnd::Succeeded => metrics.increment(&table::RECONCILIATIONS_SUCCESS, &labels),
                    RunEnd::Abandoned => {}
                    RunEnd::Failed { panicked, .. } => {
                        metrics.increment(&table::RECONCILIATIONS_FAILURE, &labels);
                        if panicked {
                            metrics.increment(&table::RECONCILER_PANICS, &labels);
                        }
                    }
                }
            }
            Observation::Wrote { controller, target_type, effect, .. } => {
                let result = match effect {
                    WriteEffect::Created => "created",
                    WriteEffect::Updated => "updated",
                    WriteEffect::Unchanged => "unchanged",
                    WriteEffect::Matched => "matched",
                    WriteEffect::Deleted => "deleted",
                    WriteEffect::Failed { .. } => "failed",
                };
                let labels =
                    [("controller_name", controller), ("kind", target_type.kind()), ("result", result)];
                metrics.increment(&table::WRITES, &labels);
            }
        }
    }
}
