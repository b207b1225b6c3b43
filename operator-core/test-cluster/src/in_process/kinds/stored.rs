//! The form in which objects of custom kinds are stored, and how another version shows them. Pure.
//!
//! ```text
//!  written in v2 ─▶ without what the storage's version doesn't know ─▶ stored in v1
//!  stored in v1 ─▶ with the defaults that v1 has now ─▶ without what v2 doesn't know ─▶ shown in v2
//! ```
//!
//! # Guarantees
//! - What a version shows has the defaults of the version in which the object was stored, not its own.
//! - A definition that changes leaves what is stored as it is, until it is written again.

use std::sync::Arc;

use serde_json::Value;

use super::Kind;

impl Kind {
    /// An object of this version in the form in which it is stored.
    pub(in crate::in_process) fn stored(&self, mut object: Value) -> Value {
        object["apiVersion"] = self.stored_api_version().into();
        if self.version == self.storage_version {
            return object;
        }
        match self.versions.get(&self.storage_version) {
            Some(schema) => schema.converted(object),
            None => object,
        }
    }

    /// A stored object in the form of this version.
    pub(in crate::in_process) fn shown(&self, stored: &Value) -> Value {
        let mut object = stored.clone();
        let of = stored["apiVersion"].as_str().and_then(|name| name.rsplit('/').next()).unwrap_or_default();
        if let Some(read) = self.versions.get(of).and_then(|schema| schema.read(object.clone()).ok()) {
            object = read;
        }
        if of == self.version {
            return object;
        }
        object["apiVersion"] = self.api_version().into();
        match self.schema() {
            Ok(schema) => schema.converted(object),
            Err(_) => object,
        }
    }

    /// An object as the answer to a write shows it, whether it is stored or not.
    pub(in crate::in_process) fn as_if_stored(&self, object: Value) -> Arc<Value> {
        if !self.is_custom() || self.version == self.storage_version {
            return Arc::new(object);
        }
        Arc::new(self.shown(&self.stored(object)))
    }

    /// Whether writing an object as it is read would store something else than what is stored.
    pub(in crate::in_process) fn is_outdated(&self, live: &Value, stored: Option<&Arc<Value>>) -> bool {
        self.is_custom() && self.rereads && stored.is_some_and(|stored| **stored != self.stored(live.clone()))
    }
}
