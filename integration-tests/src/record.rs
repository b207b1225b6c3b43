//! What a test's reconciler did, and when.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use kube::Resource;
use operator_core::{Context, observe::Causes, resource::KubeObject};
use parking_lot::Mutex;
use tokio::time::Instant;

/// One run, as the reconciler saw it.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// The name of its object.
    pub name: String,
    /// The uid of that object.
    pub uid: String,
    /// Why it ran; empty if the test didn't record it.
    pub causes: Causes,
    /// The number of the retry; `None` if no failure came before.
    pub attempt: Option<u32>,
    /// When it started.
    pub started: Instant,
    /// Whether it has ended, in any way: a dropped run has ended, too.
    pub ended: bool,
}

#[derive(Debug, Default)]
struct Inner {
    runs: Vec<RecordedRun>,
    /// Counted as they come, because a test may create and delete a hundred thousand objects.
    by_name: HashMap<String, Counted>,
    under_way: usize,
    most_at_once: usize,
    overlapping: BTreeSet<String>,
}

/// The runs of one object.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    all: usize,
    under_way: usize,
}

/// The runs of a reconciler. Clones share the record.
#[derive(Clone, Debug, Default)]
pub struct RunRecord(Arc<Mutex<Inner>>);

/// A run in progress; it has ended when this is dropped.
#[derive(Debug)]
#[must_use = "the run has ended when this is dropped"]
pub struct RunGuard {
    record: RunRecord,
    position: usize,
    number: usize,
}

impl RunGuard {
    /// Its number among the object's runs, counted from one.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        let inner = &mut *self.record.0.lock();
        let run = &mut inner.runs[self.position];
        run.ended = true;
        inner.under_way -= 1;
        if let Some(counted) = inner.by_name.get_mut(&run.name) {
            counted.under_way -= 1;
        }
    }
}

impl RunRecord {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a run of `object` that isn't followed further, and returns its number among the object's runs, counted from
    /// one.
    pub fn note<K: Resource>(&self, object: &K) -> usize {
        self.add(object, Causes::NONE, None).number
    }

    /// Notes the start of a run of `object`. It counts as in progress until the guard is dropped.
    pub fn begin<K: KubeObject>(&self, object: &K, context: &Context<K>) -> RunGuard {
        self.add(object, context.causes(), context.retry_info().map(|retry| retry.attempt))
    }

    fn add<K: Resource>(&self, object: &K, causes: Causes, attempt: Option<u32>) -> RunGuard {
        let name = object.meta().name.clone().unwrap_or_default();
        let uid = object.meta().uid.clone().unwrap_or_default();
        let inner = &mut *self.0.lock();
        let counted = inner.by_name.entry(name.clone()).or_default();
        if counted.under_way > 0 {
            inner.overlapping.insert(name.clone());
        }
        counted.all += 1;
        counted.under_way += 1;
        let number = counted.all;
        inner.under_way += 1;
        inner.most_at_once = inner.most_at_once.max(inner.under_way);
        inner.runs.push(RecordedRun { name, uid, causes, attempt, started: Instant::now(), ended: false });
        RunGuard { record: self.clone(), position: inner.runs.len() - 1, number }
    }

    /// How many runs there were.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().runs.len()
    }

    /// How many runs are in progress.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.0.lock().under_way
    }

    /// The maximum number of concurrent runs.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.0.lock().most_at_once
    }

    /// The names with two concurrent runs.
    #[must_use]
    pub fn overlapping(&self) -> BTreeSet<String> {
        self.0.lock().overlapping.clone()
    }

    /// The runs of the object called `name`.
    #[must_use]
    pub fn of(&self, name: &str) -> Vec<RecordedRun> {
        self.0.lock().runs.iter().filter(|run| run.name == name).cloned().collect()
    }

    /// When the runs of the object called `name` started.
    #[must_use]
    pub fn instants(&self, name: &str) -> Vec<Instant> {
        self.of(name).iter().map(|run| run.started).collect()
    }
}
