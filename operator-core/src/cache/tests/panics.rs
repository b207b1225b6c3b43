//! User code that panics.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;

use crate::{
    cache::{
        Change, ChangeHandler, InformerConfig, OwnWrite,
        engine::{Decoded, Engine, WatchEvent},
        scopes::ScopeIndex,
    },
    resource::ResourceType,
};

use super::recorder::{key, object};

struct Panics;

impl ChangeHandler<ConfigMap> for Panics {
    fn on_change(&self, _change: Change<ConfigMap>) {
        panic!("user code");
    }
}

#[test]
fn a_handler_or_an_indexer_that_panics_does_not_stop_the_informer() {
    let config = InformerConfig::new("test", ResourceType::of::<ConfigMap>())
        .with_indexer("broken", |_| panic!("user code"))
        .with_indexer("works", |_| vec!["yes".to_owned()]);
    let engine = Arc::new(Engine::new(&config, Arc::new(Panics)));
    let scope = ScopeIndex(0);
    engine.list_started(scope);
    engine.listed(scope, Decoded::Object(object("a", "uid-a", 5)));
    engine.list_finished(scope, "10");
    assert!(engine.is_synced());
    assert_eq!((engine.by_index("broken", "yes").len(), engine.by_index("works", "yes").len()), (0, 1));

    // The change that waits for the end of a write is handed over by its guard's drop.
    let write = OwnWrite::begin(Arc::clone(&engine), key("a"));
    engine.watched(scope, WatchEvent::Applied(Decoded::Object(object("a", "uid-a", 11))));
    drop(write);
    engine.watched(scope, WatchEvent::Deleted(Decoded::Object(object("a", "uid-a", 12))));
    assert_eq!((engine.stored(), engine.windows(), engine.index_values()), (0, 0, 0));
}
