//! How much a bounded informer holds in full.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::resource::{KubeObject, ObjectKey, ResourceType};

/// The bounds of an event source, for `.bounded(…)`. JOSDK: the settings of `BoundedItemStore` and its Caffeine cache.
///
/// ```
/// use std::time::Duration;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_core::cache::Bounds;
///
/// // At most a thousand in full, and none that was not used for ten minutes.
/// let bounds = Bounds::<ConfigMap>::new(1_000).with_time_to_idle(Duration::from_secs(600));
/// # let _ = bounds;
/// ```
#[derive(Clone, Debug)]
pub struct Bounds<K> {
    /// The maximum number of objects held in full: those that were read or changed last. With 0, each read goes to the
    /// server.
    pub max_objects: u64,
    /// An object that was neither read nor changed for this long is no longer held in full; by default there is no such
    /// limit. The time is the machine's monotonic clock. Memory is released with the next event or bookmark.
    pub time_to_idle: Option<Duration>,
    /// An object without content, of which minimal objects are made by giving it metadata. Needed only for types that
    /// don't decode from metadata alone, such as a custom resource with a required field in its spec.
    pub template: Option<K>,
}

impl<K: KubeObject> Bounds<K> {
    /// Holds at most `max_objects` in full.
    #[must_use]
    pub const fn new(max_objects: u64) -> Self {
        Self { max_objects, time_to_idle: None, template: None }
    }

    /// Also drops objects that were not used for `time`.
    #[must_use]
    pub const fn with_time_to_idle(mut self, time: Duration) -> Self {
        self.time_to_idle = Some(time);
        self
    }

    /// Makes minimal objects from `template`, whose metadata is overwritten.
    #[must_use]
    pub fn with_template(mut self, template: K) -> Self {
        self.template = Some(template);
        self
    }

    /// The same without the type. The error explains why there is no template.
    pub(crate) fn any(&self, resource_type: &ResourceType) -> Result<AnyBounds, String> {
        let template = self.template(resource_type)?;
        Ok(AnyBounds { max_objects: self.max_objects, time_to_idle: self.time_to_idle, template, only: None })
    }

    /// The given template, or one with only a type and a name, which must decode.
    fn template(&self, resource_type: &ResourceType) -> Result<Value, String> {
        if let Some(template) = &self.template {
            return serde_json::to_value(template).map_err(|error| error.to_string());
        }
        let bare = bare(resource_type);
        // From text, like all objects: types are decoded in one way only.
        serde_json::from_str::<K>(&bare.to_string()).map(|_| bare).map_err(|error| error.to_string())
    }
}

/// An object with only a type and a name.
fn bare(resource_type: &ResourceType) -> Value {
    json!({
        "apiVersion": resource_type.api_version(),
        "kind": resource_type.kind(),
        "metadata": { "name": "minimal" },
    })
}

/// Keys that may change at any time.
pub(crate) type KeySet = Arc<Mutex<BTreeSet<ObjectKey>>>;

impl AnyBounds {
    /// The server is asked for metadata, of which only that of these objects is kept. Their content is read separately.
    pub(crate) fn metadata_of(only: KeySet, resource_type: &ResourceType) -> Self {
        let template = bare(resource_type);
        Self { max_objects: u64::MAX, time_to_idle: None, template, only: Some(only) }
    }
}

/// The bounds of an informer of objects of any type.
#[derive(Clone, Debug)]
pub(crate) struct AnyBounds {
    pub(super) max_objects: u64,
    pub(super) time_to_idle: Option<Duration>,
    /// An object without any content, into which metadata is put to make a minimal object.
    pub(super) template: Value,
    /// The objects that are kept, if the watch shows metadata alone.
    pub(super) only: Option<KeySet>,
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::{
        cache::{
            store::{BoundedStore, ItemStore},
            tests::known::kept,
        },
        resource::ObjectKey,
    };

    #[test]
    fn an_object_that_is_not_used_for_a_time_is_known_and_not_held_in_full() {
        let mut map = ConfigMap::default();
        (map.metadata.name, map.metadata.namespace) = (Some("a".into()), Some("shop".into()));
        let key = ObjectKey::of(&map);
        let store = |bounds: Bounds<ConfigMap>| {
            let store = BoundedStore::new(bounds.any(&ResourceType::of::<ConfigMap>()).unwrap());
            store.insert(key.clone(), kept(&map));
            store
        };
        let (patient, hasty) =
            (store(Bounds::new(1)), store(Bounds::new(1).with_time_to_idle(Duration::from_nanos(1))));
        // Each look is a use; a nanosecond is over before the next one.
        assert!((0..1_000).any(|_| hasty.get(&key).is_none()) && hasty.contains(&key));
        assert!((0..1_000).all(|_| patient.get(&key).is_some()) && patient.contains(&key));
    }
}
