//! The declaration of a dependent in the cluster.

use std::{fmt, sync::Arc};

use super::{
    Desired, ReadOnly,
    engine::{Single, Target},
    settings::{Settings, settings},
};
use crate::{
    dependent::{
        Asked, Capabilities, Dependent, IntoDependent,
        ask::{AtOnce, Drafts},
        custom::default_name,
    },
    reconciler::Context,
    resource::{KubeObject, ObjectKey},
};

/// Says which object is meant, for who knows the type of the primaries.
type TargetOf<P> = Box<dyn Fn(&P, &Context<P>) -> ObjectKey + Send + Sync>;

/// Declares that an object in the cluster follows from a primary: create, update and garbage collection by an owner
/// reference, unless told otherwise. JOSDK's `KubernetesDependentResource`.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use operator_core::{
///     BoxError, Context, Desired, InformerEventSource, KubernetesDependent, WatchScope, dependent::Capabilities,
/// };
///
/// struct Report;
///
/// impl Desired<Pod> for Report {
///     type Resource = ConfigMap;
///
///     fn desired(&self, pod: &Pod, _: &Context<Pod>) -> Result<ConfigMap, BoxError> {
///         let mut map = ConfigMap::default();
///         map.metadata.name.clone_from(&pod.metadata.name);
///         map.metadata.namespace = Some("reports".to_owned());
///         Ok(map)
///     }
/// }
///
/// // Nothing owns an object in another namespace, so it is marked by annotations and deleted by the operator.
/// let elsewhere = InformerEventSource::new().namespaces(WatchScope::Namespaces(["reports".to_owned()].into()));
/// let report = KubernetesDependent::<_, Pod>::new(Report).capabilities(Capabilities::CRUD_NO_GC).informer(elsewhere);
/// ```
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct KubernetesDependent<D: Desired<P>, P: KubeObject> {
    dependent: D,
    settings: Settings<D::Resource>,
    dynamic: <D::Resource as kube::Resource>::DynamicType,
    target: Option<TargetOf<P>>,
}

impl<D: Desired<P>, P: KubeObject> KubernetesDependent<D, P>
where
    <D::Resource as kube::Resource>::DynamicType: Default,
{
    /// Full management with an owner reference.
    pub fn new(dependent: D) -> Self {
        Self::of_type(dependent, Default::default())
    }
}

impl<P: KubeObject> KubernetesDependent<ReadOnly<P>, P> {
    /// An object of type `K` that others make, called `name` in the workflow: it is only read, by the owner reference or the
    /// annotations that it has, or by the mapper of [`informer`](Self::informer). Where a primary has several, say by
    /// [`target`](Self::target) which one is meant. A workflow waits until it is there, unless the node is
    /// [`optional`](crate::workflow::Node::optional).
    pub fn read_only<K>(name: impl Into<Arc<str>>) -> KubernetesDependent<ReadOnly<K>, P>
    where
        K: KubeObject<DynamicType: Default>,
    {
        Self::read_only_of_type(name, K::DynamicType::default())
    }

    /// The same for a type that is known at run time only.
    pub fn read_only_of_type<K: KubeObject>(
        name: impl Into<Arc<str>>,
        dynamic: K::DynamicType,
    ) -> KubernetesDependent<ReadOnly<K>, P> {
        KubernetesDependent::of_type(ReadOnly::new(), dynamic)
            .name(name)
            .capabilities(Capabilities::READ_ONLY)
    }
}

impl<D: Desired<P>, P: KubeObject> KubernetesDependent<D, P> {
    /// The same as `new` for a type that is known at run time only.
    pub fn of_type(dependent: D, dynamic: <D::Resource as kube::Resource>::DynamicType) -> Self {
        Self { dependent, settings: Settings::new(default_name::<D>()), dynamic, target: None }
    }

    settings!(D::Resource);

    /// Which of the primary's objects it is. By default it is the one with the name and namespace of the desired state, which
    /// then is computed also where the object is only looked for, or deleted. It must be the desired one's key. JOSDK's
    /// `targetSecondaryResourceID`.
    pub fn target(mut self, target: impl Fn(&P, &Context<P>) -> ObjectKey + Send + Sync + 'static) -> Self {
        self.target = Some(Box::new(target));
        self
    }
}

impl<D: Desired<P>, P: KubeObject> IntoDependent<P> for KubernetesDependent<D, P> {
    fn into_dependent(self) -> Dependent<P> {
        let name = Arc::clone(&self.settings.name);
        let managed = self.settings.finish(self.dynamic);
        let mut declaration = managed.declaration();
        if let Some(objects) = &mut declaration.objects {
            objects.desired_by::<D>();
        }
        let dependent = self.dependent;
        let desire = move |asked: Asked<'_>| {
            let (primary, context) = asked.typed::<P>()?;
            Ok(Drafts::one(dependent.desired(&primary, &context)?))
        };
        let target = self.target.map(|target| {
            let of = move |asked: Asked<'_>| {
                let (primary, context) = asked.typed::<P>()?;
                Ok(target(&primary, &context))
            };
            Box::new(of) as Target
        });
        Dependent::new(name, declaration, Single::new(Box::new(AtOnce(desire)), managed, target))
    }
}

impl<D: Desired<P>, P: KubeObject> fmt::Debug for KubernetesDependent<D, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubernetesDependent")
            .field("name", &self.settings.name)
            .field("capabilities", &self.settings.capabilities)
            .finish_non_exhaustive()
    }
}
