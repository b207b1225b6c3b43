//! A cluster for tests, real or inside the process.
//!
//! ```text
//!  test A (its runtime) ──▶ TestCluster ──▶ client, namespace of test A ─┐
//!  test B (its runtime) ──▶ TestCluster ──▶ client, namespace of test B ─┴─▶ one control plane per binary
//! ```
//!
//! # Guarantees
//! - All tests of a binary that request the same [`Profile`] share its processes, although each has its own runtime.
//!   No [`Client`] is shared: its tasks would end with the runtime of the test that made it.
//! - The processes end with the test binary, even if it is killed.
//! - A failure to start is remembered: the other tests fail at once, each with one line, instead of waiting one after another.
//!
//! # Assumptions
//! - Tests share CRDs and have objects in their own namespaces. CRDs have no namespace: a test that changes one, or
//!   starts without it, uses one in its own API group. CRDs are not deleted, because every later test would have to
//!   wait for that.
//! - The garbage collector notices a CRD up to half a minute late, unless it exists at the start. Tests that wait for
//!   it share a separate control plane, from [`Profile::builder`] with [`ControlPlaneBuilder::crds`], in
//!   [`TestCluster::new`].
//! - A test that stops, pauses or throttles the API server starts its own [`ControlPlane`].
//! - A cluster inside the process belongs to one test, which needs no namespace and group of its own on it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Api, Client, Config, ResourceExt, api::PostParams};
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tower::util::BoxService;

use test_cluster::{Pods, install_crd};

use super::{AuditEvent, AuditReader, ControlPlane, ControlPlaneBuilder, Error, InProcessServer, both};
use crate::{client::TransportHook, operator::OperatorBuilder};

/// What a shared control plane runs, in addition to etcd and the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// Nothing else: namespaces are not terminated, and garbage is not collected. The fastest.
    ApiServer,
    /// kube-controller-manager: what most operators rely on.
    #[default]
    Controllers,
    /// Also kube-scheduler and kwok with a node: Deployments, StatefulSets and Jobs complete.
    Full,
}

impl Profile {
    /// The builder for such a control plane.
    #[must_use]
    pub fn builder(self) -> ControlPlaneBuilder {
        let builder = ControlPlane::builder().audit_log(true);
        match self {
            Self::ApiServer => builder,
            Self::Controllers => builder.controller_manager(true),
            Self::Full => builder.kwok(true),
        }
    }
}

/// The API server that answers.
#[derive(Debug, Clone)]
enum Server {
    Real(Arc<ControlPlane>),
    InProcess(InProcessServer),
}

/// A cluster with what tests need: a real control plane, or an API server inside the process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TestCluster {
    server: Server,
    /// The CRDs that this process has installed, by name: each only once, and all callers wait for that.
    installed: Arc<Mutex<HashMap<String, Arc<OnceCell<()>>>>>,
    /// The namespaces that were made by this handle and its clones: those of one test.
    namespaces: Arc<Mutex<BTreeSet<String>>>,
}

/// For an operator's builder: requests go to this server, and never to the network.
impl From<InProcessServer> for TransportHook {
    fn from(server: InProcessServer) -> Self {
        Self::server(move || BoxService::new(server.clone()))
    }
}

impl TestCluster {
    /// The cluster of this test: under [`operator_test`](super::operator_test), the server that the test runs on,
    /// otherwise [`real`](Self::real).
    ///
    /// # Errors
    /// As [`real`](Self::real).
    pub async fn shared() -> Result<Self, Error> {
        Self::shared_with(Profile::default()).await
    }

    /// As [`shared`](Self::shared), with another profile. Profiles don't share processes.
    ///
    /// # Errors
    /// As [`real`](Self::real).
    pub async fn shared_with(profile: Profile) -> Result<Self, Error> {
        match Self::of_this_test() {
            Some(cluster) => Ok(cluster.for_another_test()),
            None => Self::real_with(profile).await,
        }
    }

    /// The same cluster for one more test, in whose namespaces its operators [work](Self::connect): for a cluster of
    /// one's own that several tests share.
    #[must_use]
    pub fn for_another_test(self) -> Self {
        Self { namespaces: Arc::default(), ..self }
    }

    /// The cluster of the test that runs on this thread, if [`operator_test`](super::operator_test) runs it inside the
    /// process.
    #[must_use]
    pub fn of_this_test() -> Option<Self> {
        both::in_process_cluster()
    }

    /// The control plane that the tests of this binary share, with kube-controller-manager and an audit log. The first
    /// call starts it.
    ///
    /// # Errors
    /// If it doesn't start. Every later call fails with the same error.
    pub async fn real() -> Result<Self, Error> {
        Self::real_with(Profile::default()).await
    }

    /// As [`real`](Self::real), with another profile. Profiles don't share processes.
    ///
    /// # Errors
    /// As [`real`](Self::real).
    pub async fn real_with(profile: Profile) -> Result<Self, Error> {
        static SHARED: [OnceCell<Result<TestCluster, Arc<Error>>>; 3] =
            [OnceCell::const_new(), OnceCell::const_new(), OnceCell::const_new()];
        let start = async || profile.builder().start_shared().await.map(Self::new).map_err(Arc::new);
        let cluster = SHARED[profile as usize].get_or_init(start).await;
        cluster.clone().map(Self::for_another_test).map_err(Error::Shared)
    }

    /// A cluster inside this process, empty, for one test only: no Go, no other process, no wait. What it doesn't
    /// support it refuses with 501; the page "What the in-process server does not do" of the documentation lists it.
    #[must_use]
    pub fn in_process() -> Self {
        Self::of_server(InProcessServer::new())
    }

    /// A control plane for one test only, started from this builder, with its own flags.
    ///
    /// # Errors
    /// If it doesn't start. If [`operator_test`](super::operator_test) runs the test inside the process, there is none.
    pub async fn own(builder: ControlPlaneBuilder) -> Result<Self, Error> {
        match Self::of_this_test() {
            Some(_) => Err(Error::InProcess),
            None => Ok(Self::new(builder.start().await?)),
        }
    }

    /// A server inside this process, for one test only: that of a simulation, or one with its own options.
    #[must_use]
    pub fn of_server(server: InProcessServer) -> Self {
        Self::of(Server::InProcess(server))
    }

    /// A control plane for one test only.
    #[must_use]
    pub fn new(plane: ControlPlane) -> Self {
        Self::of(Server::Real(Arc::new(plane)))
    }

    fn of(server: Server) -> Self {
        Self { server, installed: Arc::default(), namespaces: Arc::default() }
    }

    /// Whether the API server is inside this process.
    #[must_use]
    pub fn is_in_process(&self) -> bool {
        matches!(self.server, Server::InProcess(_))
    }

    /// The API server inside this process: its clock, its snapshots, and how fast its controllers work.
    ///
    /// # Errors
    /// If the API server is a real one.
    pub fn in_process_server(&self) -> Result<&InProcessServer, Error> {
        match &self.server {
            Server::Real(_) => Err(Error::NotInProcess),
            Server::InProcess(server) => Ok(server),
        }
    }

    /// What becomes of the Pods in this process: `cluster.pods()?.hold("app=web")?` keeps them from starting.
    ///
    /// # Errors
    /// If the API server is a real one.
    pub fn pods(&self) -> Result<Pods<'_>, Error> {
        Ok(self.in_process_server()?.pods())
    }

    /// The control plane itself: its processes, files and flags.
    ///
    /// # Errors
    /// If the API server is inside this process.
    pub fn control_plane(&self) -> Result<&ControlPlane, Error> {
        match &self.server {
            Server::Real(plane) => Ok(plane),
            Server::InProcess(_) => Err(Error::InProcess),
        }
    }

    /// Waits until a real control plane ends by itself; see [`ControlPlane::failed`].
    pub async fn failed(&self) -> Error {
        match &self.server {
            Server::Real(plane) => plane.failed().await,
            Server::InProcess(_) => std::future::pending().await,
        }
    }

    /// How to reach the API server as its administrator. An operator takes it with [`connect`](Self::connect), a test's
    /// own client with [`client_of`](Self::client_of): the address alone is not enough for a server inside this
    /// process.
    #[must_use]
    pub fn config(&self) -> Config {
        match &self.server {
            Server::Real(plane) => plane.config(),
            Server::InProcess(server) => server.config(),
        }
    }

    /// The same as another user, so that RBAC applies; see [`ControlPlane::config_as`].
    #[must_use]
    pub fn config_as(&self, user: &str, groups: &[&str]) -> Config {
        match &self.server {
            Server::Real(plane) => plane.config_as(user, groups),
            Server::InProcess(server) => server.config_as(user, groups),
        }
    }

    /// Makes an operator use this cluster, as its administrator. A later [`OperatorBuilder::config`] may name another
    /// user.
    ///
    /// It works only in the [namespaces](Self::namespace) that this handle has made by now, unless the operator or a
    /// controller names other ones; in all if there are none. So the operators of tests that share a control plane
    /// don't meet. JOSDK: the namespace of `LocallyRunOperatorExtension`.
    pub fn connect(&self, operator: OperatorBuilder) -> OperatorBuilder {
        let operator = operator.config(self.config());
        let namespaces = self.namespaces.lock().clone();
        let operator = match namespaces.is_empty() {
            true => operator,
            false => operator.namespaces_by_default(namespaces.into()),
        };
        match self.server_hook() {
            Some(server) => operator.transport(server),
            None => operator,
        }
    }

    /// The replacement for the network, if the API server is inside this process; for clients that are built by hand
    /// with [`Clients::new`](crate::client::Clients::new).
    #[must_use]
    pub fn server_hook(&self) -> Option<TransportHook> {
        match &self.server {
            Server::Real(_) => None,
            Server::InProcess(server) => Some(server.clone().into()),
        }
    }

    /// A new client for the cluster's administrator, on the current runtime.
    ///
    /// # Errors
    /// If the configuration of an existing cluster can't be used.
    pub fn client(&self) -> Result<Client, Error> {
        self.client_of(self.config())
    }

    /// A new client for another user, so that RBAC applies; see [`ControlPlane::config_as`].
    ///
    /// # Errors
    /// As [`client`](Self::client).
    pub fn client_as(&self, user: &str) -> Result<Client, Error> {
        self.client_of(self.config_as(user, &[]))
    }

    /// A new client of this cluster with a changed configuration.
    ///
    /// # Errors
    /// As [`client`](Self::client).
    pub fn client_of(&self, config: Config) -> Result<Client, Error> {
        match &self.server {
            Server::Real(_) => Client::try_from(config).map_err(Error::kube("make a client")),
            Server::InProcess(server) => server.client_of(config),
        }
    }

    /// The calls that the API server has answered so far, oldest first; see [`ControlPlane::audit`].
    ///
    /// # Errors
    /// If a real control plane has no audit log, or it can't be read.
    pub fn audit(&self) -> Result<Vec<AuditEvent>, Error> {
        match &self.server {
            Server::Real(plane) => plane.audit(),
            Server::InProcess(server) => Ok(server.audit()),
        }
    }

    /// The calls that the API server answers from now on, for tests that read them repeatedly; see
    /// [`ControlPlane::audit_from_now`].
    ///
    /// # Errors
    /// As [`audit`](Self::audit).
    pub fn audit_from_now(&self) -> Result<AuditReader, Error> {
        match &self.server {
            Server::Real(plane) => plane.audit_from_now(),
            Server::InProcess(server) => Ok(server.audit_from_now()),
        }
    }

    /// Creates a separate namespace for a test. Its name starts with `prefix` and is returned. Operators that are
    /// [connected](Self::connect) later work in it.
    ///
    /// # Errors
    /// If the API server refuses, for example because the prefix is not a DNS label.
    pub async fn namespace(&self, prefix: &str) -> Result<String, Error> {
        let mut namespace = Namespace::default();
        namespace.metadata.generate_name = Some(format!("{prefix}-"));
        let made = Api::all(self.client()?).create(&PostParams::default(), &namespace).await;
        let name = made.map_err(Error::kube(format!("make a namespace {prefix}-…")))?.name_any();
        self.namespaces.lock().insert(name.clone());
        Ok(name)
    }

    /// Applies CRDs and waits until their objects can be listed in every served version.
    ///
    /// A CRD that this process has installed before is not applied again.
    ///
    /// # Errors
    /// If the API server refuses a CRD, or doesn't serve it in time.
    pub async fn install_crds(
        &self,
        crds: impl IntoIterator<Item = CustomResourceDefinition>,
    ) -> Result<(), Error> {
        let client = self.client()?;
        let installations = crds.into_iter().map(|crd| {
            let cell = Arc::clone(self.installed.lock().entry(crd.name_any()).or_default());
            let client = client.clone();
            async move { cell.get_or_try_init(|| install_crd(&client, &crd)).await.copied() }
        });
        futures::future::try_join_all(installations).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_a_place_of_its_own() {
        let places =
            [Profile::ApiServer, Profile::Controllers, Profile::Full].map(|profile| profile as usize);
        assert_eq!(places, [0, 1, 2]);
    }
}
