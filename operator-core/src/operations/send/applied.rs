//! The result of a write, which is built only when it is read.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::target::Target;
use crate::operations::{Error, resource::typed};
use crate::{
    cache::TextObject,
    event_source::AnySecondary,
    resource::{AnyObject, KubeObject, ObjectKey, ResourceType},
};

/// The object that an apply has written, or has found as desired. Most reconcilers don't read it, and then it costs
/// nothing.
pub struct Applied<K> {
    state: State,
    kind: PhantomData<fn() -> K>,
}

pub(in crate::operations) enum State {
    /// What was written, or an object that was not read from a cache.
    Object { object: AnyObject, kind: ResourceType },
    /// As the cache keeps it.
    Found { kept: Arc<TextObject>, source: Arc<AnySecondary>, key: ObjectKey },
}

impl<K: KubeObject> Applied<K> {
    pub(in crate::operations) fn new(state: State) -> Self {
        Self { state, kind: PhantomData }
    }

    /// The object as it is now: with what the server and others have written.
    ///
    /// # Errors
    /// [`Error::Undecodable`] if it is of one of the cluster's own kinds, and can't be decoded.
    pub fn object(&self) -> Result<Arc<K>, Error> {
        typed(self.state.object()?)
    }
}

impl State {
    pub(in crate::operations) fn object(&self) -> Result<AnyObject, Error> {
        match self {
            Self::Object { object, kind } => {
                opened(object, kind)?;
                Ok(Arc::clone(object))
            }
            Self::Found { kept, source, key } => Ok(source.informer().try_open(key, kept)?),
        }
    }
}

impl<K> fmt::Debug for Applied<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            State::Object { object, .. } => {
                f.debug_tuple("Applied").field(&ObjectKey::in_meta(object.meta())).finish()
            }
            State::Found { key, .. } => f.debug_tuple("Applied").field(key).finish(),
        }
    }
}

/// Fails if there is nothing but metadata: the rest can't be decoded.
fn opened(object: &AnyObject, kind: &ResourceType) -> Result<(), Error> {
    object
        .check()
        .map_err(|source| Error::undecodable(kind.clone(), ObjectKey::in_meta(object.meta()), source))
}

impl Target<'_> {
    /// The object with all of its content. What was written is decoded only when it is read.
    pub(in crate::operations) fn opened(&self, object: AnyObject) -> Result<AnyObject, Error> {
        opened(&object, self.kind())?;
        Ok(object)
    }

    /// The known state, to which nothing has to be written.
    pub(in crate::operations) fn found_as_desired(
        &self,
        known: &Arc<TextObject>,
        key: &ObjectKey,
    ) -> Result<State, Error> {
        self.run.writer.matched(self.run.key, self.kind(), key, None);
        Ok(match self.secondary() {
            Some(source) => {
                State::Found { kept: Arc::clone(known), source: Arc::clone(source), key: key.clone() }
            }
            None => {
                State::Object { object: self.informer().try_open(key, known)?, kind: self.kind().clone() }
            }
        })
    }
}
