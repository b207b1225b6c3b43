//! A bulk dependent in the cluster, as the engine calls it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::FutureExt;

use crate::{
    dependent::{
        Asked, Deletion, Engine, Error,
        ask::{Ask, Drafts, Question},
        erased::{Answer, Deleted, Pruning},
        function::{Usual, Want},
        items::{Items, Work},
        object::{Jobs, Managed, OfPrimary},
    },
    reconciler::{AnyContext, BoxError},
    resource::{AnyObject, ObjectKey},
    results::{Operation, ReconcileResult, Secondary},
};

/// Any number of objects for each primary.
pub(in crate::dependent) struct Several {
    question: Question,
    managed: Managed,
}

type ByKey = BTreeMap<ObjectKey, AnyObject>;

impl Several {
    /// One that may want no objects, or hold, and leave the namespace to its primary.
    pub(in crate::dependent) fn new(ask: Box<dyn Ask>, managed: Managed) -> Self {
        Self { question: Question::new(ask), managed }
    }

    /// What is wanted, computed once.
    async fn wanted(&self, own: &OfPrimary<'_>) -> Result<Arc<Want<ByKey>>, BoxError> {
        self.question.answer(own.asked, |drafts| self.finished(own, drafts)).await
    }

    fn finished(&self, own: &OfPrimary<'_>, drafts: Drafts) -> Result<ByKey, BoxError> {
        let mut desired = BTreeMap::new();
        for mut draft in drafts.all() {
            own.completed(&mut *draft, false).map_err(Error::boxed)?;
            let object = own.marked(draft).map_err(Error::boxed)?;
            let key = ObjectKey::in_meta(object.meta());
            if desired.insert(key.clone(), object).is_some() {
                let kind = self.managed.kind.clone();
                return Err(Error::DesiredTwice { kind, key }.boxed());
            }
        }
        Ok(desired)
    }

    /// What it has made and may remove.
    fn removable(&self, own: &OfPrimary<'_>) -> Result<Vec<AnyObject>, BoxError> {
        own.removable().map_err(Error::boxed)
    }

    /// What is only read.
    async fn found(&self, asked: Asked<'_>) -> Result<Vec<AnyObject>, BoxError> {
        let sought = self.question.sought(asked).await?;
        let Some(sought) = sought.wanted() else { return Ok(Vec::new()) };
        self.managed.hold(asked, None).await.map_err(Error::boxed)?;
        let mut found = self.managed.all_found(asked.context).map_err(Error::boxed)?;
        found.retain(|object| sought.selects.as_ref().is_none_or(|selects| selects(&**object)));
        Ok(found)
    }

    /// What it has made, and what it wants and may write.
    fn actual(&self, own: &OfPrimary<'_>) -> Result<Vec<AnyObject>, BoxError> {
        let made = self.removable(own)?.into_iter();
        let mut actual: ByKey = made.map(|object| (ObjectKey::in_meta(object.meta()), object)).collect();
        let wanted = self.question.known::<ByKey>(own.asked);
        let wanted = wanted.as_ref().and_then(|wanted| wanted.wanted());
        for key in wanted.into_iter().flat_map(BTreeMap::keys) {
            if let Some(found) = own.actual(key).map_err(Error::boxed)? {
                actual.insert(key.clone(), found);
            }
        }
        Ok(actual.into_values().collect())
    }

    /// What is needed to remove these.
    fn removals<'r>(
        &'r self,
        own: &'r OfPrimary<'r>,
        objects: impl IntoIterator<Item = AnyObject> + Send + 'r,
        is_awaited: bool,
    ) -> impl Iterator<Item = (Option<String>, Work<'r>)> + 'r {
        objects.into_iter().map(move |object| {
            let key = ObjectKey::in_meta(object.meta()).to_string();
            let removal = async move {
                let removed = match is_awaited {
                    true => own.remove_and_note(&object).await,
                    false => own.remove(&object).await.map(drop),
                };
                removed.map_err(Error::boxed)?;
                Ok(Some((Operation::Deleted, self.managed.secondary(object))))
            };
            (Some(key), removal.boxed())
        })
    }

    /// Removes what isn't wanted any more, and brings about what is.
    async fn bring_all_about(&self, asked: Asked<'_>) -> Result<ReconcileResult, BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let wanted = self.wanted(&own).await?;
        // The workflow calls only a dependent that wants something, be it none.
        let desired = wanted.wanted().ok_or_else(|| Error::NothingDesired.boxed())?;
        self.managed.hold(asked, desired.keys()).await.map_err(Error::boxed)?;
        let jobs = own.jobs(desired.values().cloned()).await.map_err(Error::boxed)?;
        let over = AtomicUsize::new(0);
        let mut items = Items::default();
        if self.managed.capabilities.can_delete() {
            let mut unwanted = self.removable(&own)?;
            unwanted.retain(|object| !desired.contains_key(&ObjectKey::in_meta(object.meta())));
            items.work(self.removals(&own, unwanted, false)).await;
        }
        let work = desired.iter().map(|(key, object)| {
            (Some(key.to_string()), self.bring_about(&own, key, object, &jobs, &over).boxed())
        });
        items.work(work).await;
        own.remember(&jobs).await.map_err(Error::boxed)?;
        Ok(items.finish()?.desiring(desired.len()).over(over.into_inner()))
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
}

impl Engine for Several {
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
            let made = own.all_removable().map_err(Error::boxed)?;
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
            let actual = match self.managed.is_read_only() {
                true => self.found(asked).await?,
                false => {
                    let wanted = self.question.known::<ByKey>(asked);
                    let wanted = wanted.as_ref().and_then(|wanted| wanted.wanted());
                    let keys = wanted.into_iter().flat_map(BTreeMap::keys);
                    self.managed.hold(asked, keys).await.map_err(Error::boxed)?;
                    self.actual(&self.managed.of_primary(asked).map_err(Error::boxed)?)?
                }
            };
            Ok(actual.into_iter().map(|object| self.managed.secondary(object)).collect())
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
}
