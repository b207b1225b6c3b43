//! What keeps an operator from starting.

use crate::{client, controller};

/// An error of the library at its outermost: declaring and starting an operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no configuration for a cluster.
    #[error("no cluster is configured: neither a kubeconfig nor a pod's service account can be used")]
    NoCluster(#[source] Box<kube::config::InferConfigError>),
    /// The cluster's configuration can't be used.
    #[error("cannot connect to the cluster")]
    Client(#[from] client::Error),
    /// A controller's declaration contradicts itself.
    #[error("a controller is declared wrongly")]
    Controller(#[from] controller::Error),
    /// Two controllers have one name.
    #[error("two controllers are called `{0}`; give one of them another name with `.name(…)`")]
    DuplicateController(String),
    /// There is nothing to run.
    #[error("no controller is registered; register one with `.register(Controller::builder(reconciler))`")]
    NoController,
    /// The process can't listen to its signals.
    #[error("cannot listen to the process's signals")]
    Signals(#[source] std::io::Error),
}
