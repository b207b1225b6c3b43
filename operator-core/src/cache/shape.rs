//! The form in which objects are kept: without foreign managed fields, transformed by the user's function.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::resource::KubeObject;

use super::{InformerConfig, Transform, list_watch::keep_own};

pub(super) struct Shape<K> {
    own_managers: Vec<String>,
    transform: Option<Transform<K>>,
}

impl<K: KubeObject> Shape<K> {
    pub(super) fn of(config: &InformerConfig<K>) -> Self {
        Self { own_managers: config.own_managers.clone(), transform: config.transform.clone() }
    }

    /// The managers whose entries in `managedFields` are kept.
    pub(super) fn own_managers(&self) -> &[String] {
        &self.own_managers
    }

    /// Brings an object into the form in which it is kept. The error says that the user's function panicked.
    pub(super) fn apply(&self, mut object: K) -> Result<K, String> {
        self.prune(&mut object);
        match &self.transform {
            Some(transform) => transformed(object, transform),
            None => Ok(object),
        }
    }

    /// The same for the answer of a write, which is remembered as it is when the user's function panics.
    pub(super) fn apply_to_answer(&self, mut answer: K) -> K {
        self.prune(&mut answer);
        match &self.transform {
            Some(transform) => transformed(answer.clone(), transform).unwrap_or(answer),
            None => answer,
        }
    }

    fn prune(&self, object: &mut K) {
        let meta = object.meta_mut();
        meta.managed_fields = keep_own(meta.managed_fields.take(), &self.own_managers);
    }
}

fn transformed<K: KubeObject>(object: K, transform: &Transform<K>) -> Result<K, String> {
    // The decisions of the library rest on these fields, so a function that clears them must not break it.
    let before = object.meta().clone();
    let mut object = catch_unwind(AssertUnwindSafe(|| transform(object)))
        .map_err(|_| "the informer's transform panicked".to_owned())?;
    let after = object.meta_mut();
    after.name = before.name;
    after.namespace = before.namespace;
    after.uid = before.uid;
    after.resource_version = before.resource_version;
    after.generation = before.generation;
    after.owner_references = before.owner_references;
    after.finalizers = before.finalizers;
    after.deletion_timestamp = before.deletion_timestamp;
    Ok(object)
}

impl<K> fmt::Debug for Shape<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shape").field("own_managers", &self.own_managers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::{
        api::core::v1::ConfigMap,
        apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
    };

    use crate::resource::ResourceType;

    use super::*;

    fn entry(manager: &str) -> ManagedFieldsEntry {
        ManagedFieldsEntry { manager: Some(manager.to_owned()), ..ManagedFieldsEntry::default() }
    }

    #[test]
    fn foreign_managed_fields_are_dropped_and_identity_survives_a_transform() {
        let mut config = InformerConfig::<ConfigMap>::new("test", ResourceType::of::<ConfigMap>());
        config.own_managers = vec!["me".to_owned()];
        let metadata = ObjectMeta {
            name: Some("a".to_owned()),
            resource_version: Some("5".to_owned()),
            managed_fields: Some(vec![entry("me"), entry("kubectl"), entry("me")]),
            ..ObjectMeta::default()
        };
        let object = ConfigMap { metadata, ..ConfigMap::default() };
        let kept = Shape::of(&config).apply(object.clone()).unwrap();
        assert_eq!(kept.metadata.managed_fields.map(|entries| entries.len()), Some(2));

        config.transform = Some(Arc::new(|_| ConfigMap::default()));
        let kept = Shape::of(&config).apply(object.clone()).unwrap();
        assert_eq!(
            (kept.metadata.name, kept.metadata.resource_version),
            (Some("a".into()), Some("5".into()))
        );

        config.transform = Some(Arc::new(|_| panic!("user code")));
        assert!(Shape::of(&config).apply(object.clone()).is_err());
        assert_eq!(Shape::of(&config).apply_to_answer(object).metadata.name, Some("a".into()));
    }
}
