//! What both operators are asked to do: three config maps for each object, a finalizer, and a status.

pub(crate) use integration_tests::TestResource;
use integration_tests::TestStatus;
use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::ResourceExt;

/// How many runs each operator may have under way at the same time.
pub(crate) const CONCURRENCY: usize = 50;

/// How many children each object has.
pub(crate) const CHILDREN: usize = 3;

/// The children of `primary`.
pub(crate) fn children(primary: &TestResource, owner: &OwnerReference) -> Vec<ConfigMap> {
    let metadata = || ObjectMeta {
        namespace: primary.namespace(),
        owner_references: Some(vec![owner.clone()]),
        ..ObjectMeta::default()
    };
    (0..CHILDREN).map(|index| child(primary, index, metadata())).collect()
}

/// One child of `primary`, with this metadata besides.
pub(crate) fn child(primary: &TestResource, index: usize, metadata: ObjectMeta) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("{}-{index}", primary.name_any())),
            labels: Some([("app".to_owned(), "load".to_owned())].into()),
            ..metadata
        },
        data: Some([("value".to_owned(), primary.spec.value.clone())].into()),
        ..ConfigMap::default()
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
