//! What can be wrong with the declaration of a controller.

use crate::{processor, workflow};

/// An error of this module. None of them goes away by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name can't be used.
    #[error(
        "controller name `{0}`: use lower-case letters, digits, `-` and `.`, as it becomes the field manager"
    )]
    InvalidName(String),
    /// The field manager can't be used.
    #[error("field manager `{0}`: use at most 128 letters, digits, `-`, `_`, `.` and `/`")]
    InvalidFieldManager(String),
    /// The finalizer can't be used.
    #[error(
        "finalizer `{0}`: it must be of the form `domain/name`, for example `webpages.example.com/finalizer`"
    )]
    InvalidFinalizer(String),
    /// Two event sources have one name.
    #[error("two event sources are called `{0}`; give one of them another name with `.name(…)`")]
    DuplicateSource(String),
    /// More event sources than can be told apart.
    #[error(
        "{0} event sources, where 256 are the most that a controller can have; divide the work among several \
         controllers"
    )]
    TooManySources(usize),
    /// No run could ever start.
    #[error("at most 0 concurrent reconciles would mean none at all; give 1 or more")]
    NoConcurrency,
    /// Every run would be dropped at once.
    #[error(
        "a reconcile timeout of 0 s would drop every run; give more, or leave `.reconcile_timeout(…)` out"
    )]
    NoTime,
    /// No namespace to watch.
    #[error("no namespace is given to watch; name one, or leave `.namespaces(…)` out to watch all")]
    NoNamespaces,
    /// Something has to be deleted before a primary goes, and nobody does so.
    #[error(
        "`{0}`: has to be deleted before a primary goes, and nobody is called for that; implement `Cleaner`, delete it \
         there (`workflow.cleanup(…)`), and add `.with_cleaner()`, or declare it by `.workflow(…)`"
    )]
    NoCleaner(String),
    /// The declared workflow contradicts itself.
    #[error("the controller's workflow is declared wrongly")]
    Workflow(#[from] workflow::Error),
    /// The declared retry or rate limit can't work.
    #[error("the controller's retry or rate limit is declared wrongly")]
    Processor(#[from] processor::Error),
}
