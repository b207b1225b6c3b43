//! The states of workflows' nodes, as far as `dev` prints them.

use std::collections::BTreeMap;

use crate::{cli::output::Mark, resource::ObjectKey, workflow::NodeState};

/// The word and the reason that were printed last, by the node's name.
type Printed = BTreeMap<String, (&'static str, String)>;

/// What was printed last about the nodes of each primary.
#[derive(Debug, Default)]
pub(super) struct Nodes(BTreeMap<(String, ObjectKey), Printed>);

impl Nodes {
    /// The line about a node that has reached this state, if there is something to report: a node that is unchanged, or
    /// was ready from the start, is not printed, because its writes are; neither is a failure, which is the run's
    /// error.
    pub(super) fn change(
        &mut self,
        controller: &str,
        key: &ObjectKey,
        node: &str,
        state: &NodeState,
    ) -> Option<(Mark, String)> {
        let (mark, word) = match state {
            // Whatever was done: it is as it should be now.
            NodeState::Ready(_) => (Mark::Ready, "ready"),
            NodeState::Deleted => (Mark::Deleted, "gone"),
            NodeState::Failed { .. } => (Mark::Error, state.as_str()),
            NodeState::Left { .. } => return None,
            NodeState::NotReady { .. }
            | NodeState::Waiting { .. }
            | NodeState::Pending { .. }
            | NodeState::Blocked { .. }
            | NodeState::Starting { .. }
            | NodeState::Held { .. }
            | NodeState::Inactive { .. }
            | NodeState::Deleting { .. } => (Mark::Waiting, state.as_str()),
        };
        let reason = match state {
            // By itself, the reason doesn't say which node has to come first.
            NodeState::Blocked { by, reason } => format!("{by} {reason}"),
            other => other.reason().to_owned(),
        };
        let colon = if reason.is_empty() { "" } else { ": " };
        let line = format!("{node:<28} {word}{colon}{reason}");
        let said = (word, reason);
        let nodes = self.0.entry((controller.to_owned(), key.clone())).or_default();
        let is_news = match nodes.insert(node.to_owned(), said.clone()) {
            Some(before) => before != said,
            None => !matches!(state, NodeState::Ready(_) | NodeState::Deleted),
        };
        (is_news && !matches!(state, NodeState::Failed { .. })).then_some((mark, line))
    }

    /// Forgets a primary.
    pub(super) fn forget(&mut self, controller: &str, key: &ObjectKey) {
        self.0.remove(&(controller.to_owned(), key.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::Operation;

    #[test]
    fn only_changes_are_told() {
        let (mut nodes, key) = (Nodes::default(), ObjectKey::namespaced("shop", "web"));
        let mut tell = |node: &str, state| {
            nodes.change("maps", &key, node, &state).map(|(_, line)| line.replace("  ", ""))
        };
        let ready = NodeState::Ready;
        let not_ready =
            |reason: &str| NodeState::NotReady { operation: Operation::Updated, reason: reason.to_owned() };
        assert_eq!(tell("Map", ready(Operation::Created)), None, "the write has been told");
        assert_eq!(tell("Ingress", NodeState::Deleted), None, "it was never there");
        let told = tell("Web", not_ready("1/3 replicas"));
        assert!(told.is_some_and(|line| line.ends_with("not ready: 1/3 replicas")));
        assert_eq!(tell("Web", not_ready("1/3 replicas")), None);
        assert!(tell("Web", not_ready("2/3 replicas")).is_some());
        assert!(tell("Web", ready(Operation::Matched)).is_some_and(|line| line.ends_with("ready")));
        assert_eq!(tell("Web", ready(Operation::Updated)), None);
        let failed = NodeState::Failed { error: "no disk".to_owned() };
        assert_eq!(tell("Web", failed), None, "the run's error says so");
        let blocked = NodeState::Blocked { by: "Web".into(), reason: "to succeed".to_owned() };
        let told = tell("Ingress", blocked);
        assert!(told.is_some_and(|line| line.ends_with("waiting: Web to succeed")));
    }
}
