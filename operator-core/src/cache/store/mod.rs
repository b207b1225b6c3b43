//! The store of the objects that the watch has shown.
//!
//! A plain store keeps them all in full. A bounded one keeps only some in full, and of each a *minimal object*: the
//! metadata that the library uses, which is enough for keys, for the difference between a list and what is known, for
//! barriers, and for the old half of a change.
//!
//! ```text
//!                 plain            bounded
//! get             the object       the object, if it is held in full
//! shown           the object       the object, or its minimal form
//! entries         the objects      minimal forms
//! ```

mod bounded;
mod full;
mod record;

use std::{fmt, sync::Arc};

use crate::{cache::text::TextObject, resource::ObjectKey};

pub(super) use bounded::BoundedStore;
pub(super) use full::FullStore;

/// Where an informer keeps objects. Written only under the informer's lock; readable at any time. JOSDK: `ItemStore`.
pub(super) trait ItemStore: fmt::Debug + Send + Sync {
    /// The object in full, if it is held.
    fn get(&self, key: &ObjectKey) -> Option<Arc<TextObject>>;

    /// Whether the object exists as far as is known, held or not.
    fn contains(&self, key: &ObjectKey) -> bool;

    /// What the watch showed last, even if only in its minimal form. Unlike [`ItemStore::get`], never anything newer.
    fn shown(&self, key: &ObjectKey) -> Option<Arc<TextObject>>;

    /// The version that the watch showed last.
    fn version(&self, key: &ObjectKey) -> Option<String>;

    /// The watch has shown this state.
    fn insert(&self, key: ObjectKey, object: Arc<TextObject>);

    /// The watch has shown that the object is gone.
    fn remove(&self, key: &ObjectKey);

    /// The keys of everything that the watch has shown, sorted: nothing may depend on the order of a hash map.
    fn shown_keys(&self) -> Vec<ObjectKey>;

    /// All objects that exist as far as is known, sorted by key, each in the form of [`ItemStore::listed_form`].
    fn entries(&self) -> Vec<(ObjectKey, Arc<TextObject>)>;

    /// The form in which an object is shown among all others.
    fn listed_form(&self, key: &ObjectKey, object: Arc<TextObject>) -> Arc<TextObject>;

    /// The number of objects that the watch has shown.
    fn len(&self) -> usize;

    /// The number of them that are held in full.
    fn full(&self) -> usize {
        self.len()
    }

    /// Holds a state that was read from the server, and isn't older than the one that the watch has shown.
    fn fill(&self, _: &ObjectKey, _: Arc<TextObject>) {}

    /// Readers don't find the object any more, though the watch hasn't shown its deletion yet.
    fn hide(&self, _: &ObjectKey) {}

    /// Whether it holds only some objects in full.
    fn is_bounded(&self) -> bool {
        false
    }

    /// Whether the content that is held is older than what the watch has shown, which was metadata alone.
    fn is_outdated(&self, _: &ObjectKey) -> bool {
        false
    }

    /// From now on the object is held in full whenever it was, or is read from the server, until as many calls of
    /// [`ItemStore::unpin`] have followed.
    fn pin(&self, _: &ObjectKey) {}

    /// Takes back one call of [`ItemStore::pin`].
    fn unpin(&self, _: &ObjectKey) {}

    /// Whether a reader may rely on finding the object in full if it exists: always, or while it is pinned.
    fn is_readable(&self, _: &ObjectKey) -> bool {
        true
    }

    /// Drops objects that were not used for too long.
    fn tidy(&self) {}
}
