//! The shared parts of all workflows of an operator.

use std::{collections::BTreeSet, sync::Arc};

use futures::future::BoxFuture;
use tokio::sync::Semaphore;

use crate::{
    event_source::{Discovery, Subscriber},
    resource::ResourceType,
};

tokio::task_local! {
    /// Calls in this scope have their permit already: a dependent may call another one.
    static PERMITTED: ();
}

/// The default limit of concurrent operations of dependents, in all runs of a controller together: creates, updates
/// and deletions.
pub(crate) const DEFAULT_MAX_CONCURRENT_DEPENDENTS: usize = 50;

/// The shared parts of all workflows of an operator. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowSurroundings {
    /// Each create, update and deletion of a dependent needs a permit. Each controller has its own permits, so a slow
    /// controller doesn't delay another.
    pub(crate) dependents: Arc<Semaphore>,
    permits: usize,
    /// Which dependents are applied, unless they declare something else.
    pub(crate) applying: Arc<Applying>,
    discovery: Option<Arc<Discovery>>,
    subscriber: Option<Subscriber>,
}

impl WorkflowSurroundings {
    /// At most this number of creates, updates and deletions of dependents at the same time.
    pub(crate) fn new(max_concurrent_dependents: usize) -> Self {
        let permits = max_concurrent_dependents.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            dependents: Arc::new(Semaphore::new(permits)),
            permits,
            applying: Arc::default(),
            discovery: None,
            subscriber: None,
        }
    }

    /// With a cluster whose served kinds can be queried.
    pub(crate) fn with_discovery(mut self, discovery: Discovery) -> Self {
        self.discovery = Some(Arc::new(discovery));
        self
    }

    /// With the settings for dependents that have none of their own.
    pub(crate) fn with_applying(mut self, applying: Applying) -> Self {
        self.applying = Arc::new(applying);
        self
    }

    /// For the workflows of one controller.
    pub(crate) fn subscribed_by(&self, subscriber: Subscriber) -> Self {
        let dependents = Arc::new(Semaphore::new(self.permits));
        Self { dependents, subscriber: Some(subscriber), ..self.clone() }
    }

    /// Waits for a permit, and runs `call` with it. Calls that only read need no permit, so a slow other system
    /// doesn't delay runs that have nothing to do there.
    pub(crate) async fn permitted<T>(&self, call: BoxFuture<'_, T>) -> T {
        if PERMITTED.try_with(|()| ()).is_ok() {
            return call.await;
        }
        // It is never closed.
        let _permit = self.dependents.acquire().await.ok();
        PERMITTED.scope((), call).await
    }

    /// What knows the served kinds, if there is a cluster.
    pub(crate) fn known_kinds(&self) -> Option<&Discovery> {
        self.discovery.as_deref()
    }

    /// The discovery, and the controller on whose behalf it is queried.
    pub(crate) fn discovery(&self) -> Result<(&Discovery, &Subscriber), NoCluster> {
        self.discovery.as_deref().zip(self.subscriber.as_ref()).ok_or(NoCluster)
    }
}

/// There is no cluster: a context of a unit test.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("there is no cluster to discover the served kinds from")]
pub(crate) struct NoCluster;

impl Default for WorkflowSurroundings {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_CONCURRENT_DEPENDENTS)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_has_a_permit_needs_no_second_one() {
        let workflows = WorkflowSurroundings::new(1);
        let nested = workflows.permitted(workflows.permitted(async { "done" }.boxed()).boxed());
        assert_eq!(tokio::time::timeout(Duration::from_secs(1), nested).await, Ok("done"));
        assert_eq!(workflows.dependents.available_permits(), 1);
    }
}

/// The settings for all dependents of an operator.
#[derive(Clone, Debug)]
pub(crate) struct Applying {
    /// Whether dependents are applied.
    pub(crate) by_default: bool,
    /// Kinds that aren't applied, by group and kind.
    pub(crate) never: BTreeSet<(String, String)>,
}

impl Default for Applying {
    fn default() -> Self {
        Self { by_default: true, never: BTreeSet::new() }
    }
}

impl Applying {
    /// Whether objects of that kind are applied.
    pub(crate) fn applies(&self, kind: &ResourceType) -> bool {
        self.by_default
            && (self.never.is_empty()
                || !self.never.contains(&(kind.group().to_owned(), kind.kind().to_owned())))
    }

    /// Objects of that kind aren't applied, in any version.
    pub(crate) fn except(&mut self, kind: &ResourceType) {
        self.never.insert((kind.group().to_owned(), kind.kind().to_owned()));
    }
}
