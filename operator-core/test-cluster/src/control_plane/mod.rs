//! A real control plane, on demand: etcd and kube-apiserver, with controllers, scheduler and a fake node if requested.
//!
//! ```text
//!  ControlPlane ──owns──▶ Supervisor ──stdin/stdout──▶ supervise ──▶ etcd, kube-apiserver, …
//!       │                                                  │
//!       └── kube::Config, kubeconfig, audit log ◀── the control plane's folder (removed at the end)
//! ```
//!
//! # Guarantees
//! - RBAC is on, TLS is on, and the API server listens only on a free port of 127.0.0.1. etcd listens on a socket in a
//!   folder that only this user can access.
//! - When `start` returns, `/readyz` is ok (which includes RBAC's bootstrap roles) and the `default` namespace exists.
//!   With controllers, the first service account exists; with kwok, the node takes Pods.
//! - Nothing survives this process, not even its SIGKILL: see `process.rs`.
//!
//! # Assumptions
//! - A Unix, with `/bin/sh`.

use std::path::{Path, PathBuf};

use kube::Client;

mod assets;
mod attempt;
mod builder;
mod cache;
mod go_build;
mod modules;
mod part;
mod process;
mod progress;
mod ready;

pub use assets::Assets;
pub use builder::ControlPlaneBuilder;
pub use part::Part;

use crate::{
    audit::{AuditEvent, AuditReader},
    error::Error,
    impersonation::acting_as,
};
use process::Supervisor;

/// A running control plane. Dropping it ends it, and waits at most ten seconds for the end.
///
/// ```no_run
/// # async fn example() -> Result<(), test_cluster::Error> {
/// use test_cluster::ControlPlane;
///
/// let plane = ControlPlane::builder().controllers(true).start().await?;
/// let client = plane.client()?;
/// # drop(client);
/// plane.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ControlPlane {
    config: kube::Config,
    version: String,
    /// None for an existing cluster.
    ours: Option<Ours>,
}

/// The parts of a control plane that this process started.
#[derive(Debug)]
struct Ours {
    supervisor: Supervisor,
    assets: Assets,
    parts: Vec<Part>,
    folder: PathBuf,
    audit: bool,
    timeout: std::time::Duration,
}

impl ControlPlane {
    /// What to start; without further calls etcd and the API server.
    #[must_use]
    pub fn builder() -> ControlPlaneBuilder {
        ControlPlaneBuilder::default()
    }

    /// How to reach the API server as a cluster administrator.
    ///
    /// Make a [`Client`] from it in each test, as [`client`](Self::client) does: a client's tasks end with the runtime
    /// that it was created on.
    #[must_use]
    pub fn config(&self) -> kube::Config {
        self.config.clone()
    }

    /// How to reach the API server as another user, so that RBAC applies.
    ///
    /// The administrator impersonates `user`. The API server adds `system:authenticated`, and for a service account
    /// (`system:serviceaccount:<namespace>:<name>`) with no `groups` also its groups.
    #[must_use]
    pub fn config_as(&self, user: &str, groups: &[&str]) -> kube::Config {
        acting_as(self.config(), user, groups)
    }

    /// A new client for the cluster's administrator, on the current runtime.
    ///
    /// # Errors
    /// If the configuration of an existing cluster can't be used.
    pub fn client(&self) -> Result<Client, Error> {
        Client::try_from(self.config()).map_err(Error::kube("make a client"))
    }

    /// The file of a kubeconfig for the administrator, with the certificates included; it is removed with the control
    /// plane. None for an existing cluster.
    #[must_use]
    pub fn kubeconfig(&self) -> Option<PathBuf> {
        self.folder().map(|folder| folder.join("kubeconfig"))
    }

    /// The folder of the control plane's files and logs; it is removed with the control plane. None for an existing
    /// cluster.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.ours.as_ref().map(|ours| ours.folder.as_path())
    }

    /// The API server's version, as in "v1.36.3".
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The binaries that it runs. None for an existing cluster.
    #[must_use]
    pub fn assets(&self) -> Option<&Assets> {
        self.ours.as_ref().map(|ours| &ours.assets)
    }

    /// Whether the controllers run, so that namespaces are terminated and garbage is collected. An existing cluster has
    /// them.
    #[must_use]
    pub fn has_controllers(&self) -> bool {
        self.ours.as_ref().is_none_or(|ours| ours.parts.contains(&Part::ControllerManager))
    }

    /// The calls that the API server has answered so far, oldest first.
    ///
    /// The log is written synchronously: it contains a call once the caller has read its whole answer. Calls of others
    /// may still be in progress, so wait for them instead of reading the log once.
    ///
    /// # Errors
    /// Without [`ControlPlaneBuilder::audit_log`], or if the log can't be read.
    pub fn audit(&self) -> Result<Vec<AuditEvent>, Error> {
        AuditReader::of_file(self.audit_log()?).read()
    }

    /// The calls that the API server answers from now on, for tests that read them repeatedly: each read covers only
    /// what is new.
    ///
    /// # Errors
    /// As [`audit`](Self::audit).
    pub fn audit_from_now(&self) -> Result<AuditReader, Error> {
        AuditReader::of_file(self.audit_log()?).skip_to_end()
    }

    fn audit_log(&self) -> Result<PathBuf, Error> {
        match &self.ours {
            Some(ours) if ours.audit => Ok(ours.folder.join("audit.log")),
            _ => Err(Error::NoAuditLog),
        }
    }

    /// The processes: the supervisor's, and those of the running parts. Empty for an existing cluster.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let Some(ours) = &self.ours else { return Vec::new() };
        let parts = ours.parts.iter().filter_map(|part| ours.supervisor.process(*part));
        std::iter::once(ours.supervisor.pid()).chain(parts).collect()
    }

    /// Kills a part at once, as a crash would. Its data stays; [`start_part`](Self::start_part) starts it again.
    ///
    /// Do this only to a control plane of your own, never to one that tests share.
    ///
    /// # Errors
    /// If this process didn't start the cluster, the part isn't running (which ends the control plane), or it has
    /// ended.
    pub async fn kill_part(&self, part: Part) -> Result<(), Error> {
        self.ours()?.supervisor.kill_part(part).await
    }

    /// Starts a part that was killed, and waits until the API server is ready.
    ///
    /// # Errors
    /// If this process didn't start the cluster, the part is already running (which ends the control plane), or it
    /// isn't ready in time.
    pub async fn start_part(&self, part: Part) -> Result<(), Error> {
        let ours = self.ours()?;
        ours.supervisor.start_part(part).await?;
        let client = self.client()?;
        ready::within(ours.timeout, &ours.supervisor, "the API server is", || ready::api_server(&client))
            .await
    }

    /// Freezes a part (SIGSTOP): connections stay open and nothing is answered, as if a machine hangs.
    ///
    /// # Errors
    /// If this process didn't start the cluster, the part isn't running (which ends the control plane), or it has
    /// ended.
    pub async fn pause_part(&self, part: Part) -> Result<(), Error> {
        self.ours()?.supervisor.pause_part(part).await
    }

    /// Lets a frozen part continue (SIGCONT).
    ///
    /// # Errors
    /// As [`pause_part`](Self::pause_part).
    pub async fn resume_part(&self, part: Part) -> Result<(), Error> {
        self.ours()?.supervisor.resume_part(part).await
    }

    /// Waits until the control plane ends by itself, because a part died, and returns the reason. Never returns for an
    /// existing cluster.
    pub async fn failed(&self) -> Error {
        match &self.ours {
            Some(ours) => ours.supervisor.failed().await,
            None => std::future::pending().await,
        }
    }

    /// Ends the control plane, and waits until its processes and its folder are gone. Doesn't touch an existing
    /// cluster.
    pub async fn stop(self) {
        if let Some(ours) = &self.ours {
            ours.supervisor.stop().await;
        }
    }

    fn ours(&self) -> Result<&Ours, Error> {
        self.ours.as_ref().ok_or(Error::NotOurs)
    }
}
