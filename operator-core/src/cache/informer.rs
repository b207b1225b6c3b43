//! The public interface of the cache: objects of one type, followed and readable.

mod holding;
mod making;
mod synced;
mod untyped;

use std::{fmt, future::Future, marker::PhantomData, sync::Arc};

use crate::{
    environment::Now,
    resource::{KubeObject, ObjectKey, ResourceType, ResourceVersion},
};

use super::Error;
#[cfg(test)]
use super::OwnWrite;

pub(crate) use holding::HeldObjects;
pub(crate) use making::InformerPlan;
pub(crate) use untyped::{AnyInformer, Unopened, WhyUnopened};

/// Follows all objects of one type, and answers reads from memory. Cheap to clone; clones share everything.
/// JOSDK: `InformerManager` and `ManagedInformerEventSource`.
///
/// Nothing runs before [`Informer::run`] is polled.
pub struct Informer<K: KubeObject> {
    any: AnyInformer,
    of: PhantomData<fn() -> K>,
}

/// How much an informer holds, for tests and diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Objects that the watch has shown.
    pub store: usize,
    /// The number of them that are held in full; all of them, except in a bounded informer.
    pub full: usize,
    /// Responses to the operator's own writes that the watch has not shown yet.
    pub overlay: usize,
    /// Objects that the operator is writing, or whose echo is awaited.
    pub windows: usize,
    /// Versions of the operator's own writes that the watch has not shown yet. Their number is limited, however long
    /// the watch is broken.
    pub awaited: usize,
    /// Distinct values in all indexes together.
    pub index_values: usize,
    /// Objects that exist and can't be decoded.
    pub undecodable: usize,
}

impl<K: KubeObject> Informer<K> {
    /// The informer, for objects of this type; it reports no objects of another type.
    pub(crate) fn of_any(any: AnyInformer) -> Self {
        Self { any, of: PhantomData }
    }

    /// The same for objects of any type.
    pub(crate) fn any(&self) -> &AnyInformer {
        &self.any
    }

    /// Follows the objects until `cancelled` resolves: one list-watch for each namespace, all inside this future.
    /// Dropping it stops everything at once. The caller spawns it once, through
    /// [`Environment::spawn`](crate::environment::Environment::spawn).
    ///
    /// It never fails: errors are reported as health, and it retries.
    pub async fn run(&self, cancelled: impl Future<Output = ()>) {
        self.any.run(cancelled).await;
    }

    /// The configured name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.any.name()
    }

    /// The type of object that is followed.
    #[must_use]
    pub fn resource_type(&self) -> &ResourceType {
        self.any.resource_type()
    }

    /// Whether objects with this key are followed at all. Label and field selectors are not considered.
    #[must_use]
    pub fn follows(&self, key: &ObjectKey) -> bool {
        self.any.follows(key)
    }

    /// The newest known state of an object: the response to the operator's own write until the watch has caught up with
    /// it. From an informer made by [`Informer::bounded`], `None` also stands for an object that is not held in full.
    /// An object that can't be decoded is not found by any read; [`Informer::undecodable`] names it.
    #[must_use]
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.any.get(key)?.typed()
    }

    /// Whether an object exists as far as is known, held in full or not.
    #[must_use]
    pub fn contains(&self, key: &ObjectKey) -> bool {
        self.any.contains(key)
    }

    /// The newest known state of an object, read from the server if it is known and not held in full. `None` if it
    /// doesn't exist. Needs no request for an object that is held or unknown, so never in an unbounded informer.
    ///
    /// An object that was read is held from then on, unless the watch has shown something newer in the meantime. Reads
    /// forget an object that the server doesn't have at once; the handler is notified when the watch shows its
    /// deletion. An answer may be newer than what the handler has been notified of. Besides list and watch, the
    /// operator needs the right to `get` these objects.
    ///
    /// # Errors
    /// [`Error::Get`]: the server refused, couldn't be reached or gave no usable answer within a minute, or the object
    /// changed again and again in the meantime.
    pub async fn fetch(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Error> {
        Ok(self.any.fetch(key).await?.and_then(|object| object.typed()))
    }

    /// The newest known state of all objects, sorted by key; minimal objects from an informer made by
    /// [`Informer::bounded`].
    #[must_use]
    pub fn list(&self) -> Vec<Arc<K>> {
        self.any.entries().iter().filter_map(|(_, kept)| self.any.open(kept)?.typed()).collect()
    }

    /// The newest known state of all objects of a namespace, sorted by name; like [`Informer::list`].
    #[must_use]
    pub fn list_in(&self, namespace: &str) -> Vec<Arc<K>> {
        let entries = self.any.entries().into_iter();
        let within = entries.filter(|(key, _)| key.namespace() == Some(namespace));
        within.filter_map(|(_, kept)| self.any.open(&kept)?.typed()).collect()
    }

    /// The keys of all objects, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.any.keys()
    }

    /// The newest known state of all objects for which the named indexer gives `value`, sorted by key. Empty if the
    /// index is unknown.
    #[must_use]
    pub fn by_index(&self, index: &str, value: &str) -> Vec<Arc<K>> {
        let found = self.any.by_index(index, value).into_iter();
        found.filter_map(|(_, kept)| self.any.open(&kept)?.typed()).collect()
    }

    /// Starts one of the operator's own writes to an object; see [`OwnWrite`]. Must not be called from the informer's
    /// own handler.
    #[cfg(test)]
    pub(crate) fn begin_write(&self, key: &ObjectKey) -> OwnWrite<K> {
        OwnWrite::of_any(self.any.begin_write(key), Arc::clone(self.any.view()))
    }

    /// Remembers the response to a write, so that reads show it at once; its echo is reported like a foreign change.
    /// Returns it in the form in which it is kept. JOSDK: cache-only mode.
    #[cfg(test)]
    pub(crate) fn remember(&self, answer: K) -> Arc<K> {
        let answer = Arc::new(answer);
        let remembered = self.any.remember_answer(self.any.answer_of(Arc::clone(&answer) as _));
        remembered.typed().unwrap_or(answer)
    }

    /// Whether this informer has seen everything that the cluster holds at the moment of the call, and has handed it to
    /// its handler: makes a fresh, consistent list of metadata and compares. For tests and barriers, not for a loop.
    ///
    /// # Errors
    /// The list was refused, or failed.
    pub async fn caught_up(&self) -> Result<bool, Error> {
        self.any.caught_up().await
    }

    /// When the server last answered: a page, an event or a bookmark.
    #[must_use]
    pub fn last_activity(&self) -> Now {
        self.any.last_activity()
    }

    /// The version up to which each namespace (`None` for all of them at once) has been seen.
    #[must_use]
    pub fn last_syncs(&self) -> Vec<(Option<String>, Option<ResourceVersion>)> {
        self.any.last_syncs()
    }

    /// Whether an object exists that can't be decoded. Reads of it then return an older state, or nothing.
    #[must_use]
    pub fn is_undecodable(&self, key: &ObjectKey) -> bool {
        self.any.is_undecodable(key)
    }

    /// The objects that exist and can't be decoded, each with the field that isn't as expected; sorted by key.
    #[must_use]
    pub fn undecodable(&self) -> Vec<(ObjectKey, String)> {
        self.any.undecodable()
    }

    /// How much is held.
    #[doc(hidden)]
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.any.sizes()
    }
}

impl<K: KubeObject> Clone for Informer<K> {
    fn clone(&self) -> Self {
        Self::of_any(self.any.clone())
    }
}

impl<K: KubeObject> fmt::Debug for Informer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}
