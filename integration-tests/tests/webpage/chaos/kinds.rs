//! The kinds of children, as the clients and the judge see them.

use integration_tests::prelude::*;
use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod, networking::v1::Ingress};
use kube::api::ApiResource;

/// A kind of child that the operator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Child {
    ConfigMap,
    Deployment,
    Service,
    Ingress,
}

impl Child {
    pub(super) const ALL: [Self; 4] = [Self::ConfigMap, Self::Deployment, Self::Service, Self::Ingress];

    pub(super) fn resource(self) -> ApiResource {
        match self {
            Self::ConfigMap => ApiResource::erase::<ConfigMap>(&()),
            Self::Deployment => ApiResource::erase::<Deployment>(&()),
            Self::Service => ApiResource::erase::<Service>(&()),
            Self::Ingress => ApiResource::erase::<Ingress>(&()),
        }
    }

    /// The name of the child of a page.
    pub(super) fn of(self, page: &str) -> String {
        match self {
            Self::ConfigMap => format!("{page}-html"),
            Self::Deployment | Self::Service | Self::Ingress => page.to_owned(),
        }
    }
}

/// What the cluster makes of Deployments.
pub(super) fn made_of_deployments() -> [ApiResource; 2] {
    [ApiResource::erase::<ReplicaSet>(&()), ApiResource::erase::<Pod>(&())]
}
