//! The declaration of a dependent by what its type can do.

use std::{collections::BTreeMap, sync::Arc};

use futures::FutureExt;

use super::{Creator, Deleter, DependentResource, ExplicitState, Updater, default_name};
use crate::{
    dependent::{
        DependentSource,
        external::{Actual, Custom, Keyed, Wanted, declaration},
    },
    event_source::RustType,
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

/// The one resource of a primary, as a bulk of one.
struct One<D>(D);

impl<D> One<D> {
    /// What is desired. It is handed over whole to the function that creates or changes the resource, so it can't be
    /// kept.
    fn desired<P: KubeObject>(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Wanted<Self, P>, BoxError>
    where
        D: Creator<P>,
    {
        Ok(BTreeMap::from([((), self.0.desired(primary, context)?)]))
    }
}

impl<D: DependentResource<P>, P: KubeObject> Keyed<P> for One<D> {
    type Key = ();
    type Resource = D::Resource;
    type Desired = D::Resource;

    const SEVERAL: bool = false;

    async fn actual(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Actual<Self, P>, BoxError> {
        // Put in by itself: what is collected is sorted first, which takes longer than all else about one resource.
        let mut actual = BTreeMap::new();
        if let Some(found) = self.0.secondary(primary, context).await? {
            actual.insert((), found);
        }
        Ok(actual)
    }

    fn may_lack(actual: &BTreeMap<(), Arc<D::Resource>>) -> bool {
        actual.is_empty()
    }

    fn event_sources(&self) -> Vec<DependentSource> {
        self.0.event_sources()
    }

    fn label((): &()) -> Option<String> {
        None
    }

    fn id(&self, (): &(), resource: &D::Resource) -> String {
        self.0.id(resource)
    }
}

/// Declares a [`DependentResource`] with what it can do.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct CustomDependent<D: DependentResource<P>, P: KubeObject>(Custom<One<D>, P>);

impl<D: DependentResource<P>, P: KubeObject> CustomDependent<D, P> {
    /// By default it only reads.
    pub fn new(dependent: D) -> Self {
        Self(Custom::new(default_name::<D>(), One(dependent)))
    }

    /// Creates what is missing.
    pub fn creates(mut self) -> Self
    where
        D: Creator<P>,
    {
        self.0.desired = Some(One::desired);
        self.0.create =
            Some(|one, _, desired, primary, context| one.0.create(desired, primary, context).boxed());
        self
    }

    /// Changes what is not as desired.
    pub fn updates(mut self) -> Self
    where
        D: Updater<P>,
    {
        self.0.desired = Some(One::desired);
        self.0.update = Some((
            |one, actual, desired, primary, context| one.0.matches(actual, desired, primary, context),
            |one, _, actual, desired, primary, context| {
                one.0.update(actual, desired, primary, context).boxed()
            },
        ));
        self
    }

    /// Deletes a resource that is no longer wanted.
    pub fn deletes(mut self) -> Self
    where
        D: Deleter<P>,
    {
        self.0.delete =
            Some(|one, _, actual, primary, context| one.0.delete(actual, primary, context).boxed());
        self
    }

    /// Keeps the id of what it creates in an object in the cluster.
    pub fn keeps_state(mut self) -> Self
    where
        D: ExplicitState<P>,
    {
        self.0.state_type = Some(RustType::of::<D::State>());
        self.0.state =
            Some(|one, _, resource, primary, context| Ok(Box::new(one.0.state(resource, primary, context)?)));
        self
    }
}

declaration!(CustomDependent of DependentResource);
