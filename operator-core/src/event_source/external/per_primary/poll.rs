//! Periodic fetches for each primary.

use std::sync::atomic::Ordering;

use futures::{StreamExt, stream::FuturesUnordered};

use super::PerPrimary;
use crate::{
    event_source::{
        Error,
        external::{
            fetch::{Need, failing},
            store::{ExternalItem, ExternalItemId},
        },
    },
    observe::{SourceHealth, error_chain},
    resource::{KubeObject, ObjectKey},
};

impl<P: KubeObject, R: ExternalItem, I: ExternalItemId> PerPrimary<P, R, I> {
    /// Fetches for each primary when it is due: one future for all of them, with one sleep. Without polls it only waits
    /// until all primaries have been seen.
    pub(super) async fn follow(&self) {
        let Some(polls) = &self.polls else {
            self.in_place();
            self.all_seen().await;
            return std::future::pending().await;
        };
        let clock = self.events.environment().clock();
        let mut under_way = FuturesUnordered::new();
        loop {
            let room = polls.concurrency - under_way.len();
            let (due, next) = {
                let schedule = &mut self.members.lock().schedule;
                (schedule.take(clock.now(), room), schedule.next())
            };
            under_way.extend(due.into_iter().map(|primary| self.poll(primary)));
            let next = next.filter(|_| under_way.len() < polls.concurrency);
            tokio::select! {
                biased;
                Some(()) = under_way.next(), if !under_way.is_empty() => {}
                () = self.scheduled.notified() => {}
                () = clock.sleep_until(next) => {}
            }
        }
    }

    async fn poll(&self, primary: ObjectKey) {
        match self.fetch(&primary, Need::Polled).await {
            Ok(due) => {
                if self.members.lock().polled(&primary, true) {
                    let (controller, source) = (&*self.controller, &*self.fetching.name);
                    tracing::info!(controller, source, %primary, "the primary's resources are fetched again");
                }
                self.tell_health();
                if due {
                    self.events.wake(&primary);
                }
            }
            Err(error) => self.failed(&primary, &error),
        }
    }

    fn failed(&self, primary: &ObjectKey, error: &Error) {
        let pause = self.period();
        let (news, none_works) = {
            let mut members = self.members.lock();
            members.next_poll(primary, self.events.environment().now(), pause);
            // The end of a primary isn't a failure; if there is a successor already, this wasn't its poll.
            let counts = error.is_retryable();
            (counts && members.polled(primary, false), members.none_works())
        };
        if none_works && error.is_retryable() {
            self.condition.set(&self.events, &failing(error, pause));
        } else {
            self.tell_health();
        }
        if news {
            let (controller, source, reason) = (&*self.controller, &*self.fetching.name, error_chain(error));
            tracing::warn!(
                controller,
                source,
                %primary,
                reason,
                "cannot fetch the primary's resources; those fetched before are kept, and the fetch is retried"
            );
        }
    }

    /// The source is healthy as soon as it can fetch for any primary, and when there is no primary to fetch for.
    pub(super) fn tell_health(&self) {
        if !self.members.lock().none_works() && !self.misdeclared.load(Ordering::Relaxed) {
            self.condition.set(&self.events, &SourceHealth::Healthy);
        }
    }
}
