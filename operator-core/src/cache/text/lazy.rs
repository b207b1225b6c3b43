//! An object whose metadata is enough for most readers: it is opened when the rest is read.

use std::{
    any::Any,
    io,
    sync::{Arc, OnceLock},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::ser::Error as _;
use serde_json::Value;

use crate::resource::{AnyObject, Object, ObjectKey};

use super::{TextObject, View};

/// A kept object that is opened when its content is read.
struct Lazy {
    key: ObjectKey,
    kept: Arc<TextObject>,
    view: Arc<View>,
    /// The metadata that the library uses; the rest of an object's metadata is left out.
    meta: OnceLock<ObjectMeta>,
    opened: OnceLock<Result<AnyObject, String>>,
}

impl View {
    /// The object, opened already if it is in use, and otherwise when more than its metadata is read.
    pub(crate) fn lazy(self: &Arc<Self>, key: &ObjectKey, kept: Arc<TextObject>) -> AnyObject {
        if let Some(held) = kept.held() {
            return held;
        }
        let (key, view) = (key.clone(), Arc::clone(self));
        Arc::new(Lazy { key, kept, view, meta: OnceLock::new(), opened: OnceLock::new() })
    }
}

impl Lazy {
    /// Fails with the reason if it can't be opened; the attempt reports that.
    fn opened(&self) -> serde_json::Result<&AnyObject> {
        let opened = self.opened.get_or_init(|| self.view.try_open(&self.kept)).as_ref();
        opened.map_err(|error| {
            serde_json::Error::custom(format_args!("{} can't be decoded: {error}", self.key))
        })
    }
}

impl Object for Lazy {
    fn meta(&self) -> &ObjectMeta {
        self.meta.get_or_init(|| self.kept.meta(&self.key))
    }

    fn uid(&self) -> Option<&str> {
        self.kept.uid()
    }

    fn version(&self) -> Option<&str> {
        self.kept.version()
    }

    fn is_owned_by(&self, uid: &str) -> bool {
        self.kept.owners().iter().flatten().any(|owner| owner.uid == uid)
    }

    fn cloned(&self) -> AnyObject {
        self.view.lazy(&self.key, Arc::clone(&self.kept))
    }

    fn check(&self) -> serde_json::Result<()> {
        self.opened().map(drop)
    }

    fn to_value(&self) -> serde_json::Result<Value> {
        self.opened()?.to_value()
    }

    fn write(&self, to: &mut dyn io::Write) -> serde_json::Result<()> {
        self.opened()?.write(to)
    }

    fn as_any(&self) -> &dyn Any {
        self.opened().map_or(&(), |object| object.as_any())
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        let opened = self.opened().cloned();
        opened.map_or_else(|_| Arc::new(()) as Arc<dyn Any + Send + Sync>, Object::into_any)
    }
}
