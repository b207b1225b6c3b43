//! User code that panics.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use crate::{
    cache::{Change, ChangeHandler, TextObject, engine::WatchEvent, scopes::ScopeIndex, text::Item},
    resource::ObjectKey,
};

use super::{
    known::{TestEngine, decoded},
    recorder::{key, object},
    typed::TestConfig,
};

struct Panics;

impl ChangeHandler for Panics {
    fn on_change(&self, _change: Change) {
        panic!("user code");
    }
}

#[test]
fn a_handler_or_an_indexer_that_panics_does_not_stop_the_informer() {
    let config = TestConfig::<ConfigMap>::new()
        .with_indexer("broken", |_| panic!("user code"))
        .with_indexer("works", |_| vec!["yes".to_owned()]);
    let engine = TestEngine::new(&config, Arc::new(Panics));
    let scope = ScopeIndex(0);
    engine.list_started(scope);
    engine.listed(scope, decoded(&object("a", "uid-a", 5)));
    engine.list_finished(scope, "10");
    assert!(engine.is_synced());
    let found = |index| engine.by_index(index, "yes", &|_, _| true).len();
    assert_eq!((found("broken"), found("works")), (0, 1));

    // The change that waits for the end of a write is handed over by its guard's drop.
    let write = engine.begin(&key("a"));
    engine.watched(scope, WatchEvent::Applied(decoded(&object("a", "uid-a", 11))));
    drop(write);
    engine.watched(scope, WatchEvent::Deleted(decoded(&object("a", "uid-a", 12))));
    assert_eq!((engine.stored(), engine.windows(), engine.index_values()), (0, 0, 0));
}

/// A kind whose own code panics at some values.
#[derive(Debug, Serialize, Deserialize)]
struct Fragile {
    metadata: ObjectMeta,
    #[serde(deserialize_with = "fragile")]
    value: String,
}

fn fragile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = String::deserialize(deserializer)?;
    assert_ne!(value, "breaks the decoder", "the user's code");
    Ok(value)
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert_ne!(self.value, "is never copied", "the user's code");
        Self { metadata: self.metadata.clone(), value: self.value.clone() }
    }
}

impl kube::Resource for Fragile {
    type DynamicType = ();
    type Scope = k8s_openapi::NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Fragile".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "example.com".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "fragiles".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[derive(Default)]
struct Newest(Mutex<Vec<(ObjectKey, Arc<TextObject>)>>);

impl ChangeHandler for Newest {
    fn on_change(&self, change: Change) {
        self.0.lock().push((change.key, Arc::clone(change.kind.object())));
    }
}

#[test]
fn a_kind_whose_own_code_panics_costs_that_object_only() {
    let told = Arc::new(Newest::default());
    let engine = TestEngine::<Fragile>::new(&TestConfig::new(), Arc::clone(&told) as _);
    let scope = ScopeIndex(0);
    let shown = |name: &str, version: u32, value: &str| {
        let item = json!({
            "metadata": { "name": name, "namespace": "shop", "uid": name, "resourceVersion": version.to_string() },
            "value": value,
        });
        let item = item.to_string();
        let decoded = catch_unwind(AssertUnwindSafe(|| engine.face.take(&Item::of(&item))));
        decoded.unwrap_or_else(|_| panic!("{value}: the panic would end the informer"))
    };
    engine.list_started(scope);
    engine.listed(scope, shown("a", 1, "good"));
    engine.listed(scope, shown("b", 2, "breaks the decoder"));
    engine.listed(scope, shown("c", 3, "is never copied"));
    engine.list_finished(scope, "10");
    let left = engine.undecodable();
    let [(of, why)] = &left[..] else { panic!("one is left: {left:?}") };
    assert_eq!((of.name(), &**why), ("b", "the `Deserialize` of its type panicked"));
    engine.watched(scope, WatchEvent::Applied(shown("a", 11, "better")));
    engine.watched(scope, WatchEvent::Applied(shown("b", 12, "repaired")));
    let opened = |(key, kept): &(ObjectKey, Arc<TextObject>)| {
        let object: Arc<Fragile> = engine.view.open(kept).unwrap().typed().unwrap();
        format!("{} {}", key.name(), object.value)
    };
    let told: Vec<String> = told.0.lock().iter().map(opened).collect();
    assert_eq!(told, ["a good", "c is never copied", "a better", "b repaired"]);
    assert_eq!(engine.undecodable(), []);
}
