//! The declaration of a custom bulk dependent.

use std::{collections::BTreeMap, sync::Arc};

use futures::FutureExt;

use super::{BulkCreator, BulkDeleter, BulkDependentResource, BulkExplicitState, BulkUpdater};
use crate::{
    dependent::{
        DependentSource,
        custom::default_name,
        external::{Actual, Custom, Keyed, Wanted, declaration},
    },
    event_source::RustType,
    reconciler::{BoxError, Context, MemoKey},
    resource::{AnyObject, KubeObject},
};

/// Several resources for each primary.
struct Many<D> {
    dependent: D,
    memo: MemoKey,
}

impl<D> Many<D> {
    /// What is desired, computed once in a run of the workflow.
    fn desired<P: KubeObject>(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Wanted<Self, P>, BoxError>
    where
        D: BulkCreator<P>,
    {
        let of = Arc::clone(primary) as AnyObject;
        let desired = context.any().memo().get_or_try(&self.memo, &of, || {
            let desired = self.dependent.desired(primary, context)?;
            Ok::<_, BoxError>(desired.into_iter().map(|(key, one)| (key, Arc::new(one))).collect())
        })?;
        Ok(Wanted::<Self, P>::clone(&desired))
    }
}

impl<D: BulkDependentResource<P>, P: KubeObject> Keyed<P> for Many<D> {
    type Key = D::Key;
    type Resource = D::Resource;
    type Desired = Arc<D::Resource>;

    const SEVERAL: bool = true;

    async fn actual(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Actual<Self, P>, BoxError> {
        self.dependent.secondaries(primary, context).await
    }

    fn may_lack(_: &BTreeMap<D::Key, Arc<D::Resource>>) -> bool {
        true
    }

    fn event_sources(&self) -> Vec<DependentSource> {
        self.dependent.event_sources()
    }

    fn label(key: &D::Key) -> Option<String> {
        Some(key.to_string())
    }

    fn id(&self, key: &D::Key, _: &D::Resource) -> String {
        key.to_string()
    }
}

/// Declares a [`BulkDependentResource`] with what it can do.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct BulkCustomDependent<D: BulkDependentResource<P>, P: KubeObject>(Custom<Many<D>, P>);

impl<D: BulkDependentResource<P>, P: KubeObject> BulkCustomDependent<D, P> {
    /// By default it only reads.
    pub fn new(dependent: D) -> Self {
        Self(Custom::new(default_name::<D>(), Many { dependent, memo: MemoKey::default() }))
    }

    /// Creates what is missing.
    pub fn creates(mut self) -> Self
    where
        D: BulkCreator<P>,
    {
        self.0.desired = Some(Many::desired);
        self.0.create = Some(|many, key, desired, primary, context| {
            async move { many.dependent.create(key, &desired, primary, context).await }.boxed()
        });
        self
    }

    /// Changes what is not as desired.
    pub fn updates(mut self) -> Self
    where
        D: BulkUpdater<P>,
    {
        self.0.desired = Some(Many::desired);
        self.0.update = Some((
            |many, actual, desired, primary, context| {
                many.dependent.matches(actual, desired, primary, context)
            },
            |many, key, actual, desired, primary, context| {
                async move { many.dependent.update(key, actual, &desired, primary, context).await }.boxed()
            },
        ));
        self
    }

    /// Deletes resources that are no longer desired, if it is known what is desired, and all of them before the primary
    /// is removed.
    pub fn deletes(mut self) -> Self
    where
        D: BulkDeleter<P>,
    {
        self.0.delete = Some(|many, key, actual, primary, context| {
            many.dependent.delete(key, actual, primary, context).boxed()
        });
        self
    }

    /// Keeps the id of each resource that it creates in an object in the cluster.
    pub fn keeps_state(mut self) -> Self
    where
        D: BulkExplicitState<P>,
    {
        self.0.state_type = Some(RustType::of::<D::State>());
        self.0.state = Some(|many, key, resource, primary, context| {
            Ok(Box::new(many.dependent.state(key, resource, primary, context)?))
        });
        self
    }
}

declaration!(BulkCustomDependent of BulkDependentResource);
