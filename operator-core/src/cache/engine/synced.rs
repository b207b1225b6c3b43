//! How far the collections of an informer are, and their health.

use std::pin::pin;

use futures::future::{Either, select};
use tokio::sync::SetOnce;

use super::{Engine, ScopeIndex, State};
use crate::observe::SourceHealth;

impl Engine {
    /// A list-watch changed its health.
    pub(in crate::cache) fn health_changed(&self, scope: ScopeIndex, health: SourceHealth) {
        let state = &mut *self.lock();
        if let Some(collection) = state.collections.get_mut(&scope) {
            collection.health = health;
            self.tell_health(state);
        }
    }

    /// Reports the health of all collections together, if it has changed.
    pub(super) fn tell_health(&self, state: &mut State) {
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
            self.handlers.on_health(&self.name, &health);
        }
    }

    pub(in crate::cache) fn is_synced(&self) -> bool {
        self.scopes.indexes().all(|scope| self.is_collection_synced(scope))
    }

    /// Resolves when all collections have been listed once; those that are followed then.
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
        let state = self.state.lock();
        state.collections.get(&scope).map_or(SourceHealth::Healthy, |collection| collection.health.clone())
    }
}
