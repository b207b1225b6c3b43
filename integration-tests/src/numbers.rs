//! An operator's metrics, as Prometheus would read them.

use std::{fmt, sync::Arc};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

/// The metrics of the operators that measure into its recorder: `builder.metrics(numbers.recorder())`.
pub struct Numbers {
    recorder: Arc<PrometheusRecorder>,
    handle: PrometheusHandle,
}

impl Default for Numbers {
    fn default() -> Self {
        let recorder = Arc::new(PrometheusBuilder::new().build_recorder());
        Self { handle: recorder.handle(), recorder }
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Numbers")
    }
}

impl Numbers {
    /// The recorder, for any number of operators.
    #[must_use]
    pub fn recorder(&self) -> Arc<PrometheusRecorder> {
        Arc::clone(&self.recorder)
    }

    /// All of them as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.handle.render()
    }

    /// The sum of all series of that name that have `labels` among their labels; zero if there are none. A histogram has a
    /// `_count` and a `_sum`.
    ///
    /// # Panics
    /// If a value isn't a number.
    #[must_use]
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |of: &str| labels.iter().all(|(name, value)| of.contains(&format!("{name}={value:?}")));
        let of_series = |line: &str| {
            let (series, value) = line.rsplit_once(' ')?;
            let (found, of) = series.split_once('{').unwrap_or((series, ""));
            (found == name && has(of)).then(|| value.parse::<f64>().expect("a number"))
        };
        self.text().lines().filter_map(of_series).sum()
    }
}
