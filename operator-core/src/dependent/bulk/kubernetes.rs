//! Any number of objects in the cluster for each primary.

use std::{fmt, sync::Arc};

use super::several::{Selects, Several};
use crate::{
    dependent::{
        Asked, Capabilities, Declaration, Dependent, IntoDependent, ReadOnly,
        ask::{AtOnce, Drafts},
        custom::default_name,
        kubernetes::{Settings, settings},
    },
    reconciler::{BoxError, Context},
    resource::{KubeObject, Object},
};

/// What objects there should be in the cluster for a primary of type `P`. JOSDK's `desiredResources`.
///
/// Their keys are their names and namespaces. The owner references, or what else is needed to find the primary again, are
/// added by the framework.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which objects there should be for a `{P}`",
    note = "implement `operator_core::dependent::bulk::BulkDesired<{P}>` for it"
)]
pub trait BulkDesired<P: KubeObject>: Send + Sync + 'static {
    /// The type of the objects.
    type Resource: KubeObject;

    /// The desired state: a function of its arguments, without side effects. Reads of the context are fine.
    ///
    /// # Errors
    /// When it can't be told; the node fails with that error, and nothing is deleted.
    fn desired(&self, primary: &P, context: &Context<P>) -> Result<Vec<Self::Resource>, BoxError>;
}

/// The same for who knows the types.
type SelectsOf<P, K> = Box<dyn Fn(&P, &K) -> bool + Send + Sync>;

/// Declares that any number of objects of one kind follow from a primary: those that are not desired any more are deleted.
/// JOSDK's `BulkDependentResource` in its Kubernetes form.
///
/// What it deletes is what it has made, as the object's marks say. Other objects of the kind that belong to the primary are none
/// of its own, whoever maps them to it.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct BulkKubernetesDependent<D: BulkDesired<P>, P: KubeObject> {
    dependent: D,
    settings: Settings<D::Resource>,
    dynamic: <D::Resource as kube::Resource>::DynamicType,
    selects: Option<SelectsOf<P, D::Resource>>,
}

impl<D: BulkDesired<P>, P: KubeObject> BulkKubernetesDependent<D, P>
where
    <D::Resource as kube::Resource>::DynamicType: Default,
{
    /// Full management with owner references.
    pub fn new(dependent: D) -> Self {
        Self::of_type(dependent, Default::default())
    }
}

impl<P: KubeObject> BulkKubernetesDependent<ReadOnly<P>, P> {
    /// The objects of type `K` that others make for a primary, called `name` in the workflow: they are only read.
    pub fn read_only<K>(name: impl Into<Arc<str>>) -> BulkKubernetesDependent<ReadOnly<K>, P>
    where
        K: KubeObject<DynamicType: Default>,
    {
        BulkKubernetesDependent::new(ReadOnly::new()).name(name).capabilities(Capabilities::READ_ONLY)
    }
}

impl<D: BulkDesired<P>, P: KubeObject> BulkKubernetesDependent<D, P> {
    /// The same as `new` for a type that is known at run time only.
    pub fn of_type(dependent: D, dynamic: <D::Resource as kube::Resource>::DynamicType) -> Self {
        Self { dependent, settings: Settings::new(default_name::<D>()), dynamic, selects: None }
    }

    settings!(D::Resource);

    /// Which of the objects that it finds it is about; by default all. Whatever is desired must be among them. Needed where
    /// objects are only read; what is made has marks.
    pub fn selects(mut self, selects: impl Fn(&P, &D::Resource) -> bool + Send + Sync + 'static) -> Self {
        self.selects = Some(Box::new(selects));
        self
    }
}

impl<D: BulkDesired<P>, P: KubeObject> IntoDependent<P> for BulkKubernetesDependent<D, P> {
    fn into_dependent(self) -> Dependent<P> {
        let name = Arc::clone(&self.settings.name);
        let managed = self.settings.finish(self.dynamic);
        let mut declaration = Declaration { several: true, ..managed.declaration() };
        if let Some(objects) = &mut declaration.objects {
            objects.desired_by::<D>();
        }
        let dependent = self.dependent;
        let desire = move |asked: Asked<'_>| {
            let (primary, context) = asked.typed::<P>()?;
            Ok(Drafts::several(dependent.desired(&primary, &context)?))
        };
        let selects = self.selects.map(|selects| {
            let of = move |primary: &dyn Object, object: &dyn Object| match (
                primary.typed_ref(),
                object.typed_ref(),
            ) {
                (Some(primary), Some(object)) => selects(primary, object),
                _ => false,
            };
            Box::new(of) as Selects
        });
        Dependent::new(name, declaration, Several::new(Box::new(AtOnce(desire)), managed, selects))
    }
}

impl<D: BulkDesired<P>, P: KubeObject> fmt::Debug for BulkKubernetesDependent<D, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkKubernetesDependent")
            .field("name", &self.settings.name)
            .field("capabilities", &self.settings.capabilities)
            .finish_non_exhaustive()
    }
}
