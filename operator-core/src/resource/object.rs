//! An object of any type, for code that is compiled once for all of them.

use std::{any::Any, fmt, io, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{DynamicObject, PartialObjectMeta, TypeMeta};
use serde::ser::Error as _;
use serde_json::Value;

use super::{KubeObject, ObjectKey, ResourceVersion};

/// An object whose type is known only to the code that uses it. Implemented for all types.
pub(crate) trait Object: Any + Send + Sync {
    fn meta(&self) -> &ObjectMeta;

    fn uid(&self) -> Option<&str> {
        self.meta().uid.as_deref()
    }

    fn version(&self) -> Option<&str> {
        self.meta().resource_version.as_deref()
    }

    /// Its version, if it can be compared.
    fn resource_version(&self) -> Option<ResourceVersion> {
        self.version().and_then(ResourceVersion::parse)
    }

    /// Whether an object with this uid is among its owners.
    fn is_owned_by(&self, uid: &str) -> bool {
        self.meta().owner_references.iter().flatten().any(|owner| owner.uid == uid)
    }

    /// Another object with the same content.
    fn cloned(&self) -> AnyObject;

    /// Fails if there is nothing but metadata: the rest can't be decoded.
    fn check(&self) -> serde_json::Result<()> {
        Ok(())
    }

    fn to_value(&self) -> serde_json::Result<Value>;

    /// Writes it as JSON.
    fn write(&self, to: &mut dyn io::Write) -> serde_json::Result<()>;

    fn as_any(&self) -> &dyn Any;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// A change of an object in the form of any kind.
pub(crate) type Editing<'e> = dyn Fn(&mut DynamicObject) -> Edited + 'e;
/// Whether a change was made.
pub(crate) type Edited = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// An object that is being made. Implemented for all types.
pub(crate) trait Draft: Send + Sync {
    fn meta_mut(&mut self) -> &mut ObjectMeta;

    fn as_any_mut(&mut self) -> &mut dyn Any;

    /// Changes it in the form of any kind.
    ///
    /// # Errors
    /// If the change fails, or it can't be brought into that form and back.
    fn edit(&mut self, change: &Editing<'_>) -> Edited;

    /// Version and kind, if the object itself contains them.
    fn types(&self) -> Option<&TypeMeta>;

    fn finish(self: Box<Self>) -> AnyObject;
}

impl<K: KubeObject> Draft for K {
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        kube::Resource::meta_mut(self)
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn edit(&mut self, change: &Editing<'_>) -> Edited {
        if let Some(dynamic) = self.as_any_mut().downcast_mut() {
            return change(dynamic);
        }
        let mut dynamic: DynamicObject = serde_json::from_value(serde_json::to_value(&*self)?)?;
        let types = dynamic.types.clone();
        change(&mut dynamic)?;
        if dynamic.types != types {
            return Err("a change of version or kind isn't possible".into());
        }
        *self = serde_json::from_value(serde_json::to_value(dynamic)?)?;
        Ok(())
    }

    fn types(&self) -> Option<&TypeMeta> {
        types_of(self)
    }

    fn finish(self: Box<Self>) -> AnyObject {
        Arc::<K>::from(self)
    }
}

/// Version and kind of an object whose type doesn't define them, if the object contains them.
pub(crate) fn types_of(object: &dyn Any) -> Option<&TypeMeta> {
    match object.downcast_ref::<DynamicObject>() {
        Some(object) => object.types.as_ref(),
        None => object.downcast_ref::<PartialObjectMeta<DynamicObject>>()?.types.as_ref(),
    }
}

/// A shared object.
pub(crate) type AnyObject = Arc<dyn Object>;

impl<K: KubeObject> Object for K {
    fn meta(&self) -> &ObjectMeta {
        kube::Resource::meta(self)
    }

    fn cloned(&self) -> AnyObject {
        Arc::new(self.clone())
    }

    fn to_value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }

    fn write(&self, to: &mut dyn io::Write) -> serde_json::Result<()> {
        serde_json::to_writer(to, self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl dyn Object {
    /// The object, if it is of type `K`.
    pub(crate) fn typed<K: KubeObject>(self: Arc<Self>) -> Option<Arc<K>> {
        self.into_any().downcast().ok()
    }

    /// The same for a borrowed one.
    pub(crate) fn typed_ref<K: KubeObject>(&self) -> Option<&K> {
        self.as_any().downcast_ref()
    }

    /// The object as JSON.
    pub(crate) fn to_text(&self) -> serde_json::Result<String> {
        let mut text = Vec::with_capacity(512);
        self.write(&mut text)?;
        // `serde_json` writes nothing but text.
        String::from_utf8(text).map_err(serde_json::Error::custom)
    }
}

/// The content is not shown because it may be a Secret's.
impl fmt::Debug for dyn Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&ObjectKey::in_meta(self.meta())).finish()
    }
}
