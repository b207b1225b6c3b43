//! What can be wrong with the declaration of a workflow.

/// An error of this module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two nodes have one name.
    #[error("two nodes are called `{0}`; give one of them another name with `.named(…)`")]
    DuplicateName(String),
    /// A node depends on one that doesn't exist.
    #[error("node `{node}` depends on `{unknown}`, which is no node of this workflow")]
    UnknownDependency {
        /// The node.
        node: String,
        /// What it names.
        unknown: String,
    },
}
