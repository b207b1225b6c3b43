//! Objects that exist and can't be decoded.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    cache::{list_watch::Identity, text::Kept},
    resource::{ObjectKey, ResourceVersion},
};

use super::{Engine, ScopeIndex, Sighting, State};

/// An object that could not be decoded, as it came from the server.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Undecodable {
    /// Its key, if its metadata could be read.
    pub(in crate::cache) key: Option<ObjectKey>,
    /// Its version, if its metadata could be read.
    pub(in crate::cache) version: Option<String>,
    /// The object, if its metadata could be read.
    pub(in crate::cache) kept: Option<Arc<Kept>>,
    /// The decoder's message: which field, and what is expected there.
    pub(in crate::cache) error: String,
}

impl Undecodable {
    pub(super) fn version(&self) -> Option<ResourceVersion> {
        self.version.as_deref().and_then(ResourceVersion::parse)
    }
}

/// What is kept of one.
pub(super) struct Known {
    pub(super) version: Option<String>,
    pub(super) error: String,
}

impl Engine {
    /// An object exists, and can't be decoded. An older state of it stays stored; its metadata is taken over, if that
    /// is configured.
    pub(super) fn not_decoded(
        &self,
        state: &mut State,
        scope: ScopeIndex,
        undecodable: Undecodable,
        listed: bool,
    ) {
        let Undecodable { key, version, kept, mut error } = undecodable;
        let known = key.as_ref().and_then(|key| state.undecodable.get(key));
        if known.is_some_and(|known| known.version == version) {
            return;
        }
        let stored = key.as_ref().and_then(|key| self.store.shown(key));
        let marked = kept.as_ref().is_some_and(|kept| kept.is_marked());
        if self.takes_metadata && marked && stored.is_none() {
            error.push_str("; it is marked for deletion, and stays: no state of it is known that it could be cleaned up with");
        }
        tracing::warn!(
            informer = self.name,
            object = key.as_ref().map(tracing::field::display),
            error,
            "an object can't be decoded and is skipped"
        );
        self.handlers.on_undecodable(&self.name, key.as_ref(), &error);
        let Some(key) = key else { return };
        state.undecodable.insert(key.clone(), Known { version, error });
        self.count_undecodable(state);
        let (Some(stored), Some(kept), true) = (stored, kept, self.takes_metadata) else { return };
        if stored.uid() == kept.uid()
            && let Some(object) = self.face.with_metadata(&stored, &kept)
        {
            self.exists(state, scope, &key, Arc::new(object), Sighting { listed, is_news: false });
        }
    }

    /// A read found an object that is not checked when it arrives, and that can't be decoded.
    pub(in crate::cache) fn not_opened(&self, kept: &Kept, error: &str) {
        let Some(identity) = Identity::of(kept.text()) else { return };
        let Some(key) = identity.key().map(|key| key.within(self.scopes.cluster())) else { return };
        let (state, version) = (&mut *self.state.lock(), identity.version());
        let is_newest = self.get(&key).is_some_and(|newest| newest.version() == version.as_deref());
        if !is_newest || state.undecodable.get(&key).is_some_and(|known| known.version == version) {
            return;
        }
        tracing::warn!(informer = self.name, object = %key, error, "an object can't be decoded, so all reads of it fail");
        self.handlers.on_undecodable(&self.name, Some(&key), error);
        state.undecodable.insert(key, Known { version, error: error.to_owned() });
        self.count_undecodable(state);
    }

    /// An object can be decoded, or is gone. Returns whether it could not be decoded before, so that nothing was made
    /// of it.
    pub(super) fn can_be_decoded(&self, state: &mut State, key: &ObjectKey) -> bool {
        let could_not = state.undecodable.remove(key).is_some();
        if could_not {
            self.count_undecodable(state);
        }
        could_not && self.takes_metadata
    }

    /// Reports their number, if it has changed or was never reported.
    pub(super) fn count_undecodable(&self, state: &mut State) {
        let objects = state.undecodable.len();
        if state.undecodable_told.replace(objects) != Some(objects) {
            self.undecodable.store(objects, Ordering::Release);
            self.handlers.on_undecodable_objects(&self.name, objects);
        }
    }

    /// Whether an object exists that can't be decoded.
    pub(in crate::cache) fn is_undecodable(&self, key: &ObjectKey) -> bool {
        self.undecodable.load(Ordering::Acquire) > 0 && self.lock().undecodable.contains_key(key)
    }

    /// All that can't be decoded, and why; sorted by key.
    pub(in crate::cache) fn undecodable(&self) -> Vec<(ObjectKey, String)> {
        if self.undecodable.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        self.lock().undecodable.iter().map(|(key, known)| (key.clone(), known.error.clone())).collect()
    }
}
