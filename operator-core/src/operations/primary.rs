//! Writes of a run's primary that the framework makes: finalizer, object, status. All carry the uid.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    Error, WriteMode,
    matcher::{
        fingerprint,
        seen::{Desired, Seen},
        strip_nulls,
    },
    send::{
        body,
        intent::{Intent, Lock, Part},
        merge::carry_over,
        request::Verb,
        target::{Target, WritingRun},
        write::ATTEMPTS,
    },
};
use crate::{
    event_source::PrimarySource,
    resource::{AnyObject, Object, ObjectKey, ResourceType},
};

/// The outcome of adding a finalizer.
#[derive(Debug)]
pub(crate) enum FinalizerAdded {
    /// It is on the object, which is the server's newest answer.
    Yes(AnyObject),
    /// The object was marked for deletion in the meantime: it takes no new finalizer, and the mark's own event follows.
    Deleting,
}

/// Writes one primary during one run.
#[derive(Debug)]
pub(crate) struct PrimaryWriter<'r> {
    pub(super) target: Target<'r>,
    /// Whether the primary is written by server-side apply; otherwise by JSON patch.
    pub(super) ssa: bool,
}

impl<'r> PrimaryWriter<'r> {
    pub(crate) fn new(run: WritingRun<'r>, source: &'r PrimarySource, ssa: bool) -> Self {
        Self { target: Target::of_primary(run, source), ssa }
    }

    /// Adds `finalizer` to the primary.
    pub(crate) async fn add_finalizer(&self, finalizer: &str) -> Result<FinalizerAdded, Error> {
        let mut known = self.target.own_primary()?;
        for _ in 0..ATTEMPTS {
            if known.meta().deletion_timestamp.is_some() {
                return Ok(FinalizerAdded::Deleting);
            }
            if has_finalizer(&*known, finalizer) {
                return Ok(FinalizerAdded::Yes(known));
            }
            let intent = self.finalizer_added(&*known, finalizer);
            let lock = Lock::Version(body::version_of(Some(&*known)).to_owned());
            match self.target.write_locked(&intent, &lock).await {
                Ok(answer) => return Ok(FinalizerAdded::Yes(answer)),
                Err(error) if error.is_about_another_state() => {
                    // Kept as caches keep it: without what others manage, and read by whoever asks next.
                    known = self.target.remember(self.target.live().await?);
                    if !error.is_outdated(intent.verb) {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(self.target.contended())
    }

    /// Removes `finalizer` from the primary, by JSON patch, so that no other finalizers are touched. If it is already
    /// removed, or the primary is gone, that counts as done.
    pub(crate) async fn remove_finalizer(&self, finalizer: &str) -> Result<(), Error> {
        let mut known = self.target.own_primary()?;
        for _ in 0..ATTEMPTS {
            let finalizers = known.meta().finalizers.as_deref().unwrap_or_default();
            let left: Vec<&String> = finalizers.iter().filter(|name| *name != finalizer).collect();
            if left.len() == finalizers.len() {
                return Ok(());
            }
            // The finalizers are all that is tested, so that nothing else that happens to the object comes in between.
            let intent = self.finalizers_changed(&*known, &json!(left));
            match self.target.send(&intent, None).await {
                Ok(answer) => {
                    // With the last finalizer the object is gone, and must not be remembered as if it were there.
                    if answer.object.meta().finalizers.as_ref().is_some_and(|left| !left.is_empty()) {
                        self.target.remember_answer(answer);
                    }
                    return Ok(());
                }
                Err(error) if error.is_not_found() => return Ok(()),
                // It was done; the answer shows an object whose spec nobody here understands.
                Err(Error::Undecodable { .. }) => return Ok(()),
                // 422 is a failed test: somebody else's finalizer went first, or the object is another one.
                Err(error) if matches!(error.code(), Some(409 | 422)) => known = self.target.live().await?,
                Err(error) => return Err(error),
            }
        }
        Err(self.target.contended())
    }

    /// Removes a finalizer that user code handles. Its echo triggers nothing, unless it ends the object.
    pub(crate) async fn take_off_finalizer(&self, finalizer: &str) -> Result<(), Error> {
        let known = self.target.own_primary()?;
        let mut differ = |state: &dyn Object| {
            if !has_finalizer(state, finalizer) {
                let nothing = Intent::difference(Part::Object, self.key().clone(), &json!({}), &json!({}));
                return Ok(Some(nothing.made_from(state.version())));
            }
            let finalizers = state.meta().finalizers.iter().flatten();
            let left: Vec<&String> = finalizers.filter(|name| *name != finalizer).collect();
            let ends_it = left.is_empty() && state.meta().deletion_timestamp.is_some();
            Ok((!ends_it).then(|| self.finalizers_changed(state, &json!(left))))
        };
        let mode = WriteMode::MatchAndFilter;
        match self.target.write_difference(self.key(), &*known, mode, &mut differ).await {
            Ok(_) => Ok(()),
            // What ends the object is no state of it, and must not be remembered as one.
            Err(Error::Overtaken { .. }) => self.remove_finalizer(finalizer).await,
            Err(error) => Err(error),
        }
    }

    /// Writes the primary without its status. `original` is the object that the reconciler was given.
    pub(crate) async fn patch_resource(
        &self,
        original: &dyn Object,
        desired: &dyn Object,
    ) -> Result<AnyObject, Error> {
        let (kind, key, run) = (self.kind(), self.key(), self.target.run);
        if self.ssa {
            let body = body::applied_primary(desired, kind, key, run.finalizer, run.done_jobs)?;
            let intent = Intent::of(Verb::Apply, Part::Object, key.clone(), body);
            return self.target.write(&intent, WriteMode::MatchAndFilter).await;
        }
        let from = body::patched_part(original, kind, Part::Object, None)?;
        // A desired object that was not made from the original must not take our finalizer off by leaving it out.
        let finalizer = run.finalizer.filter(|finalizer| has_finalizer(original, finalizer));
        let mut to = body::patched_part(desired, kind, Part::Object, finalizer)?;
        body::keep_annotation(&from, &mut to, run.done_jobs);
        self.carry_over(original, Part::Object, &from, &to).await
    }

    /// Writes the fields of the primary that `part` names, and our finalizer, if an apply is what keeps it.
    pub(crate) async fn apply_part(&self, part: Value) -> Result<AnyObject, Error> {
        let (kind, key, run) = (self.kind(), self.key(), self.target.run);
        let finalizer = run.finalizer.filter(|_| self.ssa);
        let body = body::applied_part(part, kind, key, finalizer, run.done_jobs)?;
        let intent = Intent::of(Verb::Apply, Part::Object, key.clone(), body);
        self.target.write(&intent, WriteMode::MatchAndFilter).await
    }

    /// Writes the status. `original` is the object that the reconciler was given.
    pub(crate) async fn patch_status(
        &self,
        original: &dyn Object,
        mut status: Value,
    ) -> Result<AnyObject, Error> {
        strip_nulls(&mut status);
        self.keep_own_fields(original, &mut status)?;
        if self.ssa {
            return self.apply_status(status).await;
        }
        let from = body::patched_part(original, self.kind(), Part::Status, None)?;
        let to = if status.is_null() { json!({}) } else { json!({ "status": status }) };
        self.carry_over(original, Part::Status, &from, &to).boxed().await
    }

    async fn apply_status(&self, status: Value) -> Result<AnyObject, Error> {
        let (kind, key, run) = (self.kind(), self.key(), self.target.run);
        let known = self.target.informer().kept(key).filter(|known| known.uid() == Some(run.uid));
        let known = known.map(|known| {
            let manager = &*run.writer.field_manager;
            let desired = fingerprint([manager, ""], |to| serde_json::to_writer(to, &status));
            self.target.seen(known, Part::Status, Desired::Known(desired))
        });
        if known.as_ref().is_some_and(Seen::has_matched) {
            run.writer.matched(run.key, kind, key, Part::Status.subresource());
            return self.target.own_primary();
        }
        let intent = Intent::of(Verb::Apply, Part::Status, key.clone(), body::of_status(kind, key, status));
        let written = self.target.write(&intent, WriteMode::MatchAndFilter).await?;
        if let Some(known) = known {
            known.note_if_unchanged(&*written);
        }
        Ok(written)
    }

    /// Writes what was made from `original` as a JSON patch of the current state.
    async fn carry_over(
        &self,
        original: &dyn Object,
        part: Part,
        from: &Value,
        to: &Value,
    ) -> Result<AnyObject, Error> {
        let (kind, key) = (self.kind(), self.key());
        let mut differ = |state: &dyn Object| {
            let live = body::patched_part(state, kind, part, None)?;
            let carried = carry_over(from, to, &live);
            let intent =
                |carried| Intent::difference(part, key.clone(), &live, &carried).made_from(state.version());
            Ok(carried.map(intent))
        };
        self.target.write_difference(key, original, WriteMode::MatchAndFilter, &mut differ).await
    }

    /// Whether our manager has applied the primary before: the finalizer alone would give up what it has applied.
    fn was_applied(&self, known: &dyn Object) -> bool {
        let manager = &*self.target.run.writer.field_manager;
        known.meta().managed_fields.iter().flatten().any(|entry| {
            entry.manager.as_deref() == Some(manager)
                && entry.operation.as_deref() == Some("Apply")
                && entry.subresource.as_deref().unwrap_or_default().is_empty()
        })
    }

    fn finalizer_added(&self, known: &dyn Object, finalizer: &str) -> Intent {
        if self.ssa && !self.was_applied(known) {
            let mut content = body::identity(self.kind(), self.key());
            content["metadata"]["finalizers"] = json!([finalizer]);
            return Intent::of(Verb::Apply, Part::Object, self.key().clone(), content);
        }
        let mut finalizers = known.meta().finalizers.clone().unwrap_or_default();
        finalizers.push(finalizer.to_owned());
        self.finalizers_changed(known, &json!(finalizers))
    }

    fn finalizers_changed(&self, known: &dyn Object, finalizers: &Value) -> Intent {
        // One that has none yet is patched as a whole, as there is no list to add to.
        let list = |finalizers: Value| json!({ "metadata": { "finalizers": finalizers } });
        let from = match &known.meta().finalizers {
            Some(finalizers) if !finalizers.is_empty() => list(json!(finalizers)),
            _ => json!({ "metadata": {} }),
        };
        let intent = Intent::difference(Part::Object, self.key().clone(), &from, &list(finalizers.clone()));
        intent.made_from(known.version())
    }

    fn kind(&self) -> &ResourceType {
        self.target.kind()
    }

    pub(super) fn key(&self) -> &'r ObjectKey {
        self.target.run.key
    }
}

/// Whether `finalizer` is on `object`.
pub(crate) fn has_finalizer(object: &dyn Object, finalizer: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|name| name == finalizer)
}
