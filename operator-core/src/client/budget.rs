//! A limit on how many requests an operator makes.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use http::Request;
use kube::client::Body;
use tokio::sync::Mutex;

use super::{Error, Inner, Transport, deadline::is_endless, hook};
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

/// The turns of all requests that share one budget.
#[derive(Debug)]
pub(super) struct Turns {
    clock: Clock,
    quota: Mutex<QuotaState>,
}

impl Turns {
    pub(super) fn new(budget: RequestBudget, clock: Clock) -> Arc<Self> {
        Arc::new(Self { clock, quota: Mutex::new(budget.0.start(clock.now())) })
    }

    /// Waits for a place in the budget. A caller that stops waiting takes none.
    async fn next(&self) {
        // The lock is fair, and it is kept while its holder waits: that makes the queue.
        let mut quota = self.quota.lock().await;
        while let Err(wait) = quota.take(self.clock.now()) {
            self.clock.sleep_until(Some(self.clock.now() + wait)).await;
        }
    }

    /// `transport`, which is asked when a request has its turn: a request that waits must not hold a place that a watch
    /// could have.
    pub(super) fn before(self: &Arc<Self>, transport: Transport) -> Transport {
        let turns = Arc::clone(self);
        let in_turn = move |request: Request<Body>, inner: Inner| {
            let turns = Arc::clone(&turns);
            async move {
                if !is_endless(&request) {
                    turns.next().await;
                }
                inner.send(request).await
            }
        };
        hook::layer(transport, Arc::new(in_turn))
    }
}
