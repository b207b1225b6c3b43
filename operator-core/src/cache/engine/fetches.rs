//! Objects that are known and not held in full: read from the server, outside any lock, and then stored.

use std::sync::Arc;

use crate::{
    cache::text::Kept,
    resource::{ObjectKey, ResourceVersion},
};

use super::Engine;

/// What is held of an object.
#[derive(Debug)]
pub(in crate::cache) enum Held {
    /// The whole object.
    Full(Arc<Kept>),
    /// It exists in this version, and only its minimal form is held.
    Minimal(Option<String>),
    /// It doesn't exist as far as is known.
    Nothing,
}

impl Engine {
    /// See [`ItemStore::pin`](crate::cache::store::ItemStore::pin).
    pub(in crate::cache) fn pin(&self, key: &ObjectKey) {
        self.store.pin(key);
    }

    /// See [`ItemStore::unpin`](crate::cache::store::ItemStore::unpin).
    pub(in crate::cache) fn unpin(&self, key: &ObjectKey) {
        self.store.unpin(key);
    }

    /// See [`ItemStore::is_readable`](crate::cache::store::ItemStore::is_readable).
    pub(in crate::cache) fn is_readable(&self, key: &ObjectKey) -> bool {
        self.store.is_readable(key)
    }

    pub(in crate::cache) fn held(&self, key: &ObjectKey) -> Held {
        if let Some(object) = self.get(key) {
            return Held::Full(object);
        }
        if self.store.contains(key) { Held::Minimal(self.store.version(key)) } else { Held::Nothing }
    }

    /// The server was asked for an object that was known in version `asked`, and answered with `object`. Returns what
    /// the caller may see; `None` if the watch has shown something newer in the meantime, which takes precedence.
    pub(in crate::cache) fn fetched(
        &self,
        key: &ObjectKey,
        asked: Option<&str>,
        object: Arc<Kept>,
    ) -> Option<Arc<Kept>> {
        let state = &mut *self.lock();
        if !self.store.contains(key) {
            return None;
        }
        let shown = self.store.version(key);
        let current = match (shown.as_deref().and_then(ResourceVersion::parse), object.resource_version()) {
            (Some(shown), Some(fetched)) => fetched >= shown,
            // Versions that can't be compared: it counts only if nothing has happened.
            (None, _) | (_, None) => shown.as_deref() == asked,
        };
        if !current {
            return None;
        }
        self.store.fill(key, Arc::clone(&object));
        // An own write may have been answered meanwhile.
        let own = state.overlay.recent().get(key);
        Some(match own {
            Some(own) if own.resource_version() > object.resource_version() => own,
            Some(_) | None => object,
        })
    }

    /// The server was asked for an object that was known in version `asked`, and doesn't have it. Readers no longer
    /// find it; the handler is notified, and the rest forgotten, when the watch or a list shows it. Returns false if
    /// the watch has shown something newer in the meantime, which takes precedence.
    pub(in crate::cache) fn not_found(&self, key: &ObjectKey, asked: Option<&str>) -> bool {
        let _state = self.lock();
        if self.store.version(key).as_deref() != asked {
            return false;
        }
        self.store.hide(key);
        true
    }
}
