//! What only the engine itself can see.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;

use super::Engine;
use crate::cache::{
    WatchScope,
    tests::{
        known::{TestEngine, decoded},
        recorder::{Recorder, object},
        typed::TestConfig,
    },
};

impl Engine {
    /// The number of followers.
    pub(in crate::cache) fn followers(&self) -> usize {
        self.followers.lock().len()
    }
}

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
