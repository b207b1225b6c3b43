//! Errors when the cache is set up, or when it sends a request to the server.

/// An error of this module. The list-watch loop reports its own failures as health instead, and retries.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused a list, couldn't be reached, or gave no usable answer.
    #[error("cannot list {collection}: {reason}")]
    List {
        /// The path of the collection.
        collection: String,
        /// What went wrong, in the server's own words if it answered.
        reason: String,
        /// The HTTP status, if there was an answer.
        status: Option<u16>,
    },
    /// The server refused to return an object, couldn't be reached, or gave no usable answer.
    #[error("cannot read {object}: {reason}")]
    Get {
        /// The path of the object.
        object: String,
        /// What went wrong, in the server's own words if it answered.
        reason: String,
        /// The HTTP status, if there was an answer.
        status: Option<u16>,
    },
    /// An informer can't be configured as requested.
    #[error("informer {informer}: {reason}")]
    Configuration {
        /// The informer's name.
        informer: String,
        /// What is wrong, and what to do about it.
        reason: String,
    },
}

impl Error {
    /// The HTTP status of the server's answer; `None` if there was no answer.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::List { status, .. } | Self::Get { status, .. } => *status,
            Self::Configuration { .. } => None,
        }
    }
}
