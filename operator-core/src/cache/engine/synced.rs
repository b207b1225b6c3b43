//! How far the collections of an informer are.

use std::pin::pin;

use futures::future::{Either, select};
use tokio::sync::SetOnce;

use super::{Engine, ScopeIndex};
use crate::observe::SourceHealth;

impl Engine {
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
