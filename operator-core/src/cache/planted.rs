//! Bugs that a test plants into an informer: what a simulation has to find.

use std::sync::{Arc, Weak};

use crate::{
    environment::{Environment, PlantedBug},
    resource::ObjectKey,
};

use super::{
    engine::{Decoded, Engine, Parts},
    store::ItemStore,
    text::{Face, Item, TextObject},
};

/// The engine of an informer, with a bug if one is planted here.
pub(super) fn engine(mut parts: Parts, environment: &Environment) -> Arc<Engine> {
    match environment.planted_bug() {
        Some(PlantedBug::NoSyntheticDeletion) => {
            parts.store = Box::new(Secretive(parts.store));
            Arc::new(Engine::new(parts))
        }
        Some(PlantedBug::WideEventFilter) => Arc::new_cyclic(|engine| {
            parts.face = Arc::new(TakenForOurOwn { engine: Weak::clone(engine), face: parts.face });
            Engine::new(parts)
        }),
        _ => Arc::new(Engine::new(parts)),
    }
}

/// Treats each state of an object as the response to one of the operator's own writes, if one is in progress.
#[derive(Debug)]
struct TakenForOurOwn {
    engine: Weak<Engine>,
    face: Arc<dyn Face>,
}

impl Face for TakenForOurOwn {
    fn take(&self, item: &Item<'_>) -> Decoded {
        if let (Some(engine), Decoded::Object { key, kept }) = (self.engine.upgrade(), self.face.take(item)) {
            engine.wrote(&key, None, &kept);
        }
        self.face.take(item)
    }

    fn with_metadata(&self, kept: &TextObject, of: &TextObject) -> Option<TextObject> {
        self.face.with_metadata(kept, of)
    }
}

/// A store that doesn't report what it holds, so that nothing is found missing in a list.
#[derive(Debug)]
struct Secretive(Box<dyn ItemStore>);

impl ItemStore for Secretive {
    fn shown_keys(&self) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.0.get(key)
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.0.contains(key)
    }

    fn shown(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.0.shown(key)
    }

    fn version(&self, key: &ObjectKey) -> Option<String> {
        self.0.version(key)
    }

    fn insert(&self, key: ObjectKey, object: Arc<TextObject>) {
        self.0.insert(key, object);
    }

    fn remove(&self, key: &ObjectKey) {
        self.0.remove(key);
    }

    fn entries(&self) -> Vec<(ObjectKey, Arc<TextObject>)> {
        self.0.entries()
    }

    fn listed_form(&self, key: &ObjectKey, object: Arc<TextObject>) -> Arc<TextObject> {
        self.0.listed_form(key, object)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn full(&self) -> usize {
        self.0.full()
    }

    fn fill(&self, key: &ObjectKey, object: Arc<TextObject>) {
        self.0.fill(key, object);
    }

    fn hide(&self, key: &ObjectKey) {
        self.0.hide(key);
    }

    fn is_bounded(&self) -> bool {
        self.0.is_bounded()
    }

    fn pin(&self, key: &ObjectKey) {
        self.0.pin(key);
    }

    fn unpin(&self, key: &ObjectKey) {
        self.0.unpin(key);
    }

    fn is_readable(&self, key: &ObjectKey) -> bool {
        self.0.is_readable(key)
    }

    fn tidy(&self) {
        self.0.tidy();
    }
}
