//! Jobs that have succeeded and are gone: an annotation of the primary remembers them, and they aren't
//! created again.
//!
//! ```text
//! wanted ─▶ fingerprints ─┬─ not remembered ─▶ there? ─ no ─▶ the live primary remembers? ─ no ─▶ forget what isn't wanted, make it
//!                         │                       └─ yes, and it has succeeded ─▶ remember it
//!                         └─ remembered ─▶ there? ─ no ─▶ nothing to do, and ready
//! ```
//!
//! # Guarantees
//! - A Job that was seen to have succeeded isn't created again for the same content, even after a restart, and even if the
//!   caches show an older state for a while.
//! - If nothing has changed, nothing is written, and the server isn't queried.

mod memory;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::OfPrimary;
use crate::{
    dependent::Error,
    operations::PrimaryWriter,
    reconciler::{AnyContext, BoxError},
    resource::{AnyObject, DoneBy, DoneJobs, Object, ObjectKey, fingerprint, is_job},
};

pub(in crate::dependent) use memory::Jobs;

impl OfPrimary<'_> {
    /// What is remembered about the wanted Jobs; nothing is remembered about objects of other kinds. A Job that was
    /// done with other content is forgotten before anything is created.
    pub(in crate::dependent) async fn jobs(
        &self,
        desired: impl IntoIterator<Item = AnyObject, IntoIter: Send>,
    ) -> Result<Jobs, Error> {
        if !self.makes_jobs() {
            return Ok(Jobs::default());
        }
        let mut wanted = BTreeMap::new();
        for job in desired {
            let fingerprint = fingerprint(&*job, self.managed.capabilities.updates);
            wanted.insert(
                ObjectKey::in_meta(job.meta()),
                fingerprint.map_err(|source| self.unspelled(source))?,
            );
        }
        let (node, marks) = (self.done_by(), self.marks.of);
        let mut remembered = self.remembered();
        // Another replica may have seen it done a moment ago.
        if self.lacks_one(Jobs::unknown(&wanted, &remembered, marks))? {
            remembered = done_live(self.asked.context).await?;
        }
        let mut jobs = Jobs::new(node, wanted, &remembered, marks);
        self.remember(&jobs).await?;
        jobs.noted();
        Ok(jobs)
    }

    /// Whether the node's objects are Jobs that it creates.
    pub(in crate::dependent) fn makes_jobs(&self) -> bool {
        is_job(&self.managed.kind) && self.managed.capabilities.creates
    }

    /// Forgets what was done, because nothing is wanted any more.
    pub(in crate::dependent) async fn forget_jobs(&self) -> Result<(), Error> {
        let goes = self.asked.primary.meta().deletion_timestamp.is_some();
        if goes || !self.makes_jobs() {
            return Ok(());
        }
        let nothing = Jobs::new(self.done_by(), BTreeMap::new(), &self.remembered(), self.marks.of);
        self.remember(&nothing).await
    }

    /// Remembers the Jobs that have succeeded since the last call, and forgets those that aren't wanted.
    pub(in crate::dependent) async fn remember(&self, jobs: &Jobs) -> Result<(), Error> {
        if !jobs.has_news() {
            return Ok(());
        }
        let marks = self.marks.of;
        let mut change = |state: &dyn Object| {
            let mut remembered = DoneJobs::of(state, marks);
            jobs.note_in(&mut remembered);
            remembered.text()
        };
        annotate(self.asked.context, marks.names().done_jobs(), &mut change).await
    }

    /// Whether one of these doesn't exist.
    fn lacks_one<'k>(&self, mut keys: impl Iterator<Item = &'k ObjectKey>) -> Result<bool, Error> {
        keys.try_fold(false, |found, key| Ok(found || self.there(key)?.is_none()))
    }

    fn done_by(&self) -> DoneBy {
        self.marks.of.done_by(&self.marks.node, self.marks.beside)
    }

    /// The primary's annotation as known here, including what this run has written itself.
    fn remembered(&self) -> DoneJobs {
        let newest = self.asked.context.primary();
        newest.map(|primary| DoneJobs::of(&*primary, self.marks.of)).unwrap_or_default()
    }

    fn unspelled(&self, source: serde_json::Error) -> Error {
        Error::Write(crate::operations::Error::Serialize { kind: self.managed.kind.clone(), source })
    }
}

/// Forgets the Jobs of nodes that the controller no longer has.
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
    Ok(annotate(context, marks.names().done_jobs(), &mut change).await?)
}

/// What the live primary remembers.
pub(in crate::dependent) async fn done_live(context: &AnyContext) -> Result<DoneJobs, Error> {
    Ok(DoneJobs::of(&*writer(context).look().await?, &context.shared().marks))
}

/// Changes an annotation of the primary.
pub(in crate::dependent) async fn annotate(
    context: &AnyContext,
    name: &str,
    change: &mut (dyn FnMut(&dyn Object) -> Option<String> + Send),
) -> Result<(), Error> {
    context.permitted(writer(context).change_annotation(name, change)).await?;
    Ok(())
}

fn writer(context: &AnyContext) -> PrimaryWriter<'_> {
    PrimaryWriter::new(context.writing_run(), &context.shared().primary, true)
}
