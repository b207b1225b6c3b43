//! The task of all operators: a child of each of four kinds for each object, a finalizer, and a status.

pub(crate) use integration_tests::TestResource;
use integration_tests::TestStatus;
use k8s_openapi::{
    ByteString,
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Secret, Service, ServicePort, ServiceSpec},
    },
    apimachinery::pkg::{
        apis::meta::v1::{ObjectMeta, OwnerReference},
        util::intstr::IntOrString,
    },
};
use kube::{Resource, ResourceExt, api::ApiResource};

use crate::deployment::deployment;

/// How many concurrent runs each operator may have.
pub(crate) const CONCURRENCY: usize = 50;

/// The annotation of a Service with its value, because nothing in its spec has it.
pub(crate) const VALUE: &str = "load.bench.operator-core.io/value";

/// The kinds of the children.
pub(crate) fn kinds() -> [ApiResource; 4] {
    [
        ApiResource::erase::<ConfigMap>(&()),
        ApiResource::erase::<Secret>(&()),
        ApiResource::erase::<Deployment>(&()),
        ApiResource::erase::<Service>(&()),
    ]
}

/// The children of one object. Each has its name, and holds its value.
pub(crate) struct Children {
    pub(crate) config_map: ConfigMap,
    pub(crate) secret: Secret,
    pub(crate) deployment: Deployment,
    pub(crate) service: Service,
}

impl Children {
    /// The children of `primary`.
    pub(crate) fn of(primary: &TestResource, owner: &OwnerReference) -> Self {
        let owned = |metadata| ObjectMeta { owner_references: Some(vec![owner.clone()]), ..metadata };
        let mut children = Self {
            config_map: config_map(primary),
            secret: secret(primary),
            deployment: deployment(primary),
            service: service(primary),
        };
        for metadata in [
            children.config_map.meta_mut(),
            children.secret.meta_mut(),
            children.deployment.meta_mut(),
            children.service.meta_mut(),
        ] {
            *metadata = owned(std::mem::take(metadata));
        }
        children
    }
}

/// The metadata of every child, except for its owner.
pub(crate) fn metadata(primary: &TestResource) -> ObjectMeta {
    ObjectMeta {
        name: primary.metadata.name.clone(),
        namespace: primary.namespace(),
        labels: Some([("app".to_owned(), "load".to_owned())].into()),
        ..ObjectMeta::default()
    }
}

pub(crate) fn config_map(primary: &TestResource) -> ConfigMap {
    ConfigMap {
        metadata: metadata(primary),
        data: Some([("value".to_owned(), primary.spec.value.clone())].into()),
        ..ConfigMap::default()
    }
}

pub(crate) fn secret(primary: &TestResource) -> Secret {
    let value = ByteString(primary.spec.value.clone().into_bytes());
    Secret {
        metadata: metadata(primary),
        data: Some([("value".to_owned(), value)].into()),
        ..Secret::default()
    }
}

/// A Service without an address of its own: there are fewer addresses than Services.
pub(crate) fn service(primary: &TestResource) -> Service {
    let port = ServicePort {
        name: Some("http".to_owned()),
        port: 80,
        protocol: Some("TCP".to_owned()),
        target_port: Some(IntOrString::String("http".to_owned())),
        ..ServicePort::default()
    };
    Service {
        metadata: ObjectMeta {
            annotations: Some([(VALUE.to_owned(), primary.spec.value.clone())].into()),
            ..metadata(primary)
        },
        spec: Some(ServiceSpec {
            cluster_ip: Some("None".to_owned()),
            ports: Some(vec![port]),
            selector: Some([("instance".to_owned(), primary.name_any())].into()),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}

/// The status of a finished object: the value that its spec asks for.
pub(crate) fn status(primary: &TestResource) -> TestStatus {
    TestStatus {
        message: Some(primary.spec.value.clone()),
        observed_generation: primary.metadata.generation,
        ..TestStatus::default()
    }
}

/// Whether the status has caught up with the spec.
pub(crate) fn is_ready(primary: &TestResource) -> bool {
    primary.status.as_ref().is_some_and(|found| *found == status(primary))
}
