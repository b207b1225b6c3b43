//! What can go wrong while clients are built.

/// An error of this module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration's certificates, credentials or proxy can't be used.
    #[error("cannot build a client from the cluster configuration")]
    Configuration(#[source] Box<kube::Error>),
    /// A request budget allows no request.
    #[error("a request budget of 0 allows no request; leave the budget out to have no limit")]
    EmptyBudget,
}
