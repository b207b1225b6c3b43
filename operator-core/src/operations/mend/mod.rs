//! What others have done to a dependent's object, so that our apply is refused as invalid: what is in its way is replaced by
//! ours, or the object is deleted to be created again.
//!
//! ```text
//! apply ──422──▶ live object, whole ──▶ drift ── nothing to do ──▶ the refusal, and whose fields it cites
//!                                         │
//!                                         ▼
//!                  JSON patch, tests uid and version ── another version ──▶ overtaken: everything is decided again
//!                                         │
//!                                         ▼
//!                  our `Update` folded into our `Apply`, tests uid and version; once more from the live object where overtaken
//!                                         │
//!                                         ▼
//!                  the apply once more ──422──▶ the refusal, and whose fields they were
//! ```

mod drift;
mod take;
#[cfg(test)]
mod tests;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use serde_json::Value;

use self::{
    drift::{drift, folded},
    take::taken,
};
use super::{
    dependent::{DependentWriter, Removed},
    error::Error,
    send::{
        body,
        request::{Verb, WriteRequest},
    },
};
use crate::resource::{AnyObject, Object, ResourceVersion};

/// The number of states of an object that are tried for a fold.
const ATTEMPTS: u32 = 3;

/// The outcome of a write that had been refused as invalid.
#[derive(Debug)]
pub(crate) enum PutBack {
    /// What was in the way is gone, and the object is as desired.
    Applied(AnyObject),
    /// It was deleted, to be created again.
    Deleted,
    /// Someone else has written the object in the meantime, so it has to be read once more.
    Overtaken,
}

impl DependentWriter<'_> {
    /// Restores what others have changed so that our apply was `refused` as invalid, and applies again. `live` is the
    /// object on the server, with the managed fields of all.
    pub(crate) async fn put_back(&self, live: &dyn Object, refused: Error) -> Result<PutBack, Error> {
        let Error::Refused { status, .. } = &refused else { return Err(refused) };
        let managed = live.meta().managed_fields.as_deref().unwrap_or_default();
        let plain = body::plain(live, self.kind())?;
        let drift = drift(self.body()?, &plain, managed, self.field_manager(), status);
        let theirs = drift.theirs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if drift.operations.is_empty() {
            return Err(refused.in_the_way(theirs));
        }
        let meta = live.meta();
        let (uid, version) = (meta.uid.as_deref(), meta.resource_version.as_deref());
        let patched = match self.patch(drift.operations, uid, version).await {
            Err(error) if error.is_outdated() => return Ok(PutBack::Overtaken),
            Err(error) if error.code() == Some(422) => return Err(refused.in_the_way(theirs)),
            patched => patched?,
        };
        tracing::warn!(
            kind = %self.kind(), object = %self.key(), %theirs,
            "the apply was refused because of what others have written; it was put back"
        );
        let version = self.fold(managed, patched, uid).await?;
        match self.apply(live, version.as_deref()).await {
            Err(error) if error.code() == Some(422) => Err(error.in_the_way(theirs)),
            applied => applied.map(PutBack::Applied),
        }
    }

    /// Makes what the patch has written a part of what we apply, so that a later apply can remove it. Controllers react
    /// to the patch within milliseconds, so this may take some attempts; if all are overtaken, the fields stay ours
    /// twice, and a later apply that is blocked by this is restored then. Returns the last known version.
    async fn fold(
        &self,
        before: &[ManagedFieldsEntry],
        patched: ObjectMeta,
        uid: Option<&str>,
    ) -> Result<Option<String>, Error> {
        let (mut state, us, api_version) = (patched, self.field_manager(), self.kind().api_version());
        for _ in 0..ATTEMPTS {
            let managed = state.managed_fields.as_deref().unwrap_or_default();
            let Some(fold) = folded(before, managed, us, us, &api_version) else { break };
            match self.patch(fold, uid, state.resource_version.as_deref()).await {
                Err(error) if error.is_outdated() => {}
                folded => return folded.map(|folded| folded.resource_version),
            }
            match self.live().await?.filter(|live| live.uid() == uid) {
                Some(live) => state = live.meta().clone(),
                None => break,
            }
        }
        Ok(state.resource_version)
    }

    /// Makes what managers with these prefixes own a part of what we apply: what isn't desired of it goes with the next apply.
    /// `None` if there is nothing; otherwise the version after that.
    pub(crate) async fn take_fields(&self, prefixes: &[&str]) -> Result<Option<String>, Error> {
        for attempt in 1.. {
            let Some(live) = self.live().await? else { break };
            let managed = live.meta().managed_fields.as_deref().unwrap_or_default();
            let taken = taken(managed, prefixes, self.field_manager(), &self.kind().api_version());
            let Some(taken) = taken else { break };
            match self.patch(vec![taken], live.uid(), live.version()).await {
                Err(error) if error.is_outdated() && attempt < ATTEMPTS => {}
                patched => return patched.map(|patched| patched.resource_version),
            }
        }
        Ok(None)
    }

    /// Deletes `live`, whose fields can't be changed according to `refused`, so that it can be created again.
    pub(crate) async fn delete_to_recreate(
        &self,
        live: &dyn Object,
        refused: Error,
    ) -> Result<PutBack, Error> {
        let going = || Error::Going { kind: self.kind().clone(), key: self.key().clone() };
        let meta = live.meta();
        if meta.deletion_timestamp.is_some() {
            return Err(going());
        }
        let (Some(uid), Some(version)) = (&meta.uid, &meta.resource_version) else { return Err(refused) };
        let run = &self.target.run;
        let write = run.deletion(self.kind(), self.key(), Some(uid), Some(version));
        let answer = match run.send(&write).await {
            Err(error) if error.is_conflict() => return Ok(PutBack::Overtaken),
            Err(error) if error.is_not_found() => return Ok(PutBack::Deleted),
            answer => answer?,
        };
        tracing::warn!(
            kind = %self.kind(), object = %self.key(), reason = %refused,
            "deleted, to be created again: it can't be changed as desired"
        );
        match Removed::answered(&answer) {
            Removed::Going => Err(going()),
            Removed::Gone | Removed::NotOurs => Ok(PutBack::Deleted),
        }
    }

    /// A JSON patch of this very state of the object, whose echo is filtered.
    async fn patch(
        &self,
        operations: Vec<Value>,
        uid: Option<&str>,
        version: Option<&str>,
    ) -> Result<ObjectMeta, Error> {
        let mut body = body::bound_to(uid, version);
        body.extend(operations);
        let body = body::bytes(&Value::Array(body));
        let base = version.and_then(ResourceVersion::parse);
        let write = WriteRequest { base, ..WriteRequest::of(Verb::JsonPatch, self.kind(), self.key(), body) };
        let window = self.target.begin(self.key());
        let answer = self.target.run.send(&write).await?;
        // Those of others are left out of what caches hold.
        let patched = metadata_in(&answer);
        window.wrote(self.target.understand(&write, &answer)?);
        Ok(patched)
    }
}

/// The metadata of an object, from an answer.
fn metadata_in(answer: &[u8]) -> ObjectMeta {
    #[derive(serde::Deserialize)]
    struct Object {
        metadata: ObjectMeta,
    }
    serde_json::from_slice(answer).map(|Object { metadata }| metadata).unwrap_or_default()
}

impl Error {
    /// The refusal, with what others have written at the place that it cites.
    fn in_the_way(self, theirs: String) -> Self {
        if theirs.is_empty() { self } else { Self::InTheWay { refused: Box::new(self), theirs } }
    }

    /// The refusal of a change that can't be made in an existing object.
    pub(crate) fn unless_recreated(self) -> Self {
        let advice = "delete the object, or let the dependent do so with `.recreate_when_immutable()`, which deletes only what its node has made";
        Self::Immutable { refused: Box::new(self), advice: advice.to_owned() }
    }

    /// The same where the object would come out the same if it were created again.
    pub(crate) fn though_recreated(self, paths: &[String]) -> Self {
        let why = "it differs right after it was created, at";
        let advice = format!("{why} {}: something writes into it, such as a webhook", paths.join(", "));
        Self::Immutable { refused: Box::new(self), advice }
    }
}
