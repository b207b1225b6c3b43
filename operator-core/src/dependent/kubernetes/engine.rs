//! What the engine asks of a dependent in the cluster.

use std::sync::Arc;

use futures::FutureExt;

use super::{Desired, settings::Managed};
use crate::{
    dependent::{
        Deletion, Engine, Error,
        erased::{Answer, Deleted},
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

impl<D: Desired<P>, P: KubeObject> Single<D, P> {
    pub(super) fn new(dependent: D, managed: Managed<D::Resource>, target: Option<Target<P>>) -> Self {
        Self { dependent, managed, target, memo: MemoKey::default() }
    }

    fn desired(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Arc<D::Resource>, BoxError> {
        context.memo().get_or_try(&self.memo, primary, || {
            let desired = self.dependent.desired(primary, context)?;
            let desired = self.managed.marked(desired, &**primary, context).map_err(Error::boxed)?;
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

    fn actual(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Option<Arc<D::Resource>>, BoxError> {
        let capabilities = self.managed.capabilities;
        let key = match &self.target {
            Some(target) => target(primary, context),
            None if capabilities.can_create() || capabilities.can_update() => {
                ObjectKey::of(&*self.desired(primary, context)?)
            }
            None => return self.only_one(context).map_err(Error::boxed),
        };
        self.managed.actual(&key, &**primary, context).map_err(Error::boxed)
    }

    /// The primary's one object of the kind, where nobody says which one is meant.
    fn only_one(&self, context: &Context<P>) -> Result<Option<Arc<D::Resource>>, Error> {
        let mut all = self.managed.all_actual(context)?.into_iter();
        match (all.next(), all.next()) {
            (only, None) => Ok(only),
            (_, Some(_)) => {
                let (kind, primary) = (self.managed.kind.clone(), context.primary_key().clone());
                Err(Error::Ambiguous { kind, primary })
            }
        }
    }
}

impl<D: Desired<P>, P: KubeObject> Engine<P> for Single<D, P> {
    fn reconcile<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, ReconcileResult> {
        async move {
            let managed = &self.managed;
            let actual = self.actual(primary, context)?;
            let done = match actual {
                Some(actual) if !managed.capabilities.can_update() => Some((Operation::Matched, actual)),
                None if !managed.capabilities.can_create() => None,
                actual => {
                    let desired = self.desired(primary, context)?;
                    let done = managed.bring_about(&desired, actual, &**primary, context).await;
                    done.map_err(Error::boxed)?
                }
            };
            Ok(done.map_or_else(ReconcileResult::nothing, |(operation, object)| {
                ReconcileResult::of(operation, self.managed.secondary(object))
            }))
        }
        .boxed()
    }

    fn delete<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, Deleted> {
        async move {
            if !self.managed.capabilities.can_delete() {
                return Ok(Deleted::NOTHING);
            }
            let Some(actual) = self.actual(primary, context)? else { return Ok(Deleted::NOTHING) };
            self.managed.delete(&actual, context).await.map_err(Error::boxed)?;
            Ok(Deleted { found: 1, deletion: Deletion::Asked })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let actual = self.actual(primary, context)?;
            Ok(actual.map(|actual| self.managed.secondary(actual)).into_iter().collect())
        }
        .boxed()
    }
}
