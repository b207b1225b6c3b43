//! How far a deletion has progressed.

/// How far a deletion has progressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "what is only asked for still exists"]
pub enum Deletion {
    /// Nothing of it is left.
    Gone,
    /// The deletion was requested, and takes time: until the resource is gone it counts as existing, and what it
    /// depends on stays, including its primary's finalizer.
    ///
    /// Each run that still finds the resource requests the deletion again. Such runs come with events, and at the latest after
    /// ten seconds.
    Asked,
}
