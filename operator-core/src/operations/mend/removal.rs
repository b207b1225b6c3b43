//! Removes what a dependent has made: bound to the state that was judged, and judged again if there is another one.

use serde_json::Value;

use crate::operations::{Error, ResourceOperations, send::request::WriteRequest};
use crate::{
    event_source::RustType,
    resource::{AnyObject, Object},
};

/// The number of states of an object that are judged in one run.
const ATTEMPTS: u32 = 3;

/// How far a deletion has progressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// Nothing of ours exists any more.
    Gone,
    /// Finalizers, or a grace period, keep it for now.
    Going,
}

impl Removed {
    /// The meaning of the server's answer to a deletion: if the object is gone, the answer contains no object with a
    /// deletion timestamp.
    pub(in crate::operations) fn answered(answer: &[u8]) -> Self {
        let answer = serde_json::from_slice::<Value>(answer).unwrap_or_default();
        match answer.pointer("/metadata/deletionTimestamp") {
            Some(_) => Self::Going,
            None => Self::Gone,
        }
    }
}

impl ResourceOperations<'_> {
    /// Deletes this very state of an object: if someone else has changed it in the meantime the server refuses, and the
    /// live object is deleted only if `is_ours` is true for it, too. An object that is gone, or isn't ours any more,
    /// counts as removed.
    pub(crate) async fn remove(
        &self,
        of: RustType,
        object: &AnyObject,
        is_ours: &(dyn Fn(&dyn Object) -> bool + Send + Sync),
    ) -> Result<Removed, Error> {
        let (target, key) = self.target(of, &**object)?;
        let mut object = AnyObject::clone(object);
        let mut attempt = 1;
        loop {
            let meta = object.meta();
            if meta.deletion_timestamp.is_some() {
                return Ok(Removed::Going);
            }
            let (uid, version) = (meta.uid.as_deref(), meta.resource_version.as_deref());
            let write = WriteRequest::deletion(target.kind(), &key, uid, version);
            let error = match self.run.send(&write).await {
                Ok(answer) => return Ok(Removed::answered(&answer)),
                Err(error) if error.is_not_found() => return Ok(Removed::Gone),
                Err(error) => error,
            };
            if !error.is_conflict() {
                return Err(error);
            }
            let found = target.look(&key).await?;
            let Some(found) = found.filter(|found| found.meta().uid == object.meta().uid) else {
                return Ok(Removed::Gone);
            };
            if !is_ours(&*found) {
                tracing::info!(kind = %target.kind(), %key, "not removed: it is no longer ours");
                return Ok(Removed::Gone);
            }
            // The server had another reason, or somebody changes it again and again.
            let is_same = found.meta().resource_version == object.meta().resource_version;
            if is_same || attempt == ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
            object = found;
        }
    }
}
