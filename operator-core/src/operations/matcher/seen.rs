//! Compares the known state with what has to be applied to it, before anything is built. For all that compare: nodes,
//! reconcilers that apply objects themselves, and the status of a primary.

use std::{
    num::NonZeroU64,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use super::{fingerprint, matches_owned_fields};
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
    Object([&'w str; 2], &'w dyn Object),
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

    /// Whether applying `body`, of the object itself, would change nothing, as far as the text of the state shows.
    /// `None` if the user's type may read that text in another way.
    pub(in crate::operations) fn is_met_by_text(&self, body: &Value) -> Option<bool> {
        let actual = serde_json::from_str(self.kept.text()).ok()?;
        let managed = self.kept.own_managed_fields().unwrap_or_default();
        let is_met = matches_owned_fields(body, &actual, &managed, self.manager, None).is_equal();
        (is_met || self.keeps_words).then_some(is_met)
    }

    /// Remembers that the state matches. `lasts` if this holds for the next states, too, as long as our managers own the
    /// same.
    pub(crate) fn note(&self, lasts: bool) {
        if let Some(desired) = self.fingerprint() {
            self.verdict().note(desired, lasts);
        }
    }

    /// The same if a write has led to this state: then there was nothing to write.
    pub(in crate::operations) fn note_if_unchanged(&self, written: &dyn Object) {
        if self.kept.is_state_of(written) {
            self.note(false);
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
