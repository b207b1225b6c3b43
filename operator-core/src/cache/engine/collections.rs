//! Whole collections: their first list and later ones after a gap; their progress and health; and which of them are
//! followed.
//!
//! # Guarantees
//! - An object that isn't followed any more is gone from reads, indexes and followers. The handler is notified of that, not
//!   of a deletion. Nothing more is reported about the object, not even by a list-watch that hasn't ended yet.
//! - An object that is still followed stays as it is, whichever collection it belongs to now. The first list of a new
//!   collection reports its changes, as after any gap.

use std::pin::pin;

use futures::future::{Either, select};
use tokio::sync::SetOnce;

use super::{Change, ChangeKind, Decoded, Engine, EngineState, Listing, ScopeIndex, WatchEvent, WatchState};
use crate::{
    cache::{indexers::Values, scopes::WatchScope},
    observe::SourceHealth,
    resource::{ObjectKey, ResourceVersion},
};

impl Engine {
    /// A list starts from its first page, perhaps for the second time.
    pub(in crate::cache) fn list_started(&self, scope: ScopeIndex) {
        if let Some(collection) = self.lock().collections.get_mut(&scope) {
            collection.listing = Some(Listing::default());
        }
    }

    /// A list showed an item. It is processed at once, page by page: no list is ever held as a whole.
    pub(in crate::cache) fn listed(&self, scope: ScopeIndex, item: Decoded) {
        let state = &mut *self.lock();
        let Some(collection) = state.collections.get_mut(&scope) else { return };
        collection.listing.get_or_insert_default().add(item.key());
        self.appeared(state, scope, item, true);
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
                if let Some(key) = item.key() {
                    state.overlay.ended(scope, key, item.resource_version());
                }
                self.vanished(state, scope, item);
            }
        }
    }

    /// The list is complete as of `version`: what it didn't show is gone.
    pub(in crate::cache) fn list_finished(&self, scope: ScopeIndex, version: &str) {
        let state = &mut *self.lock();
        let Some(collection) = state.collections.get_mut(&scope) else { return };
        let listing = collection.listing.take().unwrap_or_default();
        // If the name of an item is unknown, it could be any object that seems to be missing. The next list will show that.
        let shows = |key: &ObjectKey| listing.blind || listing.keys.contains(key);
        self.complete(state, scope, ResourceVersion::parse(version), &shows, false);
    }

    /// A list-watch that this informer has joined has shown an item. The list-watch may be behind the informer.
    pub(in crate::cache) fn joined(&self, scope: ScopeIndex, item: Decoded) {
        let state = &mut *self.lock();
        if state.collections.contains_key(&scope) && !self.is_past(state, scope, &item) {
            self.appeared(state, scope, item, true);
        }
    }

    /// A list-watch that this informer has joined has shown everything up to `version`: an object that it doesn't show,
    /// and that isn't newer, is gone.
    pub(in crate::cache) fn join_finished(
        &self,
        scope: ScopeIndex,
        version: &str,
        shows: &dyn Fn(&ObjectKey) -> bool,
    ) {
        let state = &mut *self.lock();
        if state.collections.contains_key(&scope) {
            self.complete(state, scope, ResourceVersion::parse(version), shows, true);
        }
    }

    /// The collection has been shown completely up to `version`. An object that it doesn't show is gone, unless it is newer
    /// and the list-watch was `joined`, because this informer may know more.
    fn complete(
        &self,
        state: &mut EngineState,
        scope: ScopeIndex,
        version: Option<ResourceVersion>,
        shows: &dyn Fn(&ObjectKey) -> bool,
        joined: bool,
    ) {
        state.admitting.values_mut().for_each(|has_ended| *has_ended = true);
        let is_newer =
            |known: Option<&str>| version.is_some() && known.and_then(ResourceVersion::parse) > version;
        let is_there = |key: &ObjectKey| shows(key) || joined && is_newer(self.store.version(key).as_deref());
        state.undecodable.retain(|key, known| {
            self.scopes.of(key) != Some(scope) || shows(key) || joined && is_newer(known.version.as_deref())
        });
        for key in self.stored_keys(state, scope) {
            if !is_there(&key)
                && let Some(last) = self.store.shown(&key)
            {
                self.removed(state, &key, version, last, true);
            }
        }
        if let Some(version) = version {
            for (key, last) in state.overlay.take_ghosts(scope, version, is_there) {
                self.tell_followers(|follower| follower.gone(&key));
                let kind = ChangeKind::Deleted { last, final_state_unknown: true };
                self.hand_over(Change { key, kind });
            }
            let advanced = match joined {
                true => state.overlay.advance(scope, version),
                false => state.overlay.relisted(scope, version),
            };
            self.take_in(state, advanced);
        }
        self.count_undecodable(state);
        // A later list changes nothing.
        let _ = self.scopes.synced(scope).map(|synced| synced.set(()));
    }

    /// The keys of the stored objects of a collection, sorted.
    pub(super) fn stored_keys(&self, state: &EngineState, scope: ScopeIndex) -> Vec<ObjectKey> {
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
        // While a list is processed, its deletions are still to come. Events that wait for the end of an own write have
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
        // An object that was written and deleted before the watch has shown it is still read from the answer to the write.
        all_listed_seen
            && self.store.shown_keys().iter().all(|key| exists(key, &|| stored(key)))
            && self.recent.entries().iter().all(|(key, written)| exists(key, &|| written.resource_version()))
    }

    /// Follows this scope from now on.
    pub(in crate::cache) fn follow_in(&self, scope: &WatchScope) {
        let state = &mut *self.lock();
        let changed = self.scopes.change(scope);
        if changed.left.is_empty() && changed.new.is_empty() {
            return;
        }
        state.overlay.rescoped(&changed);
        state.collections.retain(|scope, _| !changed.left.contains(scope));
        state.collections.extend(changed.new.iter().map(|new| (*new, WatchState::default())));
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

    fn left(&self, state: &mut EngineState, key: &ObjectKey) {
        let last = self.get(key).or_else(|| self.store.shown(key));
        if let Some(stored) = self.store.shown(key) {
            self.store.remove(key);
            self.indexers.remove(key, &stored, &Values::default());
        }
        state.overlay.left(key);
        self.tell_followers(|follower| follower.gone(key));
        let uid = last.as_ref().and_then(|last| last.uid()).unwrap_or_default();
        self.tell(|handler| handler.on_left(key, uid));
    }

    /// Each collection knows its own objects, if there are several.
    fn sort_stored(&self, state: &mut EngineState) {
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

    /// A list-watch changed its health.
    pub(in crate::cache) fn health_changed(&self, scope: ScopeIndex, health: SourceHealth) {
        let state = &mut *self.lock();
        if let Some(collection) = state.collections.get_mut(&scope) {
            collection.health = health;
            self.tell_health(state);
        }
    }

    /// Reports the health of all collections together, if it has changed.
    pub(super) fn tell_health(&self, state: &mut EngineState) {
        let all = || state.collections.values().map(|collection| &collection.health);
        let unhealthy = all().find(|health| matches!(health, SourceHealth::Unhealthy { .. }));
        let syncing = all().find(|health| matches!(health, SourceHealth::Syncing));
        let health = unhealthy.or(syncing).cloned().unwrap_or(SourceHealth::Healthy);
        if state.health != health {
            state.health = health.clone();
            if matches!(health, SourceHealth::Unhealthy { .. }) {
                // Later trouble changes nothing.
                let _ = self.failed.set(());
            }
            self.tell(|handler| handler.on_health(&health));
        }
    }

    pub(in crate::cache) fn is_synced(&self) -> bool {
        self.scopes.indexes().all(|scope| self.is_collection_synced(scope))
    }

    /// Resolves when all collections that are followed then have been listed once.
    pub(in crate::cache) async fn synced(&self) {
        while let Some(lagging) = self.scopes.indexes().find(|scope| !self.is_collection_synced(*scope)) {
            self.collection_synced(lagging).await;
        }
    }

    /// Resolves when it was in trouble for the first time.
    pub(in crate::cache) async fn failed(&self) {
        self.failed.wait().await;
    }

    pub(in crate::cache) fn is_collection_synced(&self, scope: ScopeIndex) -> bool {
        self.scopes.synced(scope).is_none_or(|synced| synced.initialized())
    }

    /// Resolves when this one has been listed once, or isn't followed any more.
    pub(in crate::cache) async fn collection_synced(&self, scope: ScopeIndex) {
        loop {
            let changed = self.scopes.changed();
            let Some(synced) = self.scopes.synced(scope) else { return };
            if let Either::Left(_) = select(pin!(SetOnce::wait(&synced)), pin!(changed)).await {
                return;
            }
        }
    }

    pub(in crate::cache) fn collection_health(&self, scope: ScopeIndex) -> SourceHealth {
        let state = self.lock();
        state.collections.get(&scope).map_or(SourceHealth::Healthy, |collection| collection.health.clone())
    }
}
