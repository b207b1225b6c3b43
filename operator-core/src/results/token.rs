//! The identity of a record, as a text that the other system can keep.

use std::{fmt, sync::Arc};

/// Identifies a record: its primary's uid, its node, and its key if there are several. It is the same for
/// each attempt to create the record. So the other system can refuse a second create, or find the first record by it.
///
/// Write it to a place by which the other system can be searched: a tag, a comment, a field of its own, an idempotency
/// key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(Arc<str>);

impl Token {
    /// The token of one record.
    pub(crate) fn of(uid: &str, node: &str, key: &str) -> Self {
        Self(Arc::from(if key.is_empty() { format!("{uid}/{node}") } else { format!("{uid}/{node}/{key}") }))
    }

    /// The token as text: `<uid>/<node>`, or `<uid>/<node>/<key>`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
