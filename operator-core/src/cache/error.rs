//! What can go wrong when the cache is set up, or asked to talk to the server.

/// An error of this module. The list-watch loop reports its own troubles as health instead and tries again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused a list, or couldn't be reached, or its answer was none.
    #[error("cannot list {collection}: {reason}")]
    List {
        /// The path of the collection.
        collection: String,
        /// What went wrong, in the server's own words where it answered.
        reason: String,
        /// The HTTP status, where there was an answer.
        status: Option<u16>,
    },
    /// The server refused to show an object, or couldn't be reached, or its answer was none.
    #[error("cannot read {object}: {reason}")]
    Get {
        /// The path of the object.
        object: String,
        /// What went wrong, in the server's own words where it answered.
        reason: String,
        /// The HTTP status, where there was an answer.
        status: Option<u16>,
    },
    /// An informer can't be configured as requested.
    #[error("informer {informer}: {reason}")]
    Configuration {
        /// The informer's name.
        informer: String,
        /// What doesn't fit, and what to do about it.
        reason: String,
    },
}

impl Error {
    /// The HTTP status of the server's answer; `None` when there was no answer.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::List { status, .. } | Self::Get { status, .. } => *status,
            Self::Configuration { .. } => None,
        }
    }
}
