//! The form in which objects are kept: without foreign managed fields, transformed by the user's function.

use std::{
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::resource::KubeObject;

use super::{InformerConfig, Transform};

pub(super) struct Shape<K> {
    own_managers: Vec<String>,
    transform: Option<Transform<K>>,
}

impl<K: KubeObject> Shape<K> {
    pub(super) fn of(config: &InformerConfig<K>) -> Self {
        Self { own_managers: config.own_managers.clone(), transform: config.transform.clone() }
    }

    /// The same for the answer of a write, which must be remembered even if the user's function panics.
    pub(super) fn apply_to_answer(&self, answer: K) -> K {
        let untouched = self.transform.is_some().then(|| answer.clone());
        match (self.apply(answer), untouched) {
            (Ok(kept), _) | (Err(_), Some(kept)) => kept,
            (Err(_), None) => unreachable!("only the user's function can fail"),
        }
    }

    /// Brings an object into the form in which it is kept. The error says that the user's function panicked.
    pub(super) fn apply(&self, mut object: K) -> Result<K, String> {
        let meta = object.meta_mut();
        if let Some(mut entries) = meta.managed_fields.take() {
            entries.retain(|entry| {
                entry.manager.as_ref().is_some_and(|manager| self.own_managers.contains(manager))
            });
            entries.shrink_to_fit();
            meta.managed_fields = (!entries.is_empty()).then_some(entries);
        }
        let Some(transform) = &self.transform else {
            return Ok(object);
        };
        // The decisions of the library rest on these fields, so a function that clears them must not break it.
        let mut before = object.meta().clone();
        let mut object = catch_unwind(AssertUnwindSafe(|| transform(object)))
            .map_err(|_| "the informer's transform panicked".to_owned())?;
        let after = object.meta_mut();
        after.name = mem::take(&mut before.name);
        after.namespace = mem::take(&mut before.namespace);
        after.uid = mem::take(&mut before.uid);
        after.resource_version = mem::take(&mut before.resource_version);
        after.generation = before.generation;
        after.owner_references = mem::take(&mut before.owner_references);
        after.finalizers = mem::take(&mut before.finalizers);
        after.deletion_timestamp = mem::take(&mut before.deletion_timestamp);
        Ok(object)
    }
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
        assert!(Shape::of(&config).apply(object).is_err());
    }
}
