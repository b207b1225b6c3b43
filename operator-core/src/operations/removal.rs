//! Removing what a dependent has made: bound to the state that was judged, and judged again where there is another one.

use serde_json::json;

use super::{
    Error, ResourceOperations, body,
    live::live,
    request::{Verb, WriteRequest},
};
use crate::resource::KubeObject;

/// How many states of an object are judged in one run.
const ATTEMPTS: u32 = 3;

impl ResourceOperations<'_> {
    /// Deletes this very state of an object: where somebody has changed it meanwhile the server refuses, and the live object is
    /// deleted only if `is_ours` says so of it, too. What is gone, goes already, or isn't ours any more counts as removed.
    pub(crate) async fn remove<K: KubeObject>(
        &self,
        object: &K,
        is_ours: impl Fn(&K) -> bool + Send + Sync,
    ) -> Result<(), Error> {
        let (target, key) = self.target(object)?;
        let mut object = object.clone();
        let mut attempt = 1;
        loop {
            let meta = object.meta();
            if meta.deletion_timestamp.is_some() {
                return Ok(());
            }
            let options = json!({
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "propagationPolicy": "Background",
                "preconditions": { "uid": meta.uid, "resourceVersion": meta.resource_version },
            });
            let write = WriteRequest {
                verb: Verb::Delete,
                kind: target.kind(),
                key: &key,
                subresource: None,
                body: body::bytes(&options),
                base: None,
            };
            let error = match self.run.send(&write).await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) => error,
            };
            if !error.is_conflict() {
                return Err(error);
            }
            let found = live::<K>(self.run.writer, target.kind(), &key).await?;
            let Some(found) = found.filter(|found| found.meta().uid == object.meta().uid) else {
                return Ok(());
            };
            if !is_ours(&found) {
                tracing::info!(kind = %target.kind(), %key, "not removed, as it isn't ours any more");
                return Ok(());
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
