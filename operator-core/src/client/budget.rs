//! A limit on how many requests an operator makes.

use std::{
    num::NonZeroU32,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::{FutureExt, TryFutureExt, future::BoxFuture};
use http::Request;
use kube::client::Body;
use tokio::sync::Mutex;
use tower::{BoxError, Layer, Service, ServiceExt};

use super::{Error, deadline::is_endless};
use crate::environment::{Clock, Quota, QuotaState};

/// The number of requests that an operator may make: a number per second, and a burst of them after a quiet time.
/// Watches and other requests without an end aren't counted. client-go: `QPS` and `Burst`.
///
/// Requests beyond the budget wait, first come, first served. Since API servers have priority and fairness, an operator
/// rarely needs a budget; it is for clusters that must not be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBudget(Quota);

impl RequestBudget {
    /// `per_second` requests in each second in the long run, and `burst` at once after a quiet time.
    ///
    /// # Errors
    /// If one of the numbers is zero.
    pub fn new(per_second: u32, burst: u32) -> Result<Self, Error> {
        let per_second = NonZeroU32::new(per_second).ok_or(Error::EmptyBudget)?;
        let burst = NonZeroU32::new(burst).ok_or(Error::EmptyBudget)?;
        Ok(Self(Quota::every(Duration::from_secs(1) / per_second.get(), burst)))
    }
}

/// Makes the requests of all services that it is applied to share one budget.
#[derive(Clone, Debug)]
pub(super) struct BudgetLayer(Arc<Turns>);

#[derive(Debug)]
struct Turns {
    clock: Clock,
    quota: Mutex<QuotaState>,
}

impl BudgetLayer {
    pub(super) fn new(budget: RequestBudget, clock: Clock) -> Self {
        Self(Arc::new(Turns { clock, quota: Mutex::new(budget.0.start(clock.now())) }))
    }
}

impl Turns {
    /// Waits for a place in the budget. A caller that stops waiting takes none.
    async fn next(&self) {
        // The lock is fair, and it is kept while its holder waits: that makes the queue.
        let mut quota = self.quota.lock().await;
        while let Err(wait) = quota.take(self.clock.now()) {
            self.clock.sleep_until(Some(self.clock.now() + wait)).await;
        }
    }
}

impl<S> Layer<S> for BudgetLayer {
    type Service = Budgeted<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Budgeted { inner, turns: Arc::clone(&self.0) }
    }
}

/// A service whose requests keep to a budget.
#[derive(Clone, Debug)]
pub(super) struct Budgeted<S> {
    inner: S,
    turns: Arc<Turns>,
}

impl<S> Service<Request<Body>> for Budgeted<S>
where
    S: Service<Request<Body>, Error: Into<BoxError>, Future: Send> + Clone + Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The inner service is asked when a request has its turn: a request that waits must not hold a place that a
        // watch could have.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (inner, turns) = (self.inner.clone(), Arc::clone(&self.turns));
        async move {
            if !is_endless(&request) {
                turns.next().await;
            }
            inner.oneshot(request).err_into().await
        }
        .boxed()
    }
}
