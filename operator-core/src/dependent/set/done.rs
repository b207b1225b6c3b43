//! What a set has had for its content, and needn't have again: purged objects, and Jobs that have succeeded. They are remembered
//! like the Jobs of other nodes, in an annotation of the primary, by their content.
//!
//! ```text
//! ready at the end of its wave ─▶ remembered ─▶ deleted ─▶ not made again, until its content changes
//! Job that has succeeded       ─▶ remembered      gone ─┘
//! ```
//!
//! # Guarantees
//! - What is purged is remembered before it is deleted: a crash between the two leaves an object that the next run deletes.
//! - What isn't there is made only if the live primary doesn't remember it either: caches may be older than what another process
//!   has noted.

use std::collections::BTreeSet;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    engine::SetEngine,
    wanted::{Wanted, WantedObject},
};
use crate::{
    dependent::{
        Asked, Error,
        object::{annotate, done_live},
    },
    reconciler::BoxError,
    resource::{DoneBy, DoneJobs, Object, digits, fingerprint, in_order, label_value},
};

/// The number of digits of a hash that distinguish the contents of a primary's objects.
const DIGITS: usize = 16;

impl WantedObject {
    /// Whether it is remembered once it was there.
    pub(super) fn may_be_over(&self) -> bool {
        self.policies.purge_order.is_some() || self.is_job()
    }

    /// Whether it is remembered once it has succeeded.
    pub(super) fn is_job(&self) -> bool {
        self.kind.parts() == ("batch", "Job")
    }

    /// Distinguishes its content from others.
    pub(super) fn print(&self) -> String {
        if let Some(print) = self.is_job().then(|| fingerprint(&self.object, true).ok()).flatten() {
            return print;
        }
        let meta = &self.object.metadata;
        let content = json!([self.kind.as_str(), meta.namespace, meta.name, self.object.data]);
        digits(Sha256::digest(in_order(&content).to_string()), DIGITS)
    }
}

impl SetEngine {
    fn done_by(asked: Asked<'_>) -> DoneBy {
        let marks = &asked.context.shared().marks;
        let node = label_value(asked.node);
        marks.done_by(&node, !marks.has_node(&node))
    }

    /// The prints of the wanted objects that were done, as the primary remembers them.
    pub(super) fn done(&self, asked: Asked<'_>, wanted: &Wanted) -> BTreeSet<String> {
        let marks = &asked.context.shared().marks;
        let remembered = DoneJobs::of(&*asked.newest(), marks).of_all(marks);
        let prints = wanted.objects.iter().filter(|object| object.may_be_over()).map(WantedObject::print);
        prints.filter(|print| remembered.contains(print)).collect()
    }

    /// Whether the live primary remembers it as done.
    pub(super) async fn was_done(&self, asked: Asked<'_>, object: &WantedObject) -> Result<bool, BoxError> {
        let marks = &asked.context.shared().marks;
        Ok(done_live(asked.context).await.map_err(Error::boxed)?.of_all(marks).contains(&object.print()))
    }

    /// Remembers exactly these.
    pub(super) async fn remember(&self, asked: Asked<'_>, done: &BTreeSet<String>) -> Result<(), BoxError> {
        let (context, by) = (asked.context, Self::done_by(asked));
        let marks = &*context.shared().marks;
        if DoneJobs::of(&*asked.newest(), marks).of_node(&by) == *done {
            return Ok(());
        }
        let mut change = |state: &dyn Object| {
            let mut remembered = DoneJobs::of(state, marks);
            remembered.note(&by, done, |print| done.contains(print));
            remembered.text()
        };
        annotate(context, marks.names().done_jobs(), &mut change).await.map_err(Error::boxed)
    }
}
