//! The API server that `dev` uses, and the reason for it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{Error, failed};
use crate::testing::{self, ControlPlane, TestCluster};

/// A server, and the reason for it.
pub(super) struct Server {
    pub(super) cluster: TestCluster,
    /// For the banner.
    pub(super) why: String,
}

impl Server {
    /// Starts a real control plane; or the server inside the process, if that is wanted, or no other is available.
    pub(super) async fn start(crds: &[CustomResourceDefinition], in_process: bool) -> Result<Self, Error> {
        if in_process {
            return Self::in_process(crds, "as `--in-process` says".to_owned()).await;
        }
        // With the definitions, since the manifests may hold objects of these kinds.
        match ControlPlane::builder().kwok(true).crds(crds.to_vec()).start().await {
            Ok(plane) => {
                let why = "a real kube-apiserver; `--in-process` is quicker and does less".to_owned();
                Ok(Self { cluster: TestCluster::new(plane), why })
            }
            Err(error @ (testing::Error::NoGo { .. } | testing::Error::OldGo { .. })) => {
                Self::in_process(crds, format!("a real one can't be had here: {error}")).await
            }
            Err(error) => Err(failed("start the control plane")(error)),
        }
    }

    async fn in_process(crds: &[CustomResourceDefinition], reason: String) -> Result<Self, Error> {
        let cluster = TestCluster::in_process();
        cluster.install_crds(crds.to_vec()).await.map_err(failed("install the operator's definitions"))?;
        Ok(Self { cluster, why: format!("inside this process, {reason}") })
    }
}
