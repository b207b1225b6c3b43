//! The guard around one own write.

use std::{fmt, sync::Arc};

use crate::resource::{KubeObject, ObjectKey};

use super::{
    engine::Engine,
    kept::{Answer, Kept, View},
};

/// An own write to one object, from before its request until after its answer. While it lives, events of the object
/// wait; dropping it, in whatever way, lets them go. JOSDK: `eventFilteringUpdateAndCacheResource`.
///
/// # Guarantees
/// - The echo of an answer given to [`OwnWrite::wrote`] is not handed to the informer's handler.
/// - Without an answer (the request failed, or was dropped in flight) nothing is filtered: whatever comes is foreign.
///
/// # Assumptions
/// - The request carries an optimistic lock on the resourceVersion of [`OwnWrite::base`] (or creates, when there is no
///   base), so that no foreign change lies between the base and the answer. After a conflict, [`OwnWrite::rebase`] and
///   try again.
#[must_use = "dropping it ends the write"]
pub struct OwnWrite<K: KubeObject> {
    engine: Arc<Engine>,
    view: Arc<View<K>>,
    key: ObjectKey,
    base: Option<Arc<Kept>>,
}

impl<K: KubeObject> OwnWrite<K> {
    pub(super) fn begin(engine: Arc<Engine>, view: Arc<View<K>>, key: ObjectKey) -> Self {
        let base = engine.begin_write(&key);
        Self { engine, view, key, base }
    }

    /// The object that is written.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The newest state that was known when the write began, or when it was rebased, or the last answer. `None` when the
    /// object doesn't exist as far as is known. From a bounded informer it may be a minimal object, which is all that an
    /// optimistic lock needs.
    #[must_use]
    pub fn base(&self) -> Option<Arc<K>> {
        self.view.open(self.base.as_ref()?)
    }

    /// The same as it is kept.
    pub(crate) fn kept_base(&self) -> Option<&Arc<Kept>> {
        self.base.as_ref()
    }

    /// Looks again, for another attempt after a conflict. Returns the new base.
    pub fn rebase(&mut self) -> Option<Arc<K>> {
        self.base = self.engine.base(&self.key);
        self.base()
    }

    /// The write was answered with `answer`. Reads show it from now on, and its echo will be dropped. Returns it in the
    /// form in which it is kept: without foreign managed fields, transformed.
    ///
    /// May be called again for a further write to the same object under this guard.
    pub fn wrote(&mut self, answer: K) -> Arc<K> {
        self.answered(self.view.answer_of(answer))
    }

    /// The same of an answer that is kept already.
    pub(crate) fn answered(&mut self, answer: Answer<K>) -> Arc<K> {
        if let Some(kept) = answer.kept {
            self.engine.wrote(&self.key, self.base.as_deref(), &kept);
            self.base = Some(kept);
        }
        answer.object
    }
}

impl<K: KubeObject> Drop for OwnWrite<K> {
    fn drop(&mut self) {
        self.engine.finish_write(&self.key);
    }
}

impl<K: KubeObject> fmt::Debug for OwnWrite<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnWrite").field("key", &self.key).finish_non_exhaustive()
    }
}
