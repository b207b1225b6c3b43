//! How far a deletion has progressed.

/// How far a deletion has progressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "until the deletion is done, the resource still exists"]
pub enum Deletion {
    /// Nothing of it is left.
    Gone,
    /// The deletion was requested, and takes time: until the resource is gone it counts as existing, and what it
    /// depends on stays, including its primary's finalizer.
    ///
    /// Each run that still finds the resource requests the deletion again. Such runs are triggered by events, and
    /// happen after ten seconds at the latest.
    Asked,
}
