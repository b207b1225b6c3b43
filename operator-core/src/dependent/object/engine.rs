//! A dependent in the cluster, as the engine calls it.

use std::sync::Arc;

use futures::FutureExt;

use super::{Jobs, OfPrimary, settings::Managed};
use crate::{
    dependent::{
        Asked, Deletion, Engine, Error,
        ask::{Ask, Drafts, Question},
        erased::{Answer, Deleted, Pruning},
        function::{Usual, Want},
    },
    reconciler::{AnyContext, BoxError},
    resource::{AnyObject, ObjectKey},
    results::{Operation, ReconcileResult, Secondary},
};

/// One object for each primary.
pub(in crate::dependent) struct Single {
    question: Question,
    managed: Managed,
}

impl Single {
    /// One that may want nothing, and leave the name to its node.
    pub(in crate::dependent) fn new(ask: Box<dyn Ask>, managed: Managed) -> Self {
        Self { question: Question::new(ask), managed }
    }

    /// What is wanted, computed once.
    async fn wanted(&self, own: &OfPrimary<'_>) -> Result<Arc<Want<AnyObject>>, BoxError> {
        self.question.answer(own.asked, |drafts| self.finished(own, drafts)).await
    }

    fn finished(&self, own: &OfPrimary<'_>, drafts: Drafts) -> Result<AnyObject, BoxError> {
        let mut draft = drafts.only().ok_or_else(|| Error::NothingDesired.boxed())?;
        own.completed(&mut *draft, true).map_err(Error::boxed)?;
        own.marked(draft).map_err(Error::boxed)
    }

    async fn desired(&self, own: &OfPrimary<'_>) -> Result<AnyObject, BoxError> {
        let wanted = self.wanted(own).await?;
        // The workflow calls only a dependent that wants something.
        wanted.wanted().cloned().ok_or_else(|| Error::NothingDesired.boxed())
    }

    /// The object that is only read.
    async fn found(&self, asked: Asked<'_>) -> Result<Option<AnyObject>, BoxError> {
        let sought = self.question.sought(asked).await?;
        let Some(sought) = sought.wanted() else { return Ok(None) };
        let primary = ObjectKey::in_meta(asked.primary.meta());
        let key = sought.key(self.managed.kind.is_namespaced(), &primary);
        self.managed.hold(asked, &key).await.map_err(Error::boxed)?;
        let found = match key {
            Some(key) => self.managed.found(&key, asked),
            None => self.only_one(asked.context),
        };
        found.map_err(Error::boxed)
    }

    /// The primary's one object of the kind, if none is named.
    fn only_one(&self, context: &AnyContext) -> Result<Option<AnyObject>, Error> {
        let mut all = self.managed.all_found(context)?.into_iter();
        match (all.next(), all.next()) {
            (only, None) => Ok(only),
            (_, Some(_)) => {
                let (kind, primary) = (self.managed.kind.clone(), context.primary_key().clone());
                Err(Error::Ambiguous { kind, primary })
            }
        }
    }

    fn result(&self, done: Option<(Operation, AnyObject)>) -> ReconcileResult {
        done.map_or_else(ReconcileResult::nothing, |(operation, object)| {
            ReconcileResult::of(operation, self.managed.secondary(object))
        })
    }

    async fn bring_about(&self, asked: Asked<'_>) -> Result<ReconcileResult, BoxError> {
        let (managed, own) = (&self.managed, self.managed.of_primary(asked).map_err(Error::boxed)?);
        let key = ObjectKey::in_meta(self.desired(&own).await?.meta());
        managed.hold(asked, [&key]).await.map_err(Error::boxed)?;
        let actual = own.there(&key).map_err(Error::boxed)?;
        let jobs = match own.makes_jobs() {
            true => own.jobs([self.desired(&own).await?]).await.map_err(Error::boxed)?,
            false => Jobs::default(),
        };
        let is_over = actual.is_none() && jobs.is_over(&key);
        let done = match actual {
            None if is_over => None,
            Some(actual) if !managed.capabilities.can_update() && own.may_write(&*actual) => {
                Some((Operation::Matched, actual))
            }
            None if !managed.capabilities.can_create() => None,
            actual => {
                let desired = self.desired(&own).await?;
                own.bring_about(&*desired, actual).await.map_err(Error::boxed)?
            }
        };
        if let Some((_, object)) = &done {
            jobs.see(object);
        }
        own.remember(&jobs).await.map_err(Error::boxed)?;
        // The one that is wanted first, so that the name changes without a time in which there is neither.
        if (done.is_some() || is_over) && managed.capabilities.can_delete() {
            own.remove_all_but(&key).await.map_err(Error::boxed)?;
        }
        Ok(self.result(done).over(usize::from(is_over)))
    }
}

impl Engine for Single {
    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            if self.managed.is_read_only() {
                let found = self.found(asked).await?;
                return Ok(self.result(found.map(|found| (Operation::Matched, found))));
            }
            match self.question.own() {
                Some(own) => own.reconcile(asked, Usual::new(self.bring_about(asked).boxed())).await,
                None => self.bring_about(asked).await,
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
            let all = own.all_removable().map_err(Error::boxed)?;
            for object in &all {
                own.remove_and_note(object).await.map_err(Error::boxed)?;
            }
            let deletion =
                if all.is_empty() && !own.awaits_some() { Deletion::Gone } else { Deletion::Asked };
            Ok(Deleted { found: all.len(), deletion })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let found = if self.managed.is_read_only() {
                self.found(asked).await?.into_iter().collect()
            } else {
                let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
                // What is wanted may not have been asked yet, and isn't where the object only has to go.
                let wanted = self.question.known::<AnyObject>(asked);
                let wanted = wanted.as_ref().and_then(|wanted| wanted.wanted());
                let key = wanted.map(|desired| ObjectKey::in_meta(desired.meta()));
                self.managed.hold(asked, &key).await.map_err(Error::boxed)?;
                let found = match wanted {
                    Some(desired) => own.actual(&ObjectKey::in_meta(desired.meta())).map(Vec::from_iter),
                    None => own.removable(),
                };
                found.map_err(Error::boxed)?
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
}
