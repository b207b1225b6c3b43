//! The settings of an operator's leader election.

use std::{sync::Arc, time::Duration};

use crate::{cache::wrong_namespace, resource::is_subdomain};

/// The default for how long a lease is respected after it was last seen to change.
pub(super) const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(15);

/// The default for how long a leader that can't renew its lease continues.
pub(super) const DEFAULT_RENEW_DEADLINE: Duration = Duration::from_secs(10);

/// The default interval at which a lease is renewed or read.
pub(super) const DEFAULT_RETRY_PERIOD: Duration = Duration::from_secs(2);

/// The longest lease duration. A lease may have been edited by hand; nobody waits for longer because of that.
pub(super) const LONGEST_LEASE_DURATION: Duration = Duration::from_secs(60 * 60);

/// With several replicas of an operator, only one works: the one that holds a `Lease`. JOSDK:
/// `LeaderElectionConfiguration`.
///
/// ```
/// use operator_core::{LeaderElection, Operator};
///
/// let operator = Operator::builder().leader_election(LeaderElection::new("webpage-operator"));
/// ```
///
/// The operator needs the rights to `get` and `update` this lease, and to `create` leases in its namespace.
#[derive(Clone)]
#[must_use = "an election does nothing until an operator takes part in it"]
pub struct LeaderElection {
    pub(in crate::operator) lease_name: String,
    pub(in crate::operator) namespace: Option<String>,
    pub(in crate::operator) identity: Option<String>,
    pub(in crate::operator) timing: Timing,
    pub(super) callbacks: Callbacks,
}

/// The three times of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::operator) struct Timing {
    pub(in crate::operator) lease_duration: Duration,
    pub(in crate::operator) renew_deadline: Duration,
    pub(in crate::operator) retry_period: Duration,
}

/// The functions that are called when something changes.
#[derive(Clone, Default)]
pub(super) struct Callbacks {
    pub(super) on_start_leading: Option<Arc<Callback>>,
    pub(super) on_stop_leading: Option<Arc<Callback>>,
    pub(super) on_new_leader: Option<Arc<LeaderCallback>>,
}

type Callback = dyn Fn() + Send + Sync;
type LeaderCallback = dyn Fn(&str) + Send + Sync;

/// A mistake in an election's declaration, or the reason why an operator can't take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderElectionError {
    /// Not a valid name for an object.
    #[error(
        "lease name `{0}`: use lower-case letters, digits, `-` and `.`, as it becomes the name of an object"
    )]
    InvalidLeaseName(String),
    /// The leader could not be identified.
    #[error(
        "the identity of a leader is empty; set one that no other replica has, or leave `.identity(…)` out"
    )]
    EmptyIdentity,
    /// A leader would continue when others could have replaced it, or give up at the first failure.
    #[error(
        "lease duration {} s, renew deadline {} s, retry period {} s: each must be longer than the next, none 0, and \
         none more than an hour",
        lease_duration.as_secs_f64(), renew_deadline.as_secs_f64(), retry_period.as_secs_f64()
    )]
    InvalidTimes {
        /// How long others wait.
        lease_duration: Duration,
        /// How long a leader continues.
        renew_deadline: Duration,
        /// How long after an attempt the next one is made.
        retry_period: Duration,
    },
    /// Neither the declaration nor the cluster's configuration names the namespace of the lease.
    #[error("the namespace of the lease is unknown; set one with `.namespace(…)` in the leader election")]
    NoNamespace,
    /// The operator's account lacks rights.
    #[error(
        "leader election needs the right to {} in the namespace {namespace}; add to a Role there: apiGroups: \
         [coordination.k8s.io], resources: [leases], verbs: [get, create, update]",
        missing.join(" and to ")
    )]
    Forbidden {
        /// The missing rights, as in "update the lease webpage-operator".
        missing: Vec<String>,
        /// The namespace.
        namespace: String,
    },
}

impl LeaderElection {
    /// Replicas with this lease elect one of them as the leader.
    pub fn new(lease_name: impl Into<String>) -> Self {
        Self {
            lease_name: lease_name.into(),
            namespace: None,
            identity: None,
            timing: Timing {
                lease_duration: DEFAULT_LEASE_DURATION,
                renew_deadline: DEFAULT_RENEW_DEADLINE,
                retry_period: DEFAULT_RETRY_PERIOD,
            },
            callbacks: Callbacks::default(),
        }
    }

    /// The namespace of the lease; by default the one of the cluster's configuration, which in a pod is the pod's.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// The name that identifies this replica; by default the variable `HOSTNAME`, which in a pod is the pod's name, or
    /// else a random UUID. If two replicas have the same name, this only causes confusion: still only one of
    /// them leads.
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// How long others wait after they have last seen the lease change, by their own clocks, before they take it: the
    /// time without a leader after a crash; by default 15 s, at most an hour. They read it from the lease, in whole
    /// seconds, rounded up.
    pub fn lease_duration(mut self, duration: Duration) -> Self {
        self.timing.lease_duration = duration;
        self
    }

    /// How long after its last renewal a leader still writes; by default 10 s. The rest of the lease duration is for
    /// writes that are on their way, and for clocks that run at different speeds.
    pub fn renew_deadline(mut self, deadline: Duration) -> Self {
        self.timing.renew_deadline = deadline;
        self
    }

    /// The interval at which a leader renews its lease, and others read it; by default 2 s.
    pub fn retry_period(mut self, period: Duration) -> Self {
        self.timing.retry_period = period;
        self
    }

    /// Called when this replica becomes the leader, just before its first run. It must return quickly, because it is
    /// called by the task that renews the lease; so must [`LeaderElection::on_new_leader`].
    pub fn on_start_leading(mut self, callback: impl Fn() + Send + Sync + 'static) -> Self {
        self.callbacks.on_start_leading = Some(Arc::new(callback));
        self
    }

    /// Called when this replica is no longer the leader: its runs are over, and it writes nothing. It is called on its
    /// own thread, so it may block. A stop waits for it for at most one and a half retry periods plus five seconds, a
    /// loss for five seconds.
    pub fn on_stop_leading(mut self, callback: impl Fn() + Send + Sync + 'static) -> Self {
        self.callbacks.on_stop_leading = Some(Arc::new(callback));
        self
    }

    /// Called with the identity of the leader when the leader changes.
    pub fn on_new_leader(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.callbacks.on_new_leader = Some(Arc::new(callback));
        self
    }

    /// Checks for settings that can't work.
    pub(in crate::operator) fn validate(&self) -> Result<(), LeaderElectionError> {
        let name = &self.lease_name;
        if !is_subdomain(name) {
            return Err(LeaderElectionError::InvalidLeaseName(name.clone()));
        }
        if let Some(namespace) = self.namespace.as_ref().filter(|name| wrong_namespace(name).is_some()) {
            return Err(LeaderElectionError::InvalidLeaseName(format!("{namespace}/{name}")));
        }
        if self.identity.as_ref().is_some_and(String::is_empty) {
            return Err(LeaderElectionError::EmptyIdentity);
        }
        let Timing { lease_duration, renew_deadline, retry_period } = self.timing;
        if lease_duration > LONGEST_LEASE_DURATION
            || lease_duration <= renew_deadline
            || renew_deadline <= retry_period
            || retry_period.is_zero()
        {
            return Err(LeaderElectionError::InvalidTimes { lease_duration, renew_deadline, retry_period });
        }
        Ok(())
    }
}

debug_of!(LeaderElection: "LeaderElection", |it|
    lease_name: it.lease_name, namespace: it.namespace, identity: it.identity, timing: it.timing);

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(lease: u64, renew: u64, retry: u64) -> LeaderElection {
        let seconds = Duration::from_secs;
        let election = LeaderElection::new("web").lease_duration(seconds(lease));
        election.renew_deadline(seconds(renew)).retry_period(seconds(retry))
    }

    #[test]
    fn the_defaults_and_other_descending_times_are_accepted() {
        assert_eq!(LeaderElection::new("web.page-operator").validate(), Ok(()));
        assert_eq!(seconds(60, 40, 5).validate(), Ok(()));
        assert_eq!(seconds(3600, 40, 5).validate(), Ok(()));
    }

    #[test]
    fn times_that_do_not_descend_are_refused() {
        let too_long = [seconds(1 << 40, 10, 2), seconds(3601, 10, 2)];
        for election in
            [seconds(10, 10, 2), seconds(15, 2, 2), seconds(15, 10, 0)].into_iter().chain(too_long)
        {
            let refused = election.validate();
            assert!(matches!(refused, Err(LeaderElectionError::InvalidTimes { .. })), "{refused:?}");
        }
    }

    #[test]
    fn names_that_no_object_can_have_are_refused() {
        for name in ["", "Web", "web/page", "-web", "web.", "wéb", &"w".repeat(254)] {
            let refused = LeaderElection::new(name).validate();
            assert_eq!(refused, Err(LeaderElectionError::InvalidLeaseName(name.to_owned())));
        }
        let nobody = LeaderElection::new("web").identity("").validate();
        assert_eq!(nobody, Err(LeaderElectionError::EmptyIdentity));
    }
}
