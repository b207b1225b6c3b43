//! What a node knows in one run about the Jobs that it wants. Pure.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;

use crate::resource::{AnyObject, ControllerMarks, DoneBy, DoneJobs, ObjectKey, has_succeeded};

/// The Jobs that a node wants, in one run; by default none.
#[derive(Default)]
pub(in crate::dependent) struct Jobs {
    pub(super) node: Option<DoneBy>,
    wanted: BTreeMap<ObjectKey, String>,
    /// The wanted Jobs that were done, whatever the node's name was then.
    done: Mutex<BTreeSet<String>>,
    /// The content of the node's entry in the annotation.
    written: BTreeSet<String>,
}

impl Jobs {
    /// The wanted Jobs, by their fingerprints, and what the primary remembers about them.
    pub(super) fn new(
        node: DoneBy,
        wanted: BTreeMap<ObjectKey, String>,
        remembered: &DoneJobs,
        marks: &ControllerMarks,
    ) -> Self {
        let mut done = remembered.of_all(marks);
        done.retain(|print| wanted.values().any(|wanted| wanted == print));
        let written = remembered.of_node(&node);
        Self { node: Some(node), wanted, done: Mutex::new(done), written }
    }

    /// The wanted Jobs that aren't known to be done.
    pub(super) fn unknown<'w>(
        wanted: &'w BTreeMap<ObjectKey, String>,
        remembered: &DoneJobs,
        marks: &ControllerMarks,
    ) -> impl Iterator<Item = &'w ObjectKey> + use<'w> {
        let known = remembered.of_all(marks);
        wanted.iter().filter(move |(_, print)| !known.contains(*print)).map(|(key, _)| key)
    }

    /// Whether the entry in the annotation has to be changed.
    pub(super) fn has_news(&self) -> bool {
        *self.done.lock() != self.written
    }

    /// Updates the entry, whatever else has been remembered there in the meantime.
    pub(super) fn note_in(&self, remembered: &mut DoneJobs) {
        let Some(node) = &self.node else { return };
        remembered.note(node, &self.done.lock(), |print| self.wanted.values().any(|wanted| wanted == print));
    }

    /// The entry was updated.
    pub(super) fn noted(&mut self) {
        self.written = self.done.lock().clone();
    }

    /// Whether the Job is over, and needn't exist.
    pub(in crate::dependent) fn is_over(&self, key: &ObjectKey) -> bool {
        self.wanted.get(key).is_some_and(|print| self.done.lock().contains(print))
    }

    /// Records an existing Job.
    pub(in crate::dependent) fn see(&self, job: &AnyObject) {
        let Some(print) = self.wanted.get(&ObjectKey::in_meta(job.meta())) else { return };
        if self.done.lock().contains(print) {
            return;
        }
        if job.to_value().is_ok_and(|job| has_succeeded(&job)) {
            self.done.lock().insert(print.clone());
        }
    }
}
