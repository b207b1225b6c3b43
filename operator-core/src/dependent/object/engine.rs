//! A dependent in the cluster, as the engine calls it. A node with at most one object is treated as a node with several
//! objects, of which there is one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::FutureExt;

use super::{Changes, Jobs, OfPrimary, settings::Managed};
use crate::{
    dependent::{
        Asked, Deletion, Engine, Error,
        erased::{Answer, Deleted, Pruning},
        function::{Usual, Want},
        items::{Items, Work},
        question::{Ask, Drafts, Question, Sought},
    },
    reconciler::{AnyContext, BoxError},
    resource::{AnyObject, Draft, ObjectKey, ResourceType},
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
            self.change(own, &mut *draft)?;
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

    /// Changes what the function wants, as the node's declaration says.
    fn change(&self, own: &OfPrimary<'_>, draft: &mut dyn Draft) -> Result<(), BoxError> {
        for change in &self.managed.rules.changes {
            let before = ObjectKey::in_meta(draft.meta_mut());
            (change.0)(draft, own.asked)?;
            let after = ObjectKey::in_meta(draft.meta_mut());
            if before != after {
                let (kind, node) = (self.managed.kind.clone(), own.asked.node.to_owned());
                return Err(Error::Renamed { kind, node, before, after }.boxed());
            }
        }
        Ok(())
    }

    /// The objects that are only read, or why they aren't known yet.
    async fn found(&self, asked: Asked<'_>) -> Result<Result<Vec<AnyObject>, String>, BoxError> {
        let sought = self.question.sought(asked).await?;
        let Some(sought) = sought.wanted() else {
            self.managed.name(None, false, asked, self.question.place);
            return Ok(Ok(Vec::new()));
        };
        if let Some(key) = self.key_of(sought, asked) {
            let found = self.managed.found(&key, asked, self.question.place).await.map_err(Error::boxed)?;
            return Ok(found.map(Vec::from_iter));
        }
        self.managed.name(None, false, asked, self.question.place);
        let mut found = self.managed.all_found(asked).await.map_err(Error::boxed)?;
        if self.several {
            found.retain(|object| sought.selects.as_ref().is_none_or(|selects| selects(&**object)));
        } else if found.len() > 1 {
            let primary = ObjectKey::in_meta(asked.primary.meta());
            return Err(Error::Ambiguous { kind: self.managed.kind.clone(), primary }.boxed());
        }
        Ok(Ok(found))
    }

    /// The key of the only object that is read, if it is known by one.
    fn key_of(&self, sought: &Sought, asked: Asked<'_>) -> Option<ObjectKey> {
        let primary = ObjectKey::in_meta(asked.primary.meta());
        sought.key(self.managed.kind.is_namespaced(), &primary).filter(|_| !self.several)
    }

    /// The only object that is read and isn't there, and who might make it, in words.
    async fn lacking(&self, asked: Asked<'_>) -> Result<(String, String), BoxError> {
        let (kind, primary) = (&self.managed.kind, ObjectKey::in_meta(asked.primary.meta()));
        let sought = self.question.sought(asked).await?;
        Ok(match sought.wanted().and_then(|sought| self.key_of(sought, asked)) {
            Some(key) => {
                (format!("{kind} {key} not found"), asked.context.shared().marks.nodes().makers(kind))
            }
            None => (format!("no {kind} that belongs to {primary} found"), String::new()),
        })
    }

    /// Creates or changes the wanted objects.
    async fn bring_all_about(&self, asked: Asked<'_>) -> Result<ReconcileResult, BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let wanted = self.wanted(&own).await?;
        // The workflow only calls a dependent that wants something, even if that is an empty list.
        let desired = wanted.wanted().ok_or_else(|| Error::NothingDesired.boxed())?;
        self.managed.hold(asked, desired.iter().map(|(key, _)| key)).await.map_err(Error::boxed)?;
        let objects = desired.iter().map(|(_, object)| AnyObject::clone(object));
        let jobs = own.jobs(objects).await.map_err(Error::boxed)?;
        let (mut items, over) = (Items::default(), AtomicUsize::new(0));
        let work = desired.iter().map(|(key, object)| {
            (self.label(key), self.bring_about(&own, key, object, &jobs, &over).boxed())
        });
        items.work(work).await;
        own.remember(&jobs).await.map_err(Error::boxed)?;
        let (result, over) = (items.finish()?, over.into_inner());
        let result = result.over(over);
        self.with_leftovers(&own, desired, if self.several { result.desiring(desired.len()) } else { result })
    }

    /// The result with the knowledge whether there are objects that the node has made and no longer wants.
    fn with_leftovers(
        &self,
        own: &OfPrimary<'_>,
        desired: &ByKey,
        result: ReconcileResult,
    ) -> Result<ReconcileResult, BoxError> {
        // The wanted object comes first: when the name changes, one of the two exists at any time.
        let exists = self.several || !result.operations().is_empty() || result.has_nothing_to_show();
        let may_leave = exists && self.managed.capabilities.deletes;
        let leaves = may_leave && !Self::leftovers(own, desired)?.is_empty();
        Ok(result.leaving(leaves))
    }

    /// The objects that the node has made and no longer wants.
    fn leftovers(own: &OfPrimary<'_>, desired: &ByKey) -> Result<Vec<AnyObject>, BoxError> {
        own.removable_but(&|key| has(desired, key)).map_err(Error::boxed)
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

    /// The existing objects: those that are wanted and may be written, or if that isn't known, those that were made.
    async fn actual(&self, asked: Asked<'_>) -> Result<Vec<AnyObject>, BoxError> {
        // The wanted objects may not have been computed yet, and aren't computed if the objects only have to be deleted.
        let wanted = self.question.known::<ByKey>(asked);
        let wanted = wanted.as_ref().and_then(|wanted| wanted.wanted());
        let keys = || wanted.into_iter().flatten().map(|(key, _)| key);
        self.managed.hold(asked, keys()).await.map_err(Error::boxed)?;
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        if wanted.is_none() {
            return own.removable().map_err(Error::boxed);
        }
        // An object with another name isn't wanted, and goes at the end of the run.
        let mut actual = Vec::new();
        for key in keys() {
            actual.extend(own.actual(key).map_err(Error::boxed)?);
        }
        Ok(actual)
    }
}

impl Engine for ObjectEngine {
    fn add_change(&mut self, change: Changes) -> bool {
        self.managed.rules.changes.push(change);
        true
    }

    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            if self.managed.is_read_only() {
                let found = match self.found(asked).await? {
                    Ok(found) => found,
                    Err(why) => return Ok(ReconcileResult::unknown(why)),
                };
                if found.is_empty() && !self.several {
                    let (what, who) = self.lacking(asked).await?;
                    return Ok(ReconcileResult::lacks(what, who));
                }
                let found = found.into_iter();
                let found = found.map(|object| (Operation::Matched, self.managed.secondary(object)));
                return Ok(ReconcileResult::aggregated(found.collect()));
            }
            let Some(way) = self.question.own() else { return self.bring_all_about(asked).await };
            let result = way.reconcile(asked, Usual::new(self.bring_all_about(asked).boxed())).await?;
            // It may be another result than the usual one.
            let wanted = self.question.known::<ByKey>(asked);
            let Some(desired) = wanted.as_ref().and_then(|wanted| wanted.wanted()) else {
                return Ok(result.leaving(false));
            };
            self.with_leftovers(&self.managed.of_primary(asked).map_err(Error::boxed)?, desired, result)
        }
        .boxed()
    }

    fn sweep<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let wanted = self.question.known::<ByKey>(asked);
            let Some(desired) = wanted.as_ref().and_then(|wanted| wanted.wanted()) else {
                return Ok(ReconcileResult::nothing());
            };
            let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
            let (mut unwanted, kept) = own.without_others(Self::leftovers(&own, desired)?);
            unwanted.retain(|object| self.several || own.may_forget(object, self.managed.rules.prunes_data));
            let mut items = Items::default();
            items.work(self.removals(&own, unwanted, false)).await;
            Ok(items.finish()?.leaving(kept.is_some()))
        }
        .boxed()
    }

    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>> {
        async move {
            if self.managed.is_read_only() {
                let sought = self.question.sought(asked).await?;
                if sought.wanted().is_none() {
                    self.managed.name(None, false, asked, self.question.place);
                }
                return Ok(sought.answer());
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
            if !self.managed.capabilities.deletes {
                return Ok(Deleted::NOTHING);
            }
            self.managed.hold(asked, None).await.map_err(Error::boxed)?;
            let (mut made, mut kept) = (own.all_removable().map_err(Error::boxed)?, None);
            if asked.primary.meta().deletion_timestamp.is_none() {
                (made, kept) = own.without_others(made);
            }
            let is_gone = made.is_empty() && kept.is_none() && !own.awaits_some();
            let deletion = if is_gone { Deletion::Gone } else { Deletion::Asked };
            let mut items = Items::default();
            items.work(self.removals(&own, made, true)).await;
            Ok(Deleted { found: items.deleted()?, deletion, kept })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let found = match self.managed.is_read_only() {
                true => self.found(asked).await?.unwrap_or_default(),
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

    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning<'r>) -> Answer<'r, usize> {
        async move { self.managed.prune(asked, pruning).await.map_err(Error::boxed) }.boxed()
    }

    fn reads(&self, asked: Asked<'_>) -> Option<ObjectKey> {
        self.key_of(self.question.known::<Sought>(asked)?.wanted()?, asked)
    }

    #[cfg(feature = "testing")]
    fn keys(&self, asked: Asked<'_>) -> Vec<ObjectKey> {
        let wanted = self.question.known::<ByKey>(asked);
        let wanted = wanted.as_ref().and_then(|wanted| wanted.wanted());
        wanted.into_iter().flatten().map(|(key, _)| key.clone()).collect()
    }

    fn wants(&self, _: &ResourceType, key: &ObjectKey, asked: Asked<'_>) -> Option<bool> {
        match &*self.question.known::<ByKey>(asked)? {
            Want::Is(desired) => Some(has(desired, key)),
            Want::None(_) => Some(false),
            Want::Hold { .. } | Want::Wait { .. } => None,
        }
    }
}

fn has(desired: &ByKey, key: &ObjectKey) -> bool {
    desired.binary_search_by(|(wanted, _)| wanted.cmp(key)).is_ok()
}
