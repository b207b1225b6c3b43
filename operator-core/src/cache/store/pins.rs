//! What a bounded store holds in full beyond its bounds, because a run needs it.

use std::sync::Arc;

use dashmap::{DashMap, Entry};

use crate::{cache::text::Kept, resource::ObjectKey};

/// By key: how many need the object, and the object once it is known in full.
#[derive(Default)]
pub(super) struct Pins(DashMap<ObjectKey, Pin>);

struct Pin {
    needed_by: usize,
    object: Option<Arc<Kept>>,
}

impl Pins {
    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<Kept>> {
        self.0.get(key)?.object.clone()
    }

    pub(super) fn has(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    /// One more needs it; `held` is what the store holds of it otherwise.
    pub(super) fn add(&self, key: &ObjectKey, held: Option<Arc<Kept>>) {
        let mut pin = self.0.entry(key.clone()).or_insert(Pin { needed_by: 0, object: None });
        pin.needed_by += 1;
        if pin.object.is_none() {
            pin.object = held;
        }
    }

    /// The object is in this state now; `None` if it is not known in full any more.
    pub(super) fn put(&self, key: &ObjectKey, object: Option<&Arc<Kept>>) {
        if let Some(mut pin) = self.0.get_mut(key) {
            pin.object = object.cloned();
        }
    }

    /// One of them doesn't need it any more.
    pub(super) fn remove(&self, key: &ObjectKey) {
        if let Entry::Occupied(mut pin) = self.0.entry(key.clone()) {
            pin.get_mut().needed_by -= 1;
            if pin.get().needed_by == 0 {
                pin.remove();
            }
        }
    }
}
