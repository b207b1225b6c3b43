//! The operations that only the type of an object can provide: the only part that is compiled for each type.

use std::{
    any::{Any, TypeId},
    fmt,
    marker::PhantomData,
    sync::Arc,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::core::{DynamicObject, TypeMeta};
use serde::de::Error as _;

use crate::{
    cache::{
        config::Transform,
        list_watch::{PANICKED, unreadable_words},
    },
    environment::fenced,
    resource::{AnyObject, KubeObject, Object, ResourceType},
};

/// A type of objects.
pub(crate) trait Kind: fmt::Debug + Send + Sync {
    /// Decodes one object. The error names the field and what is expected there, and none of the object's values.
    fn decode(
        &self,
        text: &str,
        resource_type: &ResourceType,
        managed_fields: Option<Vec<ManagedFieldsEntry>>,
    ) -> Result<AnyObject, String>;

    /// The same with the managed fields in the text.
    fn whole(&self, text: &str) -> Result<AnyObject, String>;

    /// Whether it can be decoded.
    fn check(&self, text: &str) -> Result<(), String>;

    /// The result of the user's transform, with the annotations that have these keys; `None` if there is no transform.
    fn transformed(&self, object: &dyn Object, keys: &[String]) -> Option<Result<AnyObject, String>>;

    /// Whether there is a transform.
    fn transforms(&self) -> bool;

    /// The type, and the transform's address. If both are equal, the same text is decoded to the same object.
    fn form(&self) -> (TypeId, usize);
}

/// A shared kind.
pub(crate) type AnyKind = Arc<dyn Kind>;

/// The objects of type `K`, unchanged.
pub(crate) fn kind_of<K: KubeObject>() -> AnyKind {
    Arc::new(Of::<K>::new(None))
}

/// The same, each changed by this function.
pub(crate) fn transformed_kind<K: KubeObject>(transform: Transform<K>) -> AnyKind {
    Arc::new(Of::<K>::new(Some(transform)))
}

/// Objects of type `K`.
struct Of<K> {
    transform: Option<Transform<K>>,
    of: PhantomData<fn() -> K>,
}

impl<K: KubeObject> Of<K> {
    fn new(transform: Option<Transform<K>>) -> Self {
        Self { transform, of: PhantomData }
    }
}

impl<K: KubeObject> Kind for Of<K> {
    fn decode(
        &self,
        text: &str,
        resource_type: &ResourceType,
        managed_fields: Option<Vec<ManagedFieldsEntry>>,
    ) -> Result<AnyObject, String> {
        let mut object = decode::<K>(text)?;
        object.meta_mut().managed_fields = managed_fields;
        fill_types(&mut object, resource_type);
        Ok(Arc::new(object))
    }

    fn whole(&self, text: &str) -> Result<AnyObject, String> {
        decode::<K>(text).map(|object| Arc::new(object) as AnyObject)
    }

    fn check(&self, text: &str) -> Result<(), String> {
        decode::<K>(text).map(drop)
    }

    fn transformed(&self, object: &dyn Object, keys: &[String]) -> Option<Result<AnyObject, String>> {
        let (transform, object) = (self.transform.as_ref()?, object.typed_ref::<K>()?);
        Some(transformed(object.clone(), transform, keys).map(|object| Arc::new(object) as AnyObject))
    }

    fn transforms(&self) -> bool {
        self.transform.is_some()
    }

    fn form(&self) -> (TypeId, usize) {
        let transform = self.transform.as_ref().map_or(0, |transform| Arc::as_ptr(transform).addr());
        (TypeId::of::<K>(), transform)
    }
}

fn decode<K: KubeObject>(text: &str) -> Result<K, String> {
    // The type may be the user's: a panic of its `Deserialize` must cost this object only.
    fenced(|| serde_json::from_str::<K>(text))
        .unwrap_or_else(|_| Err(serde_json::Error::custom(PANICKED)))
        .map_err(|error| unreadable_words(text, &error))
}

/// The items of a list lack `apiVersion` and `kind`. Typed objects know them; for a dynamic one they have to be set.
fn fill_types(object: &mut dyn Any, resource_type: &ResourceType) {
    if let Some(object) = object.downcast_mut::<DynamicObject>() {
        object.types.get_or_insert_with(|| TypeMeta {
            api_version: resource_type.api_version(),
            kind: resource_type.kind().to_owned(),
        });
    }
}

fn transformed<K: KubeObject>(object: K, transform: &Transform<K>, keys: &[String]) -> Result<K, String> {
    // The decisions of the library rest on these fields, so a function that clears them must not break it.
    let before = object.meta().clone();
    let mut object =
        fenced(|| transform(object)).map_err(|_| "the informer's transform panicked".to_owned())?;
    let after = object.meta_mut();
    after.name = before.name;
    after.namespace = before.namespace;
    after.uid = before.uid;
    after.resource_version = before.resource_version;
    after.generation = before.generation;
    after.owner_references = before.owner_references;
    after.finalizers = before.finalizers;
    after.deletion_timestamp = before.deletion_timestamp;
    after.creation_timestamp = before.creation_timestamp;
    after.labels = before.labels;
    after.managed_fields = before.managed_fields;
    let annotations = before.annotations.into_iter().flatten().filter(|(key, _)| keys.contains(key));
    let mut annotations = annotations.peekable();
    if annotations.peek().is_some() {
        after.annotations.get_or_insert_default().extend(annotations);
    }
    Ok(object)
}

debug_of!(Of<K> [K]: "Of", |it| transforms: it.transform.is_some());
