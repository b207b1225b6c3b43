//! The wiring of a source in a unit test.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{EventSink, Primaries, PrimaryChange, Sharing, WatchScope, Wiring};
use crate::{
    client::Clients,
    environment::Environment,
    observe::{Cause, Observers, SourceIndex},
    resource::{Departed, ObjectKey, ResourceType},
};

/// Keeps the delivered events.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    /// The primaries woken so far, with the source that did it.
    pub(crate) fn related(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

impl EventSink for Recorder {
    fn primary_changed(&self, _: PrimaryChange<'_>) {}

    fn primary_deleted(&self, _: &ObjectKey, _: &str, _: Option<Departed>) {}

    fn related_changed(&self, primary: &ObjectKey, cause: Cause) {
        if let Cause::Source(SourceIndex(index)) = cause {
            self.0.lock().push(format!("{primary} by {index}"));
        }
    }
}

/// Primaries that a test makes up.
#[derive(Debug, Default)]
pub(super) struct MockPrimaries {
    keys: Vec<ObjectKey>,
    indexed: Vec<(String, String, ObjectKey)>,
}

impl MockPrimaries {
    pub(super) fn with_index(mut self, index: &str, value: &str, key: &str) -> Self {
        self.indexed.push((index.to_owned(), value.to_owned(), parse(key)));
        self
    }
}

impl Primaries for MockPrimaries {
    fn keys(&self) -> Vec<ObjectKey> {
        self.keys.clone()
    }

    fn by_index(&self, index: &str, value: &str) -> Vec<ObjectKey> {
        let found = self.indexed.iter().filter(|(of, holds, _)| of == index && holds == value);
        found.map(|(_, _, key)| key.clone()).collect()
    }
}

fn parse(key: &str) -> ObjectKey {
    let (namespace, name) = key.split_once('/').expect("tests write namespace/name");
    ObjectKey::namespaced(namespace, name)
}

/// A wiring without a cluster.
pub(crate) fn wiring(recorder: Arc<Recorder>, primaries: &[&str]) -> Wiring {
    let config = kube::Config::new("http://localhost:1".parse().expect("a valid address"));
    let environment = Environment::real();
    Wiring {
        controller: Arc::from("test"),
        primary_type: ResourceType::of::<k8s_openapi::api::core::v1::ConfigMap>(),
        scope: WatchScope::All,
        own_managers: Vec::new(),
        sharing: Sharing::default(),
        marks: Arc::default(),
        clients: Clients::new(&config, &[], None, &environment).expect("nothing is connected yet"),
        environment,
        observers: Observers::default(),
        primaries: Arc::new(MockPrimaries {
            keys: primaries.iter().map(|key| parse(key)).collect(),
            indexed: Vec::new(),
        }),
        scopes: Arc::default(),
        named: Arc::default(),
        sink: recorder,
        given: None,
    }
}
