//! What is fetched for a primary, and how often.

use std::{future::Future, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};

use crate::event_source::{
    error::BoxError,
    external::{DEFAULT_FETCH_TIMEOUT, identity::IdOf},
};

type FetchOne<P, R> = Arc<dyn Fn(Arc<P>) -> BoxFuture<'static, Result<Vec<R>, BoxError>> + Send + Sync>;
type DelayAfter<P, R> = Arc<dyn Fn(&[Arc<R>], &P) -> Option<Duration> + Send + Sync>;

/// What is fetched, and how.
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

/// How often it is fetched, and for which primaries.
pub(in crate::event_source::external) struct Polls<P, R> {
    pub(in crate::event_source::external) period: Duration,
    /// A period is longer by up to this share.
    pub(in crate::event_source::external) spread: f64,
    /// The maximum number of fetches in progress.
    pub(in crate::event_source::external) concurrency: usize,
    pub(in crate::event_source::external) predicate: Arc<dyn Fn(&P) -> bool + Send + Sync>,
    pub(in crate::event_source::external) delay_after: DelayAfter<P, R>,
}

impl<P, R> Clone for Polls<P, R> {
    fn clone(&self) -> Self {
        Self { predicate: Arc::clone(&self.predicate), delay_after: Arc::clone(&self.delay_after), ..*self }
    }
}

impl<P, R, I> Fetching<P, R, I> {
    /// What is fetched by `fetch`, within the default time.
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
