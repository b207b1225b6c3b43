//! Compares the known state with what has to be applied to it, before anything is built. For all that compare: nodes,
//! reconcilers that apply objects themselves, and the status of a primary.

use std::{
    num::NonZeroU64,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use super::{Look, fingerprint, look_beside};
use crate::operations::send::{intent::Part, target::Target};
use crate::{
    cache::{TextObject, Verdict},
    resource::Object,
};

/// What is desired, and how it is distinguished from other desired states.
pub(crate) enum Desired<'w> {
    /// By this fingerprint; without one nothing is remembered.
    Known(Option<NonZeroU64>),
    /// This object is desired by this node, or field manager. Its fingerprint is computed only if there is something to
    /// compare with it, or to remember: most writes need none.
    Object(&'w str, &'w dyn Object),
}

/// A known state and what is desired.
pub(crate) struct Seen<'w> {
    pub(in crate::operations) kept: Arc<TextObject>,
    part: Part,
    manager: &'w str,
    desired: Desired<'w>,
    taken: OnceLock<Option<NonZeroU64>>,
    /// Whether the type shows strings as they are in the text, which holds for the cluster's own kinds. A user's type
    /// may change them when it is read, and then a different string may mean the same.
    keeps_words: bool,
}

impl<'c> Target<'c> {
    /// A known state and what is desired.
    pub(in crate::operations) fn seen<'w>(
        &self,
        kept: Arc<TextObject>,
        part: Part,
        desired: Desired<'w>,
    ) -> Seen<'w>
    where
        'c: 'w,
    {
        let keeps_words = !self.informer().is_checked();
        let manager = &self.run.writer.field_manager;
        Seen { kept, part, manager, desired, taken: OnceLock::new(), keeps_words }
    }
}

impl Seen<'_> {
    /// Whether the state is known to match what is desired.
    pub(crate) fn has_matched(&self) -> bool {
        self.verdict().get().is_some_and(|matched| self.fingerprint() == Some(matched))
    }

    /// Determines whether applying `body`, of the object itself, would change something.
    pub(crate) fn look(&self, body: &Value) -> Look {
        let look = |applied| look_beside(body, self.kept.text(), &applied);
        match self.kept.applied_by(self.manager).map_or(Look::Unsure, look) {
            Look::Another if !self.keeps_words => Look::Unsure,
            look => look,
        }
    }

    /// Remembers that the state matches. This says nothing about the next state.
    pub(crate) fn note(&self) {
        self.remember(false);
    }

    /// The same if the matcher that uses managed fields says so, after this `look`: this holds for each state that
    /// differs from this one only in fields that we don't own. If the object had to be read by the user's type, that
    /// type may behave in any way.
    pub(crate) fn note_by_fields(&self, look: Look) {
        self.remember(look == Look::Equal || self.keeps_words);
    }

    fn remember(&self, lasts: bool) {
        if let Some(desired) = self.fingerprint() {
            self.verdict().note(desired, lasts);
        }
    }

    /// The same if a write has led to this state: then there was nothing to write.
    pub(in crate::operations) fn note_if_unchanged(&self, written: &dyn Object) {
        if self.kept.is_state_of(written) {
            self.note();
        }
    }

    fn fingerprint(&self) -> Option<NonZeroU64> {
        match self.desired {
            Desired::Known(fingerprint) => fingerprint,
            Desired::Object(by, object) => *self.taken.get_or_init(|| fingerprint(by, |to| object.write(to))),
        }
    }

    fn verdict(&self) -> &Verdict {
        match self.part {
            Part::Object => self.kept.verdict(),
            Part::Status => self.kept.verdict_of_status(),
        }
    }
}
