//! What the workflows of an operator share.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// Calls of dependents that may be under way at the same time, all runs of an operator together, unless it says otherwise.
pub(crate) const DEFAULT_MAX_CONCURRENT_DEPENDENTS: usize = 50;

/// What the workflows of an operator share. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowSurroundings {
    /// Each call of a dependent needs a permit.
    pub(crate) dependents: Arc<Semaphore>,
}

impl WorkflowSurroundings {
    /// At most so many calls of dependents at the same time.
    pub(crate) fn new(max_concurrent_dependents: usize) -> Self {
        let permits = max_concurrent_dependents.clamp(1, Semaphore::MAX_PERMITS);
        Self { dependents: Arc::new(Semaphore::new(permits)) }
    }
}

impl Default for WorkflowSurroundings {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_CONCURRENT_DEPENDENTS)
    }
}
