//! What the engine asks of a dependent in the cluster.

use futures::FutureExt;

use super::{OfPrimary, settings::Managed};
use crate::{
    dependent::{
        Asked, Deletion, Engine, Error,
        erased::{Answer, Deleted, Pruning},
    },
    reconciler::{
        AnyContext, BoxError, MemoKey,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::{AnyObject, Draft, ObjectKey},
};

/// Says what is wanted.
pub(super) type Desire = Box<dyn Fn(Asked<'_>) -> Result<Box<dyn Draft>, BoxError> + Send + Sync>;

/// Says which object is meant.
pub(super) type Target = Box<dyn Fn(Asked<'_>) -> Result<ObjectKey, BoxError> + Send + Sync>;

/// One object for each primary.
pub(super) struct Single {
    desire: Desire,
    managed: Managed,
    target: Option<Target>,
    memo: MemoKey,
}

impl Single {
    pub(super) fn new(desire: Desire, managed: Managed, target: Option<Target>) -> Self {
        Self { desire, managed, target, memo: MemoKey::default() }
    }

    fn desired(&self, own: &OfPrimary<'_>) -> Result<AnyObject, BoxError> {
        let desired = own.asked.context.memo().get_or_try(&self.memo, own.asked.primary, || {
            let desired = own.marked((self.desire)(own.asked)?).map_err(Error::boxed)?;
            self.on_target(ObjectKey::in_meta(desired.meta()), own.asked)?;
            Ok::<_, BoxError>(desired)
        })?;
        Ok(AnyObject::clone(&desired))
    }

    /// What is looked for has to be what is made, or it would be made anew in each run.
    fn on_target(&self, desired: ObjectKey, asked: Asked<'_>) -> Result<(), BoxError> {
        match self.target.as_ref().map(|target| target(asked)).transpose()? {
            Some(target) if target != desired => {
                Err(Error::OffTarget { kind: self.managed.kind.clone(), desired, target }.boxed())
            }
            _ => Ok(()),
        }
    }

    /// The object that is only read.
    fn found(&self, asked: Asked<'_>) -> Result<Option<AnyObject>, BoxError> {
        let found = match &self.target {
            Some(target) => self.managed.found(&target(asked)?, asked),
            None => self.only_one(asked.context),
        };
        found.map_err(Error::boxed)
    }

    /// The primary's one object of the kind, where nobody says which one is meant.
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
        let key = match &self.target {
            Some(target) => target(asked)?,
            None => ObjectKey::in_meta(self.desired(&own)?.meta()),
        };
        let actual = own.there(&key).map_err(Error::boxed)?;
        let done = match actual {
            Some(actual) if !managed.capabilities.can_update() && own.may_write(&*actual) => {
                Some((Operation::Matched, actual))
            }
            None if !managed.capabilities.can_create() => None,
            actual => {
                let desired = self.desired(&own)?;
                own.bring_about(&*desired, actual).await.map_err(Error::boxed)?
            }
        };
        // The one that is wanted first, so that the name changes without a time in which there is neither.
        if done.is_some() && managed.capabilities.can_delete() {
            own.remove_all_but(&key).await.map_err(Error::boxed)?;
        }
        Ok(self.result(done))
    }
}

impl Engine for Single {
    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            if self.managed.is_read_only() {
                let found = self.found(asked)?;
                return Ok(self.result(found.map(|found| (Operation::Matched, found))));
            }
            self.bring_about(asked).await
        }
        .boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
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

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let found = if self.managed.is_read_only() {
                self.found(asked)?.into_iter().collect()
            } else {
                let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
                // What is wanted may not have been asked yet, and isn't where the object only has to go.
                let desired = asked.context.memo().known::<AnyObject>(&self.memo, asked.primary);
                let found = match desired {
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

    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning) -> Answer<'r, usize> {
        async move { self.managed.prune(asked, pruning).await.map_err(Error::boxed) }.boxed()
    }
}
