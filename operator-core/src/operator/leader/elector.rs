//! The task that holds the lease: makes the requests that the machine decides on, and reports the outcome.

use std::{
    pin::pin,
    sync::{Arc, Weak},
};

use k8s_openapi::api::coordination::v1::LeaseSpec;
use tokio::sync::oneshot;

use super::{
    LAST_CALL, Leadership, LostLeadership, Status,
    configuration::{Callbacks, Timing},
    lease::LeaseAccess,
    machine::{Decision, Machine, Reply, Request},
};
use crate::{
    client::Term,
    environment::{Environment, Now, fenced},
    observe::{Observation, Observers, error_chain},
    operator::lifecycle::Running,
};

/// The part by which the waits of standbys are spread: they don't all end at the same moment.
const SPREAD: f64 = 0.2;

/// Stops the elector.
pub(super) struct Stop {
    /// Whether the lease is released.
    pub(super) release: bool,
    /// Notified when that is done, or has failed.
    pub(super) done: oneshot::Sender<()>,
}

pub(super) struct Elector {
    pub(super) machine: Machine,
    pub(super) lease: LeaseAccess,
    pub(super) lease_name: String,
    pub(super) identity: String,
    pub(super) timing: Timing,
    pub(super) callbacks: Callbacks,
    pub(super) term: Term,
    pub(super) environment: Environment,
    pub(super) observers: Observers,
    pub(super) status: Arc<Status>,
    pub(super) running: Weak<Running>,
    /// The leader that was last reported.
    pub(super) leader: Option<String>,
    /// The last request failed, and that was reported.
    pub(super) is_failing: bool,
    /// The record that was written last, answered or not; `None` if it was refused.
    pub(super) written: Option<LeaseSpec>,
}

impl Elector {
    pub(super) async fn run(mut self, mut stop: oneshot::Receiver<Stop>) {
        tracing::info!(
            lease = self.lease_name,
            namespace = self.lease.namespace,
            identity = self.identity,
            "standing by: runs start once this replica is the leader"
        );
        self.observe(false);
        let told = loop {
            let now = self.environment.now();
            match self.machine.next(now) {
                Decision::Wait(until) => {
                    let until = self.spread(now, until);
                    tokio::select! {
                        biased;
                        told = &mut stop => break told.ok(),
                        () = self.environment.clock().sleep_until(Some(until)) => {}
                    }
                }
                Decision::Ask(request, deadline) => {
                    match self.ask_unless_told(request, deadline, &mut stop).await {
                        Ok(answer) => self.machine.answered(request, now, answer, self.environment.now()),
                        Err(told) => break told,
                    }
                    self.tell();
                }
                Decision::Lost(lost) => return self.lose(lost).await,
            }
        };
        self.stop(told).await;
    }

    /// The answer, or the order to stop if that comes first.
    async fn ask_unless_told(
        &mut self,
        request: Request,
        deadline: Now,
        stop: &mut oneshot::Receiver<Stop>,
    ) -> Result<Reply, Option<Stop>> {
        let patience = self.timing.retry_period / 2;
        let mut asking = pin!(self.ask(request, deadline));
        tokio::select! {
            biased;
            told = stop => {
                let told = told.ok();
                // A write in progress could take effect after the release has read the lease.
                if request != Request::Read && told.as_ref().is_some_and(|stop| stop.release) {
                    let _ = tokio::time::timeout(patience, asking).await;
                }
                Err(told)
            }
            answer = &mut asking => Ok(answer),
        }
    }

    fn spread(&self, now: Now, until: Now) -> Now {
        match self.machine.term() {
            Some(_) => until,
            None => now + self.environment.jitter().spread(until - now, SPREAD),
        }
    }

    async fn ask(&mut self, request: Request, deadline: Now) -> Reply {
        let record = self.machine.record(self.environment.wall_clock().now());
        if request != Request::Read {
            self.written = Some(record.clone());
        }
        let clock = *self.environment.clock();
        let answer = tokio::select! {
            biased;
            answer = self.lease.ask(request, record) => answer.map_err(|error| error_chain(&error)),
            () = clock.sleep_until(Some(deadline)) => Err("there was no answer in time".to_owned()),
        };
        match answer {
            Ok(answer) => {
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!(lease = self.lease_name, "the lease can be reached again");
                }
                if request != Request::Read && !matches!(answer, Reply::Lease(_)) {
                    self.written = None;
                }
                answer
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(
                        lease = self.lease_name,
                        error,
                        "the lease can't be reached; this is retried in each retry period"
                    );
                }
                Reply::Failed
            }
        }
    }

    /// Reports what has changed since the last time.
    fn tell(&mut self) {
        let holder = self.machine.holder();
        let is_new = holder.is_some() && holder != self.leader.as_deref();
        if is_new {
            self.leader = holder.map(str::to_owned);
        }
        if let Some(until) = self.machine.term() {
            // This comes first, because each moment of the term counts.
            self.term.extend(until);
            let mut leadership = self.status.leadership.lock();
            let begins = *leadership != Leadership::Leading;
            *leadership = Leadership::Leading;
            drop(leadership);
            if begins {
                tracing::info!(lease = self.lease_name, identity = self.identity, "this replica leads");
                self.observe(true);
                if let Some(callback) = &self.callbacks.on_start_leading {
                    call(&self.lease_name, || callback(), "on_start_leading");
                }
            }
        } else if let Leadership::Standby { leader } = &mut *self.status.leadership.lock() {
            leader.clone_from(&self.leader);
        }
        if is_new && let Some(leader) = &self.leader {
            tracing::info!(lease = self.lease_name, leader, "a new leader");
            if let Some(callback) = &self.callbacks.on_new_leader {
                call(&self.lease_name, || callback(leader), "on_new_leader");
            }
        }
    }

    async fn lose(mut self, lost: LostLeadership) {
        self.term.end();
        self.tell();
        tracing::error!(
            lease = self.lease_name,
            reason = %lost,
            "this replica is no longer the leader: it stops writing, and its runs are dropped"
        );
        *self.status.leadership.lock() = Leadership::Lost(lost);
        self.observe(false);
        if let Some(running) = self.running.upgrade() {
            running.drop_runs().await;
        }
        // The callback comes first; one that never returns must not hide what has happened.
        let until = self.environment.now() + LAST_CALL;
        tokio::select! {
            biased;
            () = self.call_last() => {}
            () = self.environment.clock().sleep_until(Some(until)) => {}
        }
        self.status.lost.cancel();
    }

    /// The last steps when the operator stops; its runs and its term are over.
    async fn stop(mut self, told: Option<Stop>) {
        let has_led = *self.status.leadership.lock() == Leadership::Leading;
        if has_led {
            self.observe(false);
            self.call_last().await;
        }
        let Some(Stop { release, done }) = told else { return };
        // A replica that has never led may hold the lease nonetheless, by a write that was not answered.
        if release && (has_led || self.written.is_some()) {
            let released = tokio::time::timeout(self.timing.retry_period, self.release(has_led)).await;
            match released {
                Ok(Ok(true)) => tracing::info!(lease = self.lease_name, "the lease is released"),
                Ok(Ok(false)) => {
                    tracing::info!(lease = self.lease_name, "the lease belongs to another holder")
                }
                Ok(Err(error)) => tracing::warn!(lease = self.lease_name, %error, "the lease expires"),
                Err(_) => tracing::warn!(lease = self.lease_name, "the lease expires: there is no answer"),
            }
        }
        // The error means that nobody waits.
        let _ = done.send(());
    }

    /// Releases the lease, if it is still ours. If a replica has led until now, its name in the lease is enough
    /// evidence; otherwise the lease may belong to another replica with the same name.
    async fn release(&mut self, has_led: bool) -> Result<bool, kube::Error> {
        let wall = self.environment.wall_clock().now();
        // Read again, because a renewal may have been in progress.
        match self.lease.ask(Request::Read, LeaseSpec::default()).await? {
            Reply::Lease(lease)
                if self.written.as_ref() == Some(&lease)
                    || has_led && lease.holder_identity.as_ref() == Some(&self.identity) =>
            {
                let answer = self.lease.ask(Request::Replace, Machine::release(lease, wall)).await?;
                Ok(matches!(answer, Reply::Lease(_)))
            }
            _ => Ok(false),
        }
    }

    fn observe(&self, leads: bool) {
        let (lease, identity) = (&*self.lease_name, &*self.identity);
        self.observers.observe(&Observation::Leadership { lease, identity, leads });
    }

    /// A callback may take any time, unless there is a deadline: it is called on its own thread, because the runtime's
    /// thread may be the one that keeps the time, or runs the next task.
    async fn call_last(&self) {
        let Some(callback) = self.callbacks.on_stop_leading.clone() else { return };
        let lease_name = self.lease_name.clone();
        let called = move || call(&lease_name, || callback(), "on_stop_leading");
        // The error means that the runtime ends.
        let _ = self.environment.call_apart(called).await;
    }
}

/// A panic of a callback must not end the task that renews the lease.
fn call(lease: &str, callback: impl FnOnce(), name: &str) {
    if fenced(callback).is_err() {
        tracing::error!(lease, callback = name, "a callback panicked");
    }
}
