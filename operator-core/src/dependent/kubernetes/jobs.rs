//! Jobs that have succeeded and are gone: they are remembered in an annotation of the primary, so that they aren't
//! created again.
//!
//! ```text
//! wanted ─▶ fingerprints ─┬─ not remembered ─▶ there? ─ no ─▶ the live primary remembers? ─ no ─▶ forget what isn't wanted, make it
//!                         │                       └─ yes, and it has succeeded ─▶ remember it
//!                         └─ remembered ─▶ there? ─ no ─▶ nothing to do, and ready
//! ```
//!
//! # Guarantees
//! - A Job that was seen to have succeeded isn't created again for the same content, even after a restart.
//! - If nothing has changed, nothing is written, and the server isn't queried.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;

use super::OfPrimary;
use crate::{
    dependent::Error,
    operations::PrimaryWriter,
    reconciler::{AnyContext, BoxError},
    resource::{AnyObject, DoneBy, DoneJobs, Object, ObjectKey, fingerprint, has_succeeded, is_job},
};

/// The Jobs that a node wants, in one run.
#[derive(Default)]
pub(in crate::dependent) struct Jobs {
    node: Option<DoneBy>,
    wanted: BTreeMap<ObjectKey, String>,
    /// What the primary remembers of what is wanted, whatever the node was called then.
    known: BTreeSet<String>,
    /// The same of this node.
    noted: Mutex<BTreeSet<String>>,
    /// How many of them are written.
    written: usize,
}

impl OfPrimary<'_> {
    /// What is remembered of the Jobs that are wanted; of objects of other kinds nothing is. What was done for another content
    /// is forgotten before anything is made.
    pub(in crate::dependent) async fn jobs(
        &self,
        desired: impl IntoIterator<Item = AnyObject, IntoIter: Send>,
    ) -> Result<Jobs, Error> {
        if !self.makes_jobs() {
            return Ok(Jobs::default());
        }
        let mut wanted = BTreeMap::new();
        for job in desired {
            let fingerprint = fingerprint(&*job, self.managed.capabilities.can_update());
            wanted.insert(
                ObjectKey::in_meta(job.meta()),
                fingerprint.map_err(|source| self.unspelled(source))?,
            );
        }
        let node = self.done_by();
        let mut remembered = self.remembered();
        let marks = self.marks.of;
        let missing = |remembered: &DoneJobs| {
            let known = remembered.of_all(marks);
            let mut unknown = wanted.iter().filter(|(_, print)| !known.contains(*print));
            unknown.try_fold(false, |found, (key, _)| Ok::<_, Error>(found || self.there(key)?.is_none()))
        };
        // Another replica may have seen it done a moment ago.
        if missing(&remembered)? {
            remembered = DoneJobs::of(&*writer(self.asked.context).look().await?, marks);
        }
        let is_wanted = |print: &String| wanted.values().any(|wanted| wanted == print);
        let (mut known, mut noted) = (remembered.of_all(marks), remembered.of_node(&node));
        let before = noted.len();
        known.retain(is_wanted);
        noted.retain(is_wanted);
        if noted.len() < before {
            self.note(&node, &noted).await?;
        }
        let written = noted.len();
        Ok(Jobs { node: Some(node), wanted, known, noted: Mutex::new(noted), written })
    }

    /// Whether the node's objects are Jobs that it makes.
    pub(in crate::dependent) fn makes_jobs(&self) -> bool {
        is_job(&self.managed.kind) && self.managed.capabilities.can_create()
    }

    /// Forgets what was done, as nothing is wanted any more.
    pub(in crate::dependent) async fn forget_jobs(&self) -> Result<(), Error> {
        let goes = self.asked.primary.meta().deletion_timestamp.is_some();
        let node = self.done_by();
        if goes || !self.makes_jobs() || self.remembered().of_node(&node).is_empty() {
            return Ok(());
        }
        self.note(&node, &BTreeSet::new()).await
    }

    /// Remembers what has succeeded since the last look.
    pub(in crate::dependent) async fn remember(&self, jobs: &Jobs) -> Result<(), Error> {
        let noted = jobs.noted.lock().clone();
        match &jobs.node {
            Some(node) if noted.len() > jobs.written => self.note(node, &noted).await,
            _ => Ok(()),
        }
    }

    fn done_by(&self) -> DoneBy {
        self.marks.of.done_by(&self.marks.node, self.marks.beside)
    }

    /// What the primary says that is known here, with what this run has written itself.
    fn remembered(&self) -> DoneJobs {
        let newest = self.asked.context.primary();
        newest.map(|primary| DoneJobs::of(&*primary, self.marks.of)).unwrap_or_default()
    }

    async fn note(&self, node: &DoneBy, done: &BTreeSet<String>) -> Result<(), Error> {
        let marks = self.marks.of;
        let mut change = |state: &dyn Object| {
            let mut remembered = DoneJobs::of(state, marks);
            remembered.set(node, done);
            remembered.text()
        };
        write(self.asked.context, &mut change).await
    }

    fn unspelled(&self, source: serde_json::Error) -> Error {
        Error::Write(crate::operations::Error::Serialize { kind: self.managed.kind.clone(), source })
    }
}

impl Jobs {
    /// Whether the Job has had its time, so that it needn't be there. What is remembered under another name of the node is remembered
    /// under this one from now on.
    pub(in crate::dependent) fn is_over(&self, key: &ObjectKey) -> bool {
        let Some(print) = self.wanted.get(key).filter(|print| self.known.contains(*print)) else {
            return false;
        };
        self.noted.lock().insert(print.clone());
        true
    }

    /// Takes notice of a Job that is there.
    pub(in crate::dependent) fn see(&self, job: &AnyObject) {
        let Some(print) = self.wanted.get(&ObjectKey::in_meta(job.meta())) else { return };
        if self.noted.lock().contains(print) {
            return;
        }
        if job.to_value().is_ok_and(|job| has_succeeded(&job)) {
            self.noted.lock().insert(print.clone());
        }
    }
}

/// Forgets what nodes have done that the controller has no more.
pub(crate) async fn forget_departed(context: &AnyContext) -> Result<(), BoxError> {
    let marks = &*context.shared().marks;
    let has_departed = |primary: AnyObject| DoneJobs::of(&*primary, marks).forget_departed(marks);
    if !context.primary().is_some_and(has_departed) {
        return Ok(());
    }
    let mut change = |state: &dyn Object| {
        let mut remembered = DoneJobs::of(state, marks);
        remembered.forget_departed(marks);
        remembered.text()
    };
    Ok(write(context, &mut change).await?)
}

/// Writes the annotation.
async fn write(
    context: &AnyContext,
    change: &mut (dyn FnMut(&dyn Object) -> Option<String> + Send),
) -> Result<(), Error> {
    let name = context.shared().marks.names().done_jobs();
    context.permitted(writer(context).change_annotation(name, change)).await?;
    Ok(())
}

fn writer(context: &AnyContext) -> PrimaryWriter<'_> {
    PrimaryWriter::new(context.writing_run(), &context.shared().primary, true)
}
