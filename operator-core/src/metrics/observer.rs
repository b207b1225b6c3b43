//! Turns observations into measurements: the only code that decides which metric changes when.

use std::{collections::BTreeMap, time::Duration};

use http::StatusCode;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{Recorders, table};
use crate::{
    observe::{Observation, Observer, RunEnd, WriteEffect},
    resource::ObjectKey,
};

/// The value of the `namespace` label for cluster-scoped objects.
const NO_NAMESPACE: &str = "no_namespace";

/// Records what the library does.
#[derive(Debug)]
pub(crate) struct MetricsObserver {
    metrics: Recorders,
    last_events: LastEvents,
}

/// When each source of each controller had its last event.
#[derive(Debug, Default)]
struct LastEvents(Mutex<BTreeMap<String, BTreeMap<String, Instant>>>);

impl LastEvents {
    fn note(&self, controller: &str, source: &str) {
        let mut all = self.0.lock();
        if let Some(last) = all.get_mut(controller).and_then(|of| of.get_mut(source)) {
            *last = Instant::now();
            return;
        }
        all.entry(controller.to_owned()).or_default().insert(source.to_owned(), Instant::now());
    }

    fn age(&self, controller: &str, source: &str) -> Option<Duration> {
        Some(self.0.lock().get(controller)?.get(source)?.elapsed())
    }

    fn forget(&self, controller: &str) {
        self.0.lock().remove(controller);
    }
}

impl MetricsObserver {
    /// Records into `metrics`.
    #[must_use]
    pub(crate) fn new(metrics: Recorders) -> Self {
        Self { metrics, last_events: LastEvents::default() }
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
        let metrics = &self.metrics;
        match *observation {
            Observation::ProcessingStarted { controller, after } => metrics.record(
                &table::PROCESSING_STARTED_LATENCY,
                &[("controller_name", controller)],
                after.as_secs_f64(),
            ),
            Observation::ProcessingStopped { controller, queued, primaries } => {
                let labels = [("controller_name", controller)];
                self.last_events.forget(controller);
                metrics.record(&table::LONGEST_WAIT, &labels, 0.0);
                metrics.add(&table::RECONCILIATIONS_QUEUE, &labels, -count(queued));
                metrics.add(&table::CUSTOM_RESOURCES, &labels, -count(primaries));
            }
            Observation::Leadership { lease, leads, .. } => {
                metrics.record(&table::LEADER, &[("lease", lease)], f64::from(u8::from(leads)));
            }
            Observation::SourceHealth { .. }
            | Observation::SourceStopped { .. }
            | Observation::NodeState { .. }
            | Observation::RetryScheduled { .. } => {}
            Observation::SourceRemoved { controller, source } => {
                let labels = [("controller_name", controller), ("event", source)];
                self.last_events.0.lock().get_mut(controller).and_then(|of| of.remove(source));
                for gauge in [&table::UNDECODABLE_OBJECTS, &table::OBJECTS_HELD, &table::LAST_EVENT_AGE] {
                    metrics.record(gauge, &labels, 0.0);
                }
            }
            Observation::UndecodableObjects { controller, source, objects } => {
                let labels = [("controller_name", controller), ("event", source)];
                metrics.record(&table::UNDECODABLE_OBJECTS, &labels, count(objects));
            }
            Observation::WatchReplaced { controller, source } => {
                let labels = [("controller_name", controller), ("event", source)];
                metrics.increment(&table::WATCHES_REPLACED, &labels);
            }
            Observation::EventReceived { controller, source, key, action } => {
                self.last_events.note(controller, source);
                let labels = [
                    ("controller_name", controller),
                    ("namespace", namespace(key)),
                    ("event", source),
                    ("action", action.as_str()),
                ];
                metrics.increment(&table::EVENTS_RECEIVED, &labels);
            }
            Observation::Requested { verb, code, took } => {
                let code = code.and_then(|code| StatusCode::from_u16(code).ok());
                let labels = [("verb", verb), ("code", code.as_ref().map_or("none", StatusCode::as_str))];
                metrics.increment(&table::REQUESTS, &labels);
                metrics.record(&table::REQUEST_DURATION, &labels[..1], took.as_secs_f64());
            }
            Observation::SourceSeen { controller, source, objects } => {
                let labels = [("controller_name", controller), ("event", source)];
                if let Some(age) = self.last_events.age(controller, source) {
                    metrics.record(&table::LAST_EVENT_AGE, &labels, age.as_secs_f64());
                }
                if let Some(objects) = objects {
                    metrics.record(&table::OBJECTS_HELD, &labels, count(objects));
                }
            }
            Observation::ControllerSeen { controller, longest_wait } => {
                let labels = [("controller_name", controller)];
                metrics.record(&table::LONGEST_WAIT, &labels, longest_wait.as_secs_f64());
            }
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
            Observation::ConditionChanged { controller, condition, before, now, message, .. } => {
                let of =
                    |status| [("controller_name", controller), ("condition", condition), ("status", status)];
                if let Some((status, _)) = before {
                    metrics.add(&table::PRIMARY_CONDITIONS, &of(status), -1.0);
                }
                if let Some((status, reason)) = now {
                    let [controller, condition, status] = of(status);
                    metrics.add(&table::PRIMARY_CONDITIONS, &[controller, condition, status], 1.0);
                    if message.is_some() {
                        let labels = [controller, condition, status, ("reason", reason)];
                        metrics.increment(&table::CONDITION_TRANSITIONS, &labels);
                    }
                }
            }
            Observation::PrimaryPaused { controller, paused, .. } => {
                let change = if paused { 1.0 } else { -1.0 };
                metrics.add(&table::PAUSED_PRIMARIES, &[("controller_name", controller)], change);
            }
            Observation::EventRecorded { controller, outcome, .. } => {
                let labels = [("controller_name", controller), ("result", outcome.as_str())];
                metrics.increment(&table::EVENTS_RECORDED, &labels);
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;
    use crate::{
        metrics::Metric,
        observe::{Action, EventOutcome, RunKind},
        resource::ResourceType,
    };

    /// The documented metrics are the recorded ones.
    #[test]
    fn every_metric_of_the_table_is_recorded_with_the_labels_of_the_table() {
        let (controller, key) = ("web", &ObjectKey::namespaced("shop", "one"));
        let pod = ResourceType::of::<k8s_openapi::api::core::v1::Pod>();
        let took = Duration::from_secs(1);
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        let observer = MetricsObserver::new(Recorders { given: Some(Arc::new(recorder)), served: None });
        let finished = |end| {
            let kind = RunKind::Reconcile;
            Observation::RunFinished { controller, key, kind, end, took }
        };
        for observation in [
            Observation::ProcessingStarted { controller, after: took },
            Observation::WatchReplaced { controller, source: "Pod" },
            Observation::UndecodableObjects { controller, source: "Pod", objects: 1 },
            Observation::EventReceived { controller, source: "Pod", key, action: Action::Added },
            Observation::Leadership { lease: "web", identity: "one", leads: true },
            Observation::Requested { verb: "get", code: Some(200), took },
            Observation::SourceSeen { controller, source: "Pod", objects: Some(1) },
            Observation::ControllerSeen { controller, longest_wait: took },
            Observation::PrimaryAdded { controller, key },
            Observation::RunSubmitted { controller, key, attempt: 1 },
            Observation::RunStarted { controller, key, because: "", attempt: 1 },
            finished(RunEnd::Succeeded),
            finished(RunEnd::Failed { error: "", panicked: true }),
            Observation::ConditionChanged {
                controller,
                key,
                condition: "Ready",
                before: None,
                now: Some(("True", "Succeeded")),
                message: Some(""),
            },
            Observation::PrimaryPaused { controller, key, paused: true },
            Observation::EventRecorded {
                controller,
                primary: key,
                reason: "Created",
                outcome: EventOutcome::Created,
            },
            Observation::Wrote {
                controller,
                primary: key,
                target_type: &pod,
                target: key,
                subresource: None,
                effect: WriteEffect::Created,
                took,
            },
        ] {
            observer.observe(&observation);
        }
        let names = |labels: &str| -> Vec<String> {
            labels.split(',').filter_map(|label| Some(label.split_once('=')?.0.to_owned())).collect()
        };
        let text = handle.render();
        let found: BTreeSet<(&str, Vec<String>)> = text
            .lines()
            .filter(|series| !series.starts_with('#') && !series.contains("quantile="))
            .filter_map(|series| series.split_once('{').map(|(name, labels)| (name, names(labels))))
            .filter(|(name, _)| !name.ends_with("_count"))
            .map(|(name, labels)| (name.strip_suffix("_sum").unwrap_or(name), labels))
            .collect();
        let expected: BTreeSet<(&str, Vec<String>)> = Metric::all()
            .iter()
            .map(|metric| (metric.name, metric.labels.iter().map(|label| (*label).to_owned()).collect()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_source_that_has_stopped_holds_nothing() {
        let (controller, key) = ("web", &ObjectKey::namespaced("shop", "one"));
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        let observer = MetricsObserver::new(Recorders { given: Some(Arc::new(recorder)), served: None });
        let seen = |objects| Observation::SourceSeen { controller, source: "Pod", objects };
        for observation in [
            Observation::UndecodableObjects { controller, source: "Pod", objects: 2 },
            Observation::EventReceived { controller, source: "Pod", key, action: Action::Added },
            seen(Some(3)),
            Observation::SourceRemoved { controller, source: "Pod" },
            // No value is left that could have an age.
            seen(None),
        ] {
            observer.observe(&observation);
        }
        let text = handle.render();
        for gauge in ["undecodable_objects", "objects_held", "last_event_age_seconds"] {
            let line = format!(r#"{gauge}{{controller_name="web",event="Pod"}} 0"#);
            assert!(text.lines().any(|of| of == line), "{line} is not in\n{text}");
        }
    }
}
