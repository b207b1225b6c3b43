//! What a test's reconciler did, and when.

use std::sync::Arc;

use kube::Resource;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The runs of a reconciler. Clones share the record.
#[derive(Clone, Debug, Default)]
pub struct RunRecord(Arc<Mutex<Vec<(String, Instant)>>>);

impl RunRecord {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a run of `object`, and says which one of the object's runs it is, counted from one.
    pub fn note<K: Resource>(&self, object: &K) -> usize {
        let name = object.meta().name.clone().unwrap_or_default();
        let mut runs = self.0.lock();
        runs.push((name.clone(), Instant::now()));
        runs.iter().filter(|(of, _)| *of == name).count()
    }

    /// How many runs there were.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// When the runs of the object called `name` started.
    #[must_use]
    pub fn instants(&self, name: &str) -> Vec<Instant> {
        self.0.lock().iter().filter(|(of, _)| of == name).map(|(_, instant)| *instant).collect()
    }
}
