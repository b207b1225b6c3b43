//! The operator's own writes: the state that they start from, and the effect of their answers.

use std::{mem, sync::Arc};

use crate::{cache::text::Kept, resource::ObjectKey};

use super::{super::overlay::Advanced, Engine, State};

impl Engine {
    /// An own write to `key` starts. Returns the newest known state.
    pub(in crate::cache) fn begin_write(&self, key: &ObjectKey) -> Option<Arc<Kept>> {
        self.state.lock().overlay.begin(key);
        self.base(key)
    }

    /// The state that an own write starts from: the newest known one, in its minimal form if no more is held.
    pub(in crate::cache) fn base(&self, key: &ObjectKey) -> Option<Arc<Kept>> {
        self.get(key).or_else(|| self.store.contains(key).then(|| self.store.shown(key)).flatten())
    }

    /// An own write that started from `base` was answered.
    pub(in crate::cache) fn wrote(&self, key: &ObjectKey, base: Option<&Kept>, answer: &Arc<Kept>) {
        let state = &mut *self.state.lock();
        let stored = self.store.shown(key);
        let changes =
            state.overlay.wrote(key, base.and_then(Kept::resource_version), answer, stored.as_deref());
        self.hand_over_all(changes);
    }

    /// An own write has ended, in any way.
    pub(in crate::cache) fn finish_write(&self, key: &ObjectKey) {
        let state = &mut *self.state.lock();
        self.hand_over_all(state.overlay.finish(key));
    }

    /// Remembers the answer of a write whose echo is to be handed over.
    pub(in crate::cache) fn remember(&self, key: &ObjectKey, answer: &Arc<Kept>) {
        let state = &mut *self.state.lock();
        let stored = self.store.shown(key);
        state.overlay.put(key, answer, stored.as_deref());
    }

    /// A collection has been seen up to some version.
    pub(super) fn take_in(&self, state: &mut State, advanced: Advanced) {
        for key in advanced.not_shown {
            if self.store.shown(&key).is_none() && !state.undecodable.contains_key(&key) {
                self.not_selected(state, &key);
            }
        }
        self.hand_over_all(advanced.changes);
    }

    /// What was written is not among what is followed. No event of it will arrive.
    fn not_selected(&self, state: &mut State, key: &ObjectKey) {
        self.handlers.on_not_selected(&self.name, key);
        // Each object of that kind will be another one: once is enough.
        if let Some(selector) = &self.selector
            && !mem::replace(&mut state.not_selected_told, true)
        {
            tracing::warn!(
                informer = self.name,
                object = %key,
                selector,
                "what the operator has written isn't selected by its event source: it is neither found nor watched, and \
                 each run writes it again; give it what the selector asks for, or take the selector away"
            );
        }
    }
}
