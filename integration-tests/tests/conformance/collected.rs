//! A control plane whose garbage collector knows some rows' custom resources from its start.
//!
//! It learns of other kinds up to half a minute after they were installed. The rows that wait for it share this control
//! plane, beside the one that all tests share.

use anyhow::{Result, anyhow};
use kube::CustomResourceExt;
use operator_core::testing::{Profile, TestCluster};
use tokio::sync::OnceCell;

use crate::base_api::{cluster_scoped_resource, generic_kubernetes_resource_handling};

/// The control plane. The first call starts it; that it can't be started is remembered.
pub(crate) async fn cluster() -> Result<TestCluster> {
    static CLUSTER: OnceCell<Result<TestCluster, String>> = OnceCell::const_new();
    let start = async || {
        let crds = [
            cluster_scoped_resource::TestResource::crd(),
            generic_kubernetes_resource_handling::TestResource::crd(),
        ];
        let plane = Profile::Controllers.builder().crds(crds).start().await;
        plane.map(TestCluster::new).map_err(|error| format!("{:#}", anyhow!(error)))
    };
    CLUSTER.get_or_init(start).await.clone().map_err(anyhow::Error::msg)
}
