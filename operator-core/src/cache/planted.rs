//! Bugs that a test plants into an informer: what a simulation has to find.

use std::sync::{Arc, Weak};

use crate::{
    environment::{Environment, PlantedBug},
    resource::{KubeObject, ObjectKey},
};

use super::{
    ChangeHandler, InformerConfig, Transform,
    engine::Engine,
    store::{FullStore, ItemStore},
};

/// The engine of an informer with a bug, if one is planted that belongs there.
pub(super) fn engine<K: KubeObject>(
    config: &InformerConfig<K>,
    environment: &Environment,
    handler: &Arc<dyn ChangeHandler<K>>,
) -> Option<Arc<Engine<K>>> {
    let handler = Arc::clone(handler);
    match environment.planted_bug()? {
        PlantedBug::NoSyntheticDeletion => {
            Some(Arc::new(Engine::with_store(config, handler, Box::new(Secretive(FullStore::new())))))
        }
        PlantedBug::WideEventFilter => Some(Arc::new_cyclic(|engine| {
            let transform = taken_for_our_own(Weak::clone(engine), config.transform.clone());
            Engine::new(&InformerConfig { transform: Some(transform), ..config.clone() }, handler)
        })),
        _ => None,
    }
}

/// Takes each state of an object that is decoded for the answer to a write of our own, if one is under way.
fn taken_for_our_own<K: KubeObject>(
    engine: Weak<Engine<K>>,
    transform: Option<Transform<K>>,
) -> Transform<K> {
    Arc::new(move |object| {
        let object = transform.as_ref().map_or_else(|| object.clone(), |transform| transform(object.clone()));
        if let Some(engine) = engine.upgrade() {
            engine.wrote(&ObjectKey::of(&object), None, &Arc::new(object.clone()));
        }
        object
    })
}

/// A store that doesn't tell what it holds, so that nothing is found missing in a list.
#[derive(Debug)]
struct Secretive<K>(FullStore<K>);

impl<K: KubeObject> ItemStore<K> for Secretive<K> {
    fn shown_keys(&self) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.0.get(key)
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.0.contains(key)
    }

    fn shown(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.0.shown(key)
    }

    fn version(&self, key: &ObjectKey) -> Option<String> {
        self.0.version(key)
    }

    fn insert(&self, key: ObjectKey, object: Arc<K>) {
        self.0.insert(key, object);
    }

    fn remove(&self, key: &ObjectKey) {
        self.0.remove(key);
    }

    fn entries(&self) -> Vec<(ObjectKey, Arc<K>)> {
        self.0.entries()
    }

    fn listed_form(&self, object: Arc<K>) -> Arc<K> {
        self.0.listed_form(object)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn full(&self) -> usize {
        self.0.full()
    }

    fn fill(&self, key: &ObjectKey, object: Arc<K>) {
        self.0.fill(key, object);
    }

    fn hide(&self, key: &ObjectKey) {
        self.0.hide(key);
    }

    fn tidy(&self) {
        self.0.tidy();
    }
}
