//! What a dependent may do.

/// What a dependent may do with its resource. JOSDK's marker interfaces `Creator`, `Updater`, `Deleter` and
/// `GarbageCollected`. For the objects of a function, the methods of its node declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[must_use]
pub(crate) struct Capabilities {
    /// Whether it may create.
    pub(crate) creates: bool,
    /// Whether it may update.
    pub(crate) updates: bool,
    /// Whether it may delete.
    pub(crate) deletes: bool,
    /// Whether the garbage collector deletes it.
    pub(crate) garbage_collected: bool,
}

impl Capabilities {
    /// Only reads.
    pub(crate) const READ_ONLY: Self =
        Self { creates: false, updates: false, deletes: false, garbage_collected: false };
    /// Creates and updates; with the owner reference, the cluster's garbage collector deletes it with its primary. A
    /// workflow deletes it before that if it depends on something that the workflow deletes, or has a condition
    /// `gone`.
    pub(crate) const CRUD: Self =
        Self { creates: true, updates: true, deletes: true, garbage_collected: true };

    /// Whether it may create or update, and therefore has a desired state.
    pub(crate) const fn can_write(self) -> bool {
        self.creates || self.updates
    }

    /// Whether it may only delete.
    pub(crate) const fn only_deletes(self) -> bool {
        self.deletes && !self.can_write()
    }

    /// Whether it always has to be deleted before its primary is removed, which needs a finalizer.
    pub(crate) const fn needs_cleanup(self) -> bool {
        self.deletes && !self.garbage_collected
    }
}
