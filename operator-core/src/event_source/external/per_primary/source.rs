//! The declaration of a source that keeps the resources of each primary separately, polled or pushed.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};

use super::PerPrimary;
use crate::{
    event_source::{
        EventSource, Filters, SourceContents, SourceDeclaration, Sources, Wiring,
        error::BoxError,
        external::{
            DEFAULT_FETCH_TIMEOUT, InboundHandle,
            store::{ExternalSource, IdOf},
        },
        filter::fenced_or,
        filter_methods,
    },
    observe::SourceIndex,
    resource::KubeObject,
};

type FetchOne<P, R> = Arc<dyn Fn(Arc<P>) -> BoxFuture<'static, Result<Vec<R>, BoxError>> + Send + Sync>;
type DelayAfter<P, R> = Arc<dyn Fn(&[Arc<R>], &P) -> Option<Duration> + Send + Sync>;

/// The fetch function and its options.
pub(in crate::event_source::external) struct Fetching<P, R, I> {
    pub(in crate::event_source::external) name: Arc<str>,
    pub(in crate::event_source::external) fetch: FetchOne<P, R>,
    pub(in crate::event_source::external) timeout: Duration,
    pub(in crate::event_source::external) id: IdOf<R, I>,
}

impl<P, R, I> Clone for Fetching<P, R, I> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            fetch: Arc::clone(&self.fetch),
            timeout: self.timeout,
            id: Arc::clone(&self.id),
        }
    }
}

/// The period of polls, and the primaries that are polled.
pub struct Polls<P, R> {
    pub(in crate::event_source::external) period: Duration,
    /// A period is longer by up to this share.
    pub(in crate::event_source::external) spread: f64,
    /// The maximum number of fetches in progress.
    pub(in crate::event_source::external) concurrency: usize,
    pub(in crate::event_source::external) predicate: Arc<dyn Fn(&P) -> bool + Send + Sync>,
    pub(in crate::event_source::external) delay_after: DelayAfter<P, R>,
}

impl<P, R> Polls<P, R> {
    /// Whether the primary should be polled.
    pub(super) fn wants(&self, primary: &P) -> bool {
        fenced_or(|| (self.predicate)(primary), true)
    }
}

impl<P, R> Clone for Polls<P, R> {
    fn clone(&self) -> Self {
        Self { predicate: Arc::clone(&self.predicate), delay_after: Arc::clone(&self.delay_after), ..*self }
    }
}

debug_of!(Polls<P, R> [P, R]: "Polls", |it| period: it.period);

impl<P, R, I> Fetching<P, R, I> {
    /// A fetch by `fetch`, within the default time.
    pub(in crate::event_source::external) fn new<F, E>(
        name: impl Into<Arc<str>>,
        id: impl Fn(&R) -> I + Send + Sync + 'static,
        fetch: impl Fn(Arc<P>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<R>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self {
            name: name.into(),
            fetch: Arc::new(move |primary| {
                let fetched = fetch(primary);
                async move { fetched.await.map_err(Into::into) }.boxed()
            }),
            timeout: DEFAULT_FETCH_TIMEOUT,
            id: Arc::new(id),
        }
    }
}

/// How resources arrive, besides the fetches of runs.
pub trait Arrival<P, R, I>: Clone + fmt::Debug + Send + Sync + 'static {
    /// How they are polled, if they are.
    fn polls(&self) -> Option<&Polls<P, R>> {
        None
    }

    /// Where they are pushed, if they are.
    fn handle(&self) -> Option<&InboundHandle<R, I>> {
        None
    }
}

impl<P: 'static, R: 'static, I> Arrival<P, R, I> for Polls<P, R> {
    fn polls(&self) -> Option<&Self> {
        Some(self)
    }
}

impl<P, R: Send + Sync + 'static, I: Send + Sync + 'static> Arrival<P, R, I> for InboundHandle<R, I> {
    fn handle(&self) -> Option<&Self> {
        Some(self)
    }
}

/// A source that fetches the resources of each primary separately. They arrive by `A`, too.
#[must_use = "a source does nothing until it is given to a controller"]
pub struct PerPrimaryEventSource<P, R, I, A> {
    pub(in crate::event_source::external) fetching: Fetching<P, R, I>,
    pub(in crate::event_source::external) arrival: A,
    pub(in crate::event_source::external) filters: Filters<R>,
}

impl<P, R, I, A> PerPrimaryEventSource<P, R, I, A> {
    /// How long a fetch may take before it counts as failed; a minute by default.
    pub fn fetch_timeout(mut self, timeout: Duration) -> Self {
        self.fetching.timeout = timeout;
        self
    }

    filter_methods!(filters: R, "resources", on_delete);
}

debug_of!(PerPrimaryEventSource<P, R, I, A> [P, R, I, A: fmt::Debug]: "PerPrimaryEventSource", |it|
    name: it.fetching.name, arrival: it.arrival, filters: it.filters);

impl<P, R, I, A> SourceDeclaration for PerPrimaryEventSource<P, R, I, A>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
    A: Arrival<P, R, I>,
{
    fn name(&self) -> String {
        self.fetching.name.to_string()
    }

    fn contents(&self) -> SourceContents {
        SourceContents::resources_for::<R, P>()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        let resources = PerPrimary::build(self, wiring, wiring.events(index, &self.fetching.name));
        let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&resources));
        sources.add_external(source, resources as ExternalSource<R>);
    }
}
