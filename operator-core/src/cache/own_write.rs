//! The guard around one of the operator's own writes.

use std::sync::Arc;

use super::{
    engine::Engine,
    text::{Answer, TextObject},
};
use crate::resource::{AnyObject, ObjectKey};

/// One of the operator's own writes to an object, from before its request until after its answer. While this guard
/// lives, events of the object wait; dropping it releases them. JOSDK:
/// `eventFilteringUpdateAndCacheResource`.
///
/// # Guarantees
/// - The echo of an answer given to [`AnyWrite::answered`] is not handed to the informer's handler.
/// - Without an answer (the request failed, or was dropped in flight) nothing is filtered: every event counts as
///   foreign.
///
/// # Assumptions
/// - The request carries an optimistic lock on the resourceVersion of [`AnyWrite::base`] (or creates, if there is no
///   base): no foreign change lies between the base and the answer. After a conflict, begin another write.
#[must_use = "dropping it ends the write"]
pub(crate) struct AnyWrite {
    pub(super) engine: Arc<Engine>,
    pub(super) key: ObjectKey,
    pub(super) base: Option<Arc<TextObject>>,
}

impl AnyWrite {
    pub(super) fn begin(engine: Arc<Engine>, key: ObjectKey) -> Self {
        let base = engine.begin_write(&key);
        Self { engine, key, base }
    }

    /// The newest state that was known when the write began, or when it was rebased, or the last answer.
    pub(crate) fn base(&self) -> Option<&Arc<TextObject>> {
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
