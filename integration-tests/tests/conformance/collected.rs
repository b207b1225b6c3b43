//! A control plane whose garbage collector knows some rows' custom resources from its start.
//!
//! It learns of other kinds up to half a minute after they were installed. The rows that wait for it share this control
//! plane, beside the one that all tests share.

use anyhow::{Result, anyhow};
use integration_tests::{Scene, TestObject};
use k8s_openapi::{
    NamespaceResourceScope, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{CustomResourceExt, Resource};
use operator_core::testing::{Profile, TestCluster};
use tokio::sync::OnceCell;

use crate::{
    base_api::{cluster_scoped_resource, generic_kubernetes_resource_handling},
    dependent::{
        create_only_if_not_existing_dependent_with_ssa, dependent_operation_event_filter,
        dependent_resource_cross_ref, dependent_ssa_migration, generic_kubernetes_dependent_managed,
        generic_kubernetes_dependent_standalone, kubernetes_dependent_garbage_collection,
        managed_bulk_dependent, multiple_dependent_resource,
        multiple_dependent_resource_with_no_discriminator, multiple_dependent_same_type_multi_informer,
        multiple_managed_dependent_no_discriminator, multiple_managed_dependent_same_type,
        read_only_bulk_dependent, special_resources_dependent, standalone_bulk_dependent,
    },
};

/// The control plane. The first call starts it; that it can't be started is remembered.
pub(crate) async fn cluster() -> Result<TestCluster> {
    static CLUSTER: OnceCell<Result<TestCluster, String>> = OnceCell::const_new();
    if let Some(cluster) = TestCluster::of_this_test() {
        cluster.install_crds(crds()).await?;
        return Ok(cluster);
    }
    let start = async || {
        let plane = Profile::Controllers.builder().crds(crds()).start().await;
        plane.map(TestCluster::new).map_err(|error| format!("{:#}", anyhow!(error)))
    };
    CLUSTER.get_or_init(start).await.clone().map_err(anyhow::Error::msg)
}

/// The definitions of all rows that come here.
fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        cluster_scoped_resource::TestResource::crd(),
        generic_kubernetes_resource_handling::TestResource::crd(),
        create_only_if_not_existing_dependent_with_ssa::TestResource::crd(),
        dependent_operation_event_filter::TestResource::crd(),
        dependent_resource_cross_ref::TestResource::crd(),
        dependent_ssa_migration::TestResource::crd(),
        generic_kubernetes_dependent_managed::TestResource::crd(),
        generic_kubernetes_dependent_standalone::TestResource::crd(),
        kubernetes_dependent_garbage_collection::TestResource::crd(),
        managed_bulk_dependent::TestResource::crd(),
        multiple_dependent_resource::TestResource::crd(),
        multiple_dependent_resource_with_no_discriminator::TestResource::crd(),
        multiple_dependent_same_type_multi_informer::TestResource::crd(),
        multiple_managed_dependent_no_discriminator::TestResource::crd(),
        multiple_managed_dependent_same_type::TestResource::crd(),
        read_only_bulk_dependent::TestResource::crd(),
        special_resources_dependent::TestResource::crd(),
        standalone_bulk_dependent::TestResource::crd(),
    ]
}

/// The scene of a row that waits for the garbage collector.
pub(crate) async fn scene<K>(name: &str) -> Result<Scene<K>>
where
    K: TestObject + Resource<Scope = NamespaceResourceScope>,
{
    Scene::on(cluster().await?, name).await
}
