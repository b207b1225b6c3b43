//! The known state of an object beside what is to be applied to it, before anything is built. For all who compare: nodes, reconcilers
//! that apply by themselves, and the status of a primary.

use std::{num::NonZeroU64, sync::Arc};

use serde_json::Value;

use super::{intent::Part, matcher::is_surely_applied};
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
}

impl<'w> Seen<'w> {
    pub(super) fn new(kept: Arc<Kept>, part: Part, manager: &'w str, desired: Option<NonZeroU64>) -> Self {
        Self { kept, part, manager, desired }
    }

    /// Whether the state is known to match what is desired.
    pub(crate) fn has_matched(&self) -> bool {
        self.desired.is_some() && self.verdict().get() == self.desired
    }

    /// Whether it is sure that applying `body`, of the object itself, would change nothing; `false` is no answer.
    pub(crate) fn is_surely_applied(&self, body: &Value) -> bool {
        let applied = self.kept.applied_by(self.manager);
        applied.is_some_and(|applied| is_surely_applied(body, self.kept.text(), &applied))
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
