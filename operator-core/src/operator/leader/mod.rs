//! Only one of several replicas works: the one that holds a lease.
//!
//! ```text
//!            ┌────────────── elector (one task) ──────────────┐
//!  lease ◀──▶│ lease.rs: read, create, replace ◀── machine    │── extends ──▶ Term ──▶ fence of the operator's clients
//!            └────────────────────────────────────────────────┘                └─▶ controllers start their processors
//!                              │ lost
//!                              ▼
//!              writes are refused, runs are dropped, `leadership_lost()` resolves
//! ```
//!
//! # Guarantees
//! - Nothing is written before this replica is the leader, or after its term: the fence below all clients checks the
//!   clock at each write. That doesn't depend on this task, which may not have been polled for a minute.
//! - A standby's event sources run: its caches are filled when it begins to lead.
//! - Requests about the lease go through a separate client, each with a deadline, without retry and budget.
//! - A stop releases the lease after the last run has ended by itself, even a lease that was taken by a write whose
//!   answer never came; if a run had to be dropped, the lease expires instead, because a write of that run may still be
//!   on its way.
//! - A replica that has lost the lease doesn't come back: the operator has to be restarted, which
//!   [`Operator::run`](super::Operator::run) leaves to the caller of the process. A replica that was never the
//!   leader keeps trying forever.

mod configuration;
mod elector;
mod lease;
mod machine;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use kube::Config;
use parking_lot::Mutex;
use tokio::{sync::oneshot, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{Error, lifecycle::Running};
use crate::{
    client::{LeaseClient, Term, TransportHook},
    environment::Environment,
    observe::Observers,
};

pub use configuration::{LeaderElection, LeaderElectionError};
use elector::{Elector, Stop};
use lease::LeaseAccess;
use machine::Machine;

/// Why a replica is no longer the leader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LostLeadership {
    /// The lease could not be renewed in time: the API server is out of reach, overloaded or refuses, or the process was
    /// not running.
    #[error("the lease was not renewed in time")]
    NotRenewed,
    /// The lease has someone else's name, or none.
    #[error("the lease was taken{}", by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default())]
    Taken {
        /// The new holder's name.
        by: Option<String>,
    },
    /// The lease no longer exists.
    #[error("the lease was deleted")]
    Deleted,
}

/// The state of a replica in the election.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leadership {
    /// It doesn't lead: its caches are kept warm, and no run starts.
    Standby {
        /// The name that was last seen in the lease.
        leader: Option<String>,
    },
    /// It leads.
    Leading,
    /// It was the leader, and no longer is.
    Lost(LostLeadership),
}

/// How long a callback may delay the report that a term has ended.
const LAST_CALL: Duration = Duration::from_secs(5);

/// What is known about the election, for all readers.
#[derive(Debug)]
struct Status {
    leadership: Mutex<Leadership>,
    lost: CancellationToken,
}

/// An operator's part in an election, ready to start.
pub(super) struct Candidate {
    client: LeaseClient,
    lease: LeaseAccess,
    identity: String,
    election: LeaderElection,
    term: Term,
}

impl Candidate {
    /// Determines the replica's identity and namespace, and whether it may take part.
    pub(super) async fn new(
        election: &LeaderElection,
        config: &Config,
        hooks: &[TransportHook],
        environment: &Environment,
    ) -> Result<Self, Error> {
        let namespace = election.namespace.as_ref().unwrap_or(&config.default_namespace).clone();
        if namespace.is_empty() {
            return Err(LeaderElectionError::NoNamespace.into());
        }
        let host = || std::env::var("HOSTNAME").ok().filter(|host| !host.is_empty());
        let identity = election.identity.clone().or_else(host);
        let identity = identity.unwrap_or_else(|| environment.jitter().uuid());
        let client = LeaseClient::new(config, hooks, environment.clock())?;
        let lease = LeaseAccess::new(client.client.clone(), namespace, election.lease_name.clone());
        let rights = tokio::time::timeout(election.timing.renew_deadline, lease.missing_rights()).await;
        match rights {
            Ok(Ok(missing)) if missing.is_empty() => {}
            Ok(Ok(missing)) => {
                let namespace = lease.namespace;
                return Err(LeaderElectionError::Forbidden { missing, namespace }.into());
            }
            // If the server can't be reached, the replica can still stand by.
            Ok(Err(error)) => tracing::warn!(%error, "the rights for the lease can't be checked"),
            Err(_) => tracing::warn!("the rights for the lease can't be checked: there is no answer"),
        }
        Ok(Self { client, lease, identity, election: election.clone(), term: Term::default() })
    }

    /// When this replica may write.
    pub(super) fn term(&self) -> &Term {
        &self.term
    }

    /// Takes part from now on, for `running`.
    pub(super) fn start(
        self,
        running: Weak<Running>,
        environment: &Environment,
        observers: Observers,
    ) -> Leader {
        let Self { client, lease, identity, election, term } = self;
        let status = Arc::new(Status {
            leadership: Mutex::new(Leadership::Standby { leader: None }),
            lost: CancellationToken::new(),
        });
        let (stop, stopped) = oneshot::channel();
        let patience = election.timing.retry_period * 3 / 2 + LAST_CALL;
        let elector = Elector {
            machine: Machine::new(identity.clone(), election.timing),
            lease,
            lease_name: election.lease_name,
            identity,
            timing: election.timing,
            callbacks: election.callbacks,
            term: term.clone(),
            environment: environment.clone(),
            observers,
            status: Arc::clone(&status),
            running,
            leader: None,
            is_failing: false,
            written: None,
        };
        let task = environment.spawn("leader election", elector.run(stopped));
        Leader { client, term, status, stop: Mutex::new(Some(stop)), task, patience }
    }
}

/// An operator's part in an election, in progress. Dropping it ends it at once; the lease expires.
pub(super) struct Leader {
    client: LeaseClient,
    term: Term,
    status: Arc<Status>,
    stop: Mutex<Option<oneshot::Sender<Stop>>>,
    task: JoinHandle<()>,
    /// How long a stop waits for the task.
    patience: Duration,
}

impl Leader {
    pub(super) fn leadership(&self) -> Leadership {
        self.status.leadership.lock().clone()
    }

    /// Resolves when this replica has led, and no longer does.
    pub(super) async fn lost(&self) -> LostLeadership {
        loop {
            self.status.lost.cancelled().await;
            match self.leadership() {
                Leadership::Lost(lost) => return lost,
                // It is recorded before it is reported.
                Leadership::Standby { .. } | Leadership::Leading => std::future::pending().await,
            }
        }
    }

    /// Whether the task has ended although it was not stopped, and nothing was lost.
    pub(super) fn has_ended(&self) -> bool {
        self.task.is_finished() && !self.status.lost.is_cancelled()
    }

    /// Ends the term and takes part no longer. With `release` the lease is released, which takes at most one and a half
    /// retry periods. A user's callback may block; the wait for it is limited.
    pub(super) async fn stop(&self, release: bool) {
        self.term.end();
        let stop = self.stop.lock().take();
        if let Some(stop) = stop {
            let (done, is_done) = oneshot::channel();
            // The errors are that the task has ended, or ends now.
            if stop.send(Stop { release, done }).is_ok()
                && tokio::time::timeout(self.patience, is_done).await.is_err()
            {
                tracing::warn!("`on_stop_leading` hasn't returned; not waiting for it any longer");
            }
        }
        self.close();
    }

    /// Sends nothing any more.
    pub(super) fn close(&self) {
        self.term.end();
        self.client.close();
        self.task.abort();
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.close();
    }
}
