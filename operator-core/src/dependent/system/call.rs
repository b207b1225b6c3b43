//! Calls of another system, and how they fail.

use std::fmt;

use crate::{dependent::Error, event_source::PrimaryScope, reconciler::BoxError};

/// The record that is called, and its primary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordId<'r> {
    /// The key of the primary.
    pub(crate) scope: PrimaryScope<'r>,
    /// The record's token, or another text that identifies it.
    pub(crate) token: &'r str,
}

/// The function that is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Reads a record by its id.
    Observe,
    /// Looks for records by their token.
    Find,
    /// Makes a record.
    Create,
    /// Changes a record.
    Update,
    /// Deletes a record.
    Delete,
}

impl CallKind {
    /// The name of the function.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Find => "find",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// Whether it may change something.
    pub(super) const fn changes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete)
    }
}

/// Why a call has no result. The caller has to know whether the other system may have done anything.
#[derive(Debug)]
pub(crate) enum CallError {
    /// It was not called, so nothing has happened.
    NotCalled(Error),
    /// It has failed, or wasn't answered in time: the system may have carried it out.
    Failed(Error),
    /// The system refused, with the caller's own error.
    Refused(BoxError),
}

impl CallError {
    /// As the error of a node: a user's error isn't wrapped.
    pub(crate) fn boxed(self) -> BoxError {
        match self {
            Self::NotCalled(error) | Self::Failed(error) => error.boxed(),
            Self::Refused(error) => error,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCalled(error) | Self::Failed(error) => error.fmt(f),
            Self::Refused(error) => error.fmt(f),
        }
    }
}
