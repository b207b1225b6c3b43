//! The guard around one of the operator's own writes.

use std::sync::Arc;
#[cfg(test)]
use std::{fmt, marker::PhantomData};

#[cfg(test)]
use super::text::View;
#[cfg(test)]
use crate::resource::KubeObject;
use crate::resource::{AnyObject, ObjectKey};

use super::{
    engine::Engine,
    text::{Answer, Kept},
};

/// One of the operator's own writes to an object, from before its request until after its answer. While this guard
/// lives, events of the object wait; dropping it, for whatever reason, releases them. JOSDK:
/// `eventFilteringUpdateAndCacheResource`.
///
/// # Guarantees
/// - The echo of an answer given to [`AnyWrite::answered`] is not handed to the informer's handler.
/// - Without an answer (the request failed, or was dropped in flight) nothing is filtered: every event counts as
///   foreign.
///
/// # Assumptions
/// - The request carries an optimistic lock on the resourceVersion of [`AnyWrite::base`] (or creates, if there is no
///   base), so that no foreign change lies between the base and the answer. After a conflict, begin another one.
#[must_use = "dropping it ends the write"]
pub(crate) struct AnyWrite {
    engine: Arc<Engine>,
    key: ObjectKey,
    base: Option<Arc<Kept>>,
}

impl AnyWrite {
    pub(super) fn begin(engine: Arc<Engine>, key: ObjectKey) -> Self {
        let base = engine.begin_write(&key);
        Self { engine, key, base }
    }

    /// The newest state that was known when the write began, or when it was rebased, or the last answer.
    pub(crate) fn base(&self) -> Option<&Arc<Kept>> {
        self.base.as_ref()
    }

    /// The write was answered with `answer`.
    pub(crate) fn answered(&mut self, answer: Answer) -> AnyObject {
        if let Some(kept) = answer.kept {
            self.engine.wrote(&self.key, self.base.as_deref(), &kept);
            self.base = Some(kept);
        }
        answer.object
    }
}

impl Drop for AnyWrite {
    fn drop(&mut self) {
        self.engine.finish_write(&self.key);
    }
}

/// The same with types, for tests.
#[cfg(test)]
#[must_use = "dropping it ends the write"]
pub(crate) struct OwnWrite<K: KubeObject> {
    write: AnyWrite,
    view: Arc<View>,
    of: PhantomData<fn() -> K>,
}

#[cfg(test)]
impl<K: KubeObject> OwnWrite<K> {
    pub(super) fn of_any(write: AnyWrite, view: Arc<View>) -> Self {
        Self { write, view, of: PhantomData }
    }

    /// The newest state that was known when the write began, or when it was rebased, or the last answer. `None` if the
    /// object doesn't exist as far as is known. From a bounded informer it may be a minimal object, which is all that
    /// an optimistic lock needs.
    pub(crate) fn base(&self) -> Option<Arc<K>> {
        self.view.open(self.write.base()?)?.typed()
    }

    /// Reads again, for another attempt after a conflict. Returns the new base.
    pub(crate) fn rebase(&mut self) -> Option<Arc<K>> {
        self.write.base = self.write.engine.base(&self.write.key);
        self.base()
    }

    /// The write was answered with `answer`. Reads show it from now on, and its echo will be dropped. Returns it in the
    /// form in which it is kept: without foreign managed fields, transformed.
    ///
    /// May be called again for a further write to the same object under this guard.
    pub(crate) fn wrote(&mut self, answer: K) -> Arc<K> {
        let answer = Arc::new(answer);
        let kept = self.write.answered(self.view.answer_of(Arc::clone(&answer) as _));
        kept.typed().unwrap_or(answer)
    }
}

#[cfg(test)]
impl<K: KubeObject> fmt::Debug for OwnWrite<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnWrite").field("key", &self.write.key).finish_non_exhaustive()
    }
}
