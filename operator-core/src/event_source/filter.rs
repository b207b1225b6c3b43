//! Which changes of a secondary wake its primaries.

use std::{fmt, panic, sync::Arc};

use crate::cache::Change;

type OnObject<K> = Arc<dyn Fn(&K) -> bool + Send + Sync>;
type OnUpdate<K> = Arc<dyn Fn(&K, &K) -> bool + Send + Sync>;

/// The filters of an event source; what is not set accepts everything. Answers to JOSDK's `OnAddFilter`,
/// `OnUpdateFilter`, `OnDeleteFilter` and `GenericFilter`.
pub struct Filters<K> {
    /// Asked first, for every kind of change, with the newest state.
    pub(crate) generic: Option<OnObject<K>>,
    pub(crate) on_add: Option<OnObject<K>>,
    /// Gets the new state, then the old one.
    pub(crate) on_update: Option<OnUpdate<K>>,
    pub(crate) on_delete: Option<OnObject<K>>,
}

impl<K> Filters<K> {
    /// Accepts everything.
    #[must_use]
    pub fn new() -> Self {
        Self { generic: None, on_add: None, on_update: None, on_delete: None }
    }

    /// Whether `change` passes.
    pub(super) fn accepts(&self, change: &Change<K>) -> bool {
        match change {
            Change::Added { new, .. } => ask(&self.generic, new) && ask(&self.on_add, new),
            Change::Updated { old, new } => {
                ask(&self.generic, new)
                    && self.on_update.as_ref().is_none_or(|filter| fenced(|| filter(new, old), true))
            }
            Change::Deleted { last, .. } => ask(&self.generic, last) && ask(&self.on_delete, last),
        }
    }
}

fn ask<K>(filter: &Option<OnObject<K>>, object: &K) -> bool {
    filter.as_ref().is_none_or(|filter| fenced(|| filter(object), true))
}

/// Calls user code that runs in the middle of the event path; a panic there must not stop the watch.
pub(super) fn fenced<T>(call: impl FnOnce() -> T, otherwise: T) -> T {
    panic::catch_unwind(panic::AssertUnwindSafe(call)).unwrap_or_else(|_| {
        tracing::error!(
            "a filter or mapper panicked; it must be a function of its arguments that always answers"
        );
        otherwise
    })
}

impl<K> Default for Filters<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for Filters<K> {
    fn clone(&self) -> Self {
        Self {
            generic: self.generic.clone(),
            on_add: self.on_add.clone(),
            on_update: self.on_update.clone(),
            on_delete: self.on_delete.clone(),
        }
    }
}

impl<K> fmt::Debug for Filters<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filters")
            .field("generic", &self.generic.is_some())
            .field("on_add", &self.on_add.is_some())
            .field("on_update", &self.on_update.is_some())
            .field("on_delete", &self.on_delete.is_some())
            .finish()
    }
}
