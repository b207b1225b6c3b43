//! Resources that are fetched for each primary separately: the common part of per-resource polling and inbound sources.
//!
//! ```text
//! Primaries ──seen, gone──▶ Members: gate, deadline, cache entry of each primary
//!                              ▲
//! a run: fetch_now ──▶ gate ──▶ fetch ──▶ is the primary still the same, did no push overtake it? ──▶ cache
//! a timer: poll ────────────────────────────────────────────────────────────────────────────────────┘ ──▶ SourceEvents
//! ```
//!
//! # Guarantees
//! - One fetch at a time for each primary; it ends at once when the primary does.
//! - Nothing is kept about a primary that is gone, whatever is fetched, pushed or written for it afterwards.
//!
//! # Assumptions
//! - [`Primaries`] notifies of a primary before its first run, and of its end once it can't be read any more.

mod members;
mod poll;
mod source;

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::sync::{Notify, SetOnce};

pub use source::PerPrimaryEventSource;
pub(super) use source::{Arrival, Fetching, Polls};

use super::{
    InboundHandle,
    cache::{ExternalCache, Set},
    fetch::{Condition, Need, guarded},
    inbound_handle::Inbox,
    store::{ExternalItem, ExternalItemId, ExternalStore, by_id},
};
use crate::{
    event_source::{Error, EventSource, Primaries, PrimaryFollower, SourceEvents, Wiring},
    observe::SourceHealth,
    resource::{KubeObject, ObjectKey},
};
use members::Members;

/// The attempts at a fetch that is overtaken by pushes; after the last one its answer is accepted.
const FETCH_ATTEMPTS: usize = 3;

/// The resources of each primary, while the controller runs.
pub(super) struct PerPrimary<P, R, I> {
    controller: Arc<str>,
    fetching: Fetching<P, R, I>,
    polls: Option<Polls<P, R>>,
    /// Where user code pushes, if it does.
    handle: Option<InboundHandle<R, I>>,
    primaries: Arc<dyn Primaries>,
    events: SourceEvents,
    condition: Condition,
    /// The controller's primaries are of another type.
    misdeclared: AtomicBool,
    members: Mutex<Members<R, I>>,
    scheduled: Notify,
    /// Everything is in place for the first run.
    ready: SetOnce<()>,
}

impl<P: KubeObject, R: ExternalItem, I: ExternalItemId> PerPrimary<P, R, I> {
    /// Builds it, and subscribes it to changes of primaries.
    pub(super) fn build(
        declared: &PerPrimaryEventSource<P, R, I, impl Arrival<P, R, I>>,
        wiring: &Wiring,
        events: SourceEvents,
    ) -> Arc<Self> {
        let PerPrimaryEventSource { fetching, arrival, filters } = declared;
        let built = Arc::new(Self {
            controller: Arc::clone(&wiring.controller),
            fetching: fetching.clone(),
            polls: arrival.polls().cloned(),
            handle: arrival.handle().cloned(),
            primaries: Arc::clone(&wiring.primaries),
            events,
            condition: Condition::new(SourceHealth::Healthy),
            misdeclared: AtomicBool::new(false),
            members: Mutex::new(Members::new(filters.clone())),
            scheduled: Notify::new(),
            ready: SetOnce::new(),
        });
        let follower: Arc<dyn PrimaryFollower> = Arc::clone(&built) as _;
        wiring.primaries.follow(Arc::downgrade(&follower));
        built
    }

    /// The newest known state of a primary.
    fn primary(&self, key: &ObjectKey) -> Result<Arc<P>, Error> {
        self.typed(key, self.primaries.get(key))
    }

    fn typed(&self, key: &ObjectKey, found: Option<Arc<dyn Any + Send + Sync>>) -> Result<Arc<P>, Error> {
        found.ok_or_else(|| self.gone(key))?.downcast().map_err(|_| Error::PrimaryType {
            event_source: self.fetching.name.to_string(),
            expected: std::any::type_name::<P>(),
        })
    }

    fn gone(&self, primary: &ObjectKey) -> Error {
        Error::PrimaryGone { event_source: self.fetching.name.to_string(), primary: primary.clone() }
    }

    /// Fetches the resources of a primary, and stores them. Returns whether an event is due.
    async fn fetch(&self, primary: &ObjectKey, need: Need) -> Result<bool, Error> {
        let gate = self.members.lock().gate(primary).ok_or_else(|| self.gone(primary))?;
        let _one_at_a_time = gate.one_at_a_time.lock().await;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let version = {
                let members = self.members.lock();
                if need == Need::Known && members.cache.is_complete(primary) {
                    return Ok(false);
                }
                members.cache.version(primary)
            };
            let object = self.typed(primary, self.primaries.fetch(primary).await)?;
            if need == Need::Polled && self.polls.as_ref().is_some_and(|polls| !polls.wants(&object)) {
                self.members.lock().rejected(primary);
                return Ok(false);
            }
            let Fetching { name, fetch, timeout, id } = &self.fetching;
            let fetch = async {
                let set = by_id(fetch(Arc::clone(&object)).await?, id);
                let delay = self.delay_after(&set, &object);
                Ok((set, delay))
            };
            let (set, delay) = tokio::select! {
                biased;
                _ = gate.gone.wait() => return Err(self.gone(primary)),
                fetched = guarded(name, *timeout, fetch) => fetched?,
            };
            let mut members = self.members.lock();
            if !members.lives(primary, &gate) {
                return Err(self.gone(primary));
            }
            if members.cache.version(primary) == version || attempts == FETCH_ATTEMPTS {
                let due = members.cache.update(primary, set);
                if members.next_poll(primary, self.events.environment().now(), delay) {
                    self.scheduled.notify_one();
                }
                return Ok(due);
            }
        }
    }

    /// The delay until a primary with these resources is polled again.
    fn delay_after(&self, set: &Set<R, I>, primary: &P) -> Duration {
        let Some(polls) = &self.polls else { return Duration::MAX };
        let resources: Vec<Arc<R>> = set.values().cloned().collect();
        (polls.delay_after)(&resources, primary).unwrap_or_else(|| self.period())
    }

    fn period(&self) -> Duration {
        let jitter = self.events.environment().jitter();
        self.polls.as_ref().map_or(Duration::MAX, |polls| jitter.spread(polls.period, polls.spread))
    }

    /// The pushes before the start are in place; the first run may start.
    fn in_place(&self) {
        // A second call changes nothing.
        let _ = self.ready.set(());
    }

    /// Records that only the primaries that have been seen exist: pushes for others are dropped. No run waits for this,
    /// because some namespace of the primaries may not be listed for a long time.
    async fn all_seen(&self) {
        self.primaries.synced().await;
        self.members.lock().all_seen();
    }

    /// Stores a push of another system by `push`, which returns whether an event is due.
    fn pushed(&self, primary: &ObjectKey, push: impl FnOnce(&mut ExternalCache<R, I>) -> bool) {
        let due = {
            let mut members = self.members.lock();
            (members.exists(primary) || !members.all_seen) && push(&mut members.cache)
        };
        if due {
            self.events.wake(primary);
        }
    }

    async fn read(&self, primary: &ObjectKey, need: Need) -> Result<Vec<Arc<R>>, Error> {
        // Known resources are returned without waiting for a poll in progress.
        let known = need == Need::Known && self.members.lock().cache.is_complete(primary);
        if !known {
            self.fetch(primary, need).await?;
        }
        Ok(self.get(primary))
    }

    /// A run has written. If its primary is gone, the write is ignored.
    fn wrote(&self, primary: &ObjectKey, write: impl FnOnce(&mut ExternalCache<R, I>)) {
        let mut members = self.members.lock();
        if members.exists(primary) {
            write(&mut members.cache);
        }
    }
}

impl<P: KubeObject, R: ExternalItem, I: ExternalItemId> ExternalStore<R> for PerPrimary<P, R, I> {
    fn name(&self) -> &str {
        &self.fetching.name
    }

    fn get(&self, primary: &ObjectKey) -> Vec<Arc<R>> {
        self.members.lock().cache.get(primary)
    }

    fn fetch_now<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.read(primary, Need::Known).boxed()
    }

    fn refetch<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.read(primary, Need::Fresh).boxed()
    }

    fn created(&self, primary: &ObjectKey, new: Arc<R>) {
        let id = (self.fetching.id)(&new);
        self.wrote(primary, |cache| cache.created(primary, id, new));
    }

    fn updated(&self, primary: &ObjectKey, previous: &R, new: Arc<R>) {
        let id = (self.fetching.id)(&new);
        self.wrote(primary, |cache| cache.updated(primary, id, previous, new));
    }

    fn deleted(&self, primary: &ObjectKey, last: &R) {
        let id = (self.fetching.id)(last);
        self.wrote(primary, |cache| cache.deleted(primary, id));
    }

    #[cfg(test)]
    fn kept(&self) -> usize {
        self.members.lock().kept()
    }
}

impl<P: KubeObject, R: ExternalItem, I: ExternalItemId> Inbox<R, I> for Arc<PerPrimary<P, R, I>> {
    fn adopt(&self, early: ExternalCache<R, I>) {
        self.members.lock().cache.adopt(early);
    }

    fn put(&self, primary: &ObjectKey, set: Set<R, I>) {
        self.pushed(primary, |cache| cache.update(primary, set));
    }

    fn delete(&self, primary: &ObjectKey, id: &I) {
        self.pushed(primary, |cache| cache.vanished(primary, id));
    }
}

impl<P: KubeObject, R: ExternalItem, I: ExternalItemId> EventSource for Arc<PerPrimary<P, R, I>> {
    fn name(&self) -> &str {
        &self.fetching.name
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let source = Self::clone(self);
        async move {
            // Dropped when the source stops.
            let inbox: Arc<dyn Inbox<R, I>> = Arc::new(Self::clone(&source));
            if let Some(handle) = &source.handle {
                handle.connect(&inbox);
            }
            source.follow().await
        }
        .boxed()
    }

    /// If another system pushes, its pushes before the start are in place by then; runs don't wait for polls.
    fn synced(&self) -> BoxFuture<'static, ()> {
        let source = Self::clone(self);
        async move {
            if source.polls.is_none() {
                source.ready.wait().await;
            }
        }
        .boxed()
    }

    fn health(&self) -> SourceHealth {
        self.condition.get()
    }

    /// The number of entries about primaries that don't exist.
    fn leftovers(&self) -> usize {
        self.members.lock().leftovers(&|primary| self.primaries.contains(primary))
    }
}

impl<P: KubeObject, R: ExternalItem, I: ExternalItemId> PrimaryFollower for PerPrimary<P, R, I> {
    fn primary_seen(&self, key: &ObjectKey) {
        let polled = match (self.primary(key), &self.polls) {
            (Ok(primary), Some(polls)) => polls.wants(&primary),
            (Err(error @ Error::PrimaryType { .. }), _) => {
                self.misdeclared.store(true, Ordering::Relaxed);
                let advice = Some("declare it for the controller's primary type".to_owned());
                let health = SourceHealth::Unhealthy { reason: error.to_string(), advice };
                self.condition.set(&self.events, &health);
                false
            }
            // It isn't held in full. The poll reads it, and asks then.
            (Err(_), Some(_)) => self.primaries.contains(key),
            (_, None) => false,
        };
        let (now, delay) = (self.events.environment().now(), self.period());
        if self.members.lock().seen(key, polled, now, delay) {
            self.scheduled.notify_one();
        }
    }

    fn primary_gone(&self, key: &ObjectKey) {
        self.members.lock().gone(key);
        self.tell_health();
    }
}
