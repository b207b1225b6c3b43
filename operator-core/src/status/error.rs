//! The errors of a status.

/// A status that can't be read. Reading it again doesn't help until the object has been changed; to a user of
/// [`compute`](super::kstatus::compute) it means [`Status::Unknown`](super::kstatus::Status::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field has a type that it has in no version of the API.
    #[error("`{path}` is not {expected}")]
    Type {
        /// Where the field is.
        path: String,
        /// What it should be, with its article.
        expected: &'static str,
    },
    /// A pod is in a phase that doesn't exist.
    #[error("`status.phase` is `{0}`, which is not a pod phase")]
    PodPhase(String),
}
