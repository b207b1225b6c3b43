//! What is followed changes while the informer runs.
//!
//! # Guarantees
//! - An object that isn't followed any more is gone from reads, indexes and followers, and its handler is told so, not
//!   that it was deleted. Nothing more is reported about it, not even by a list-watch that hasn't ended yet.
//! - An object that still is stays as it is, whatever collection it belongs to now. The first list of a new collection
//!   reports of it what has changed, as after any gap.

use super::{super::scopes::WatchScope, Collection, Engine, State};
use crate::{cache::indexers::Values, resource::ObjectKey};

impl Engine {
    /// Follows this scope from now on.
    pub(in crate::cache) fn follow_in(&self, scope: &WatchScope) {
        let state = &mut *self.lock();
        let changed = self.scopes.change(scope);
        if changed.left.is_empty() && changed.new.is_empty() {
            return;
        }
        state.overlay.rescoped(&changed);
        state.collections.retain(|scope, _| !changed.left.contains(scope));
        state.collections.extend(changed.new.iter().map(|new| (*new, Collection::default())));
        let stored = self.store.shown_keys().into_iter().filter(|key| self.scopes.of(key).is_none());
        let mut left: Vec<ObjectKey> = stored.chain(state.overlay.not_followed()).collect();
        left.sort_unstable();
        left.dedup();
        for key in &left {
            self.left(state, key);
        }
        self.sort_stored(state);
        state.undecodable.retain(|key, _| self.scopes.of(key).is_some());
        self.count_undecodable(state);
        self.tell_health(state);
    }

    fn left(&self, state: &mut State, key: &ObjectKey) {
        let last = self.get(key).or_else(|| self.store.shown(key));
        if let Some(stored) = self.store.shown(key) {
            self.store.remove(key);
            self.indexers.remove(key, &stored, &Values::default());
        }
        state.overlay.left(key);
        self.handlers.gone(&self.name, key);
        let uid = last.as_ref().and_then(|last| last.uid()).unwrap_or_default();
        self.handlers.on_left(&self.name, key, uid);
    }

    /// Each collection knows its own, if there are several.
    fn sort_stored(&self, state: &mut State) {
        let several = state.collections.len() > 1;
        for collection in state.collections.values_mut() {
            collection.stored = several.then(Default::default);
        }
        for key in self.store.shown_keys().into_iter().filter(|_| several) {
            if let Some(scope) = self.scopes.of(&key)
                && let Some(stored) = state.stored_in(scope)
            {
                stored.insert(key);
            }
        }
    }
}
