//! Errors when resources of another system are fetched, and when a run adds a source.

use std::time::Duration;

pub(super) use crate::error::BoxError;
use crate::resource::ObjectKey;

/// An error of an event source that reads another system, or that a run adds. Polls that fail report it as the source's
/// health and continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user's fetch function returned an error.
    #[error("event source {event_source} could not fetch")]
    Fetch {
        /// The event source's name.
        event_source: String,
        /// The function's own error.
        source: BoxError,
    },
    /// The user's fetch function, or the one that gives a resource its id, panicked.
    #[error("event source {event_source}: its fetch panicked")]
    Panicked {
        /// The event source's name.
        event_source: String,
    },
    /// The user's fetch function didn't return in time.
    #[error(
        "event source {event_source}: its fetch took longer than {} s; `fetch_timeout` gives it more time",
        timeout.as_secs_f32()
    )]
    TimedOut {
        /// The event source's name.
        event_source: String,
        /// The time limit that it has exceeded.
        timeout: Duration,
    },
    /// The primary is gone, so nothing is fetched for it.
    #[error("event source {event_source}: the primary {primary} is gone")]
    PrimaryGone {
        /// The event source's name.
        event_source: String,
        /// The primary.
        primary: ObjectKey,
    },
    /// The source was declared for primaries of another type than the controller's.
    #[error(
        "event source {event_source} is for primaries of type {expected}, but the controller's primaries have another type"
    )]
    PrimaryType {
        /// The event source's name.
        event_source: String,
        /// The type that it was declared for.
        expected: &'static str,
    },
    /// A source that a run adds has the name of another one.
    #[error(
        "the name `{event_source}` of an event source is taken {by}; give the new one another by `.name(…)`"
    )]
    NameTaken {
        /// The name.
        event_source: String,
        /// The owner of the name.
        by: String,
    },
}

impl Error {
    /// Whether a retry can help.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Fetch { .. } | Self::Panicked { .. } | Self::TimedOut { .. } => true,
            Self::PrimaryGone { .. } | Self::PrimaryType { .. } | Self::NameTaken { .. } => false,
        }
    }
}
