//! Whether the cluster serves a kind.

use std::marker::PhantomData;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::DynamicObject;

use crate::{
    dependent::function::SaysKind,
    resource::{Access, KubeObject, ResourceType},
    results::Verdict,
    workflow::{Activation, Cluster, conditions::condition::Answer},
};

/// The rights that the operator needs to find out what the cluster serves.
pub(in crate::workflow) fn to_watch_definitions() -> Access {
    let resource_type = ResourceType::of::<CustomResourceDefinition>();
    Access { resource_type, subresource: None, verbs: vec!["list", "watch"] }
}

/// Met while a CustomResourceDefinition is installed and established: for `needs` of nodes whose kind some clusters
/// don't have. When it appears or is removed, primaries are triggered. The operator needs the right to list and watch
/// CustomResourceDefinitions. JOSDK's `CRDPresentActivationCondition`.
pub struct CrdPresent<K = ()> {
    name: String,
    kind: PhantomData<fn() -> K>,
}

impl<K: KubeObject<DynamicType: Default>> CrdPresent<K> {
    /// The definition of `K`.
    #[must_use]
    pub fn new() -> Self {
        let kind = ResourceType::of::<K>();
        Self { name: format!("{}.{}", kind.plural(), kind.group()), kind: PhantomData }
    }
}

impl<K: KubeObject<DynamicType: Default>> Default for CrdPresent<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl CrdPresent {
    /// The definition of that name, for example `routes.route.openshift.io`.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<K: 'static> Activation for CrdPresent<K> {
    async fn check(&self, cluster: &Cluster<'_>) -> Answer {
        let present = cluster.is_defined(&self.name).await?;
        Ok(Verdict::when(present, format!("CRD {} is not installed", self.name)))
    }

    fn words(&self) -> String {
        format!("the definition {}", self.name)
    }

    fn access(&self) -> Vec<Access> {
        vec![to_watch_definitions()]
    }
}

debug_of!(CrdPresent<K> [K]: "CrdPresent", |it| name: it.name);

/// Met while the cluster serves a kind, whether by a CustomResourceDefinition, by itself, or by an aggregated API. When
/// a definition of the kind's group appears, changes or is removed, primaries are triggered; for other kinds the answer
/// is renewed once a minute. The operator needs the right to list and watch CustomResourceDefinitions.
pub struct Served<K = ()> {
    resource_type: ResourceType,
    kind: PhantomData<fn() -> K>,
}

impl<K: KubeObject<DynamicType: Default>> Served<K> {
    /// The kind of `K`, in its version.
    #[must_use]
    pub fn new() -> Self {
        Self { resource_type: ResourceType::of::<K>(), kind: PhantomData }
    }
}

/// A type of objects that is known when the operator is compiled.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object that a cluster could serve",
    label = "not a kind of Kubernetes",
    note = "it is a custom resource, derived with kube, or a type of `k8s-openapi`; a kind that is known at run time is `workflow::conditions::served_kind((version, kind))`"
)]
pub trait StaticKind: KubeObject<DynamicType: Default> {}

#[diagnostic::do_not_recommend]
impl<K: KubeObject<DynamicType: Default>> StaticKind for K {}

/// Whether the cluster serves objects of type `K`: for nodes whose kind some clusters don't have, as in
/// `route.needs(served::<Route>())`.
#[must_use]
pub fn served<K: StaticKind>() -> Served<K> {
    Served::new()
}

/// The same for a kind that is known at run time only, given by version and kind or by an `ApiResource` of kube:
/// `route.needs(served_kind(("route.openshift.io/v1", "Route")))`. For the kind of the node itself it is
/// [`when_served()`](crate::Node::when_served).
#[must_use]
pub fn served_kind(kind: impl SaysKind) -> Served {
    Served::of(ResourceType::with::<DynamicObject>(&kind.said()))
}

impl<K: KubeObject<DynamicType: Default>> Default for Served<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl Served {
    pub(in crate::workflow) fn of(resource_type: ResourceType) -> Self {
        Self { resource_type, kind: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<K: 'static> Activation for Served<K> {
    async fn check(&self, cluster: &Cluster<'_>) -> Answer {
        let kind = &self.resource_type;
        let served = cluster.serves(kind).await?;
        Ok(Verdict::when(served, format!("the cluster serves no {} {}", kind.api_version(), kind.kind())))
    }

    fn words(&self) -> String {
        format!("{} of {}", self.resource_type.kind(), self.resource_type.api_version())
    }

    fn access(&self) -> Vec<Access> {
        vec![to_watch_definitions()]
    }
}

debug_of!(Served<K> [K]: "Served", |it| type: it.resource_type);

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    #[test]
    fn the_right_to_watch_definitions_is_asked_for_wherever_the_question_stands() {
        let names = |rights: Vec<Access>| {
            let names = rights.into_iter().map(|right| (right.resource_type.full_name(), right.verbs));
            names.collect::<Vec<_>>()
        };
        let expected = [("customresourcedefinitions.apiextensions.k8s.io".to_owned(), vec!["list", "watch"])];
        assert_eq!(names(CrdPresent::named("routes.example.com").access()), expected);
        assert_eq!(names(served::<ConfigMap>().access()), expected);
    }
}
