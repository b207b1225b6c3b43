//! Processes lists: the first one, and later ones after a gap.

use std::mem;

use crate::resource::{ObjectKey, ResourceVersion};

use super::{Change, ChangeKind, Decoded, Engine, Listing, ScopeIndex, State, WatchEvent};

impl Engine {
    /// A list starts from its first page, perhaps for the second time.
    pub(in crate::cache) fn list_started(&self, scope: ScopeIndex) {
        if let Some(collection) = self.lock().collections.get_mut(&scope) {
            collection.listing = Some(Listing::default());
        }
    }

    /// A list showed an item. It is processed at once, page by page, so that no list is ever held as a whole.
    pub(in crate::cache) fn listed(&self, scope: ScopeIndex, item: Decoded) {
        let state = &mut *self.lock();
        let Some(collection) = state.collections.get_mut(&scope) else { return };
        let listing = collection.listing.get_or_insert_default();
        match item {
            Decoded::Object { key, kept } => {
                listing.keys.insert(key.clone());
                self.applied(state, scope, &key, kept, true);
            }
            Decoded::Undecodable(undecodable) => {
                match &undecodable.key {
                    Some(key) => listing.keys.insert(key.clone()),
                    None => mem::replace(&mut listing.blind, true),
                };
                self.not_decoded(state, scope, undecodable, true);
            }
        }
    }

    /// A streamed list showed an event. An object may come more than once, and may be gone again before the list's end.
    pub(in crate::cache) fn streamed(&self, scope: ScopeIndex, event: WatchEvent) {
        match event {
            WatchEvent::Applied(item) => self.listed(scope, item),
            WatchEvent::Deleted(item) => {
                let state = &mut *self.lock();
                let Some(collection) = state.collections.get_mut(&scope) else { return };
                if let (Some(key), Some(listing)) = (item.key(), &mut collection.listing) {
                    listing.keys.remove(&key);
                }
                // The collection isn't there yet: objects with lower versions may still be shown.
                self.vanished(state, scope, item);
            }
        }
    }

    /// The list is complete as of `version`: what it didn't show is gone.
    pub(in crate::cache) fn list_finished(&self, scope: ScopeIndex, version: &str) {
        let state = &mut *self.lock();
        let Some(collection) = state.collections.get_mut(&scope) else { return };
        let listing = collection.listing.take().unwrap_or_default();
        let version = ResourceVersion::parse(version);
        // With an item whose name is unknown, nothing can be said to be missing. The next list will tell.
        if !listing.blind {
            state
                .undecodable
                .retain(|key, _| self.scopes.of(key) != Some(scope) || listing.keys.contains(key));
            for key in self.stored_keys(state, scope) {
                if !listing.keys.contains(&key)
                    && let Some(last) = self.store.shown(&key)
                {
                    self.removed(state, &key, version, last, true);
                }
            }
            if let Some(version) = version {
                let ghosts = state.overlay.take_ghosts(scope, version, |key| listing.keys.contains(key));
                for (key, last) in ghosts {
                    self.handlers.gone(&self.name, &key);
                    let kind = ChangeKind::Deleted { last, final_state_unknown: true };
                    self.hand_over(Change { key, kind });
                }
            }
        }
        if let Some(version) = version {
            let advanced = state.overlay.relisted(scope, version);
            self.take_in(state, advanced);
        }
        self.count_undecodable(state);
        // A later list changes nothing.
        let _ = self.scopes.synced(scope).map(|synced| synced.set(()));
    }

    /// The keys of what is stored of a collection, sorted.
    fn stored_keys(&self, state: &State, scope: ScopeIndex) -> Vec<ObjectKey> {
        match state.collections.get(&scope).and_then(|collection| collection.stored.as_ref()) {
            Some(stored) => stored.iter().cloned().collect(),
            // There is no other one.
            None => self.store.shown_keys(),
        }
    }

    /// Whether this informer has seen, and handed over, everything that a list of metadata shows: `listed` are its
    /// objects and their versions in order of their keys, `version` its own.
    pub(in crate::cache) fn has_seen(
        &self,
        scope: ScopeIndex,
        version: &str,
        listed: &[(ObjectKey, String)],
    ) -> bool {
        let state = &mut *self.lock();
        let Some(collection) = state.collections.get(&scope) else { return true };
        // While a list is taken in, what it deletes is still to come. Events that wait for the end of an own write have
        // been seen but not handed over.
        if !self.is_collection_synced(scope)
            || collection.listing.is_some()
            || state.overlay.has_waiting_events(scope)
        {
            return false;
        }
        let list_version = ResourceVersion::parse(version);
        if list_version.is_some() && state.overlay.last_sync(scope) >= list_version {
            return true;
        }
        let caught_up = |held: Option<&str>, listed: &str| match held {
            Some(held) if held == listed => true,
            Some(held) => match (ResourceVersion::parse(held), ResourceVersion::parse(listed)) {
                (Some(held), Some(listed)) => held >= listed,
                (None, _) | (_, None) => false,
            },
            None => false,
        };
        let all_listed_seen = listed.iter().all(|(key, version)| {
            let stored = self.store.version(key);
            let undecodable = state.undecodable.get(key).and_then(|known| known.version.as_deref());
            caught_up(stored.as_deref(), version) || caught_up(undecodable, version)
        });
        let exists = |key: &ObjectKey, version: &dyn Fn() -> Option<ResourceVersion>| {
            self.scopes.of(key) != Some(scope)
                || listed.binary_search_by(|(listed, _)| listed.cmp(key)).is_ok()
                || (list_version.is_some() && version() > list_version)
        };
        let stored = |key: &ObjectKey| self.store.version(key).as_deref().and_then(ResourceVersion::parse);
        // What was written and is gone again before the watch has shown it is still read from the answer to the write.
        all_listed_seen
            && self.store.shown_keys().iter().all(|key| exists(key, &|| stored(key)))
            && self.recent.entries().iter().all(|(key, written)| exists(key, &|| written.resource_version()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;

    use crate::cache::{
        WatchScope,
        tests::{
            known::{TestEngine, decoded},
            recorder::{Recorder, object},
            typed::TestConfig,
        },
    };

    #[test]
    fn the_end_of_a_list_looks_at_its_own_collection_only() {
        let namespaces: Vec<String> = (0..20).map(|number| format!("n-{number}")).collect();
        let mut config = TestConfig::<ConfigMap>::new();
        config.scope = WatchScope::Namespaces(namespaces.iter().cloned().collect());
        let engine = TestEngine::new(&config, Arc::new(Recorder::default()));
        for scope in engine.scopes.indexes() {
            engine.list_started(scope);
            for name in ["a", "b"] {
                let mut map = object(name, "uid", 5);
                map.metadata.namespace = engine.scopes.namespace(scope);
                engine.listed(scope, decoded(&map));
            }
            engine.list_finished(scope, "10");
        }
        let looked_at: usize =
            engine.scopes.indexes().map(|scope| engine.stored_keys(&engine.lock(), scope).len()).sum();
        assert_eq!((looked_at, engine.stored()), (40, 40));
        for scope in engine.scopes.indexes() {
            engine.list_started(scope);
            engine.list_finished(scope, "20");
        }
        assert_eq!(engine.stored(), 0);
        assert!(engine.scopes.indexes().all(|scope| engine.stored_keys(&engine.lock(), scope).is_empty()));
    }
}
