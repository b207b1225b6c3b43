//! The known state of an object beside what is to be applied to it, before anything is built. For all who compare: nodes, reconcilers
//! that apply by themselves, and the status of a primary.

use std::{num::NonZeroU64, sync::Arc};

use serde_json::Value;

use super::{
    intent::Part,
    matcher::{Look, look_beside},
    target::Target,
};
use crate::{
    cache::{Kept, Verdict},
    resource::Object,
};

/// A known state, and the fingerprint of what is desired; without one nothing is remembered.
pub(crate) struct Seen<'w> {
    pub(super) kept: Arc<Kept>,
    part: Part,
    manager: &'w str,
    desired: Option<NonZeroU64>,
    /// Whether the type shows words as they are in the text, which is said of the cluster's own kinds. A user's may spell them in its
    /// own way when it is read, and then another word may be the same.
    keeps_words: bool,
}

impl<'c> Target<'c> {
    /// A known state beside what is desired, which has this fingerprint.
    pub(super) fn seen(&self, kept: Arc<Kept>, part: Part, desired: Option<NonZeroU64>) -> Seen<'c> {
        let keeps_words = !self.informer().is_checked();
        Seen { kept, part, manager: &self.run.writer.field_manager, desired, keeps_words }
    }
}

impl Seen<'_> {
    /// Whether the state is known to match what is desired.
    pub(crate) fn has_matched(&self) -> bool {
        self.desired.is_some() && self.verdict().get() == self.desired
    }

    /// Looks whether applying `body`, of the object itself, would change something.
    pub(crate) fn look(&self, body: &Value) -> Look {
        let look = |applied| look_beside(body, self.kept.text(), &applied);
        match self.kept.applied_by(self.manager).map_or(Look::Unsure, look) {
            Look::Another if !self.keeps_words => Look::Unsure,
            look => look,
        }
    }

    /// Remembers that the state matches.
    pub(crate) fn note(&self) {
        if let Some(desired) = self.desired {
            self.verdict().note(desired);
        }
    }

    /// The same if it is the state that a write has come to: then there was nothing to write.
    pub(super) fn note_if_unchanged(&self, written: &dyn Object) {
        if self.kept.is_state_of(written.meta()) {
            self.note();
        }
    }

    fn verdict(&self) -> &Verdict {
        match self.part {
            Part::Object => self.kept.verdict(),
            Part::Status => self.kept.verdict_of_status(),
        }
    }
}
