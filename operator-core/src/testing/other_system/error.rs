//! How a call of the other system fails.

use std::time::Duration;

/// How a call of an [`OtherSystem`](super::OtherSystem) fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OtherSystemError {
    /// The system says no, and has done nothing.
    #[error("the other system refuses it: {0}")]
    Refused(String),
    /// There is no record with this id.
    #[error("the other system has no record {0}")]
    NotFound(String),
    /// There is an outage: nothing was done.
    #[error("the other system is down")]
    Down,
    /// More calls than its rate allows: nothing was done.
    #[error("the other system is called too often; try again in {again_in:?}")]
    TooManyCalls {
        /// When the next call is allowed.
        again_in: Duration,
    },
    /// The connection broke before an answer came: whether it was done isn't known.
    #[error("the connection to the other system broke before it answered")]
    NoAnswer,
}

impl OtherSystemError {
    /// Whether the system has said no, so that nothing was done. After any other error of a create there may be a
    /// record: a caller that can't reach the system doesn't know.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::NotFound(_) | Self::TooManyCalls { .. })
    }
}
