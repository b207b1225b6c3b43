//! One fetch for each primary, each with its own timer.

use std::{future::Future, sync::Arc, time::Duration};

use super::{
    ExternalResource,
    per_primary::{Fetching, PerPrimaryEventSource, Polls},
};
use crate::{
    event_source::{Filters, error::BoxError},
    resource::KubeObject,
};

/// The default for the maximum number of fetches of one source at the same time.
const DEFAULT_CONCURRENCY: usize = 10;

/// By default a period is up to a tenth longer: polls that start together drift apart.
const DEFAULT_SPREAD: f64 = 0.1;

/// Fetches the resources of each primary separately, periodically, and triggers it when they have changed. JOSDK:
/// `PerResourcePollingEventSource`.
///
/// Resources are fetched for a primary while it exists and the predicate holds, for the first time one period after it
/// appeared. A run that needs the resources sooner calls [`fetch_now`](super::ExternalStore::fetch_now), which fetches
/// once and is answered from memory from then on; the next poll then comes one period after that.
///
/// A poll that fails is retried after a period; there is one line in the log for each primary, when it begins to fail
/// and when it works again. The source is unhealthy while no primary's poll works.
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use k8s_openapi::api::core::v1::Pod;
/// use operator_core::PerResourcePollingEventSource;
///
/// # async fn backup_of(pod: &str) -> std::io::Result<Option<u64>> { Ok(Some(pod.len() as u64)) }
/// // Whether the backup of a pod is complete: at most one number for each pod, so that all have the same id.
/// let backups = PerResourcePollingEventSource::with_id(
///     "backups",
///     Duration::from_secs(600),
///     |_: &u64| (),
///     |pod: Arc<Pod>| async move {
///         let percent = backup_of(pod.metadata.name.as_deref().unwrap_or_default()).await?;
///         Ok::<_, std::io::Error>(percent.into_iter().collect())
///     },
/// )
/// // One in progress is polled more often.
/// .delay_after(|backup, _| {
///     backup.iter().any(|percent| **percent < 100).then(|| Duration::from_secs(10))
/// });
/// ```
pub type PerResourcePollingEventSource<P, R, I> = PerPrimaryEventSource<P, R, I, Polls<P, R>>;

impl<P: KubeObject, R: ExternalResource> PerResourcePollingEventSource<P, R, R::Id> {
    /// A source with that name. `fetch` returns the resources of one primary. A period below a millisecond counts as a
    /// millisecond.
    pub fn new<F, E>(
        name: impl Into<Arc<str>>,
        period: Duration,
        fetch: impl Fn(Arc<P>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<R>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self::with_id(name, period, R::id, fetch)
    }
}

impl<P, R, I> PerResourcePollingEventSource<P, R, I>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    /// The same for a type that doesn't know its id: `id` distinguishes the resources of one primary.
    pub fn with_id<F, E>(
        name: impl Into<Arc<str>>,
        period: Duration,
        id: impl Fn(&R) -> I + Send + Sync + 'static,
        fetch: impl Fn(Arc<P>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<R>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self {
            fetching: Fetching::new(name, id, fetch),
            arrival: Polls {
                period: period.max(Duration::from_millis(1)),
                spread: DEFAULT_SPREAD,
                concurrency: DEFAULT_CONCURRENCY,
                predicate: Arc::new(|_| true),
                delay_after: Arc::new(|_, _| None),
            },
            filters: Filters::new(),
        }
    }

    /// Polls only for primaries for which this holds. It is evaluated whenever a primary appears or changes.
    pub fn poll_when(mut self, predicate: impl Fn(&P) -> bool + Send + Sync + 'static) -> Self {
        self.arrival.predicate = Arc::new(predicate);
        self
    }

    /// The time until a primary whose resources have just been fetched is polled again; `None` for the period. JOSDK:
    /// `fetchDelay`.
    pub fn delay_after(
        mut self,
        delay: impl Fn(&[Arc<R>], &P) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.arrival.delay_after = Arc::new(delay);
        self
    }

    /// The share of a period by which it may be longer, at random; a tenth by default, and 0 for not at all.
    pub fn spread(mut self, share: f64) -> Self {
        self.arrival.spread = share;
        self
    }

    /// The maximum number of polls in progress at the same time; ten by default, and at least one. Fetches by a run are
    /// not counted.
    pub fn max_concurrent_polls(mut self, polls: usize) -> Self {
        self.arrival.concurrency = polls.max(1);
        self
    }
}
