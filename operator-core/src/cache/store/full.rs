//! The store that holds every object in full.

use std::sync::Arc;

use dashmap::DashMap;

use crate::{cache::text::TextObject, resource::ObjectKey};

use super::ItemStore;

/// Keeps everything.
#[derive(Default)]
pub(in crate::cache) struct FullStore(DashMap<ObjectKey, Arc<TextObject>>);

/// All known objects are held, so none is read from the server.
impl ItemStore for FullStore {
    fn get(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        // Cloning inside `map` drops the map's guard at once: no caller ever holds one.
        self.0.get(key).map(|entry| Arc::clone(&entry))
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    fn shown(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.get(key)
    }

    fn version(&self, key: &ObjectKey) -> Option<String> {
        self.0.get(key).and_then(|object| object.version().map(str::to_owned))
    }

    fn insert(&self, key: ObjectKey, object: Arc<TextObject>) {
        self.0.insert(key, object);
    }

    fn remove(&self, key: &ObjectKey) {
        self.0.remove(key);
    }

    fn shown_keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<_> = self.0.iter().map(|entry| entry.key().clone()).collect();
        keys.sort_unstable();
        keys
    }

    fn entries(&self) -> Vec<(ObjectKey, Arc<TextObject>)> {
        let mut entries: Vec<_> =
            self.0.iter().map(|entry| (entry.key().clone(), Arc::clone(&entry))).collect();
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        entries
    }

    fn listed_form(&self, _: &ObjectKey, object: Arc<TextObject>) -> Arc<TextObject> {
        object
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

debug_of!(FullStore: "FullStore", |it| len: it.0.len());
