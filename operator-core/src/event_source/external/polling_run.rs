//! One fetch for all primaries, in each period: while the controller runs.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::sync::SetOnce;

use super::{
    PollingEventSource,
    cache::ExternalCache,
    fetch::{Condition, Need, failing, guarded},
    polling::FetchAll,
    store::{ExternalItem, ExternalItemId, ExternalStore, IdOf, by_id},
};
use crate::{
    event_source::{Error, EventSource, SourceEvents},
    observe::SourceHealth,
    resource::ObjectKey,
};

/// Before anything is known a failed fetch is repeated sooner than after a period, because every run waits for it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A started [`PollingEventSource`].
pub(super) struct Polling<R, I> {
    name: Arc<str>,
    period: Duration,
    fetch_timeout: Duration,
    fetch: FetchAll<R>,
    id: IdOf<R, I>,
    events: SourceEvents,
    condition: Condition,
    cache: Mutex<ExternalCache<R, I>>,
    /// Held while a fetch is in progress: an older answer can't come after a newer one.
    one_at_a_time: tokio::sync::Mutex<()>,
    /// Set by the first fetch that succeeded.
    polled: SetOnce<()>,
}

impl<R: ExternalItem, I: ExternalItemId> Polling<R, I> {
    pub(super) fn new(declared: &PollingEventSource<R, I>, events: SourceEvents) -> Self {
        Self {
            name: Arc::clone(&declared.name),
            period: declared.period,
            fetch_timeout: declared.fetch_timeout,
            fetch: Arc::clone(&declared.fetch),
            id: Arc::clone(&declared.id),
            events,
            condition: Condition::new(SourceHealth::Syncing),
            cache: Mutex::new(ExternalCache::new(declared.filters.clone())),
            one_at_a_time: tokio::sync::Mutex::new(()),
            polled: SetOnce::new(),
        }
    }

    /// Fetches everything, unless an earlier fetch is recent enough. Triggers the primaries whose resources have
    /// changed, except for the one whose run calls this.
    async fn poll(&self, need: Need, asking: Option<&ObjectKey>) -> Result<(), Error> {
        let _one_at_a_time = self.one_at_a_time.lock().await;
        if need == Need::Known && self.polled.initialized() {
            return Ok(());
        }
        let fetch = async {
            let fetched = (self.fetch)().await?;
            Ok(fetched.into_iter().map(|(key, resources)| (key, by_id(resources, &self.id))).collect())
        };
        let shown = guarded(&self.name, self.fetch_timeout, fetch).await?;
        let due = self.cache.lock().update_all(shown);
        // Only the first one counts.
        let _ = self.polled.set(());
        for primary in due.iter().filter(|primary| Some(*primary) != asking) {
            self.events.wake(primary);
        }
        Ok(())
    }

    async fn read(&self, primary: &ObjectKey, need: Need) -> Result<Vec<Arc<R>>, Error> {
        // Known resources are returned without waiting for a poll in progress.
        if need == Need::Fresh || !self.polled.initialized() {
            self.poll(need, Some(primary)).await?;
        }
        Ok(self.get(primary))
    }

    async fn follow(&self) {
        let (mut need, mut first_pause) = (Need::Known, FIRST_PAUSE);
        loop {
            let pause = match self.poll(need, None).await {
                Ok(()) => {
                    need = Need::Fresh;
                    self.condition.set(&self.events, &SourceHealth::Healthy);
                    self.period
                }
                Err(error) => {
                    let pause =
                        if self.polled.initialized() { self.period } else { first_pause.min(self.period) };
                    first_pause = (first_pause * 2).min(LONGEST_PAUSE);
                    self.condition.set(&self.events, &failing(&error, pause));
                    pause
                }
            };
            let clock = self.events.environment().clock();
            let due = clock.now() + pause;
            while clock.now() < due {
                clock.sleep_until(Some(due)).await;
            }
        }
    }
}

impl<R: ExternalItem, I: ExternalItemId> ExternalStore<R> for Polling<R, I> {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, primary: &ObjectKey) -> Vec<Arc<R>> {
        self.cache.lock().get(primary)
    }

    fn fetch_now<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.read(primary, Need::Known).boxed()
    }

    fn refetch<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.read(primary, Need::Fresh).boxed()
    }

    fn created(&self, primary: &ObjectKey, new: Arc<R>) {
        let id = (self.id)(&new);
        self.cache.lock().created(primary, id, new);
    }

    fn updated(&self, primary: &ObjectKey, previous: &R, new: Arc<R>) {
        let id = (self.id)(&new);
        self.cache.lock().updated(primary, id, previous, new);
    }

    fn deleted(&self, primary: &ObjectKey, last: &R) {
        let id = (self.id)(last);
        self.cache.lock().deleted(primary, id);
    }

    #[cfg(test)]
    fn kept(&self) -> usize {
        self.cache.lock().len()
    }
}

impl<R: ExternalItem, I: ExternalItemId> EventSource for Arc<Polling<R, I>> {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let polling = Self::clone(self);
        async move { polling.follow().await }.boxed()
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        let polling = Self::clone(self);
        async move {
            polling.polled.wait().await;
        }
        .boxed()
    }

    fn health(&self) -> SourceHealth {
        self.condition.get()
    }
}
