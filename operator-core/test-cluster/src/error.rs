use std::{io, path::PathBuf, sync::Arc};

use tower::BoxError;

/// The errors of this crate.
///
/// The messages don't repeat their source; print the chain, as `anyhow` does with `{:#}`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, a folder or a process could not be used.
    #[error("could not {doing}")]
    Io {
        /// What was tried, as in "read /tmp/file".
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// There is neither a cluster nor a binary, and nothing to build one with.
    #[error(
        "no `go` on the PATH to build the control plane with: install Go {wanted} or newer, \
         or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, \
         or set USE_EXISTING_CLUSTER=true to use the cluster of the current kubeconfig"
    )]
    NoGo {
        /// The oldest version that can build the control plane.
        wanted: String,
    },
    /// There is nothing to build this with, and no other way to get it.
    #[error("no `go` on the PATH to build {what} with: install Go {wanted} or newer")]
    NoGoFor {
        /// What was to be built.
        what: &'static str,
        /// The oldest version that can build it.
        wanted: String,
    },
    /// The installed Go can't build the control plane.
    #[error(
        "{found} is too old to build the control plane: install Go {wanted} or newer, \
         or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, \
         or set USE_EXISTING_CLUSTER=true to use the cluster of the current kubeconfig"
    )]
    OldGo {
        /// The output of `go env GOVERSION`.
        found: String,
        /// The oldest version that can build the control plane.
        wanted: String,
    },
    /// `go build` failed.
    #[error("`go build` of {what} failed; its last lines:\n{log}")]
    Build {
        /// What was being built.
        what: String,
        /// The last lines of its output.
        log: String,
    },
    /// The user has no cache folder for the binaries.
    #[error("no cache folder for this user: set HOME, XDG_CACHE_HOME or KUBEBUILDER_ASSETS")]
    NoCacheFolder,
    /// A label selector can't be read.
    #[error("the label selector {selector:?} can't be read: {why}")]
    Selector {
        /// What was given.
        selector: String,
        /// What is wrong with it.
        why: String,
    },
    /// A required binary is missing in a folder.
    #[error("{name} is not in {}: add it there, or unset KUBEBUILDER_ASSETS to build it", folder.display())]
    AssetMissing {
        /// The file's name.
        name: &'static str,
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// The CA, a certificate or a key could not be made.
    #[error("could not make the certificates")]
    Certificates(#[from] rcgen::Error),
    /// A part ended by itself, and the control plane with it.
    #[error("{part} ended by itself ({status}); its last lines:\n{log}")]
    Died {
        /// The part's name, or that of the command that failed.
        part: String,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// The control plane was stopped, or its supervisor was killed.
    #[error("the control plane has ended")]
    Ended,
    /// Something wasn't ready in time.
    #[error(
        "{what} not there after {seconds} s{}; a slow machine needs more: \
         KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=120s",
        last.as_ref().map(|last| format!(" (last answer: {last})")).unwrap_or_default()
    )]
    NotReady {
        /// What the caller waited for.
        what: String,
        /// How long, in seconds.
        seconds: u64,
        /// The API server's last answer, if there was one.
        last: Option<String>,
    },
    /// A test has waited for something that didn't happen.
    #[error("waited in vain for {what} ({seconds} s)")]
    InVain {
        /// What it waited for.
        what: String,
        /// How long, in seconds.
        seconds: u64,
    },
    /// It could not be found out whether what a test waits for has happened.
    #[error("could not look for {what}")]
    Looking {
        /// What it waited for.
        what: String,
        /// Why.
        source: BoxError,
    },
    /// A control plane can't be started while tokio's clock is paused. Its processes run in real time.
    #[error(
        "a control plane lives in real time, and the clock of this runtime is paused: use the in-process server"
    )]
    VirtualTime,
    /// A socket can't be opened while tokio's clock is paused: its clients live in real time.
    #[error(
        "the clients of a socket live in real time, and the clock of this runtime is paused: use the server's own client"
    )]
    VirtualSocket,
    /// A control plane was requested, but the API server is inside the process: for a library on top of this crate
    /// whose clusters may be either.
    #[error("the API server is inside this process, without a control plane: ask for a real one")]
    InProcess,
    /// Something was requested that only the API server inside the process can do: for a library on top of this crate
    /// whose clusters may be either.
    #[error(
        "the API server is a real one, whose controllers can't be told what to do: use the one in the process"
    )]
    NotInProcess,
    /// An object can't be stored in the in-process server as it is.
    #[error("could not store {what}: {why}")]
    NotStored {
        /// Its kind and name.
        what: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A call to the API server failed.
    #[error("could not {doing}")]
    Kube {
        /// What was tried, as in "create a namespace".
        doing: String,
        /// Why it failed.
        source: Box<kube::Error>,
    },
    /// A kubeconfig could not be read.
    #[error("could not use the kubeconfig")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    /// There is no kubeconfig for the existing cluster.
    #[error("USE_EXISTING_CLUSTER is set and no kubeconfig leads to one")]
    NoExistingCluster(#[source] kube::config::InferConfigError),
    /// A process of an existing cluster can't be stopped or paused.
    #[error("the cluster is not ours (USE_EXISTING_CLUSTER): its parts cannot be controlled")]
    NotOurs,
    /// The control plane was started without an audit log.
    #[error("there is no audit log: ask for it with `ControlPlane::builder().audit_log(true)`")]
    NoAuditLog,
    /// A value is not what its text should be.
    #[error("{what} is not valid")]
    Json {
        /// What was read.
        what: String,
        /// Where it is wrong.
        source: serde_json::Error,
    },
    /// A text is not YAML, or does not have the expected content.
    #[error("{what} is not valid YAML: {message}")]
    Yaml {
        /// What was read or written.
        what: String,
        /// Where it is wrong.
        message: String,
    },
    /// A document of a file is not a custom resource definition.
    #[error("{what} is no custom resource definition: {message}")]
    NotACrd {
        /// The document and its file.
        what: String,
        /// What is wrong.
        message: String,
    },
    /// An environment variable has an invalid value.
    #[error("{name}={value:?} is not {wanted}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// A control plane that several tests share failed to start, in this test or an earlier one: for a library on top
    /// of this crate that shares one.
    #[error("the shared control plane did not start")]
    Shared(#[source] Arc<Error>),
}

impl Error {
    /// For `map_err`: an [`Error::Io`] with what was tried.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    /// For `map_err`: an [`Error::Kube`] with what was tried.
    pub fn kube(doing: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        move |source| Self::Kube { doing: doing.into(), source: Box::new(source) }
    }
}
