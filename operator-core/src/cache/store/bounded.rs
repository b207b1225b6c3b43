//! The store that holds a limited number of objects in full.

use std::{
    hash::{BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use dashmap::{DashMap, Entry};
use moka::{policy::EvictionPolicy, sync::Cache};
use serde_json::Value;

use crate::{
    cache::{AnyBounds, text::TextObject},
    resource::{ObjectKey, ResourceVersion},
};

use super::{ItemStore, record::ObjectRecord};

/// A hash without randomness: the dropped objects are the same in each run.
type Hash = BuildHasherDefault<DefaultHasher>;

/// Keeps a record of everything, and the objects used last in full.
///
/// A full object is what the watch showed last or, after a read from the server, something newer; never anything older.
/// Only the record contains what the watch showed, so a read from the server hides no change from the handler.
pub(in crate::cache) struct BoundedStore {
    records: DashMap<ObjectKey, ObjectRecord>,
    objects: Cache<ObjectKey, Arc<TextObject>, Hash>,
    /// Objects that a run needs, beyond the bounds.
    pins: Pins,
    /// An object without any content, into which metadata is put to make a minimal object.
    template: Value,
    /// The watch shows metadata alone: content comes from reads, and is outdated once the watch shows another version.
    is_partial: bool,
}

impl BoundedStore {
    pub(in crate::cache) fn new(bounds: AnyBounds) -> Self {
        let AnyBounds { max_objects, time_to_idle, template, only } = bounds;
        // Not by frequency of use: an object that the watch has just shown has never been used, and is about to be.
        let mut objects = Cache::builder().max_capacity(max_objects).eviction_policy(EvictionPolicy::lru());
        if let Some(idle) = time_to_idle {
            objects = objects.time_to_idle(idle);
        }
        let objects = objects.build_with_hasher(Hash::default());
        let is_partial = only.is_some();
        Self { records: DashMap::new(), objects, pins: Pins::default(), template, is_partial }
    }

    fn held(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.pins.get(key).or_else(|| self.objects.get(key))
    }

    fn minimal(&self, key: &ObjectKey, record: &ObjectRecord) -> Arc<TextObject> {
        Arc::new(TextObject::minimal(self.template.clone(), &record.meta(key)))
    }
}

impl ItemStore for BoundedStore {
    fn get(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        if self.contains(key) { self.held(key) } else { None }
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.records.get(key).is_some_and(|record| !record.hidden)
    }

    fn shown(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        let record = self.records.get(key)?.clone();
        let held = self.held(key);
        held.filter(|held| held.version() == record.version.as_deref())
            .or_else(|| Some(self.minimal(key, &record)))
    }

    fn version(&self, key: &ObjectKey) -> Option<String> {
        self.records.get(key)?.version.as_deref().map(str::to_owned)
    }

    fn insert(&self, key: ObjectKey, object: Arc<TextObject>) {
        self.records.insert(key.clone(), ObjectRecord::of(&object));
        if self.is_partial {
            return;
        }
        // A read from the server may be ahead of the watch. Which of the two will last can't be guessed: a list may
        // bring back an older state for good. The next reader of the object asks the server once more.
        let ahead = self.held(&key).is_some_and(|held| {
            let shown = object.resource_version();
            shown.is_some() && held.resource_version() > shown
        });
        if ahead {
            self.objects.invalidate(&key);
        } else {
            self.pins.put(&key, Some(&object));
            self.objects.insert(key, object);
        }
        self.tidy();
    }

    fn remove(&self, key: &ObjectKey) {
        self.records.remove(key);
        self.objects.invalidate(key);
        self.pins.put(key, None);
    }

    fn shown_keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<_> = self.records.iter().map(|record| record.key().clone()).collect();
        keys.sort_unstable();
        keys
    }

    fn entries(&self) -> Vec<(ObjectKey, Arc<TextObject>)> {
        let mut entries: Vec<_> = self
            .records
            .iter()
            .filter(|record| !record.hidden)
            .map(|record| (record.key().clone(), self.minimal(record.key(), record.value())))
            .collect();
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        entries
    }

    fn listed_form(&self, key: &ObjectKey, object: Arc<TextObject>) -> Arc<TextObject> {
        self.minimal(key, &ObjectRecord::of(&object))
    }

    fn len(&self) -> usize {
        self.records.len()
    }

    fn full(&self) -> usize {
        self.tidy();
        usize::try_from(self.objects.entry_count()).unwrap_or(usize::MAX)
    }

    fn fill(&self, key: &ObjectKey, object: Arc<TextObject>) {
        self.pins.put(key, Some(&object));
        self.objects.insert(key.clone(), object);
        self.tidy();
    }

    fn hide(&self, key: &ObjectKey) {
        if let Some(mut record) = self.records.get_mut(key) {
            record.hidden = true;
        }
        self.objects.invalidate(key);
        self.pins.put(key, None);
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn is_outdated(&self, key: &ObjectKey) -> bool {
        let shown =
            self.records.get(key).and_then(|record| ResourceVersion::parse(record.version.as_deref()?));
        self.is_partial && self.held(key).is_some_and(|held| held.resource_version() < shown)
    }

    fn pin(&self, key: &ObjectKey) {
        let held = self.objects.get(key);
        self.pins.add(key, held);
    }

    fn unpin(&self, key: &ObjectKey) {
        self.pins.remove(key);
    }

    fn is_readable(&self, key: &ObjectKey) -> bool {
        self.pins.has(key)
    }

    // The cache counts and drops in batches of its own. Doing it with each write keeps the bound strict.
    fn tidy(&self) {
        self.objects.run_pending_tasks();
    }
}

debug_of!(BoundedStore: "BoundedStore", |it| len: it.records.len(), full: it.objects.entry_count());

/// Objects held in full beyond the bounds, by key: how many runs need each one, and the object once it is known in full.
#[derive(Default)]
struct Pins(DashMap<ObjectKey, Pin>);

struct Pin {
    needed_by: usize,
    object: Option<Arc<TextObject>>,
}

impl Pins {
    fn get(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.0.get(key)?.object.clone()
    }

    fn has(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    /// One more run needs it; `held` is the object, if the store holds it.
    fn add(&self, key: &ObjectKey, held: Option<Arc<TextObject>>) {
        let mut pin = self.0.entry(key.clone()).or_insert(Pin { needed_by: 0, object: None });
        pin.needed_by += 1;
        if pin.object.is_none() {
            pin.object = held;
        }
    }

    /// The object is in this state now; `None` if it is not known in full any more.
    fn put(&self, key: &ObjectKey, object: Option<&Arc<TextObject>>) {
        if let Some(mut pin) = self.0.get_mut(key) {
            pin.object = object.cloned();
        }
    }

    /// One of the runs doesn't need it any more.
    fn remove(&self, key: &ObjectKey) {
        if let Entry::Occupied(mut pin) = self.0.entry(key.clone()) {
            pin.get_mut().needed_by -= 1;
            if pin.get().needed_by == 0 {
                pin.remove();
            }
        }
    }
}
