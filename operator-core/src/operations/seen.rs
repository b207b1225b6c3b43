//! The known state of an object beside what is to be applied to it, before anything is built.

use std::{num::NonZeroU64, sync::Arc};

use serde_json::Value;

use super::{
    Writer,
    matcher::{fingerprint, is_surely_applied},
};
use crate::{cache::Kept, resource::Object};

/// A known state, and the fingerprint of what is desired.
pub(super) struct Seen<'w> {
    pub(super) kept: Arc<Kept>,
    manager: &'w str,
    desired: Option<NonZeroU64>,
}

impl<'w> Seen<'w> {
    pub(super) fn new(kept: Arc<Kept>, writer: &'w Writer, desired: &dyn Object) -> Self {
        let manager = &*writer.field_manager;
        Self { kept, manager, desired: fingerprint(manager, |to| desired.write(to)) }
    }

    /// Whether the state is known to match what is desired.
    pub(super) fn has_matched(&self) -> bool {
        self.desired.is_some() && self.kept.matched() == self.desired
    }

    /// Whether it is sure that applying `body` would change nothing; `false` is no answer.
    pub(super) fn is_surely_applied(&self, body: &Value) -> bool {
        let applied = self.kept.applied_by(self.manager);
        applied.is_some_and(|applied| is_surely_applied(body, self.kept.text(), &applied))
    }

    /// Remembers that the state matches, if it is the one that a write has come to.
    pub(super) fn note(&self, written: &dyn Object) {
        if let Some(desired) = self.desired.filter(|_| self.kept.is_state_of(written.meta())) {
            self.kept.note_match(desired);
        }
    }
}
