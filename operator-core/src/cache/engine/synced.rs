//! How far the collections of an informer are.

use tokio::sync::SetOnce;

use super::{Engine, ScopeIndex};
use crate::observe::SourceHealth;

impl Engine {
    pub(in crate::cache) fn is_synced(&self) -> bool {
        self.synced.iter().all(SetOnce::initialized)
    }

    /// Resolves when all collections have been listed once.
    pub(in crate::cache) async fn synced(&self) {
        for collection in &self.synced {
            collection.wait().await;
        }
    }

    /// Resolves when it was in trouble for the first time.
    pub(in crate::cache) async fn failed(&self) {
        self.failed.wait().await;
    }

    pub(in crate::cache) fn is_collection_synced(&self, scope: ScopeIndex) -> bool {
        self.synced[scope.0].initialized()
    }

    /// Resolves when this one has been listed once.
    pub(in crate::cache) async fn collection_synced(&self, scope: ScopeIndex) {
        self.synced[scope.0].wait().await;
    }

    pub(in crate::cache) fn collection_health(&self, scope: ScopeIndex) -> SourceHealth {
        self.state.lock().collections[scope.0].health.clone()
    }
}
