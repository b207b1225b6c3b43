//! Bugs on purpose: what a simulation has to find, so that a test can prove that it finds them.
//!
//! Each is asked for in exactly one place of the library, and never done there without the feature `testing`.

/// A bug that the library has when it is told to.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sabotage {
    /// A run that fails is not repeated.
    LostRequeue,
    /// What a later list doesn't show any more is not deleted.
    NoSyntheticDeletion,
    /// The finalizer goes before the clean-up instead of after it.
    FinalizerFirst,
    /// All events of an object that come while we write it are taken for the echo of that.
    WideEventFilter,
    /// A primary that goes during a run is forgotten together with the run, as if that had ended.
    ForgottenRun,
    /// That a primary goes is not noticed during a run.
    KeptPrimary,
    /// A run that fails is repeated at once, each time.
    NoBackoff,
}

/// Which bug there is, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sabotaged(#[cfg(feature = "testing")] Option<Sabotage>);

impl Sabotaged {
    #[cfg(feature = "testing")]
    pub(super) const fn by(sabotage: Sabotage) -> Self {
        Self(Some(sabotage))
    }

    /// Whether it is this one.
    #[cfg(feature = "testing")]
    pub(crate) fn is(self, sabotage: Sabotage) -> bool {
        self.0 == Some(sabotage)
    }

    /// Whether it is this one.
    #[cfg(not(feature = "testing"))]
    #[expect(clippy::unused_self, reason = "the feature decides")]
    pub(crate) const fn is(self, _: Sabotage) -> bool {
        false
    }
}
