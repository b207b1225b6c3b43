//! A workflow as a diagram: text that [Mermaid](https://mermaid.js.org) draws, as many wikis and code hosts do.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt::Write};

use super::{Graph, NodeId, OutlinedGroup, Word};
use crate::results::NodeState;

/// The content of a diagram for one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// A text below the node's name; may have several lines.
    pub state: String,
    /// The colour of the node; without one Mermaid's default.
    pub class: Option<Class>,
}

/// The colours of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    /// As it should be.
    Ready,
    /// Nothing is wrong, but it isn't there yet.
    Waiting,
    /// It has failed.
    Failed,
    /// Not there, on purpose.
    Absent,
}

impl Class {
    /// Each with its name and its style. The text's colour is set as well: the diagram may be shown on a dark background.
    const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Ready, "ready", "fill:#d3f9d8,stroke:#2b8a3e,color:#000"),
        (Self::Waiting, "waiting", "fill:#fff3bf,stroke:#e67700,color:#000"),
        (Self::Failed, "failed", "fill:#ffe3e3,stroke:#c92a2a,color:#000"),
        (Self::Absent, "absent", "fill:#f1f3f5,stroke:#868e96,color:#495057,stroke-dasharray:4"),
    ];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl From<&NodeState> for Class {
    fn from(state: &NodeState) -> Self {
        match state {
            NodeState::Ready(_) => Self::Ready,
            NodeState::Failed { .. } => Self::Failed,
            NodeState::Inactive { .. } | NodeState::Deleted | NodeState::Left { .. } => Self::Absent,
            NodeState::NotReady { .. }
            | NodeState::Waiting { .. }
            | NodeState::Pending { .. }
            | NodeState::Blocked { .. }
            | NodeState::Starting { .. }
            | NodeState::Held { .. }
            | NodeState::Deleting { .. } => Self::Waiting,
        }
    }
}

/// The graph as a Mermaid flowchart. Arrows run from a dependency to what comes after it, thick ones to what requires it, and
/// dotted ones to what only starts after it. Nodes are in the order of their declarations, and groups are frames around their
/// nodes. Nodes without a label show only their name.
#[must_use]
pub(crate) fn flowchart(graph: &Graph, labels: &BTreeMap<NodeId, Label>, groups: &[OutlinedGroup]) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for node in graph.nodes() {
        let name = escape(graph.name(node));
        let line = match labels.get(&node) {
            None => format!("n{}[\"{name}\"]", node.index()),
            Some(Label { state, class }) => {
                let class = class.map(|class| format!(":::{}", class.name())).unwrap_or_default();
                format!("n{}[\"{name}<br/>{}\"]{class}", node.index(), escape(state))
            }
        };
        push_line(&mut text, &line);
    }
    for (position, group) in groups.iter().enumerate() {
        push_line(&mut text, &format!("subgraph g{position}[\"{}\"]", escape(&group.name)));
        // One within this one was drawn before, and is named instead of its nodes.
        let within: Vec<_> =
            groups[..position].iter().enumerate().filter(|(_, of)| group.contains(of)).collect();
        let framed = |node: &usize| within.iter().any(|(_, of)| of.nodes.contains(node));
        for node in group.nodes.clone().filter(|node| !framed(node)) {
            push_line(&mut text, &format!("    n{node}"));
        }
        let is_direct =
            |of: &OutlinedGroup| !within.iter().any(|(_, other)| other.name != of.name && other.contains(of));
        for (inner, _) in within.iter().filter(|(_, of)| is_direct(of)) {
            push_line(&mut text, &format!("    g{inner}"));
        }
        push_line(&mut text, "end");
    }
    for node in graph.nodes() {
        for (dependent, words) in graph.edges_from(node) {
            let arrow = match (words.has(Word::Requires), words.has(Word::StartsAfter)) {
                (true, _) => "==>",
                (false, true) => "-.->",
                (false, false) => "-->",
            };
            push_line(&mut text, &format!("n{} {arrow} n{}", node.index(), dependent.index()));
        }
    }
    for (class, name, style) in Class::ALL {
        if labels.values().any(|label| label.class == Some(class)) {
            push_line(&mut text, &format!("classDef {name} {style}"));
        }
    }
    text
}

fn push_line(text: &mut String, line: &str) {
    writeln!(text, "    {line}").expect("a string takes everything");
}

/// Escapes a text that stands between quotes: Mermaid interprets entities with `#`, HTML, and Markdown after a
/// backtick.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => escaped.push_str("#quot;"),
            '#' => escaped.push_str("#35;"),
            '&' => escaped.push_str("#amp;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '`' => escaped.push_str("#96;"),
            '\n' => escaped.push_str("<br/>"),
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
