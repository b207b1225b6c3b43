//! Calls of another system, and how they fail.

use std::fmt;

use crate::{dependent::Error, event_source::PrimaryScope, reconciler::BoxError};

/// Which record is called, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'r> {
    /// The primary's.
    pub(crate) scope: PrimaryScope<'r>,
    /// The record's token, or anything else that is only its own.
    pub(crate) token: &'r str,
}

/// What is called.
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

/// Why a call has no result. What the caller has to know is whether anything may have happened in the other system.
#[derive(Debug)]
pub(crate) enum CallError {
    /// It was not called, so nothing has happened.
    NotCalled(Error),
    /// It has failed, or was not answered in time: what was asked for may have been done.
    Failed(Error),
    /// The system said no, in the error of the one who called it.
    Refused(BoxError),
}

impl CallError {
    /// As the error of a node: one of user code is not wrapped.
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
