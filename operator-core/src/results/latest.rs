//! The latest states of the nodes of a controller's workflow, by primary.

use std::{collections::BTreeMap, mem::discriminant, sync::Arc};

use jiff::Timestamp;
use parking_lot::Mutex;

use super::{NodeState, WorkflowResult};
use crate::{event_source::PrimaryFollower, resource::ObjectKey};

/// The state of a node in the last run, and since when it has had that state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStatus {
    /// The node's name.
    pub name: Arc<str>,
    /// Its state, with the reason of the last run.
    pub state: NodeState,
    /// When it entered this state; a new reason for the same state, or another operation on a node that is ready,
    /// doesn't count.
    pub since: Timestamp,
}

/// The latest results of all primaries of one controller; each is removed with its primary.
#[derive(Debug, Default)]
pub(crate) struct LatestResults(Mutex<BTreeMap<ObjectKey, Vec<NodeStatus>>>);

impl LatestResults {
    /// Takes a result, which may be of some nodes only; `order` is that of the declarations. `exists` is called to
    /// check that the primary still exists: an entry that is added later would never be removed.
    pub(crate) fn note(
        &self,
        primary: &ObjectKey,
        result: &WorkflowResult,
        now: Timestamp,
        order: impl FnOnce() -> Vec<Arc<str>>,
        exists: impl FnOnce() -> bool,
    ) {
        let mut all = self.0.lock();
        if !exists() {
            return;
        }
        let before = all.remove(primary).unwrap_or_default();
        let latest = result.nodes().iter().enumerate().map(|(position, node)| {
            // Results are in the order of the declarations, so a node's place stays the same, unless only a part was run.
            let at_place = before.get(position).filter(|before| before.name == node.name);
            let known = at_place.or_else(|| before.iter().find(|before| before.name == node.name));
            let same = known.filter(|before| discriminant(&before.state) == discriminant(&node.state));
            let since = same.map_or(now, |same| same.since);
            NodeStatus { name: Arc::clone(&node.name), state: node.state.clone(), since }
        });
        let mut latest: Vec<_> = latest.collect();
        // Those that took no part in this run of the primary are as they were.
        let is_whole = before.len() <= latest.len()
            && before.iter().zip(&latest).all(|(before, now)| before.name == now.name);
        if !is_whole {
            let (order, others) = (order(), before.into_iter());
            let others = others.filter(|before| result.node(&before.name).is_none());
            let place = |node: &NodeStatus| order.iter().position(|name| *name == node.name);
            latest.extend(others.filter(|other| place(other).is_some()));
            // What isn't declared stands at the end.
            latest.sort_by_key(|node| place(node).unwrap_or(usize::MAX));
        }
        all.insert(primary.clone(), latest);
    }

    /// The number of primaries that don't exist and have results.
    pub(crate) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.0.lock().keys().filter(|primary| !exists(primary)).count()
    }

    /// The nodes of a primary, in the order of their declarations.
    pub(crate) fn of(&self, primary: &ObjectKey) -> Vec<NodeStatus> {
        self.0.lock().get(primary).cloned().unwrap_or_default()
    }
}

/// Removes the results of a primary that is gone.
impl PrimaryFollower for LatestResults {
    fn primary_gone(&self, primary: &ObjectKey) {
        self.0.lock().remove(primary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{NodeResult, Operation};

    fn result(state: NodeState) -> WorkflowResult {
        WorkflowResult::new(vec![NodeResult {
            name: Arc::from("web"),
            state,
            reconciled: None,
            conditions: BTreeMap::new(),
            error: None,
            unwanted: None,
        }])
    }

    #[test]
    fn a_state_keeps_its_time_and_goes_with_its_primary() {
        let (latest, key) = (LatestResults::default(), ObjectKey::namespaced("shop", "one"));
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let note = |state: NodeState, second: i64| {
            latest.note(&key, &result(state), at(second), Vec::new, || true);
            latest.of(&key)[0].since
        };
        let waiting = |reason: &str| NodeState::Waiting { reason: reason.to_owned() };
        assert_eq!(note(waiting("a"), 1), at(1));
        assert_eq!(note(waiting("b"), 2), at(1), "another reason, but still waiting");
        assert_eq!(latest.of(&key)[0].state, waiting("b"));
        assert_eq!(note(NodeState::Ready(Operation::Created), 3), at(3));
        assert_eq!(note(NodeState::Ready(Operation::Matched), 4), at(3));
        latest.primary_gone(&key);
        assert!(latest.of(&key).is_empty());
        latest.note(&key, &result(waiting("a")), at(5), Vec::new, || false);
        assert!(latest.of(&key).is_empty(), "a run that outlives its primary leaves nothing");
    }
}
