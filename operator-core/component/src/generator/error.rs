//! Why objects can't be generated.

use operator_core::{BoxError, Permanent};

use super::LookupKey;

/// Why objects can't be generated. No message has a value of the parameters or of an object.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A template can't be rendered.
    #[error("{file}, line {line}: {what}")]
    Template {
        /// The path of the template below its directory.
        file: String,
        /// The line in it, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A file, or the text that a template was rendered to, isn't objects in YAML.
    #[error("{file}: {what}")]
    Yaml {
        /// The path of the file below its directory.
        file: String,
        /// The document, the line, and what is wrong there.
        what: String,
    },
    /// A template looks up objects without end.
    #[error("{file}: more than {most} objects are looked up")]
    TooManyLookups {
        /// The path of the template below its directory.
        file: String,
        /// How many are allowed.
        most: usize,
    },
    /// An object can't be read. This is retried.
    #[error("{key} can't be looked up")]
    Lookup {
        /// The object.
        key: LookupKey,
        /// What went wrong.
        source: BoxError,
    },
}

/// Marked as permanent, unless a retry can help.
pub(super) fn boxed(error: Error) -> BoxError {
    match error {
        Error::Lookup { .. } => error.into(),
        Error::Template { .. } | Error::Yaml { .. } | Error::TooManyLookups { .. } => {
            Permanent::new(error).into()
        }
    }
}
