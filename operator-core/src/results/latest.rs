//! The latest states of the nodes of a controller's workflow.

use std::{mem::discriminant, sync::Arc};

use jiff::Timestamp;

use super::{NodeState, WorkflowResult};

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

/// The latest results of a primary, in the order of the nodes' declarations.
#[derive(Debug, Default)]
pub(crate) struct LatestResults(Vec<NodeStatus>);

impl LatestResults {
    /// Takes a result, which may have some nodes only; `order` is that of the declarations.
    pub(crate) fn note(
        &mut self,
        result: &WorkflowResult,
        now: Timestamp,
        order: impl FnOnce() -> Vec<Arc<str>>,
    ) {
        let before = std::mem::take(&mut self.0);
        let latest = result.nodes().iter().enumerate().map(|(position, node)| {
            // Results are in the order of the declarations, so a node's place stays the same, unless only a part was run.
            let at_place = before.get(position).filter(|before| before.name == node.name);
            let known = at_place.or_else(|| before.iter().find(|before| before.name == node.name));
            let same = known.filter(|before| discriminant(&before.state) == discriminant(&node.state));
            let since = same.map_or(now, |same| same.since);
            NodeStatus { name: Arc::clone(&node.name), state: node.state.clone(), since }
        });
        let mut latest: Vec<_> = latest.collect();
        // Nodes that took no part in this run of the primary don't change.
        let is_whole = before.len() <= latest.len()
            && before.iter().zip(&latest).all(|(before, now)| before.name == now.name);
        if !is_whole {
            let (order, others) = (order(), before.into_iter());
            let others = others.filter(|before| result.node(&before.name).is_none());
            let place = |node: &NodeStatus| order.iter().position(|name| *name == node.name);
            latest.extend(others.filter(|other| place(other).is_some()));
            // Entries that aren't declared come last.
            latest.sort_by_key(|node| place(node).unwrap_or(usize::MAX));
        }
        self.0 = latest;
    }

    pub(crate) fn nodes(&self) -> Vec<NodeStatus> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
            kept: None,
        }])
    }

    #[test]
    fn a_state_keeps_its_time() {
        let mut latest = LatestResults::default();
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let mut note = |state: NodeState, second: i64| {
            latest.note(&result(state), at(second), Vec::new);
            let node = latest.nodes().remove(0);
            (node.since, node.state)
        };
        let waiting = |reason: &str| NodeState::Waiting { reason: reason.to_owned() };
        assert_eq!(note(waiting("a"), 1).0, at(1));
        assert_eq!(note(waiting("b"), 2), (at(1), waiting("b")), "another reason, but still waiting");
        assert_eq!(note(NodeState::Ready(Operation::Created), 3).0, at(3));
        assert_eq!(note(NodeState::Ready(Operation::Matched), 4).0, at(3));
    }
}
