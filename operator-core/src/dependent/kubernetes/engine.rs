//! What the engine asks of a dependent in the cluster.

use std::sync::Arc;

use futures::FutureExt;

use super::{Desired, OfPrimary, settings::Managed};
use crate::{
    dependent::{
        Asked, Deletion, Engine, Error,
        erased::{Answer, Deleted, Pruning},
    },
    reconciler::{
        BoxError, Context, MemoKey,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::{KubeObject, ObjectKey},
};

/// Says which object is meant.
pub(super) type Target<P> = Box<dyn Fn(&P, &Context<P>) -> ObjectKey + Send + Sync>;

/// One object for each primary.
pub(super) struct Single<D: Desired<P>, P: KubeObject> {
    dependent: D,
    managed: Managed<D::Resource>,
    target: Option<Target<P>>,
    memo: MemoKey,
}

type Own<'r, D, P> = OfPrimary<'r, <D as Desired<P>>::Resource, P>;

impl<D: Desired<P>, P: KubeObject> Single<D, P> {
    pub(super) fn new(dependent: D, managed: Managed<D::Resource>, target: Option<Target<P>>) -> Self {
        Self { dependent, managed, target, memo: MemoKey::default() }
    }

    fn desired(&self, own: &Own<'_, D, P>) -> Result<Arc<D::Resource>, BoxError> {
        let Asked { primary, context, .. } = own.asked;
        context.memo().get_or_try(&self.memo, primary, || {
            let desired = own.marked(self.dependent.desired(primary, context)?).map_err(Error::boxed)?;
            self.on_target(ObjectKey::of(&desired), primary, context).map_err(Error::boxed)?;
            Ok(desired)
        })
    }

    /// What is looked for has to be what is made, or it would be made anew in each run.
    fn on_target(&self, desired: ObjectKey, primary: &P, context: &Context<P>) -> Result<(), Error> {
        match self.target.as_ref().map(|target| target(primary, context)) {
            Some(target) if target != desired => {
                Err(Error::OffTarget { kind: self.managed.kind.clone(), desired, target })
            }
            _ => Ok(()),
        }
    }

    /// The object that is only read.
    fn found(&self, asked: Asked<'_, P>) -> Result<Option<Arc<D::Resource>>, Error> {
        match &self.target {
            Some(target) => self.managed.found(&target(asked.primary, asked.context), asked),
            None => self.only_one(asked.context),
        }
    }

    /// The primary's one object of the kind, where nobody says which one is meant.
    fn only_one(&self, context: &Context<P>) -> Result<Option<Arc<D::Resource>>, Error> {
        let mut all = self.managed.all_found(context)?.into_iter();
        match (all.next(), all.next()) {
            (only, None) => Ok(only),
            (_, Some(_)) => {
                let (kind, primary) = (self.managed.kind.clone(), context.primary_key().clone());
                Err(Error::Ambiguous { kind, primary })
            }
        }
    }

    fn result(&self, done: Option<(Operation, Arc<D::Resource>)>) -> ReconcileResult {
        done.map_or_else(ReconcileResult::nothing, |(operation, object)| {
            ReconcileResult::of(operation, self.managed.secondary(object))
        })
    }

    async fn bring_about(&self, asked: Asked<'_, P>) -> Result<ReconcileResult, BoxError> {
        let (managed, own) = (&self.managed, self.managed.of_primary(asked).map_err(Error::boxed)?);
        let key = match &self.target {
            Some(target) => target(asked.primary, asked.context),
            None => ObjectKey::of(&*self.desired(&own)?),
        };
        let actual = own.there(&key).map_err(Error::boxed)?;
        let done = match actual {
            Some(actual) if !managed.capabilities.can_update() && own.may_write(&actual) => {
                Some((Operation::Matched, actual))
            }
            None if !managed.capabilities.can_create() => None,
            actual => {
                let desired = self.desired(&own)?;
                own.bring_about(&desired, actual).await.map_err(Error::boxed)?
            }
        };
        // The one that is wanted first, so that the name changes without a time in which there is neither.
        if done.is_some() && managed.capabilities.can_delete() {
            own.remove_all_but(&key).await.map_err(Error::boxed)?;
        }
        Ok(self.result(done))
    }
}

impl<D: Desired<P>, P: KubeObject> Engine<P> for Single<D, P> {
    fn reconcile<'r>(&'r self, asked: Asked<'r, P>) -> Answer<'r, ReconcileResult> {
        async move {
            if self.managed.is_read_only() {
                let found = self.found(asked).map_err(Error::boxed)?;
                return Ok(self.result(found.map(|found| (Operation::Matched, found))));
            }
            self.bring_about(asked).await
        }
        .boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r, P>) -> Answer<'r, Deleted> {
        async move {
            if !self.managed.capabilities.can_delete() {
                return Ok(Deleted::NOTHING);
            }
            let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
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

    fn secondaries<'r>(&'r self, asked: Asked<'r, P>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let found = if self.managed.is_read_only() {
                self.found(asked).map(Vec::from_iter)
            } else {
                let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
                // What is wanted may not have been asked yet, and isn't where the object only has to go.
                let desired = asked.context.memo().known::<D::Resource, P>(&self.memo, asked.primary);
                match desired {
                    Some(desired) => own.actual(&ObjectKey::of(&*desired)).map(Vec::from_iter),
                    None => own.removable(),
                }
            };
            let found = found.map_err(Error::boxed)?.into_iter();
            Ok(found.map(|object| self.managed.secondary(object)).collect())
        }
        .boxed()
    }

    fn left<'r>(&'r self, asked: Asked<'r, P>) -> Answer<'r, Vec<Secondary>> {
        async move { self.managed.left(self.secondaries(asked).await?, asked).await }.boxed()
    }

    fn prune<'r>(&'r self, asked: Asked<'r, P>, pruning: Pruning) -> Answer<'r, usize> {
        async move { self.managed.prune(asked, pruning).await.map_err(Error::boxed) }.boxed()
    }
}
