//! The primaries that need a conditional source, which runs only while there is one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::resource::ObjectKey;

/// A node of a workflow: several of them, of one primary, may need one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Claimant {
    /// The workflow; unique within the process.
    pub(crate) workflow: u64,
    /// The node's position in it.
    pub(crate) node: usize,
}

impl Claimant {
    /// One that is no node of a workflow.
    pub(crate) fn unique() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Self { workflow: u64::MAX, node: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

/// Distinguishes one start of a source from another: a report from a former start doesn't count for the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start(u64);

/// The last answers of all primaries about one source, and its progress.
#[derive(Debug, Default)]
pub(super) struct Claims {
    active: BTreeMap<ObjectKey, BTreeSet<Claimant>>,
    /// The controller claims it: it is needed whatever the answers are, and concerns all primaries.
    of_controller: bool,
    phase: Phase,
    starts: u64,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Stopped,
    /// Started: the primaries that wait until everything that concerns them has been seen, and the namespaces that are
    /// complete.
    Syncing {
        waiting: BTreeSet<ObjectKey>,
        seen: BTreeSet<String>,
        /// The primaries whose runs wait themselves: the first list doesn't trigger them.
        attending: BTreeSet<ObjectKey>,
    },
    Synced,
}

impl Claims {
    /// A node was found active for a primary; without a node it is the controller that claims the source.
    pub(super) fn claim(&mut self, primary: &ObjectKey, claimant: Option<Claimant>) {
        match claimant {
            Some(claimant) => {
                self.active.entry(primary.clone()).or_default().insert(claimant);
            }
            None => self.of_controller = true,
        }
    }

    /// A node was found inactive for a primary.
    pub(super) fn release(&mut self, primary: &ObjectKey, claimant: Claimant) {
        if let Some(claimants) = self.active.get_mut(primary) {
            claimants.remove(&claimant);
            if claimants.is_empty() {
                self.gone(primary);
            }
        }
    }

    /// A primary no longer needs it: it is gone, or none of its nodes is active.
    pub(super) fn gone(&mut self, primary: &ObjectKey) {
        self.active.remove(primary);
        if let Phase::Syncing { waiting, attending, .. } = &mut self.phase {
            waiting.remove(primary);
            attending.remove(primary);
        }
    }

    /// Whether everything has been seen that concerns this primary; otherwise its run waits for that itself.
    pub(super) fn is_synced_or_attends(&mut self, primary: &ObjectKey) -> bool {
        let synced = self.is_synced_for(primary);
        if let (false, Phase::Syncing { attending, .. }) = (synced, &mut self.phase) {
            attending.insert(primary.clone());
        }
        synced
    }

    /// Whether any primary needs it.
    pub(super) fn is_needed(&self) -> bool {
        self.of_controller || !self.active.is_empty()
    }

    /// Whether this primary needs it: then the source's changes concern the primary.
    pub(super) fn concerns(&self, primary: &ObjectKey) -> bool {
        self.of_controller || self.active.contains_key(primary)
    }

    /// Whether a change triggers this primary now. Until everything has been seen, the primary only waits for that.
    pub(super) fn wakes(&mut self, primary: &ObjectKey) -> bool {
        let attends = |phase: &Phase| match phase {
            Phase::Syncing { attending, .. } => attending.contains(primary),
            Phase::Stopped | Phase::Synced => false,
        };
        self.concerns(primary)
            && if attends(&self.phase) {
                self.is_synced_for(primary)
            } else {
                self.is_synced_or_waits(primary)
            }
    }

    /// The source starts, with nothing seen yet.
    pub(super) fn started(&mut self) -> Start {
        self.starts += 1;
        self.phase =
            Phase::Syncing { waiting: BTreeSet::new(), seen: BTreeSet::new(), attending: BTreeSet::new() };
        Start(self.starts)
    }

    /// The source follows other namespaces from now on; those in `seen` are already complete.
    pub(super) fn rescoped(
        &mut self,
        seen: impl FnOnce(Option<&BTreeSet<String>>) -> BTreeSet<String>,
    ) -> Start {
        self.starts += 1;
        let (waiting, seen, attending) = match &mut self.phase {
            Phase::Synced => (BTreeSet::new(), seen(None), BTreeSet::new()),
            Phase::Syncing { waiting, seen: before, attending } => {
                (std::mem::take(waiting), seen(Some(before)), std::mem::take(attending))
            }
            Phase::Stopped => return Start(self.starts),
        };
        self.phase = Phase::Syncing { waiting, seen, attending };
        Start(self.starts)
    }

    /// The source stops, and forgets.
    pub(super) fn stopped(&mut self) {
        self.phase = Phase::Stopped;
    }

    /// That start of the source has seen everything. Returns the primaries that wait for this.
    pub(super) fn synced(&mut self, start: Start) -> BTreeSet<ObjectKey> {
        if start != Start(self.starts) {
            return BTreeSet::new();
        }
        match &mut self.phase {
            Phase::Syncing { waiting, .. } => {
                let waiting = std::mem::take(waiting);
                self.phase = Phase::Synced;
                waiting
            }
            Phase::Stopped | Phase::Synced => BTreeSet::new(),
        }
    }

    /// That start of the source has seen everything that concerns the primaries of a namespace. Returns the waiting ones
    /// of them.
    pub(super) fn synced_in(&mut self, start: Start, namespace: &str) -> BTreeSet<ObjectKey> {
        match &mut self.phase {
            Phase::Syncing { waiting, seen, .. } if start == Start(self.starts) => {
                seen.insert(namespace.to_owned());
                let told: BTreeSet<ObjectKey> =
                    waiting.iter().filter(|key| key.namespace() == Some(namespace)).cloned().collect();
                waiting.retain(|key| !told.contains(key));
                told
            }
            Phase::Syncing { .. } | Phase::Stopped | Phase::Synced => BTreeSet::new(),
        }
    }

    /// Whether everything has been seen that concerns this primary.
    pub(super) fn is_synced_for(&self, primary: &ObjectKey) -> bool {
        match &self.phase {
            Phase::Stopped => false,
            Phase::Syncing { seen, .. } => primary.namespace().is_some_and(|name| seen.contains(name)),
            Phase::Synced => true,
        }
    }

    /// The same; otherwise the primary is among those that are notified when it has been.
    pub(super) fn is_synced_or_waits(&mut self, primary: &ObjectKey) -> bool {
        let synced = self.is_synced_for(primary);
        if let (false, Phase::Syncing { waiting, .. }) = (synced, &mut self.phase) {
            waiting.insert(primary.clone());
        }
        synced
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROUTE: Claimant = Claimant { workflow: 1, node: 0 };
    const SECOND_ROUTE: Claimant = Claimant { workflow: 1, node: 1 };

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("shop", name)
    }

    #[test]
    fn it_is_needed_while_any_primary_says_so() {
        let mut claims = Claims::default();
        claims.release(&key("a"), ROUTE);
        assert!(!claims.is_needed());
        claims.claim(&key("a"), Some(ROUTE));
        claims.release(&key("b"), ROUTE);
        assert!(claims.is_needed(), "the opposite answer of another primary changes nothing");
        assert!(claims.concerns(&key("a")) && !claims.concerns(&key("b")));
        claims.claim(&key("b"), Some(ROUTE));
        claims.release(&key("a"), ROUTE);
        assert!(claims.is_needed());
        claims.release(&key("b"), ROUTE);
        assert!(!claims.is_needed());
    }

    #[test]
    fn it_is_needed_while_any_node_of_a_primary_is_active() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        claims.claim(&key("a"), Some(ROUTE));
        claims.claim(&key("a"), Some(SECOND_ROUTE));
        claims.release(&key("a"), ROUTE);
        assert!(claims.is_needed());
        claims.release(&key("a"), SECOND_ROUTE);
        assert!(!claims.is_needed());
    }

    #[test]
    fn a_primary_that_is_gone_counts_no_more() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        claims.claim(&key("a"), Some(SECOND_ROUTE));
        let start = claims.started();
        assert!(!claims.is_synced_or_waits(&key("a")));
        claims.gone(&key("a"));
        assert!(!claims.is_needed());
        assert!(claims.synced(start).is_empty(), "nobody waits any more");
    }

    #[test]
    fn one_that_the_controller_claims_concerns_all_and_is_needed_without_them() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), None);
        let start = claims.started();
        assert!(!claims.wakes(&key("a")), "not before everything has been seen");
        claims.gone(&key("b"));
        assert_eq!(claims.synced(start), [key("a")].into());
        assert!(claims.wakes(&key("b")) && claims.is_needed());
    }

    #[test]
    fn those_that_wait_are_told_once() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        let start = claims.started();
        assert!(!claims.is_synced_or_waits(&key("a")));
        assert!(!claims.is_synced_or_waits(&key("b")));
        assert_eq!(claims.synced(start), [key("a"), key("b")].into());
        assert!(claims.synced(start).is_empty());
        assert!(claims.is_synced_or_waits(&key("c")));
    }

    #[test]
    fn primaries_of_a_namespace_that_has_been_seen_do_not_wait_for_the_others() {
        let mut claims = Claims::default();
        let other = ObjectKey::namespaced("bank", "c");
        for primary in [key("a"), other.clone()] {
            claims.claim(&primary, Some(ROUTE));
        }
        let start = claims.started();
        assert!(!claims.is_synced_or_waits(&key("a")) && !claims.is_synced_or_waits(&other));
        assert_eq!(claims.synced_in(start, "shop"), [key("a")].into());
        assert!(claims.is_synced_or_waits(&key("a")) && claims.wakes(&key("a")));
        assert!(!claims.is_synced_for(&other) && !claims.wakes(&other));
        assert_eq!(claims.synced(start), [other.clone()].into(), "the first one isn't told again");
        assert!(claims.wakes(&other));
    }

    #[test]
    fn what_is_listed_at_first_wakes_once_everything_has_been_seen() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        let start = claims.started();
        assert!(!claims.wakes(&key("a")) && !claims.wakes(&key("b")));
        assert_eq!(claims.synced(start), [key("a")].into(), "b has nothing to do with it");
        assert!(claims.wakes(&key("a")) && !claims.wakes(&key("b")));
    }

    #[test]
    fn a_former_start_says_nothing_about_the_present_one() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        let former = claims.started();
        claims.stopped();
        assert!(claims.synced(former).is_empty() && !claims.is_synced_for(&key("a")));
        let present = claims.started();
        assert!(!claims.is_synced_or_waits(&key("a")));
        assert!(claims.synced(former).is_empty() && !claims.is_synced_for(&key("a")));
        assert!(claims.synced_in(former, "shop").is_empty() && !claims.is_synced_for(&key("a")));
        assert_eq!(claims.synced(present), [key("a")].into());
    }

    #[test]
    fn the_first_list_does_not_wake_a_primary_whose_run_waits_for_it() {
        let mut claims = Claims::default();
        for primary in ["a", "b"] {
            claims.claim(&key(primary), Some(ROUTE));
        }
        let start = claims.started();
        assert!(!claims.is_synced_or_attends(&key("a")));
        assert!(!claims.wakes(&key("a")) && !claims.wakes(&key("b")));
        assert_eq!(claims.synced(start), [key("b")].into(), "the run of a goes on by itself");
        assert!(claims.wakes(&key("a")) && claims.is_synced_or_attends(&key("a")));
    }

    #[test]
    fn a_primary_whose_run_no_longer_waits_is_told() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        let start = claims.started();
        assert!(!claims.is_synced_or_attends(&key("a")));
        assert!(!claims.is_synced_or_waits(&key("a")), "its patience is over");
        assert!(!claims.wakes(&key("a")));
        assert_eq!(claims.synced(start), [key("a")].into());
    }

    #[test]
    fn a_run_that_waits_is_not_told_of_another_scope_and_is_forgotten_with_its_primary() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        let first = claims.started();
        assert!(!claims.is_synced_or_attends(&key("a")));
        let second = claims.rescoped(|_| BTreeSet::new());
        assert!(claims.synced(first).is_empty() && !claims.wakes(&key("a")));
        assert!(claims.synced(second).is_empty(), "it still waits itself");

        let third = claims.started();
        assert!(!claims.is_synced_or_attends(&key("a")));
        claims.gone(&key("a"));
        claims.claim(&key("a"), Some(ROUTE));
        assert!(!claims.wakes(&key("a")));
        assert_eq!(claims.synced(third), [key("a")].into(), "the new one has no run that waits");
        let fourth = claims.started();
        assert!(!claims.is_synced_or_attends(&key("a")));
        claims.release(&key("a"), ROUTE);
        claims.claim(&key("a"), Some(ROUTE));
        assert!(!claims.wakes(&key("a")));
        assert_eq!(claims.synced(fourth), [key("a")].into(), "nor has one that was released");
    }

    #[test]
    fn a_run_that_waits_for_its_namespace_goes_on_when_that_has_been_seen() {
        let mut claims = Claims::default();
        claims.claim(&key("a"), Some(ROUTE));
        let start = claims.started();
        assert!(!claims.is_synced_or_attends(&key("a")) && !claims.wakes(&key("a")));
        assert!(claims.synced_in(start, "shop").is_empty());
        assert!(
            claims.is_synced_or_attends(&key("a")) && claims.wakes(&key("a")),
            "changes count from now on"
        );
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// Whatever happens in which order: told are those that wait and whose runs don't wait themselves, and each only once.
        #[test]
        fn those_are_told_that_do_not_wait_themselves(steps in proptest::collection::vec((0..3_u8, 0..7_u8), 0..60)) {
            let (mut claims, mut start, mut is_synced) = (Claims::default(), None, false);
            let [mut claimed, mut waiting, mut attending] = [(); 3].map(|()| BTreeSet::new());
            for (primary, step) in steps {
                let name = key(&primary.to_string());
                let waits = start.is_some() && !is_synced;
                match step {
                    0 => { claims.claim(&name, Some(ROUTE)); claimed.insert(name); }
                    1 => {
                        claims.gone(&name);
                        for all in [&mut claimed, &mut waiting, &mut attending] { all.remove(&name); }
                    }
                    2 => {
                        prop_assert_eq!(claims.is_synced_or_attends(&name), is_synced);
                        if waits { attending.insert(name); }
                    }
                    3 => {
                        prop_assert_eq!(claims.is_synced_or_waits(&name), is_synced);
                        if waits { waiting.insert(name); }
                    }
                    4 => {
                        prop_assert_eq!(claims.wakes(&name), claimed.contains(&name) && is_synced);
                        if waits && claimed.contains(&name) && !attending.contains(&name) { waiting.insert(name); }
                    }
                    5 => if let Some(start) = start {
                        prop_assert_eq!(claims.synced(start), std::mem::take(&mut waiting));
                        is_synced = true;
                    },
                    _ => {
                        (start, is_synced) = (Some(claims.started()), false);
                        waiting.clear();
                        attending.clear();
                    }
                }
            }
        }

        /// Whatever happens in which order, it is needed exactly while a last answer of a present primary is "active".
        #[test]
        fn the_last_answers_decide(steps in proptest::collection::vec((0..3_u8, 0..3_usize, 0..3_u8), 0..60)) {
            let mut claims = Claims::default();
            let mut oracle = BTreeMap::new();
            for (primary, node, step) in steps {
                let name = key(&primary.to_string());
                let claimant = Claimant { workflow: 0, node };
                match step {
                    0 => { claims.claim(&name, Some(claimant)); oracle.insert((primary, node), true); }
                    1 => { claims.release(&name, claimant); oracle.insert((primary, node), false); }
                    _ => { claims.gone(&name); oracle.retain(|(of, _), _| *of != primary); }
                }
                prop_assert_eq!(claims.is_needed(), oracle.values().any(|active| *active));
                let concerned = oracle.iter().any(|((of, _), active)| *of == primary && *active);
                prop_assert_eq!(claims.concerns(&name), concerned);
            }
        }
    }
}
