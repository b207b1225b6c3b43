//! Creates and changes the objects of one primary, and judges what came of it.
//!
//! ```text
//! known object ── as desired? ── yes ──▶ nothing to do
//!      │ no                                     ▲
//!      ▼                                        │
//!    write ──▶ answer ── as desired? ── yes ────┤
//!      │ refused           └─ no ──▶ remembered, and not repeated   (written)
//!      ▼
//!  live object ── may it be put back, or created again? ──▶ write
//! ```

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::DynamicObject;
use serde_json::Value;

use super::{
    OfPrimary,
    written::{LastWrite, WriteWish, Written},
};
use crate::{
    dependent::{Error, matcher::Matcher},
    operations::{self, DependentWriter, Desired, PutBack, ResourceOperations, Seen, matcher::merged},
    resource::{AnyObject, Object},
    results::Operation,
};

/// The number of states of an object that are tried in one run.
const ATTEMPTS: u32 = 3;

impl OfPrimary<'_> {
    /// Creates or changes the object, as far as the dependent may; `None` if nothing exists and nothing may be
    /// created. `actual` is the object known under its name, whatever its owner.
    pub(in crate::dependent) async fn bring_about(
        &self,
        desired: &dyn Object,
        actual: Option<AnyObject>,
    ) -> Result<Option<(Operation, AnyObject)>, Error> {
        let writer = self.writer(desired)?;
        if let Some(actual) = &actual {
            self.refuse_swap(&**actual)?;
        }
        match self.bring_content_about(&writer, desired, actual).await? {
            Some((done, object)) if done != Operation::Created => {
                let kept = self.keep_up(&writer, desired, AnyObject::clone(&object)).await?;
                let is_same = kept.version() == object.version();
                Ok(Some((if is_same { done } else { Operation::Updated }, kept)))
            }
            done => Ok(done),
        }
    }

    /// Takes the marks off an object that the node has made: it is nobody's from then on.
    pub(in crate::dependent) async fn let_go(&self, object: &AnyObject) -> Result<(), Error> {
        let unmarked = DynamicObject { types: None, metadata: ObjectMeta::default(), data: Value::Null };
        self.keep_up(&self.writer(&**object)?, &unmarked, AnyObject::clone(object)).await.map(drop)
    }

    /// Whether there is something to do about the content of `actual`, which exists.
    pub(in crate::dependent) fn differs(
        &self,
        desired: &dyn Object,
        actual: &dyn Object,
    ) -> Result<bool, Error> {
        Ok(self.difference(&self.writer(desired)?, actual, desired)?.is_some())
    }

    /// The way to write the node's objects.
    pub(super) fn operations(&self) -> ResourceOperations<'_> {
        let operations = self.asked.context.resource_operations().event_source(&self.managed.source.name);
        match &self.managed.rules.propagation {
            Some(policy) => operations.propagation(policy),
            None => operations,
        }
    }

    /// The way to write a wanted object.
    fn writer<'d>(&'d self, desired: &'d dyn Object) -> Result<DependentWriter<'d>, Error> {
        let mark = self.notes_what_is_applied().then(|| self.marks.of.names().mark());
        Ok(self.operations().dependent(self.managed.of, desired, self.asked.node, mark, self.left)?)
    }

    /// Whether the server would create the object, as far as a request shows that creates nothing.
    ///
    /// # Errors
    /// If not, or if there is an object of this name that the node may not write.
    pub(in crate::dependent) async fn try_out(&self, desired: &dyn Object) -> Result<(), Error> {
        let writer = self.writer(desired)?;
        match writer.try_to_create(self.applies()).await {
            Err(error) if error.is_conflict() => self.look(&writer).await.map(drop),
            tried => Ok(tried?),
        }
    }

    /// Gives an object that exists the owner and the marks of `desired`, whatever the node does about its content.
    async fn keep_up(
        &self,
        writer: &DependentWriter<'_>,
        desired: &dyn Object,
        mut object: AnyObject,
    ) -> Result<AnyObject, Error> {
        for attempt in 1.. {
            let Some(patch) = self.marks.upkeep(desired.meta(), object.meta()) else { break };
            let error = match self.asked.context.permitted(writer.patch_metadata(&*object, patch)).await {
                Ok(patched) => return Ok(patched),
                Err(error) => error,
            };
            match self.look(writer).await? {
                Some(live) if error.is_conflict() && attempt < ATTEMPTS => object = writer.remember(live),
                _ => return Err(error.into()),
            }
        }
        Ok(object)
    }

    async fn bring_content_about(
        &self,
        writer: &DependentWriter<'_>,
        desired: &dyn Object,
        mut actual: Option<AnyObject>,
    ) -> Result<Option<(Operation, AnyObject)>, Error> {
        let context = self.asked.context;
        let mut if_it_matches = Operation::Matched;
        let mut attempt = 1;
        if actual.as_ref().is_some_and(|known| !self.may_write(&**known)) {
            // The caches don't hold what others have written, which shows the owner; and the object may be gone.
            actual = self.look(writer).await?.map(|live| writer.remember(live));
        }
        loop {
            let (result, operation) = match &actual {
                None if !self.managed.capabilities.creates => return Ok(None),
                None => (context.permitted(self.create(writer)).await, Operation::Created),
                Some(actual) => match self.difference(writer, &**actual, desired)? {
                    None => {
                        writer.matched();
                        return Ok(Some((if_it_matches, AnyObject::clone(actual))));
                    }
                    Some(paths) if self.has_to_wait(writer, &**actual, &paths)? => {
                        return Ok(Some((if_it_matches, AnyObject::clone(actual))));
                    }
                    Some(_) => (context.permitted(self.update(writer, &**actual)).await, Operation::Updated),
                },
            };
            let error = match result {
                // What an update can do about it needn't wait for the next run.
                Ok(created)
                    if !self.comes_out(writer, &*created, desired, operation == Operation::Created)?
                        && operation == Operation::Created =>
                {
                    (actual, if_it_matches) = (Some(created), operation);
                    continue;
                }
                Ok(written) => return Ok(Some((operation.min(if_it_matches), written))),
                Err(error) => error,
            };
            let unanswered = matches!(error, operations::Error::Unanswered { .. });
            let of_a_state = match &actual {
                None => unanswered || error.is_conflict(),
                Some(_) => error.is_about_another_state(),
            };
            if !of_a_state || attempt == ATTEMPTS {
                return Err(error.into());
            }
            attempt += 1;
            actual = match self.look(writer).await? {
                // The write may still take effect, so it isn't repeated now.
                None if unanswered => return Err(error.into()),
                Some(live) if is_known_as(actual.as_deref(), &*live) && !error.is_conflict() => {
                    match context.permitted(self.unblock(writer, &*live, desired, error)).await? {
                        PutBack::Applied(applied) => {
                            self.comes_out(writer, &*applied, desired, false)?;
                            return Ok(Some((Operation::Updated, applied)));
                        }
                        PutBack::Deleted => None,
                        PutBack::Overtaken => Some(writer.remember(live)),
                    }
                }
                live => live.map(|live| writer.remember(live)),
            };
            if unanswered {
                if_it_matches = Operation::Created;
            }
        }
    }

    /// The live object, with all of its content, if the node may write it.
    pub(super) async fn look(&self, writer: &DependentWriter<'_>) -> Result<Option<AnyObject>, Error> {
        match writer.live().await? {
            Some(live) if !self.may_write(&*live) => Err(self.refusal(&*live)),
            live => Ok(live),
        }
    }

    async fn create(&self, writer: &DependentWriter<'_>) -> Result<AnyObject, operations::Error> {
        if self.applies() { writer.apply_new().await } else { writer.create().await }
    }

    async fn update(
        &self,
        writer: &DependentWriter<'_>,
        actual: &dyn Object,
    ) -> Result<AnyObject, operations::Error> {
        if self.applies() {
            let taken = match self.managed.rules.takes_from {
                [] => None,
                prefixes => writer.take_fields(prefixes).await?,
            };
            return writer.apply(actual, taken.as_deref().or(actual.version())).await;
        }
        let plain = actual.to_value().map_err(|source| writer.serialize(source))?;
        writer.replace(actual, merged(&plain, writer.body()?)).await
    }

    /// Handles a write that was refused as invalid, of an object that the node may write.
    async fn unblock(
        &self,
        writer: &DependentWriter<'_>,
        live: &dyn Object,
        desired: &dyn Object,
        refused: operations::Error,
    ) -> Result<PutBack, operations::Error> {
        let refused = match self.applies() {
            true => match writer.put_back(live, refused).await {
                Err(refused) if refused.code() == Some(422) => refused,
                done => return done,
            },
            false => refused,
        };
        if refused.code() != Some(422) || !writer.is_valid_alone(live).await? {
            return Err(refused);
        }
        if !self.managed.rules.recreates || !self.may_recreate(live) {
            return Err(refused.unless_recreated());
        }
        let found = self.compared(writer, live, desired)?.unwrap_or_default();
        let (wish, paths) = (self.wish_for(writer)?, self.paths(writer, live, found));
        match self.last_write(writer, |last| last.may_recreate(&wish, live.uid(), &paths)) {
            true => writer.delete_to_recreate(live, refused).await,
            false => Err(refused.though_recreated(&paths)),
        }
    }

    /// What there is to do about `actual`: paths, if they are known; `None` if nothing.
    fn difference(
        &self,
        writer: &DependentWriter<'_>,
        actual: &dyn Object,
        desired: &dyn Object,
    ) -> Result<Option<Vec<String>>, operations::Error> {
        if !self.managed.capabilities.updates {
            return Ok(None);
        }
        let Some(paths) = self.compared(writer, actual, desired)? else { return Ok(None) };
        tracing::debug!(kind = %self.managed.kind, object = %writer.key(), ?paths, "differs from the desired state");
        // Another write would lead to the same.
        let wish = self.wish_for(writer)?;
        let outcome = self.last_write(writer, |last| last.outcome(&wish));
        Ok(Some(paths).filter(|_| outcome.is_none() || outcome != writer.content(actual)))
    }

    /// Where `actual` isn't as desired; `None` if it is.
    fn compared(
        &self,
        writer: &DependentWriter<'_>,
        actual: &dyn Object,
        desired: &dyn Object,
    ) -> Result<Option<Vec<String>>, operations::Error> {
        let names = self.marks.of.names();
        // A matcher of the user's own knows nothing of the marks.
        if !names.stand_as(desired.meta(), actual.meta()) {
            return Ok(Some(vec!["metadata".to_owned()]));
        }
        // Nor does it know the version in which the object was written.
        if !names.same_api_version(desired.meta(), actual.meta()) {
            return Ok(Some(vec!["apiVersion".to_owned()]));
        }
        let mark = names.mark_in(actual.meta()).unwrap_or_default();
        let seen = writer.seen(actual, self.told_apart(desired, mark));
        if seen.as_ref().is_some_and(Seen::has_matched) {
            return Ok(None);
        }
        if let Some(judge) = &self.managed.rules.judge {
            actual.check().map_err(|source| writer.serialize(source))?;
            return Ok((!(judge.0)(actual, desired, self.asked)).then(Vec::new));
        }
        let is_noted = self.notes_what_is_applied();
        let found = match is_noted {
            true => writer.was_applied(actual, seen.as_ref())?,
            false => {
                let (mut body, key) = (Arc::clone(writer.body()?), names.mark());
                // A mark that an earlier version of the controller applied makes no difference to the content.
                if body["metadata"]["annotations"][key] != mark {
                    Arc::make_mut(&mut body)["metadata"]["annotations"][key] = mark.into();
                }
                let found = self.managed.matcher.matches(actual, desired, &body);
                found.map_err(|source| writer.serialize(source))?
            }
        };
        if let Some(seen) = seen.filter(|_| found.is_equal()) {
            seen.note(is_noted && !self.managed.kind.is_sensitive());
        }
        Ok(found.into_paths())
    }

    /// Whether the object's digest of the last apply decides, by comparison with the desired state.
    fn notes_what_is_applied(&self) -> bool {
        self.managed.rules.judge.is_none() && matches!(self.managed.matcher, Matcher::Auto) && self.applies()
    }
}

impl OfPrimary<'_> {
    /// Records a write and its outcome. Returns whether the object is as desired now.
    fn comes_out(
        &self,
        writer: &DependentWriter<'_>,
        written: &dyn Object,
        desired: &dyn Object,
        is_new: bool,
    ) -> Result<bool, operations::Error> {
        if !self.managed.capabilities.updates {
            return Ok(true);
        }
        // The next run reports an object that can't be compared.
        let found = self.compared(writer, written, desired).unwrap_or_default();
        let paths = found.map(|found| self.paths(writer, written, found));
        let (wish, told) = (self.wish_for(writer)?, paths.as_ref().map(|paths| paths.join(", ")));
        let content = paths.as_ref().and_then(|_| writer.content(written));
        let note = |last: &mut LastWrite| last.note(wish, written.uid(), is_new, paths, content);
        if let (true, Some(paths)) = (self.last_write(writer, note), &told) {
            tracing::warn!(
                kind = %self.managed.kind, object = %writer.key(), paths,
                "differs right after it was written: something writes into it, such as a webhook; it isn't written again"
            );
        }
        Ok(told.is_none())
    }

    /// Whether the object has to stay as it is for now, because the node wants another state each time.
    fn has_to_wait(
        &self,
        writer: &DependentWriter<'_>,
        actual: &dyn Object,
        found: &[String],
    ) -> Result<bool, operations::Error> {
        let wish = self.wish_for(writer)?;
        let (wait, is_news) = self.last_write(writer, |last| last.due(&wish));
        if is_news {
            let paths = self.paths(writer, actual, found.to_vec()).join(", ");
            tracing::warn!(
                kind = %self.managed.kind, object = %writer.key(), %paths,
                "another state is wanted each time, although the primary is the same: a clock, a random number, or the order of a hash map? it is written less often from now on"
            );
        }
        if !wait.is_zero() {
            self.asked.context.remembered().lock().note_again_in(wait);
        }
        Ok(!wait.is_zero())
    }

    /// Where `actual` differs: by value, or else as it was `found`.
    fn paths(&self, writer: &DependentWriter<'_>, actual: &dyn Object, found: Vec<String>) -> Vec<String> {
        let body = writer.body().ok();
        let by_value = body.and_then(|body| Matcher::Auto.matches(actual, actual, body).ok()?.into_paths());
        let (mut paths, mark) = (by_value.unwrap_or_default(), self.marks.of.names().mark());
        paths.retain(|path| !path.contains(mark));
        if paths.is_empty() { found } else { paths }
    }

    fn wish_for(&self, writer: &DependentWriter<'_>) -> Result<WriteWish, operations::Error> {
        let primary = self.asked.primary.meta();
        let generation = primary.generation.map(|generation| generation.to_string());
        let of = generation.or_else(|| primary.resource_version.clone());
        let (causes, own) = (self.asked.context.run().causes, self.managed.source(self.asked.context));
        let is_given = own.is_ok_and(|own| causes.include_others_than(own.index()));
        Ok(WriteWish { state: writer.state()?, of, is_given, at: writer.now() })
    }

    fn last_write<R>(&self, writer: &DependentWriter<'_>, look: impl FnOnce(&mut LastWrite) -> R) -> R {
        let of = (Arc::from(self.asked.node), self.managed.kind.clone(), writer.key().clone());
        self.asked.context.scope().change_anyway(|all: &mut Written| look(all.entry(of).or_default()))
    }

    /// Distinguishes this desired state of this node from all others, for an object with that mark; `None` if the answer
    /// of the matcher may depend on more than the two objects.
    fn told_apart<'d>(&'d self, desired: &'d dyn Object, mark: &'d str) -> Desired<'d> {
        match self.managed.matcher {
            _ if self.managed.rules.judge.is_some() => Desired::Known(None),
            Matcher::Custom(_) => Desired::Known(None),
            Matcher::Auto | Matcher::Generic(_) => Desired::Object([&self.marks.node, mark], desired),
        }
    }
}

/// Whether the live object is the one on which the write was based.
fn is_known_as(actual: Option<&dyn Object>, live: &dyn Object) -> bool {
    actual.is_some_and(|actual| actual.meta().uid == live.meta().uid)
}
