//! What keeps an operator from starting.

use std::{net::SocketAddr, time::Duration};

use super::{StoppedSource, leader::LeaderElectionError};
use crate::{client, controller::Mistakes, processor, workflow};

/// An error of the library at its outermost: declaring and starting an operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no configuration for a cluster.
    #[error("no cluster is configured: neither a kubeconfig nor a pod's service account can be used")]
    NoCluster(#[source] Box<kube::config::InferConfigError>),
    /// The cluster's configuration, or the request budget, can't be used.
    #[error("the clients for the cluster can't be built")]
    Client(#[from] client::Error),
    /// The operator, or a controller of it, is declared wrongly; with everything that is wrong.
    #[error(transparent)]
    Declaration(#[from] Mistakes),
    /// The address for `/metrics`, `/healthz` and `/readyz` can't be used, as when another process has its port.
    #[error("cannot listen on {address} for /metrics, /healthz and /readyz; give another `.http_address(…)`")]
    Http {
        /// The address that was asked for.
        address: SocketAddr,
        /// Why it can't be used.
        source: std::io::Error,
    },
    /// The operator can't take part in the election of a leader.
    #[error("the operator can't take part in leader election")]
    LeaderElection(#[from] LeaderElectionError),
    /// Some event sources were not synced in time, and
    /// [`stop_on_source_error_at_start`](crate::OperatorBuilder::stop_on_source_error_at_start) lets no operator start without
    /// them. JOSDK: `OperatorException` of an informer's start.
    #[error("not synced within {} s: {}", timeout.as_secs_f32(), listed(sources))]
    NotSynced {
        /// How long they were waited for.
        timeout: Duration,
        /// Which ones, and why.
        sources: Vec<StoppedSource>,
    },
    /// The process can't listen to its signals.
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
