//! A dependent in the cluster, as the engine calls it. A node with at most one object is treated as a node with several
//! objects, of which there is one.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::FutureExt;

use super::{
    Jobs, OfPrimary,
    settings::Managed,
    written::{AT_ONCE, LastWrite, WriteWish, Written},
};
use crate::{
    dependent::{
        Asked, Deletion, Engine, Error,
        erased::{Answer, Ask, Deleted, Drafts, Pruning, Question},
        function::{Usual, Want},
        items::{Items, Work},
        matcher::Matcher,
    },
    operations::{self, DependentWriter, Desired, PutBack, Seen, matcher::merged},
    reconciler::{AnyContext, BoxError},
    resource::{AnyObject, Object, ObjectKey},
    results::{Operation, ReconcileResult, Secondary},
};

/// The objects of one kind that a node has for each primary.
pub(in crate::dependent) struct ObjectEngine {
    question: Question,
    managed: Managed,
    /// Whether there may be any number of objects, including none. Otherwise there is one, and the node may determine
    /// its name.
    several: bool,
}

/// Objects in the order of their keys.
type ByKey = Vec<(ObjectKey, AnyObject)>;

impl ObjectEngine {
    pub(in crate::dependent) fn new(ask: Box<dyn Ask>, managed: Managed, several: bool) -> Self {
        Self { question: Question::new(ask), managed, several }
    }

    /// The wanted objects, computed once.
    async fn wanted(&self, own: &OfPrimary<'_>) -> Result<Arc<Want<ByKey>>, BoxError> {
        self.question.answer(own.asked, |drafts| self.finished(own, drafts)).await
    }

    fn finished(&self, own: &OfPrimary<'_>, drafts: Drafts) -> Result<ByKey, BoxError> {
        let drafts = match self.several {
            true => drafts.all(),
            false => vec![drafts.only().ok_or_else(|| Error::NothingDesired.boxed())?],
        };
        let mut desired = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            own.completed(&mut *draft, !self.several).map_err(Error::boxed)?;
            let object = own.marked(draft).map_err(Error::boxed)?;
            desired.push((ObjectKey::in_meta(object.meta()), object));
        }
        desired.sort_by(|(one, _), (other, _)| one.cmp(other));
        if let Some([(key, _), ..]) = desired.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(Error::DesiredTwice { kind: self.managed.kind.clone(), key: key.clone() }.boxed());
        }
        Ok(desired)
    }

    /// The objects that are only read.
    async fn found(&self, asked: Asked<'_>) -> Result<Vec<AnyObject>, BoxError> {
        let sought = self.question.sought(asked).await?;
        let Some(sought) = sought.wanted() else { return Ok(Vec::new()) };
        let primary = ObjectKey::in_meta(asked.primary.meta());
        let key = sought.key(self.managed.kind.is_namespaced(), &primary).filter(|_| !self.several);
        self.managed.hold(asked, &key).await.map_err(Error::boxed)?;
        if let Some(key) = key {
            return self.managed.found(&key, asked).map(Vec::from_iter).map_err(Error::boxed);
        }
        let mut found = self.managed.all_found(asked.context).map_err(Error::boxed)?;
        if self.several {
            found.retain(|object| sought.selects.as_ref().is_none_or(|selects| selects(&**object)));
        } else if found.len() > 1 {
            return Err(Error::Ambiguous { kind: self.managed.kind.clone(), primary }.boxed());
        }
        Ok(found)
    }

    /// Deletes objects that are no longer wanted, and creates or changes the wanted ones.
    async fn bring_all_about(&self, asked: Asked<'_>) -> Result<ReconcileResult, BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let wanted = self.wanted(&own).await?;
        // The workflow only calls a dependent that wants something, even if that is an empty list.
        let desired = wanted.wanted().ok_or_else(|| Error::NothingDesired.boxed())?;
        self.managed.hold(asked, desired.iter().map(|(key, _)| key)).await.map_err(Error::boxed)?;
        let objects = desired.iter().map(|(_, object)| AnyObject::clone(object));
        let jobs = own.jobs(objects).await.map_err(Error::boxed)?;
        let (mut items, over) = (Items::default(), AtomicUsize::new(0));
        let may_remove = self.managed.capabilities.can_delete();
        if self.several && may_remove {
            let unwanted = own.unwanted(&|key| has(desired, key)).map_err(Error::boxed)?;
            items.work(self.removals(&own, unwanted, false)).await;
        }
        let work = desired.iter().map(|(key, object)| {
            (self.label(key), self.bring_about(&own, key, object, &jobs, &over).boxed())
        });
        items.work(work).await;
        own.remember(&jobs).await.map_err(Error::boxed)?;
        let (result, over) = (items.finish()?, over.into_inner());
        if self.several {
            return Ok(result.desiring(desired.len()).over(over));
        }
        // The wanted object comes first: when the name changes, one of the two exists at any time.
        let exists = !result.operations().is_empty() || over > 0;
        if exists && may_remove {
            own.remove_all_but(&|key| has(desired, key)).await.map_err(Error::boxed)?;
        }
        Ok(result.over(over))
    }

    /// Creates or changes one object, as far as the dependent may.
    async fn bring_about(
        &self,
        own: &OfPrimary<'_>,
        key: &ObjectKey,
        desired: &AnyObject,
        jobs: &Jobs,
        over: &AtomicUsize,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let actual = own.there(key).map_err(Error::boxed)?;
        if actual.is_none() && jobs.is_over(key) {
            over.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        let done = own.bring_about(&**desired, actual).await.map_err(Error::boxed)?;
        if let Some((_, object)) = &done {
            jobs.see(object);
        }
        Ok(done.map(|(operation, object)| (operation, self.managed.secondary(object))))
    }

    /// What is needed to delete these objects.
    fn removals<'r>(
        &'r self,
        own: &'r OfPrimary<'r>,
        objects: impl IntoIterator<Item = AnyObject> + Send + 'r,
        is_awaited: bool,
    ) -> impl Iterator<Item = (Option<String>, Work<'r>)> + 'r {
        objects.into_iter().map(move |object| {
            let label = self.label(&ObjectKey::in_meta(object.meta()));
            let removal = async move {
                let removed = match is_awaited {
                    true => own.remove_and_note(&object).await,
                    false => own.remove(&object).await.map(drop),
                };
                removed.map_err(Error::boxed)?;
                Ok(Some((Operation::Deleted, self.managed.secondary(object))))
            };
            (label, removal.boxed())
        })
    }

    /// The name of an object in errors; the node's only object has none.
    fn label(&self, key: &ObjectKey) -> Option<String> {
        self.several.then(|| key.to_string())
    }

    /// The existing objects: those that were made, and those that are wanted and may be written.
    async fn actual(&self, asked: Asked<'_>) -> Result<Vec<AnyObject>, BoxError> {
        // The wanted objects may not have been computed yet, and aren't computed if the objects only have to be deleted.
        let wanted = self.question.known::<ByKey>(asked);
        let wanted = wanted.as_ref().and_then(|wanted| wanted.wanted());
        let keys = || wanted.into_iter().flatten().map(|(key, _)| key);
        self.managed.hold(asked, keys()).await.map_err(Error::boxed)?;
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let mut actual = match wanted {
            // An object with another name isn't the wanted one.
            Some(_) if !self.several => Vec::new(),
            _ => own.removable().map_err(Error::boxed)?,
        };
        let made: BTreeSet<_> = actual.iter().map(|object| ObjectKey::in_meta(object.meta())).collect();
        for key in keys().filter(|key| !made.contains(key)) {
            actual.extend(own.actual(key).map_err(Error::boxed)?);
        }
        if actual.len() > made.len() && !made.is_empty() {
            actual.sort_by_cached_key(|object| ObjectKey::in_meta(object.meta()));
        }
        Ok(actual)
    }
}

impl Engine for ObjectEngine {
    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            if self.managed.is_read_only() {
                let found = self.found(asked).await?.into_iter();
                let found = found.map(|object| (Operation::Matched, self.managed.secondary(object)));
                return Ok(ReconcileResult::aggregated(found.collect()));
            }
            match self.question.own() {
                Some(own) => own.reconcile(asked, Usual::new(self.bring_all_about(asked).boxed())).await,
                None => self.bring_all_about(asked).await,
            }
        }
        .boxed()
    }

    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>> {
        async move {
            if self.managed.is_read_only() {
                return Ok(self.question.sought(asked).await?.answer());
            }
            let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
            Ok(self.wanted(&own).await?.answer())
        }
        .boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
        async move {
            let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
            own.forget_jobs().await.map_err(Error::boxed)?;
            if !self.managed.capabilities.can_delete() {
                return Ok(Deleted::NOTHING);
            }
            self.managed.hold(asked, None).await.map_err(Error::boxed)?;
            let mut made = own.all_removable().map_err(Error::boxed)?;
            if asked.primary.meta().deletion_timestamp.is_none() {
                made.retain(|object| own.is_wanted_by_others(&**object) != Some(true));
            }
            let is_gone = made.is_empty() && !own.awaits_some();
            let deletion = if is_gone { Deletion::Gone } else { Deletion::Asked };
            let mut items = Items::default();
            items.work(self.removals(&own, made, true)).await;
            Ok(Deleted { found: items.deleted()?, deletion })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let found = match self.managed.is_read_only() {
                true => self.found(asked).await?,
                false => self.actual(asked).await?,
            };
            Ok(found.into_iter().map(|object| self.managed.secondary(object)).collect())
        }
        .boxed()
    }

    fn left<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move { self.managed.left(self.secondaries(asked).await?, asked).await }.boxed()
    }

    fn newest(&self, of: &Secondary, context: &AnyContext) -> Option<AnyObject> {
        self.managed.newest(of, context)
    }

    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning) -> Answer<'r, usize> {
        async move { self.managed.prune(asked, pruning).await.map_err(Error::boxed) }.boxed()
    }

    fn wants(&self, key: &ObjectKey, asked: Asked<'_>) -> Option<bool> {
        match &*self.question.known::<ByKey>(asked)? {
            Want::Is(desired) => Some(has(desired, key)),
            Want::None(_) => Some(false),
            Want::Hold { .. } => None,
        }
    }
}

fn has(desired: &ByKey, key: &ObjectKey) -> bool {
    desired.binary_search_by(|(wanted, _)| wanted.cmp(key)).is_ok()
}

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
        match self.bring_content_about(&writer, desired, actual).await? {
            Some((done, object)) if done != Operation::Created => {
                let kept = self.keep_up(&writer, desired, AnyObject::clone(&object)).await?;
                let is_same = kept.version() == object.version();
                Ok(Some((if is_same { done } else { Operation::Updated }, kept)))
            }
            done => Ok(done),
        }
    }

    /// The way to write a wanted object.
    fn writer<'d>(&'d self, desired: &'d dyn Object) -> Result<DependentWriter<'d>, Error> {
        let operations = self.asked.context.resource_operations().event_source(&self.managed.source.name);
        let mark = self.notes_what_is_applied().then(|| self.marks.of.names().mark());
        Ok(operations.dependent(self.managed.of, desired)?.noting_in(mark))
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
                None if !self.managed.capabilities.can_create() => return Ok(None),
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
            return writer.apply(actual, actual.version()).await;
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
        if !self.managed.recreates || !self.may_recreate(live) {
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
        if !self.managed.capabilities.can_update() {
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
        if let Some(judge) = &self.managed.judge {
            actual.check().map_err(|source| writer.serialize(source))?;
            return Ok((!(judge.0)(actual, desired, self.asked)).then(Vec::new));
        }
        let is_noted = self.notes_what_is_applied();
        let found = match is_noted {
            true => writer.was_applied_to(actual)?,
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
            seen.note(is_noted);
        }
        Ok(found.into_paths())
    }

    /// Whether the object's digest of the last apply decides, by comparison with the desired state.
    fn notes_what_is_applied(&self) -> bool {
        self.managed.judge.is_none() && matches!(self.managed.matcher, Matcher::Auto) && self.applies()
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
        if !self.managed.capabilities.can_update() {
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
        let (row, wait) = self.last_write(writer, |last| last.due(&wish));
        if row == AT_ONCE {
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
        Ok(WriteWish { state: writer.state()?, of, at: writer.now() })
    }

    fn last_write<R>(&self, writer: &DependentWriter<'_>, look: impl FnOnce(&mut LastWrite) -> R) -> R {
        let of = (Arc::from(self.asked.node), writer.key().clone());
        self.asked.context.scope().change_anyway(|all: &mut Written| look(all.entry(of).or_default()))
    }

    /// Distinguishes this desired state of this node from all others, for an object with that mark; `None` if the answer
    /// of the matcher may depend on more than the two objects.
    fn told_apart<'d>(&'d self, desired: &'d dyn Object, mark: &'d str) -> Desired<'d> {
        match self.managed.matcher {
            _ if self.managed.judge.is_some() => Desired::Known(None),
            Matcher::Custom(_) => Desired::Known(None),
            Matcher::Auto | Matcher::Generic(_) => Desired::Object([&self.marks.node, mark], desired),
        }
    }
}

/// Whether the live object is the one on which the write was based.
fn is_known_as(actual: Option<&dyn Object>, live: &dyn Object) -> bool {
    actual.is_some_and(|actual| actual.meta().uid == live.meta().uid)
}
