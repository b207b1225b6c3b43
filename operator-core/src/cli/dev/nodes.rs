//! The states of workflows' nodes, as far as `dev` tells them.

use std::collections::BTreeMap;

use crate::{cli::output::Mark, resource::ObjectKey};

/// What was said last about the nodes of each primary.
#[derive(Debug, Default)]
pub(super) struct Nodes(BTreeMap<(String, ObjectKey), BTreeMap<String, Said>>);

/// State and reason.
type Said = (&'static str, String);

impl Nodes {
    /// The line about a node that has come to this state, if there is something to tell: a node that is as it was, or was
    /// ready from the start, is not told, since its writes are; neither is a failure, which is the run's error.
    pub(super) fn change(
        &mut self,
        controller: &str,
        key: &ObjectKey,
        node: &str,
        (state, reason): (&str, &str),
    ) -> Option<(Mark, String)> {
        let (mark, word) = match state {
            "not ready" => (Mark::Waiting, "not ready"),
            "waiting" => (Mark::Waiting, "waiting"),
            "held" => (Mark::Waiting, "held"),
            "inactive" => (Mark::Waiting, "inactive"),
            "deleting" => (Mark::Waiting, "deleting"),
            "deleted" => (Mark::Deleted, "gone"),
            "failed" => (Mark::Error, "failed"),
            "left" => return None,
            // Whatever was done: it is as it should be now.
            _ => (Mark::Ready, "ready"),
        };
        let said = (word, reason.to_owned());
        let nodes = self.0.entry((controller.to_owned(), key.clone())).or_default();
        let before = nodes.insert(node.to_owned(), said.clone());
        let is_news = match &before {
            Some(before) => *before != said,
            None => !matches!(word, "ready" | "gone"),
        };
        let colon = if reason.is_empty() { "" } else { ": " };
        (is_news && word != "failed").then(|| (mark, format!("{node:<28} {word}{colon}{reason}")))
    }

    /// Forgets a primary.
    pub(super) fn forget(&mut self, controller: &str, key: &ObjectKey) {
        self.0.remove(&(controller.to_owned(), key.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_told() {
        let (mut nodes, key) = (Nodes::default(), ObjectKey::namespaced("shop", "web"));
        let mut tell = |node: &str, state, reason| {
            nodes.change("maps", &key, node, (state, reason)).map(|(_, line)| line.replace("  ", ""))
        };
        assert_eq!(tell("Map", "created", ""), None, "the write has been told");
        assert_eq!(tell("Ingress", "deleted", ""), None, "it was never there");
        let not_ready = tell("Web", "not ready", "1/3 replicas");
        assert!(not_ready.is_some_and(|line| line.ends_with("not ready: 1/3 replicas")));
        assert_eq!(tell("Web", "not ready", "1/3 replicas"), None);
        assert!(tell("Web", "not ready", "2/3 replicas").is_some());
        assert!(tell("Web", "matched", "").is_some_and(|line| line.ends_with("ready")));
        assert_eq!(tell("Web", "updated", ""), None);
        assert_eq!(tell("Web", "failed", "no disk"), None, "the run's error says so");
    }
}
