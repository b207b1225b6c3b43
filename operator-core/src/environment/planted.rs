//! Bugs on purpose: what a simulation has to find, so that a test can prove that it finds them.
//!
//! They stand outside the library's own code: around what a processor is connected to (`controller/planted.rs`), and
//! around what an informer is made of (`cache/planted.rs`).

use super::Environment;

/// A bug that the library has when a test plants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlantedBug {
    /// A run that fails is not repeated.
    LostRequeue,
    /// What a later list doesn't show any more is not deleted.
    NoSyntheticDeletion,
    /// All events of an object that arrive while the operator writes it are treated as the echo of that write.
    WideEventFilter,
    /// A primary that is deleted during a run is forgotten together with the run, as if that had ended.
    ForgottenRun,
    /// The deletion of a primary during a run is not noticed.
    KeptPrimary,
    /// A run that fails is repeated at once, each time.
    NoBackoff,
}

impl Environment {
    /// The same environment, in which the library has this bug.
    pub(crate) fn with_planted_bug(mut self, bug: Option<PlantedBug>) -> Self {
        self.planted_bug = bug;
        self
    }

    /// Which bug the library has on purpose.
    pub(crate) const fn planted_bug(&self) -> Option<PlantedBug> {
        self.planted_bug
    }
}
