//! The writes of user code.

use std::{fmt, marker::PhantomData, sync::Arc};

use futures::FutureExt;
use kube::api::PropagationPolicy;
use serde_json::Value;

use super::{
    error::Error,
    matcher::{Desired, Part},
    primary::{FinalizerAdded, PrimaryWriter},
    send::{
        Target,
        body::{self, Text},
        intent::{Intent, WriteMode},
        request::{Verb, WritingRun},
    },
};
use crate::{
    cache::TextObject,
    event_source::{AnySecondary, RustType},
    resource::{AnyObject, KubeObject, Object, ObjectKey, ResourceType},
};

/// Writes objects: an object in which nothing differs is not sent, what is sent can be read at once, and its watch
/// event triggers no run. The context of a run returns it; [`WriteMode`] changes this behaviour. JOSDK:
/// `ResourceOperations`.
///
/// ```
/// # use std::sync::Arc;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_core::{Context, kube::Resource, operations::{Error, WriteMode}};
///
/// async fn touch<P>(context: &Context<P>, map: &Arc<ConfigMap>) -> Result<(), Error>
/// # where P: operator_core::resource::KubeObject
/// {
///     let operations = context.resource_operations();
///     // Changes one field of an object that others have made.
///     operations.json_patch(&**map, |map| map.meta_mut().labels = Some([("by".into(), "us".into())].into())).await?;
///     // The same once more, but the change triggers the primary.
///     operations.mode(WriteMode::CacheOnly).json_patch(&**map, |map| map.data = None).await?;
///     Ok(())
/// }
/// ```
///
/// The objects are those of the controller's event sources, and the primary itself. Writes of the run's own primary
/// carry its uid: if it was deleted or replaced in the meantime, they fail with [`Error::Gone`], and the run ends
/// without a failure, whatever it returns. None of them changes what the framework keeps on the primary: its finalizer,
/// its annotations, and the ids in the status.
///
/// # Errors
/// Each write fails if the controller has no event source for the type, or if the server refuses.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is written unless one of the write methods is called"]
pub struct ResourceOperations<'c> {
    pub(super) run: WritingRun<'c>,
    mode: Option<WriteMode>,
    event_source: Option<&'c str>,
}

impl<'c> ResourceOperations<'c> {
    pub(crate) fn new(run: WritingRun<'c>) -> Self {
        Self { run, mode: None, event_source: None }
    }

    /// Checks and filters as `mode` says.
    pub fn mode(mut self, mode: WriteMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// The event source called `name` receives the answers: needed if a controller has several for one type.
    pub fn event_source(mut self, name: &'c str) -> Self {
        self.event_source = Some(name);
        self
    }

    /// What becomes of what a deleted object owns.
    pub(crate) fn propagation(mut self, propagation: &'c PropagationPolicy) -> Self {
        self.run.propagation = propagation;
        self
    }

    /// Brings an object into the desired state by server-side apply: creates it, changes the fields that `desired`
    /// names, and removes those that an earlier desired state named and this one doesn't. Fields of others stay.
    /// JOSDK: `serverSideApply`.
    ///
    /// The `resourceVersion` in `desired` counts only with [`WriteMode::FilterWithOptimisticLocking`]. An apply of the
    /// primary leaves out its status, and keeps the controller's finalizer. [`Applied::object`] is the object as it is then.
    ///
    /// # Errors
    /// See [`ResourceOperations`].
    pub async fn server_side_apply<K: KubeObject>(&self, desired: &K) -> Result<Applied<K>, Error> {
        let state = self.apply(RustType::of::<K>(), desired, Part::Object).await?;
        Ok(Applied { state, kind: PhantomData })
    }

    /// The same for the status: the fields of `desired`'s status become the manager's. A list of conditions is mostly one field:
    /// one that others have added since is removed, except by [`json_patch_status`](Self::json_patch_status) and by the
    /// controller's status function. JOSDK: `serverSideApplyStatus`.
    ///
    /// # Errors
    /// See [`ResourceOperations`].
    pub async fn server_side_apply_status<K: KubeObject>(&self, desired: &K) -> Result<Arc<K>, Error> {
        typed(self.apply(RustType::of::<K>(), desired, Part::Status).await?.object()?)
    }

    /// Creates an object. JOSDK: `create`.
    ///
    /// # Errors
    /// See [`ResourceOperations`]; the server refuses with 409 if the object exists. A run can't create its own
    /// primary: that would bring back what has been deleted.
    pub async fn create<K: KubeObject>(&self, desired: &K) -> Result<Arc<K>, Error> {
        typed(self.create_any(RustType::of::<K>(), desired).await?)
    }

    /// Replaces an object by PUT. `desired` must contain the `resourceVersion` of the state it was made from, except
    /// with [`WriteMode::CacheOnly`], with which only the server may demand it. JOSDK: `update`.
    ///
    /// # Errors
    /// See [`ResourceOperations`]; the server refuses with 409 if someone else has changed the object in the meantime.
    pub async fn update<K: KubeObject>(&self, desired: &K) -> Result<Arc<K>, Error> {
        typed(self.replace(RustType::of::<K>(), desired, Part::Object).await?)
    }

    /// The same for the status; the rest of `desired` is ignored. JOSDK: `updateStatus`.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub async fn update_status<K: KubeObject>(&self, desired: &K) -> Result<Arc<K>, Error> {
        typed(self.replace(RustType::of::<K>(), desired, Part::Status).await?)
    }

    /// Changes an object by a JSON patch (RFC 6902): what `edit` changes in a copy of `actual` is sent, and nothing else.
    /// Without a change nothing is sent. The status is left out. JOSDK: `jsonPatch`.
    ///
    /// # Errors
    /// See [`ResourceOperations`]; the server refuses with 422 if a list that is changed has been changed in the
    /// meantime.
    pub async fn json_patch<K: KubeObject>(
        &self,
        actual: &K,
        edit: impl FnMut(&mut K) + Send,
    ) -> Result<Arc<K>, Error> {
        self.patch(actual, edit, Part::Object).await
    }

    /// The same for the status; what `edit` changes elsewhere is left out. JOSDK: `jsonPatchStatus`.
    ///
    /// # Errors
    /// As [`json_patch`](Self::json_patch).
    pub async fn json_patch_status<K: KubeObject>(
        &self,
        actual: &K,
        edit: impl FnMut(&mut K) + Send,
    ) -> Result<Arc<K>, Error> {
        self.patch(actual, edit, Part::Status).await
    }

    /// Changes an object by a JSON merge patch (RFC 7386): the fields that `patch` names are set, those with `null` are
    /// removed, lists are replaced as a whole. Of `object`, only name and namespace count. JOSDK: `jsonMergePatch`.
    ///
    /// A `metadata.resourceVersion` in the patch makes a conflict an error.
    ///
    /// # Errors
    /// See [`ResourceOperations`], and if the patch is not an object.
    pub async fn merge_patch<K: KubeObject>(&self, object: &K, patch: Value) -> Result<Arc<K>, Error> {
        typed(self.merge(RustType::of::<K>(), object, patch, Part::Object).await?)
    }

    /// The same for the status: `patch` has a field `status`, and the rest of it is ignored.
    /// JOSDK: `jsonMergePatchStatus`.
    ///
    /// # Errors
    /// As [`merge_patch`](Self::merge_patch).
    pub async fn merge_patch_status<K: KubeObject>(&self, object: &K, patch: Value) -> Result<Arc<K>, Error> {
        typed(self.merge(RustType::of::<K>(), object, patch, Part::Status).await?)
    }

    /// Adds a finalizer to the run's primary, so that it stays until that is removed again. Returns whether the primary has
    /// it: one that is marked for deletion takes none. Not for the finalizer of a
    /// [`Cleaner`](crate::Cleaner), which the framework handles. JOSDK: `addFinalizer`.
    ///
    /// It is sent as a JSON patch with the primary's uid, and only if it is missing, so that an apply of the primary by
    /// the reconciler doesn't remove it.
    ///
    /// # Errors
    /// [`Error::Gone`] if the primary is gone; the server refuses a name that isn't of the form `domain/name`.
    pub async fn add_finalizer(&self, finalizer: &str) -> Result<bool, Error> {
        let added = self.primary().add_finalizer(finalizer).await?;
        Ok(matches!(added, FinalizerAdded::Yes(_)))
    }

    /// Removes a finalizer from the run's primary, which may then be gone. No other finalizers are touched; one that
    /// isn't there, and a primary that is gone, count as done. JOSDK: `removeFinalizer`.
    ///
    /// # Errors
    /// See [`ResourceOperations`].
    pub async fn remove_finalizer(&self, finalizer: &str) -> Result<(), Error> {
        match self.primary().take_off_finalizer(finalizer).await {
            Err(Error::Gone { .. }) => Ok(()),
            removed => removed,
        }
    }

    /// Deletes exactly this object: an object that has taken its name in the meantime stays. An object that no longer
    /// exists counts as deleted. The deletion's event is never filtered.
    ///
    /// The uid identifies the object. An `object` without a uid, as user code builds it, means the object with that
    /// name that this operator has written, according to the managed fields of the known or the live object. An object
    /// that someone else has created under that name stays, and a warning says so.
    ///
    /// # Errors
    /// See [`ResourceOperations`].
    pub async fn delete<K: KubeObject>(&self, object: &K) -> Result<(), Error> {
        self.delete_any(RustType::of::<K>(), object).await
    }
}

impl<'c> ResourceOperations<'c> {
    /// Writes the run's primary without applying it: what is applied once is given up by the next apply without it.
    fn primary(&self) -> PrimaryWriter<'c> {
        PrimaryWriter::new(self.run, self.run.primaries, false)
    }

    async fn apply(&self, of: RustType, desired: &dyn Object, part: Part) -> Result<AppliedState, Error> {
        let (target, key) = self.held(of, desired).await?;
        let mode = self.mode.unwrap_or(WriteMode::MatchAndFilter);
        let is_others = part == Part::Object && !target.is_of_run(&key);
        let known = if is_others { target.informer().kept(&key) } else { None };
        // There is nothing to compare it with.
        if is_others
            && known.is_none()
            && let Some(body) = Text::of(desired, target.kind())
        {
            let written = target.write(&Intent::of_text(key, body), mode).await?;
            return Ok(AppliedState::Object { object: written, kind: target.kind().clone() });
        }
        let known = known.filter(|_| mode.matches());
        let manager = &*self.run.writer.field_manager;
        let known = known.map(|known| target.seen(known, part, Desired::Object([manager, ""], desired)));
        if let Some(known) = &known
            && known.has_matched()
        {
            return self.found_as_desired(&target, &known.kept, &key);
        }
        let body = match part {
            Part::Status => {
                let mut body = body::applied_status(desired, target.kind(), &key)?;
                if target.is_of_run(&key) {
                    self.run.leave_own(&Value::Null, &mut body);
                }
                body
            }
            Part::Object if target.is_of_run(&key) => body::applied_primary(
                desired,
                target.kind(),
                &key,
                self.run.finalizer,
                self.run.own_annotations,
            )?,
            Part::Object => body::applied(desired, target.kind())?,
        };
        let is_met = known.as_ref().and_then(|known| known.is_met_by_text(&body));
        let unmet = match &known {
            Some(known) if is_met == Some(true) => {
                known.note(true);
                return self.found_as_desired(&target, &known.kept, &key);
            }
            Some(known) if is_met == Some(false) => {
                Some(target.informer().view().lazy(&key, Arc::clone(&known.kept)))
            }
            _ => None,
        };
        let intent = Intent::of(Verb::Apply, part, key, body).made_from(desired.version());
        let written = target.write_upon(&intent, mode, unmet).boxed().await?;
        if let Some(known) = &known {
            known.note_if_unchanged(&*written);
        }
        Ok(AppliedState::Object { object: written, kind: target.kind().clone() })
    }

    async fn create_any(&self, of: RustType, desired: &dyn Object) -> Result<AnyObject, Error> {
        let (target, key) = self.target(of, desired)?;
        if target.is_of_run(&key) {
            return Err(Error::OwnPrimary { kind: target.kind().clone(), key });
        }
        let body = body::plain(desired, target.kind())?;
        let intent = Intent::of(Verb::Create, Part::Object, key, body);
        // A version makes no sense here; without one, no mode asks for it.
        let mode = self.mode.filter(|mode| !mode.filters()).unwrap_or(WriteMode::ForceFilter);
        opened(target.kind(), target.write(&intent, mode).await?)
    }

    async fn delete_any(&self, of: RustType, object: &dyn Object) -> Result<(), Error> {
        let (target, key) = self.held(of, object).await?;
        let uid = match target.uid().or(object.uid()) {
            Some(uid) => uid.to_owned(),
            None => match self.uid_of_ours(&target, &key).await? {
                Some(uid) => uid,
                None => return Ok(()),
            },
        };
        let write = self.run.deletion(target.kind(), &key, Some(&uid), None);
        match self.run.send(&write).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            // Either another object has this name now, which is not ours to delete, or the server had some other reason,
            // and this very object is still there: then it is not deleted. Only the live object tells.
            Err(error) if error.is_conflict() => {
                let found = target.look(&key).await?;
                match found.filter(|found| found.uid() == Some(&*uid)) {
                    Some(_) => Err(error),
                    None => Ok(()),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// The uid of the object with that name that this operator has written; `None` if there is none.
    async fn uid_of_ours(&self, target: &Target<'c>, key: &ObjectKey) -> Result<Option<String>, Error> {
        let writer = self.run.writer;
        let found = match target.newest(key)? {
            Some(known) => known,
            None => match target.look(key).await? {
                Some(live) => live,
                None => return Ok(None),
            },
        };
        let mut managers = found.meta().managed_fields.iter().flatten();
        if managers.any(|entry| entry.manager.as_deref() == Some(&*writer.field_manager)) {
            return Ok(found.meta().uid.clone());
        }
        tracing::warn!(
            kind = %target.kind(), %key,
            "not deleted, as this operator hasn't written it; to delete it all the same, pass the object as it was read, with its uid"
        );
        Ok(None)
    }

    async fn replace(&self, of: RustType, desired: &dyn Object, part: Part) -> Result<AnyObject, Error> {
        let (target, key) = self.held(of, desired).await?;
        let mut body = body::plain(desired, target.kind())?;
        if target.is_of_run(&key) {
            self.run.keep_own(part, &body::plain(&*target.own_primary()?, target.kind())?, &mut body);
        }
        let intent = Intent::of(Verb::Update, part, key, body);
        let intent = intent.made_from(desired.version());
        self.write(&target, &intent, WriteMode::FilterWithOptimisticLocking).await
    }

    async fn patch<K: KubeObject>(
        &self,
        actual: &K,
        mut edit: impl FnMut(&mut K) + Send,
        part: Part,
    ) -> Result<Arc<K>, Error> {
        let mut edited = |state: &dyn Object| {
            let mut edited = state.typed_ref::<K>()?.clone();
            edit(&mut edited);
            Some(Arc::new(edited) as AnyObject)
        };
        typed(self.patch_any(RustType::of::<K>(), actual, &mut edited, part).await?)
    }

    async fn patch_any(
        &self,
        of: RustType,
        actual: &dyn Object,
        edit: &mut (dyn FnMut(&dyn Object) -> Option<AnyObject> + Send),
        part: Part,
    ) -> Result<AnyObject, Error> {
        let (target, key) = self.held(of, actual).await?;
        let mode = self.mode.unwrap_or(WriteMode::MatchAndFilter);
        let mut differ = |state: &dyn Object| {
            let Some(edited) = edit(state) else { return Ok(None) };
            let from = body::patched_part(state, target.kind(), part)?;
            let mut to = body::patched_part(&*edited, target.kind(), part)?;
            if target.is_of_run(&key) {
                self.run.keep_own(part, &from, &mut to);
            }
            Ok(Some(Intent::difference(part, key.clone(), &from, &to).made_from(state.version())))
        };
        opened(target.kind(), target.write_difference(&key, actual, mode, &mut differ).await?)
    }

    async fn merge(
        &self,
        of: RustType,
        object: &dyn Object,
        mut patch: Value,
        part: Part,
    ) -> Result<AnyObject, Error> {
        let (target, key) = self.held(of, object).await?;
        let metadata = patch.get("metadata");
        if !patch.is_object() || metadata.is_some_and(|metadata| !metadata.is_object()) {
            return Err(Error::InvalidPatch { kind: target.kind().clone(), key });
        }
        if target.is_of_run(&key) {
            self.run.leave_own(&body::plain(&*target.own_primary()?, target.kind())?, &mut patch);
        }
        let version = patch.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned);
        let intent = Intent::of(Verb::MergePatch, part, key, patch).made_from(version.as_deref());
        self.write(&target, &intent, WriteMode::MatchAndFilter).await
    }

    async fn write(
        &self,
        target: &Target<'c>,
        intent: &Intent,
        default: WriteMode,
    ) -> Result<AnyObject, Error> {
        opened(target.kind(), target.write(intent, self.mode.unwrap_or(default)).await?)
    }

    /// The known state, to which nothing has to be written.
    fn found_as_desired(
        &self,
        target: &Target<'_>,
        known: &Arc<TextObject>,
        key: &ObjectKey,
    ) -> Result<AppliedState, Error> {
        self.run.writer.matched(self.run.key, target.kind(), key, None);
        Ok(match target.secondary() {
            Some(source) => {
                AppliedState::Found { kept: Arc::clone(known), source: Arc::clone(source), key: key.clone() }
            }
            None => AppliedState::Object {
                object: target.informer().try_open(key, known)?,
                kind: target.kind().clone(),
            },
        })
    }

    /// The target of `object`, which a bounded event source holds in full from then on.
    async fn held(&self, of: RustType, object: &dyn Object) -> Result<(Target<'c>, ObjectKey), Error> {
        let (target, key) = self.target(of, object)?;
        target.hold(&key).await?;
        Ok((target, key))
    }

    pub(super) fn target(&self, of: RustType, object: &dyn Object) -> Result<(Target<'c>, ObjectKey), Error> {
        let key_of = |kind: &ResourceType| body::key_of(object, kind);
        Target::find(self.run, self.event_source, of, object, key_of)
    }
}

/// The object that an apply has written, or has found as desired. Most reconcilers don't read it, and then it costs
/// nothing.
pub struct Applied<K> {
    state: AppliedState,
    kind: PhantomData<fn() -> K>,
}

enum AppliedState {
    /// What was written, or an object that was not read from a cache.
    Object { object: AnyObject, kind: ResourceType },
    /// As the cache keeps it.
    Found { kept: Arc<TextObject>, source: Arc<AnySecondary>, key: ObjectKey },
}

impl<K: KubeObject> Applied<K> {
    /// The object as it is now: with what the server and others have written.
    ///
    /// # Errors
    /// [`Error::Undecodable`] if it is of one of the cluster's own kinds, and can't be decoded.
    pub fn object(&self) -> Result<Arc<K>, Error> {
        typed(self.state.object()?)
    }
}

impl AppliedState {
    fn object(&self) -> Result<AnyObject, Error> {
        match self {
            Self::Object { object, kind } => opened(kind, Arc::clone(object)),
            Self::Found { kept, source, key } => Ok(source.informer().try_open(key, kept)?),
        }
    }
}

impl<K> fmt::Debug for Applied<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            AppliedState::Object { object, .. } => {
                f.debug_tuple("Applied").field(&ObjectKey::in_meta(object.meta())).finish()
            }
            AppliedState::Found { key, .. } => f.debug_tuple("Applied").field(key).finish(),
        }
    }
}

/// Fails if there is nothing but metadata: the rest can't be decoded.
fn opened(kind: &ResourceType, object: AnyObject) -> Result<AnyObject, Error> {
    let undecodable = |source| Error::undecodable(kind.clone(), ObjectKey::in_meta(object.meta()), source);
    object.check().map_err(undecodable)?;
    Ok(object)
}

fn typed<K: KubeObject>(object: AnyObject) -> Result<Arc<K>, Error> {
    object.typed().ok_or_else(|| Error::NoEventSource { kind: RustType::of::<K>().name().to_owned() })
}
