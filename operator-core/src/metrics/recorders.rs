//! Where the measurements of one operator go.

use std::sync::Arc;

use metrics::{Key, Label, Level, Metadata, Recorder, with_recorder};

use super::{Metric, MetricKind};

/// Labels of one measurement: names and values.
type Labels<'a> = &'a [(&'static str, &'a str)];

static METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

/// The recorder that an operator was given, or else the program's, and the one of its HTTP listener, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Recorders {
    pub(crate) given: Option<Arc<dyn Recorder + Send + Sync>>,
    pub(crate) served: Option<Arc<dyn Recorder + Send + Sync>>,
}

debug_of!(Recorders: "Recorders");

impl Recorders {
    /// Gives each recorder the help text of every metric.
    pub(crate) fn describe(&self) {
        for metric in Metric::all() {
            self.each(|recorder| metric.describe(recorder));
        }
    }

    /// Adds one to a counter.
    pub(super) fn increment(&self, metric: &'static Metric, labels: Labels<'_>) {
        let key = key(metric, labels);
        self.each(|recorder| recorder.register_counter(&key, &METADATA).increment(1));
    }

    /// Adds `delta`, which may be negative, to a gauge.
    pub(super) fn add(&self, metric: &'static Metric, labels: Labels<'_>, delta: f64) {
        let key = key(metric, labels);
        self.each(|recorder| recorder.register_gauge(&key, &METADATA).increment(delta));
    }

    /// Records one value of a histogram or sets a gauge.
    pub(super) fn record(&self, metric: &'static Metric, labels: Labels<'_>, value: f64) {
        let key = key(metric, labels);
        self.each(|recorder| match metric.kind {
            MetricKind::Histogram => recorder.register_histogram(&key, &METADATA).record(value),
            MetricKind::Gauge | MetricKind::Counter => recorder.register_gauge(&key, &METADATA).set(value),
        });
    }

    fn each(&self, measure: impl Fn(&dyn Recorder)) {
        match &self.given {
            Some(given) => measure(given),
            None => with_recorder(&measure),
        }
        if let Some(served) = &self.served {
            measure(served);
        }
    }
}

fn key(metric: &'static Metric, labels: Labels<'_>) -> Key {
    let labels: Vec<Label> =
        labels.iter().map(|(name, value)| Label::new(*name, (*value).to_owned())).collect();
    Key::from_parts(metric.name, labels)
}

#[cfg(test)]
mod tests {
    use metrics::with_local_recorder;
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;
    use crate::metrics::table;

    #[test]
    fn every_recorder_gets_every_measurement() {
        let [given, served] = [(); 2].map(|()| PrometheusBuilder::new().build_recorder());
        let handles = [given.handle(), served.handle()];
        let all = Recorders { given: Some(Arc::new(given)), served: Some(Arc::new(served)) };
        all.increment(&table::WRITES, &[("kind", "Pod")]);
        all.add(&table::RECONCILIATIONS_QUEUE, &[], 2.0);
        all.record(&table::EXECUTION_DURATION, &[], 0.5);
        for handle in handles {
            let text = handle.render();
            for line in [
                r#"api_writes_total{kind="Pod"} 1"#,
                "reconciliations_queue 2",
                "reconciliations_execution_duration_seconds_sum 0.5",
            ] {
                assert!(text.lines().any(|of| of == line), "{line} is not in\n{text}");
            }
        }
    }

    #[test]
    fn the_recorder_of_the_program_is_used_only_if_none_was_given() {
        let [program, own] = [(); 2].map(|()| PrometheusBuilder::new().build_recorder());
        let (of_program, of_own) = (program.handle(), own.handle());
        with_local_recorder(&program, || {
            Recorders { given: Some(Arc::new(own)), served: None }.increment(&table::WRITES, &[]);
        });
        assert_eq!((of_program.render().is_empty(), of_own.render().is_empty()), (true, false));
        with_local_recorder(&program, || Recorders::default().increment(&table::WRITES, &[]));
        assert!(of_program.render().contains("api_writes_total 1"));
    }
}
