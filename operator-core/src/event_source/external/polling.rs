//! One fetch for all primaries, in each period: the declaration.

use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};

use super::{
    DEFAULT_FETCH_TIMEOUT, ExternalResource,
    polling_run::Polling,
    store::{ExternalSource, IdOf},
};
use crate::{
    event_source::{
        EventSource, Filters, SourceContents, SourceDeclaration, Sources, Wiring, error::BoxError,
        filter_methods,
    },
    observe::SourceIndex,
    resource::ObjectKey,
};

/// The resources of all primaries.
pub(super) type AllOf<R> = BTreeMap<ObjectKey, Vec<R>>;
pub(super) type FetchAll<R> = Arc<dyn Fn() -> BoxFuture<'static, Result<AllOf<R>, BoxError>> + Send + Sync>;

/// Fetches the resources of all primaries at once, in each period, and triggers those whose resources have changed.
/// JOSDK: `PollingEventSource`.
///
/// The controller's first run waits until the first fetch has succeeded. A fetch that fails makes the source unhealthy
/// until one succeeds; the known resources are kept. Before the first success a failed fetch is repeated after one
/// second, then two, four and so on up to a minute, and never later than after a period.
///
/// Read it with `context.external::<R>()`, or with `context.external_source::<R>(name)` if a run also writes.
///
/// ```
/// use std::{collections::BTreeMap, time::Duration};
///
/// use operator_core::{ObjectKey, PollingEventSource, event_source::ExternalResource};
///
/// #[derive(PartialEq)]
/// struct Bucket {
///     name: String,
///     owner: String,
/// }
///
/// impl ExternalResource for Bucket {
///     type Id = String;
///
///     fn id(&self) -> String {
///         self.name.clone()
///     }
/// }
/// # async fn list_buckets() -> std::io::Result<Vec<Bucket>> { Ok(Vec::new()) }
///
/// // Every 30 s; a bucket belongs to the primary that it names as its owner.
/// let buckets = PollingEventSource::new("buckets", Duration::from_secs(30), || async {
///     let mut by_owner = BTreeMap::<ObjectKey, Vec<Bucket>>::new();
///     for bucket in list_buckets().await? {
///         by_owner.entry(ObjectKey::namespaced("shop", &bucket.owner)).or_default().push(bucket);
///     }
///     Ok::<_, std::io::Error>(by_owner)
/// });
/// ```
#[must_use = "a source does nothing until it is given to a controller"]
pub struct PollingEventSource<R, I> {
    pub(super) name: Arc<str>,
    pub(super) period: Duration,
    pub(super) fetch_timeout: Duration,
    pub(super) fetch: FetchAll<R>,
    pub(super) id: IdOf<R, I>,
    pub(super) filters: Filters<R>,
}

impl<R: ExternalResource> PollingEventSource<R, R::Id> {
    /// A source with that name. `fetch` returns the resources of all primaries; a primary that is missing from the
    /// result has none. The period lies between the end of one fetch and the start of the next; one below a millisecond
    /// counts as a millisecond.
    pub fn new<F, E>(
        name: impl Into<Arc<str>>,
        period: Duration,
        fetch: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<BTreeMap<ObjectKey, Vec<R>>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self::with_id(name, period, R::id, fetch)
    }
}

impl<R, I> PollingEventSource<R, I>
where
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    /// The same for a type that doesn't know its id: `id` distinguishes the resources of one primary.
    pub fn with_id<F, E>(
        name: impl Into<Arc<str>>,
        period: Duration,
        id: impl Fn(&R) -> I + Send + Sync + 'static,
        fetch: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<BTreeMap<ObjectKey, Vec<R>>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self {
            name: name.into(),
            period: period.max(Duration::from_millis(1)),
            fetch_timeout: DEFAULT_FETCH_TIMEOUT,
            fetch: Arc::new(move || {
                let fetched = fetch();
                async move { fetched.await.map_err(Into::into) }.boxed()
            }),
            id: Arc::new(id),
            filters: Filters::new(),
        }
    }

    /// How long a fetch may take before it counts as failed; a minute by default.
    pub fn fetch_timeout(mut self, timeout: Duration) -> Self {
        self.fetch_timeout = timeout;
        self
    }
}

impl<R, I> PollingEventSource<R, I> {
    filter_methods!(filters: R, "resources", on_delete);
}

debug_of!(PollingEventSource<R, I> [R, I]: "PollingEventSource", |it|
    name: it.name, period: it.period, filters: it.filters);

impl<R, I> SourceDeclaration for PollingEventSource<R, I>
where
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn contents(&self) -> SourceContents {
        SourceContents::resources::<R>()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        let polling = Arc::new(Polling::new(self, wiring.events(index, &self.name)));
        let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&polling));
        sources.add_external(source, polling as ExternalSource<R>);
    }
}
