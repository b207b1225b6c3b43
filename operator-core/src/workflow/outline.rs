//! A description of a workflow that needs no run.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    ops::Range,
    sync::Arc,
};

use crate::results::NodeKey;

use super::{
    Graph, NodeId, Word,
    declare::{
        ending::{self, Ending},
        group::AnyGroup,
    },
    mermaid,
};

/// A workflow as it is declared: its nodes, their dependencies, and their conditions. Returned by
/// [`Controller::outlines`](crate::controller::Controller::outlines). Displayed as text with one line for each node,
/// below the node on which it depends:
///
/// ```text
/// html [optional]
///   web [requires html] [ready when rolled_out]
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
    /// Whether the objects of each node are created and never changed, in the same order.
    pub(super) frozen: Vec<bool>,
    /// Whether each node has objects of several kinds, in the same order.
    pub(super) mixed: Vec<bool>,
    pub(super) groups: Vec<OutlinedGroup>,
}

/// After what something starts, in words.
pub(super) fn starts(after: &[(NodeKey, Word)]) -> impl Iterator<Item = String> {
    let starts = after.iter().filter(|(_, word)| *word == Word::StartsAfter);
    starts.map(|(other, _)| format!("starts after {}", other.called_or_short()))
}

/// A group in an outline.
#[derive(Clone, Debug)]
pub(crate) struct OutlinedGroup {
    pub(super) name: Arc<str>,
    /// The positions of its nodes.
    pub(super) nodes: Range<usize>,
    words: Vec<String>,
}

impl OutlinedGroup {
    pub(super) fn of(group: &AnyGroup) -> Self {
        let order = (!group.in_order.is_empty()).then(|| "in order".to_owned());
        let words = starts(&group.after).chain(order).chain(group.words.iter().cloned()).collect();
        Self { name: Arc::clone(&group.name), nodes: group.nodes.clone(), words }
    }

    /// Whether the other one, which was declared before, is within this one.
    pub(super) fn contains(&self, other: &Self) -> bool {
        self.nodes.start <= other.nodes.start && other.nodes.end <= self.nodes.end
    }
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
        mermaid::flowchart(&self.graph, &labels.collect::<BTreeMap<_, _>>(), &self.groups)
    }

    /// What happens if the node of that name isn't wanted any more; `None` if there is no such node.
    #[cfg(feature = "cli")]
    pub(crate) fn removes(&self, name: &str) -> Option<String> {
        let node = self.graph.node(name)?;
        let mut goes = vec![node];
        for other in self.graph.in_order() {
            if self.graph.required_by(other).any(|required| goes.contains(&required)) {
                goes.push(other);
            }
        }
        let line = |node: NodeId| {
            let is_mixed = self.mixed.get(node.index()).is_some_and(|mixed| *mixed);
            let all =
                if is_mixed { " (all of its objects, with definitions, claims and namespaces)" } else { "" };
            format!("  {}{all}\n", self.graph.name(node))
        };
        let mut text = format!("if {name} isn't wanted, this is removed, one after the other:\n");
        text.extend(goes.iter().rev().map(|node| line(*node)));
        let stays = self.graph.transitive_dependents_of(node);
        let mut stays = stays.into_iter().filter(|other| !goes.contains(other)).peekable();
        if stays.peek().is_some() {
            text += "once this was brought about without it:\n";
        }
        for node in stays {
            let frozen = self.frozen.get(node.index()).is_some_and(|frozen| *frozen);
            let note = if frozen { " (is never changed, and may go on naming what is removed)" } else { "" };
            text += &format!("  {}{note}\n", self.graph.name(node));
        }
        Some(text)
    }

    /// The name that is most similar to that of a node.
    #[cfg(feature = "cli")]
    pub(crate) fn nearest(&self, name: &str) -> Option<String> {
        self.graph.nearest(name)
    }

    /// The dependency below which a node is shown: the one with the longest path to it.
    fn shown_below(&self, node: NodeId) -> Option<NodeId> {
        self.graph.dependencies_of(node).max_by_key(|dependency| self.graph.depth_of(*dependency))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, node: NodeId) -> fmt::Result {
        let indent = self.graph.depth_of(node) * 2;
        write!(f, "{:indent$}{}", "", self.graph.name(node))?;
        let required: Vec<&str> = self.graph.required_by(node).map(|other| self.graph.name(other)).collect();
        if !required.is_empty() {
            write!(f, " [requires {}]", required.join(", "))?;
        }
        for condition in self.conditions(node) {
            write!(f, " [{condition}]")?;
        }
        let above = self.shown_below(node);
        let others = self.graph.edges_to(node).filter(|(_, words)| words.is_order());
        let others = others.map(|(other, _)| (other, self.graph.name(other)));
        let others = others.filter(|(other, name)| Some(*other) != above && !required.contains(name));
        let others: Vec<&str> = others.map(|(_, name)| name).collect();
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
        for group in &self.groups {
            let nodes: Vec<&str> =
                group.nodes.clone().map(|node| self.graph.name(NodeId::of(node))).collect();
            write!(f, "group {}: {}", group.name, nodes.join(", "))?;
            group.words.iter().try_for_each(|word| write!(f, " [{word}]"))?;
            f.write_char('\n')?;
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

    fn outline() -> Outline {
        let declared = [
            ("web", vec![("html", Word::After), ("schema", Word::After)]),
            ("html", vec![("base", Word::Requires)]),
            ("schema", vec![]),
            ("base", vec![]),
        ];
        let graph = Graph::of_words(declared).expect("no circle");
        let conditions = vec![vec!["only if exposed".to_owned()], vec![], vec![], vec![]];
        let frozen = vec![true, false, false, false];
        Outline {
            graph,
            conditions,
            endings: vec![Ending::Deleted { awaited: false }; 4],
            frozen,
            mixed: vec![false, true, false, false],
            groups: Vec::new(),
        }
    }

    #[test]
    #[cfg(feature = "cli")]
    fn what_else_goes_and_what_stays_is_told() {
        let base = outline().removes("base").expect("it is a node");
        let expected = "if base isn't wanted, this is removed, one after the other:\n  html (all of its objects, with definitions, claims and namespaces)\n  base\n\
            once this was brought about without it:\n  web (is never changed, and may go on naming what is removed)\n";
        assert_eq!(base, expected);
        let web = outline().removes("web").expect("it is a node");
        assert_eq!(web, "if web isn't wanted, this is removed, one after the other:\n  web\n");
        assert_eq!((outline().removes("wab"), outline().nearest("wab").as_deref()), (None, Some("web")));
    }

    #[test]
    fn a_node_is_shown_once_below_the_last_of_what_it_waits_for() {
        let outline = outline();
        let text = outline.to_string();
        assert_eq!(
            text,
            "schema\nbase\n  html [requires base]\n    web [only if exposed] (also after schema)\ndepth 3; deleted in reverse"
        );
        assert!(outline.mermaid().contains(r#"n0["web<br/>only if exposed"]"#), "{}", outline.mermaid());
    }

    #[test]
    fn names_are_those_that_users_write() {
        assert_eq!(short_name("core::option::Option<alloc::vec::Vec<a::B>, c::D>"), "Option<Vec<B>, D>");
        assert_eq!(short_name("webpage::dependents::Exposed"), "Exposed");
    }
}
