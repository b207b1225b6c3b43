//! What earlier versions of the controller have applied under field managers that this one doesn't use. It becomes part
//! of what this version applies, so that what isn't wanted any more is removed by the next apply.
//!
//! ```text
//! known state: an entry of a retired manager? ── no ──▶ nothing, no request
//!    │ yes: caches keep the entries of our own managers only, so that their places are unknown
//!    ▼
//! live object, whole ──▶ JSON patch of managedFields, tests uid and version ── another version ──▶ overtaken
//! ```

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::drift::{Inherited, inherited};
use crate::operations::{
    DependentWriter, Error, PrimaryWriter,
    send::{
        body,
        intent::{Intent, Lock, Part},
        request::Verb,
        target::Target,
        write::ATTEMPTS,
    },
};
use crate::resource::{AnyObject, Object, ObjectKey};

/// The parts of a dependent that are applied.
const OBJECT: &[Option<&str>] = &[None];

/// The parts of a primary that are applied: the finalizer, and what user code applies, and the status.
const OBJECT_AND_STATUS: &[Option<&str>] = &[None, Some("status")];

/// The outcome for what retired managers have applied.
#[derive(Debug)]
pub(crate) enum Inheritance {
    /// There is nothing, or nothing that can be taken over.
    Nothing,
    /// It is ours.
    Ours(AnyObject),
    /// Someone else has written the object in the meantime, so it has to be read once more.
    Overtaken,
}

impl DependentWriter<'_> {
    /// Whether there is something to inherit, as far as the known state shows.
    pub(crate) fn may_inherit(&self, known: &dyn Object) -> bool {
        self.target.inherited(known.meta(), OBJECT).is_some()
    }

    /// Takes over what retired managers have applied to the `live` object.
    pub(crate) async fn inherit(&self, live: &dyn Object) -> Result<Inheritance, Error> {
        self.target.inherit(self.key(), live, OBJECT).await
    }

    /// All states of the object that were tried were overtaken.
    pub(crate) fn contended(&self, attempts: u32) -> Error {
        Error::Contended { kind: self.kind().clone(), key: self.key().clone(), attempts }
    }
}

impl PrimaryWriter<'_> {
    /// Takes over what retired managers have applied to the primary and its status. Returns the newest state if it was
    /// read.
    pub(crate) async fn inherit(&self) -> Result<Option<AnyObject>, Error> {
        if !self.ssa || self.target.run.writer.retired_managers.is_empty() {
            return Ok(None);
        }
        let known = self.target.own_primary()?;
        if self.target.inherited(known.meta(), OBJECT_AND_STATUS).is_none() {
            return Ok(None);
        }
        for _ in 0..ATTEMPTS {
            let live = self.target.live().await?;
            match self.target.inherit(self.key(), &*live, OBJECT_AND_STATUS).await? {
                Inheritance::Ours(primary) => return Ok(Some(primary)),
                Inheritance::Nothing => return Ok(Some(self.target.remember(live))),
                Inheritance::Overtaken => {}
            }
        }
        Err(self.target.contended())
    }
}

impl Target<'_> {
    fn inherited(&self, meta: &ObjectMeta, parts: &[Option<&str>]) -> Option<Inherited> {
        let writer = self.run.writer;
        if writer.retired_managers.is_empty() {
            return None;
        }
        let managed = meta.managed_fields.as_deref()?;
        inherited(managed, &writer.field_manager, &writer.retired_managers, parts)
    }

    async fn inherit(
        &self,
        key: &ObjectKey,
        live: &dyn Object,
        parts: &[Option<&str>],
    ) -> Result<Inheritance, Error> {
        let meta = live.meta();
        let inherited = self.inherited(meta, parts);
        let (Some(inherited), Some(uid), Some(version)) = (inherited, &meta.uid, &meta.resource_version)
        else {
            return Ok(Inheritance::Nothing);
        };
        let Inherited { mut operations, from } = inherited;
        // A write of the run's own primary carries its uid anyway.
        if self.uid().is_none() {
            operations.insert(0, body::test("/metadata/uid", uid.as_str()));
        }
        let intent = Intent::operations(Part::Object, key.clone(), operations);
        match self.write_locked(&intent, &Lock::Version(version.clone())).await {
            Ok(ours) => {
                let managers = Vec::from_iter(from).join(", ");
                tracing::info!(
                    kind = %self.kind(), object = %key, %managers,
                    "taking over what an earlier version of the controller has applied, from its field manager"
                );
                Ok(Inheritance::Ours(ours))
            }
            Err(error) if error.is_outdated(Verb::JsonPatch) => Ok(Inheritance::Overtaken),
            // One that went is looked for once more as well.
            Err(error) if error.is_not_found() && !self.is_own_primary => Ok(Inheritance::Overtaken),
            Err(error) => Err(error),
        }
    }
}
