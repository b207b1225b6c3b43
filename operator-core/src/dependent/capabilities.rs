//! What a dependent may do.

/// What a dependent may do with its resource. JOSDK's marker interfaces `Creator`, `Updater`, `Deleter` and
/// `GarbageCollected`, for resources that the framework itself manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[must_use]
pub struct Capabilities {
    pub(super) creates: bool,
    pub(super) updates: bool,
    pub(super) deletes: bool,
    pub(super) garbage_collected: bool,
}

impl Capabilities {
    /// Only reads.
    pub const READ_ONLY: Self =
        Self { creates: false, updates: false, deletes: false, garbage_collected: false };
    /// Creates and updates; with the owner reference, the cluster's garbage collector deletes it with its primary. A
    /// workflow deletes it before that if it depends on something that the workflow deletes, or has a condition
    /// `gone`. JOSDK: `CRUDKubernetesDependentResource`.
    pub const CRUD: Self = Self { creates: true, updates: true, deletes: true, garbage_collected: true };
    /// Creates, updates, and deletes it itself, which needs a finalizer on the primary. JOSDK's
    /// `CRUDNoGCKubernetesDependentResource`.
    pub const CRUD_NO_GC: Self =
        Self { creates: true, updates: true, deletes: true, garbage_collected: false };
    /// Creates it if it is missing and never changes it after that; garbage collected.
    pub const CREATE_ONLY: Self =
        Self { creates: true, updates: false, deletes: true, garbage_collected: true };

    /// May create.
    pub const fn creates(mut self) -> Self {
        self.creates = true;
        self
    }

    /// May update.
    pub const fn updates(mut self) -> Self {
        self.updates = true;
        self
    }

    /// May delete, and has to before its primary is removed.
    pub const fn deletes(mut self) -> Self {
        self.deletes = true;
        self
    }

    /// Is deleted by the cluster's garbage collector when its primary is removed; until then it may be deleted if it is
    /// no longer wanted.
    pub const fn garbage_collected(mut self) -> Self {
        self.deletes = true;
        self.garbage_collected = true;
        self
    }

    /// Whether it may create.
    #[must_use]
    pub const fn can_create(self) -> bool {
        self.creates
    }

    /// Whether it may update.
    #[must_use]
    pub const fn can_update(self) -> bool {
        self.updates
    }

    /// Whether it may create or update, so that it has a desired state.
    pub(crate) const fn can_write(self) -> bool {
        self.creates || self.updates
    }

    /// Whether it may delete.
    #[must_use]
    pub const fn can_delete(self) -> bool {
        self.deletes
    }

    /// Whether it may only delete.
    pub(crate) const fn only_deletes(self) -> bool {
        self.deletes && !self.can_write()
    }

    /// Whether the garbage collector deletes it.
    #[must_use]
    pub const fn is_garbage_collected(self) -> bool {
        self.garbage_collected
    }

    /// Whether it always has to be deleted before its primary is removed, so that the primary needs a finalizer.
    #[must_use]
    pub const fn needs_cleanup(self) -> bool {
        self.deletes && !self.garbage_collected
    }
}
