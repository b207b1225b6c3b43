//! A description of a workflow that needs no run.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use super::{
    Graph, NodeId,
    declare::ending::{self, Ending},
    mermaid,
};

/// A workflow as it is declared: its nodes, their dependencies, and their conditions. Returned by
/// [`Controller::outlines`](crate::controller::Controller::outlines). Displayed as text with one line for each node,
/// below the node on which it depends:
///
/// ```text
/// html
///   web [ready when rolled_out]
/// service
///   ingress [only if exposed]
/// depth 2; deleted by the garbage collector, in any order
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(super) graph: Graph,
    /// The conditions as text, in the order of the graph's nodes.
    pub(super) conditions: Vec<Vec<String>>,
    /// How the nodes end when their primary is deleted, in the same order.
    pub(super) endings: Vec<Ending>,
}

impl Outline {
    /// The nodes and their dependencies.
    #[cfg(test)]
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The conditions of a node as text, as in `only if exposed`.
    #[must_use]
    pub(crate) fn conditions(&self, node: NodeId) -> &[String] {
        self.conditions.get(node.index()).map_or(&[], Vec::as_slice)
    }

    /// The workflow as a [Mermaid](https://mermaid.js.org) flowchart.
    #[must_use]
    pub(crate) fn mermaid(&self) -> String {
        let labels = self.graph.nodes().filter_map(|node| {
            let conditions = self.conditions(node);
            let label = mermaid::Label { state: conditions.join("\n"), class: None };
            (!conditions.is_empty()).then_some((node, label))
        });
        mermaid::flowchart(&self.graph, &labels.collect::<BTreeMap<_, _>>())
    }

    /// The dependency below which a node is shown: the one with the longest path to it.
    fn shown_below(&self, node: NodeId) -> Option<NodeId> {
        self.graph.dependencies_of(node).max_by_key(|dependency| self.graph.depth_of(*dependency))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, node: NodeId) -> fmt::Result {
        let indent = self.graph.depth_of(node) * 2;
        write!(f, "{:indent$}{}", "", self.graph.name(node))?;
        for condition in self.conditions(node) {
            write!(f, " [{condition}]")?;
        }
        let above = self.shown_below(node);
        let others = self.graph.dependencies_of(node).filter(|other| Some(*other) != above);
        let others: Vec<&str> = others.map(|other| self.graph.name(other)).collect();
        if !others.is_empty() {
            write!(f, " (also after {})", others.join(", "))?;
        }
        f.write_char('\n')?;
        for below in self.graph.dependents_of(node).filter(|below| self.shown_below(*below) == Some(node)) {
            self.write(f, below)?;
        }
        Ok(())
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for root in self.graph.nodes().filter(|node| self.graph.depth_of(*node) == 0) {
            self.write(f, root)?;
        }
        write!(f, "depth {}; {}", self.graph.depth() + 1, ending::words(&self.graph, &self.endings))
    }
}

/// A type's name as its user writes it: without paths, in its parameters, too.
pub(super) fn short_name(name: &str) -> String {
    let mut short = String::new();
    // A path is the text between characters that can't be part of a path.
    for piece in name.split_inclusive(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':' | '{' | '}')) {
        short.push_str(piece.rsplit("::").next().unwrap_or(piece));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_shown_once_below_the_last_of_what_it_waits_for() {
        let declared =
            [("web", vec!["html", "schema"]), ("html", vec!["base"]), ("schema", vec![]), ("base", vec![])];
        let graph = Graph::new(declared).expect("no circle");
        let conditions = vec![vec!["only if exposed".to_owned()], vec![], vec![], vec![]];
        let outline = Outline { graph, conditions, endings: vec![Ending::Deleted { awaited: false }; 4] };
        let text = outline.to_string();
        assert_eq!(
            text,
            "schema\nbase\n  html\n    web [only if exposed] (also after schema)\ndepth 3; deleted in reverse"
        );
        assert!(outline.mermaid().contains(r#"n0["web<br/>only if exposed"]"#), "{}", outline.mermaid());
    }

    #[test]
    fn names_are_those_that_users_write() {
        assert_eq!(short_name("core::option::Option<alloc::vec::Vec<a::B>, c::D>"), "Option<Vec<B>, D>");
        assert_eq!(short_name("webpage::dependents::Exposed"), "Exposed");
    }
}
