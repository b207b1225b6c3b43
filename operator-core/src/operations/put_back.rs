//! What is done where an apply of a dependent is refused as invalid: what others have put in its way goes.
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

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use serde_json::Value;

use super::{
    DependentWriter, Error, body,
    drift::{Theirs, drift, folded, is_immutable},
    removal::Removed,
    request::{Verb, WriteRequest},
};
use crate::resource::{AnyObject, Object, ResourceVersion};

/// How many states of an object are tried for a fold.
const ATTEMPTS: u32 = 3;

/// What became of a write that had been refused as invalid.
#[derive(Debug)]
pub(crate) enum PutBack {
    /// What was in the way is gone, and the object is as desired.
    Applied(AnyObject),
    /// It was deleted, to be created anew.
    Deleted,
    /// Somebody else has written the object meanwhile, so that it is to be looked at once more.
    Overtaken,
}

impl DependentWriter<'_> {
    /// Puts back what others have changed so that our apply was `refused` as invalid, and applies again. `live` is the object as
    /// the server has it, with the managed fields of all.
    pub(crate) async fn put_back(&self, live: &dyn Object, refused: Error) -> Result<PutBack, Error> {
        let Error::Refused { status, .. } = &refused else { return Err(refused) };
        let managed = live.meta().managed_fields.as_deref().unwrap_or_default();
        let plain = body::plain(live, self.kind())?;
        let drift = drift(self.body()?, &plain, managed, self.field_manager(), status);
        let theirs = in_words(&drift.theirs);
        if drift.operations.is_empty() {
            return Err(refused.in_the_way(theirs));
        }
        let meta = live.meta();
        let (uid, version) = (meta.uid.as_deref(), meta.resource_version.as_deref());
        let patched = match self.patch(drift.operations, uid, version).await {
            Err(error) if error.is_outdated(Verb::JsonPatch) => return Ok(PutBack::Overtaken),
            Err(error) if error.code() == Some(422) => return Err(refused.in_the_way(theirs)),
            patched => patched?,
        };
        tracing::warn!(
            kind = %self.kind(), object = %self.key(), %theirs,
            "the apply was refused because of what others have written; it was put back"
        );
        self.fold(managed, patched, uid).await?;
        match self.apply(live).await {
            Err(error) if error.code() == Some(422) => Err(error.in_the_way(theirs)),
            applied => applied.map(PutBack::Applied),
        }
    }

    /// Makes what the patch has brought a part of what we apply, so that a later apply can take it away. Controllers answer to the
    /// patch within milliseconds, so that it may take some attempts; if all are overtaken it stays ours twice, and what that
    /// keeps from a later apply is put back then.
    async fn fold(
        &self,
        before: &[ManagedFieldsEntry],
        patched: Patched,
        uid: Option<&str>,
    ) -> Result<(), Error> {
        let (mut state, api_version) = (patched, self.kind().api_version());
        for _ in 0..ATTEMPTS {
            let Some(fold) = folded(before, &state.managed, self.field_manager(), &api_version) else {
                break;
            };
            match self.patch(fold, uid, state.version.as_deref()).await {
                Err(error) if error.is_outdated(Verb::JsonPatch) => {}
                folded => return folded.map(drop),
            }
            match self.live().await?.filter(|live| live.meta().uid.as_deref() == uid) {
                Some(live) => state = Patched::in_meta(live.meta()),
                None => break,
            }
        }
        Ok(())
    }

    /// Deletes `live`, whose fields can't be changed as `refused` says, so that it can be created again.
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
        let write = WriteRequest::deletion(self.kind(), self.key(), Some(uid), Some(version));
        let answer = match self.target.run.send(&write).await {
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
            Removed::Gone => Ok(PutBack::Deleted),
        }
    }

    /// Whether `refused` cites what can't be changed in an object that exists, and nothing else: only then does another one help.
    pub(crate) fn is_cured_anew(refused: &Error) -> bool {
        let Error::Refused { status, .. } = refused else { return false };
        status.code == 422 && is_immutable(status)
    }

    /// A JSON patch of this very state of the object, whose echo is filtered.
    async fn patch(
        &self,
        operations: Vec<Value>,
        uid: Option<&str>,
        version: Option<&str>,
    ) -> Result<Patched, Error> {
        let mut body = body::bound_to(uid, version);
        body.extend(operations);
        let write = WriteRequest {
            verb: Verb::JsonPatch,
            kind: self.kind(),
            key: self.key(),
            subresource: None,
            body: body::bytes(&Value::Array(body)),
            base: version.and_then(ResourceVersion::parse),
        };
        let window = self.target.begin(self.key());
        let answer = self.target.run.send(&write).await?;
        // Those of others are left out of what caches hold.
        let patched = Patched::of(&answer);
        window.wrote(self.target.understand(&write, &answer)?);
        Ok(patched)
    }
}

/// What an answer says about the object's managed fields.
#[derive(Default)]
struct Patched {
    version: Option<String>,
    managed: Vec<ManagedFieldsEntry>,
}

impl Patched {
    fn of(answer: &[u8]) -> Self {
        #[derive(serde::Deserialize)]
        struct Object {
            metadata: ObjectMeta,
        }
        let object = serde_json::from_slice::<Object>(answer).ok();
        object.map(|object| Self::in_meta(&object.metadata)).unwrap_or_default()
    }

    fn in_meta(meta: &ObjectMeta) -> Self {
        Self {
            version: meta.resource_version.clone(),
            managed: meta.managed_fields.clone().unwrap_or_default(),
        }
    }
}

fn in_words(theirs: &[Theirs]) -> String {
    theirs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// The refusal, with what others have written where it is about.
    fn in_the_way(self, theirs: String) -> Self {
        if theirs.is_empty() { self } else { Self::InTheWay { refused: Box::new(self), theirs } }
    }

    /// The refusal, with what helps where it cites what can't be changed.
    pub(crate) fn unless_recreated(self) -> Self {
        Self::Immutable { refused: Box::new(self) }
    }
}
