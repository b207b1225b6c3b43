//! The errors that keep an operator from starting.

use std::time::Duration;

use super::{StoppedSource, leader::LeaderElectionError};
use crate::{client, controller::Mistakes, processor, resource::ResourceType, workflow};

/// The outermost error of the library: of declaring and starting an operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no configuration for a cluster.
    #[error("no cluster is configured: neither a kubeconfig nor a pod's service account can be used")]
    NoCluster(#[source] Box<kube::config::InferConfigError>),
    /// The cluster's configuration, or the request budget, can't be used.
    #[error("the clients for the cluster can't be built")]
    Client(#[from] client::Error),
    /// The declaration of the operator, or of one of its controllers, is wrong; with all mistakes.
    #[error(transparent)]
    Declaration(#[from] Mistakes),
    #[cfg(feature = "http")]
    /// The address for `/metrics`, `/healthz` and `/readyz` can't be used, for example because another process has its
    /// port.
    #[error("cannot listen on {address} for /metrics, /healthz and /readyz; set another `.http_address(…)`")]
    Http {
        /// The requested address.
        address: std::net::SocketAddr,
        /// Why it can't be used.
        source: std::io::Error,
    },
    /// The operator can't take part in the election of a leader.
    #[error("the operator can't take part in leader election")]
    LeaderElection(#[from] LeaderElectionError),
    /// The definitions in the cluster don't match the primaries' types, or can't be read, and the operator
    /// [checks them](crate::OperatorBuilder::check_definitions_at_start). JOSDK: `OperatorException` of its check.
    #[error("the definitions in the cluster are not those of this operator:\n{mistakes}")]
    Definitions {
        /// All differences.
        mistakes: Mistakes,
        /// Whether the operator may not read one of them.
        forbidden: bool,
    },
    /// Some event sources were not synced in time, and with
    /// [`stop_on_source_error_at_start`](crate::OperatorBuilder::stop_on_source_error_at_start) no operator starts
    /// without them. JOSDK: `OperatorException` of an informer's start.
    #[error("not synced within {} s: {}", timeout.as_secs_f32(), listed(sources))]
    NotSynced {
        /// How long the operator waited for them.
        timeout: Duration,
        /// The sources, and the reasons.
        sources: Vec<StoppedSource>,
    },
    /// A controller or a source follows [`WatchScope::Current`](crate::WatchScope::Current), and it is unknown which
    /// namespace that is.
    #[error(
        "there is no current namespace: the kubeconfig's context `{context}` has none; set one with `kubectl config set-context {context} --namespace=NAME`, or name the namespaces instead of `WatchScope::Current`"
    )]
    NoCurrentNamespace {
        /// The context.
        context: String,
    },
    /// A controller or a source has a shard selector, and the API server shows all objects in spite of it.
    #[error("controller {controller} works only on a part of all {kind}: {reason}")]
    NotSharded {
        /// The controller's name.
        controller: String,
        /// The type of the objects.
        kind: ResourceType,
        /// The missing capability, and what to do about it.
        reason: String,
    },
    /// The operator isn't running, or has lost its leadership, so nothing of it can be changed.
    #[error("the operator is not running; start it first, or again if it is no longer the leader")]
    NotRunning,
    /// The process can't receive signals.
    #[error("cannot listen to the process's signals")]
    Signals(#[source] std::io::Error),
}

fn listed(sources: &[StoppedSource]) -> String {
    sources.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl From<processor::Error> for Error {
    fn from(error: processor::Error) -> Self {
        Self::Declaration(error.into())
    }
}

impl From<workflow::BuildError> for Error {
    fn from(error: workflow::BuildError) -> Self {
        Self::Declaration(error.into())
    }
}
