//! How each node ends when its primary is deleted. Decided once, when the workflow is built.

use crate::dependent::Capabilities;
use crate::workflow::{Graph, NodeId};

/// How a node is removed when its primary is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The workflow deletes it, before the primary is deleted. `awaited`: the workflow also deletes one of its
    /// dependencies, so before that it has to be gone, and not only marked for deletion.
    Deleted { awaited: bool },
    /// The garbage collector deletes it, after the primary.
    Collected,
    /// It isn't deleted.
    Left,
}

impl Ending {
    /// Whether the workflow deletes the node, which needs a finalizer.
    pub(crate) const fn is_deleted(self) -> bool {
        matches!(self, Self::Deleted { .. })
    }
}

/// The settings for the deletion of a node.
#[derive(Clone, Copy, Debug)]
pub(in crate::workflow) struct Deleting {
    /// The capabilities of its dependent.
    pub(in crate::workflow) by: Capabilities,
    pub(in crate::workflow) says_gone: bool,
    /// It has to be gone before its dependencies, and its primary, are deleted.
    pub(in crate::workflow) first: bool,
}

/// The endings of all nodes. `of` returns the settings for the deletion of a node.
///
/// A node that the garbage collector would delete is deleted before its primary if something waits for its end: its
/// own condition `gone`, or a dependency that is deleted before the primary.
pub(in crate::workflow) fn endings(graph: &Graph, of: impl Fn(NodeId) -> Deleting) -> Vec<Ending> {
    let mut endings = vec![Ending::Left; graph.len()];
    // Whether the workflow deletes a dependency of a node, direct or indirect.
    let mut has_below = vec![false; graph.len()];
    for node in graph.in_order() {
        let Deleting { by: capabilities, says_gone, first } = of(node);
        let below = |below: NodeId| has_below[below.index()] || endings[below.index()].is_deleted();
        let awaited = graph.dependencies_of(node).any(below);
        has_below[node.index()] = awaited;
        let collected = capabilities.garbage_collected;
        let is_deleted = capabilities.deletes && (!collected || says_gone || first || awaited);
        endings[node.index()] = if is_deleted {
            Ending::Deleted { awaited: awaited || first }
        } else if collected {
            Ending::Collected
        } else {
            Ending::Left
        };
    }
    endings
}

/// The endings as text, as in `deleted in reverse: Web, Database; by the garbage collector, in any order: Html`.
pub(in crate::workflow) fn words(graph: &Graph, endings: &[Ending]) -> String {
    let mut parts = Vec::new();
    let mut part = |of: fn(Ending) -> bool, all: &str, some: &str| {
        let nodes: Vec<&str> = graph
            .in_order()
            .rev()
            .filter(|node| of(endings[node.index()]))
            .map(|node| graph.name(node))
            .collect();
        if nodes.len() == graph.len() {
            parts.push(all.to_owned());
        } else if !nodes.is_empty() {
            parts.push(format!("{some}: {}", nodes.join(", ")));
        }
    };
    if graph.is_empty() {
        return "nothing is deleted".to_owned();
    }
    part(Ending::is_deleted, "deleted in reverse", "deleted in reverse");
    part(
        |ending| ending == Ending::Collected,
        "deleted by the garbage collector, in any order",
        "by the garbage collector, in any order",
    );
    part(|ending| ending == Ending::Left, "nothing is deleted", "left as it is");
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLLECTED: (Capabilities, bool) = (Capabilities::CRUD, false);
    const DELETED: (Capabilities, bool) =
        (Capabilities { garbage_collected: false, ..Capabilities::CRUD }, false);
    const READ: (Capabilities, bool) = (Capabilities::READ_ONLY, false);

    /// The endings of a chain, from the node that depends on nothing to the one at its far end, and the text about them.
    fn chain(nodes: &[(Capabilities, bool)]) -> (Vec<Ending>, String) {
        let names = ["a", "b", "c", "d"];
        let declared = (0..nodes.len()).map(|at| (names[at], at.checked_sub(1).map(|below| names[below])));
        let graph = Graph::new(declared).unwrap();
        let endings = endings(&graph, |node| {
            let (by, says_gone) = nodes[node.index()];
            Deleting { by, says_gone, first: false }
        });
        let words = words(&graph, &endings);
        (endings, words)
    }

    #[test]
    fn what_is_collected_is_deleted_where_something_waits_for_its_end() {
        let (collected, last) = (Ending::Collected, Ending::Deleted { awaited: false });
        let awaited = Ending::Deleted { awaited: true };
        let awaiting = (Capabilities::CRUD, true);
        let cases = [
            (vec![COLLECTED, COLLECTED], vec![collected, collected]),
            (vec![DELETED, COLLECTED, COLLECTED], vec![last, awaited, awaited]),
            (vec![COLLECTED, DELETED], vec![collected, last]),
            (vec![DELETED, DELETED], vec![last, awaited]),
            (vec![COLLECTED, awaiting, COLLECTED], vec![collected, last, awaited]),
            (vec![DELETED, READ, COLLECTED], vec![last, Ending::Left, awaited]),
            (vec![(Capabilities::READ_ONLY, true), COLLECTED], vec![Ending::Left, collected]),
        ];
        for (nodes, expected) in cases {
            assert_eq!(chain(&nodes).0, expected, "{nodes:?}");
        }
    }

    #[test]
    fn what_is_deleted_first_is_awaited_and_what_depends_on_it_too() {
        let graph = Graph::new([("a", vec![]), ("b", vec!["a"]), ("c", vec!["b"])]).unwrap();
        let ends = endings(&graph, |node| Deleting {
            by: Capabilities::CRUD,
            says_gone: false,
            first: node.index() == 1,
        });
        let awaited = Ending::Deleted { awaited: true };
        assert_eq!(ends, [Ending::Collected, awaited, awaited]);
    }

    #[test]
    fn the_words_say_which_part_is_ordered() {
        let cases = [
            (vec![], "nothing is deleted"),
            (vec![READ], "nothing is deleted"),
            (vec![DELETED, COLLECTED], "deleted in reverse"),
            (vec![COLLECTED, COLLECTED], "deleted by the garbage collector, in any order"),
            (
                vec![READ, COLLECTED, DELETED, COLLECTED],
                "deleted in reverse: d, c; by the garbage collector, in any order: b; left as it is: a",
            ),
        ];
        for (nodes, expected) in cases {
            assert_eq!(chain(&nodes).1, expected, "{nodes:?}");
        }
    }
}
