//! The API server that `dev` uses, and the reason for it.

use std::{path::PathBuf, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{Error, failed};
use crate::testing::{ControlPlane, InProcessServer, Listening, TestCluster};

/// A server, and the reason for it.
pub(super) struct Server {
    pub(super) cluster: TestCluster,
    /// For the first line.
    pub(super) name: String,
    /// For the banner.
    pub(super) why: &'static str,
    /// The socket of the embedded server, for kubectl.
    listening: Option<Listening>,
}

impl Server {
    /// Starts the cluster inside this process; or a real control plane, if that is wanted.
    pub(super) async fn start(crds: &[CustomResourceDefinition], real: bool) -> Result<Self, Error> {
        if real { Self::real(crds).await } else { Self::embedded(crds).await }
    }

    async fn real(crds: &[CustomResourceDefinition]) -> Result<Self, Error> {
        // With the definitions, since the manifests may hold objects of these kinds.
        let plane = ControlPlane::builder().kwok(true).crds(crds.to_vec()).start().await;
        let plane = plane.map_err(failed("start the control plane"))?;
        let name = format!("control plane {}", plane.version());
        let why = "a real kube-apiserver, as `--control-plane` says";
        Ok(Self { cluster: TestCluster::new(plane), name, why, listening: None })
    }

    async fn embedded(crds: &[CustomResourceDefinition]) -> Result<Self, Error> {
        let server = embedded_server();
        let listening = server.listen().await.map_err(failed("open the embedded cluster to kubectl"))?;
        let cluster = TestCluster::of_server(server);
        cluster.install_crds(crds.to_vec()).await.map_err(failed("install the operator's definitions"))?;
        let why = "inside this process; `--control-plane` starts a real kube-apiserver, which needs Go once";
        Ok(Self { cluster, name: "embedded in this process".to_owned(), why, listening: Some(listening) })
    }

    /// Where it is reached by others.
    pub(super) fn url(&self) -> String {
        let config = || self.cluster.config().cluster_url.to_string();
        self.listening.as_ref().map_or_else(config, Listening::url)
    }

    /// The file for kubectl.
    pub(super) fn kubeconfig(&self) -> Option<PathBuf> {
        match &self.listening {
            Some(listening) => Some(listening.kubeconfig().to_owned()),
            None => self.cluster.control_plane().ok()?.kubeconfig(),
        }
    }

    /// How to call kubectl here: by its name if it is installed, otherwise the one that was built with the control plane.
    pub(super) fn kubectl(&self) -> String {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let installed = std::env::split_paths(&path).any(|folder| folder.join("kubectl").is_file());
        let built = || self.cluster.control_plane().ok()?.assets()?.kubectl().ok();
        if installed { None } else { built() }
            .map_or_else(|| "kubectl".to_owned(), |path| path.display().to_string())
    }
}

/// The longest time that a controller of the embedded cluster takes for a step. A real one is not quicker, and what an
/// operator does in the meantime is seen.
const STEP: Duration = Duration::from_millis(200);

/// The server of `dev`, with the pace of its controllers.
fn embedded_server() -> InProcessServer {
    let server = InProcessServer::new().service_accounts();
    server.pace(|_| STEP.mul_f64(fastrand::f64()));
    server
}
