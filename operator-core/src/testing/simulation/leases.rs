//! OneRun with a leader election: nothing is written without the lease, as the server has it at that moment.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::api::coordination::v1::Lease;
use parking_lot::Mutex;

use super::record::{Actor, Call, seconds};
use crate::testing::faults::RequestTarget;

/// The leases that the server has stored, and the names under which the operator has taken part.
#[derive(Debug, Default)]
pub(super) struct Leases(Mutex<ElectionState>);

#[derive(Debug, Default)]
struct ElectionState {
    /// Whether there is an election at all.
    elects: bool,
    held: BTreeMap<String, HeldLease>,
    /// Each incarnation's own name.
    identities: BTreeMap<u32, String>,
}

#[derive(Debug)]
struct HeldLease {
    /// `None` once a user has written it: taking a lease away by force breaks the rule that keeps writers apart.
    holder: Option<String>,
    until: Duration,
}

impl Leases {
    /// From now on nothing may be written without a lease.
    pub(super) fn elect(&self) {
        self.0.lock().elects = true;
    }

    pub(super) fn elects(&self) -> bool {
        self.0.lock().elects
    }

    /// The server has stored a lease. Others count its time from when they see it, which is not before now.
    pub(super) fn stored(&self, by: Actor, target: &RequestTarget, lease: &[u8], now: Duration) {
        let Ok(spec) = serde_json::from_slice::<Lease>(lease).map(|lease| lease.spec.unwrap_or_default())
        else {
            return;
        };
        let state = &mut *self.0.lock();
        let lasts = u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0);
        let holder = spec.holder_identity.filter(|holder| !holder.is_empty());
        if let (Actor::Operator(life), Some(holder)) = (by, &holder) {
            state.identities.insert(life, holder.clone());
        }
        let holder = if by == Actor::User { None } else { Some(holder.unwrap_or_default()) };
        state.held.insert(target.object(), HeldLease { holder, until: now + Duration::from_secs(lasts) });
    }

    /// Why this write is forbidden, if it is.
    pub(super) fn forbid(&self, by: Actor, target: &RequestTarget, now: Duration) -> Option<String> {
        let Actor::Operator(life) = by else { return None };
        let state = self.0.lock();
        if !state.elects || !target.verb.is_write() || is_of_election(target) {
            return None;
        }
        let identity = state.identities.get(&life);
        let wrong = match state.held.values().next() {
            None => "there is none".to_owned(),
            Some(HeldLease { holder: None, .. }) => return None,
            Some(HeldLease { holder, .. }) if holder.as_ref() != identity => {
                "another name is in it".to_owned()
            }
            Some(HeldLease { until, .. }) if *until < now => {
                format!("it was over at {}", seconds(*until).trim())
            }
            Some(_) => return None,
        };
        Some(format!("operator {life} writes without the lease ({wrong}): {target}"))
    }
}

/// Whether it is about the election itself, which goes on while nothing happens, or asks what the operator may do.
pub(super) fn is_of_election(target: &RequestTarget) -> bool {
    target.resource == "leases" || is_question(target)
}

/// A question to the server that has the form of a write.
pub(super) fn is_question(target: &RequestTarget) -> bool {
    matches!(target.group.as_str(), "authorization.k8s.io" | "authentication.k8s.io")
}

impl Call {
    /// Whether it is part of the operator's work.
    pub(super) fn is_work(&self) -> bool {
        self.by_operator() && !is_of_election(&self.target)
    }
}
