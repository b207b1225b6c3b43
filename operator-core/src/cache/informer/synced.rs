//! The progress of an informer, and its health.

use std::sync::atomic::Ordering;

use http::Request;

use super::{AnyInformer, Informer};
use crate::{
    cache::list_watch::decode::Page,
    observe::SourceHealth,
    resource::{KubeObject, ObjectKey},
};

impl AnyInformer {
    /// Resolves when all namespaces have been listed once.
    pub(crate) async fn synced(&self) {
        self.0.engine.synced().await;
    }

    /// Whether all namespaces have been listed once.
    pub(crate) fn is_synced(&self) -> bool {
        self.0.engine.is_synced()
    }

    /// Resolves when the collection has been listed once that objects of `namespace` belong to: that of the namespace,
    /// if it is followed separately, or everything.
    pub(crate) async fn synced_in(&self, namespace: &str) {
        match self.0.engine.scopes.of_namespace(namespace) {
            Some(scope) => self.0.engine.collection_synced(scope).await,
            None => self.synced().await,
        }
    }

    /// Whether the collection that this object belongs to has been listed once, or another one to which it belonged before
    /// the namespaces changed. Until then, everything that is read about the object is uncertain.
    pub(crate) fn is_synced_for(&self, key: &ObjectKey) -> bool {
        self.0.engine.scopes.is_known(key)
    }

    /// Lists its objects once, from a server that answers at once, and follows nothing: it is synced when this returns. Of
    /// a kind that can't be listed there are no objects.
    pub(crate) fn list_from(&self, answer: &dyn Fn(Request<Vec<u8>>) -> Option<String>) {
        let engine = &self.0.engine;
        self.0.is_given.store(true, Ordering::Relaxed);
        for scope in engine.scopes.indexes() {
            let collection = self.collection(engine.scopes.namespace(scope).as_deref());
            let body = collection.list(None, false).ok().and_then(answer);
            let page = body.and_then(|body| Page::parse(body, &collection.resource_type).ok());
            engine.list_started(scope);
            for item in page.iter().flat_map(Page::items) {
                engine.listed(scope, engine.face.take(&item));
            }
            engine.health_changed(scope, SourceHealth::Healthy);
            let version = page.as_ref().and_then(Page::version);
            engine.list_finished(scope, version.as_deref().unwrap_or("0"));
        }
    }

    /// The collections that it follows: their namespaces (`None` for everything), whether they have been listed once,
    /// and their health.
    pub(crate) fn collections(&self) -> impl Iterator<Item = (Option<String>, bool, SourceHealth)> {
        let engine = &self.0.engine;
        engine.scopes.indexes().map(|scope| {
            (
                engine.scopes.namespace(scope),
                engine.is_collection_synced(scope),
                engine.collection_health(scope),
            )
        })
    }

    /// Resolves when it was in trouble for the first time; never for objects of the operator's own cluster.
    pub(crate) async fn failed_elsewhere(&self) {
        match self.0.settings.cluster.name() {
            Some(_) => self.0.engine.failed().await,
            None => std::future::pending().await,
        }
    }

    /// Whether it can follow its objects; the worst of its namespaces counts.
    pub(crate) fn health(&self) -> SourceHealth {
        self.0.engine.health()
    }
}

impl<K: KubeObject> Informer<K> {
    /// Resolves when all namespaces have been listed once.
    pub async fn synced(&self) {
        self.any().synced().await;
    }

    /// Whether all namespaces have been listed once. JOSDK: `hasSynced`.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.any().is_synced()
    }

    /// Whether it can follow its objects; the worst of its namespaces counts.
    #[must_use]
    pub fn health(&self) -> SourceHealth {
        self.any().health()
    }
}
