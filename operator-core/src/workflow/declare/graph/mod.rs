//! Which node depends on which.
//!
//! ```text
//! (name, names it depends on, by which word)… ──▶ wiring: all mistakes at once ──▶ Graph: never changes again
//! ```
//!
//! # Guarantees
//! - A graph has no cycle, and each name is there once.
//! - Everything is listed in the order of the declarations, so the same declarations give the same decisions.
//!
//! # Assumptions
//! - A [`NodeId`] is used with the graph that it comes from; with another graph it identifies another node, or none,
//!   which panics.

mod wiring;

#[cfg(test)]
mod tests;

use petgraph::{csr::Csr, graph::NodeIndex};

use crate::{resource::nearest, workflow::BuildError};

/// A node of one [`Graph`]. The order is that of the declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The node's position among the declarations, counted from 0; always below [`Graph::len`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(in crate::workflow) fn of(position: usize) -> Self {
        Self(u32::try_from(position).expect("a workflow has less than 2^32 nodes"))
    }
}

/// How a node depends on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// It waits until the other one is ready.
    After,
    /// The same, and it isn't wanted if the other one isn't, or takes no part.
    Requires,
    /// It waits until the other one is ready, as long as it hasn't started.
    StartsAfter,
    /// It waits until the other one was applied.
    InOrder,
}

/// All words by which a node depends on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::workflow) struct Words(u8);

impl Words {
    const fn of(word: Word) -> Self {
        Self(1 << word as u8)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(in crate::workflow) const fn has(self, word: Word) -> bool {
        self.0 & Self::of(word).0 != 0
    }

    /// Whether the node never runs before the other one, also if it has started.
    pub(in crate::workflow) const fn is_order(self) -> bool {
        self.0 != Self::of(Word::StartsAfter).0
    }

    fn each(self) -> impl Iterator<Item = Word> {
        let all = [Word::After, Word::Requires, Word::StartsAfter, Word::InOrder];
        all.into_iter().filter(move |word| self.has(*word))
    }
}

impl From<NodeIndex> for NodeId {
    fn from(index: NodeIndex) -> Self {
        Self::of(index.index())
    }
}

/// The nodes of a workflow and their dependencies. It is built once and never changes.
///
/// JOSDK: the `DependentResourceNode`s of a `Workflow`. "Depends on" is `dependsOn` there; what is called `dependents`
/// here is its `parents`.
#[derive(Clone, Debug)]
pub struct Graph {
    names: Vec<Box<str>>,
    /// From each node to its neighbours, in the order of the declarations: in one piece, because each run visits all of
    /// them. An edge says whether the dependent node requires the other one.
    dependents: Csr<(), Words>,
    dependencies: Csr<(), Words>,
    /// The number of neighbours of each node, which each run counts down in a copy.
    dependent_counts: Vec<u32>,
    depths: Vec<usize>,
    /// The nodes by depth, then by declaration: each one after its dependencies.
    order: Vec<NodeId>,
}

impl Graph {
    /// Builds the graph of nodes with their names and the names of those that they come after. A node may be declared
    /// before its dependencies; a dependency that is named twice counts once. No declarations give an empty graph.
    ///
    /// # Errors
    /// [`BuildError`] with all mistakes.
    pub fn new<N, D>(declarations: impl IntoIterator<Item = (N, D)>) -> Result<Self, BuildError>
    where
        N: AsRef<str>,
        D: IntoIterator<Item: AsRef<str>>,
    {
        let after = |(name, after): (N, D)| (name, after.into_iter().map(|other| (other, Word::After)));
        Self::of_words(declarations.into_iter().map(after))
    }

    /// The same, where each node also says by which word it depends on each. Several words about the same one count together.
    ///
    /// # Errors
    /// [`BuildError`] with all mistakes.
    pub fn of_words<N, D, O>(declarations: impl IntoIterator<Item = (N, D)>) -> Result<Self, BuildError>
    where
        N: AsRef<str>,
        D: IntoIterator<Item = (O, Word)>,
        O: AsRef<str>,
    {
        wiring::build(declarations)
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All nodes.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.len()).map(NodeId::of)
    }

    /// The node's name.
    #[must_use]
    pub fn name(&self, node: NodeId) -> &str {
        &self.names[node.index()]
    }

    /// The node of that name. This is a linear search, so it isn't meant for a loop.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes().find(|node| self.name(*node) == name)
    }

    /// The name that is most similar to this one, if there is one.
    pub(in crate::workflow) fn nearest(&self, wanted: &str) -> Option<String> {
        nearest(wanted, self.nodes().map(|node| self.name(node))).map(str::to_owned)
    }

    /// The direct dependencies of the node.
    pub fn dependencies_of(&self, node: NodeId) -> impl Iterator<Item = NodeId> + Clone + '_ {
        self.dependencies.neighbors_slice(node.0).iter().copied().map(NodeId)
    }

    /// The nodes that depend on the node directly.
    pub fn dependents_of(&self, node: NodeId) -> impl Iterator<Item = NodeId> + Clone + '_ {
        self.dependents.neighbors_slice(node.0).iter().copied().map(NodeId)
    }

    /// The same, and the words of each.
    pub(in crate::workflow) fn edges_from(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Words)> + '_ {
        self.dependents_of(node).zip(self.dependents.edges_slice(node.0).iter().copied())
    }

    /// The direct dependencies of the node, and its words about each.
    pub(in crate::workflow) fn edges_to(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Words)> + '_ {
        self.dependencies_of(node).zip(self.dependencies.edges_slice(node.0).iter().copied())
    }

    /// The nodes that the node requires.
    pub(in crate::workflow) fn required_by(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.edges_to(node).filter(|(_, words)| words.has(Word::Requires)).map(|(other, _)| other)
    }

    /// For each node the number of nodes that depend on it.
    pub(in crate::workflow) fn dependent_counts(&self) -> &[u32] {
        &self.dependent_counts
    }

    /// The nodes that depend on the node, directly or through others.
    #[must_use]
    pub fn transitive_dependents_of(&self, node: NodeId) -> Vec<NodeId> {
        self.reached(node, |_| true)
    }

    /// Whether a node never runs before another one, which it comes after directly or through others.
    pub(in crate::workflow) fn comes_after(&self, node: NodeId, other: NodeId) -> bool {
        self.reached(other, Words::is_order).contains(&node)
    }

    fn reached(&self, from: NodeId, by: impl Fn(Words) -> bool) -> Vec<NodeId> {
        let mut found = vec![false; self.len()];
        let mut open = vec![from];
        while let Some(next) = open.pop() {
            for (dependent, words) in self.edges_from(next) {
                if by(words) && !std::mem::replace(&mut found[dependent.index()], true) {
                    open.push(dependent);
                }
            }
        }
        self.nodes().filter(|node| found[node.index()]).collect()
    }

    /// The same nodes, of which each `(node, other)` says that the other one comes after the node, too. Those that would close a
    /// circle are left out.
    pub(in crate::workflow) fn and_after(&self, more: &[(NodeId, NodeId)]) -> Self {
        let mut graph = self.clone();
        for &(node, other) in more {
            if node != other && !graph.transitive_dependents_of(other).contains(&node) {
                graph = graph.joined(node, other);
            }
        }
        graph
    }

    fn joined(&self, node: NodeId, other: NodeId) -> Self {
        let words = |of: NodeId| {
            let known =
                self.edges_to(of).flat_map(|(before, words)| words.each().map(move |word| (before, word)));
            known.chain((of == other).then_some((node, Word::After)))
        };
        let named = |of: NodeId| words(of).map(|(before, word)| (self.name(before), word));
        Self::of_words(self.nodes().map(|of| (self.name(of), named(of)))).unwrap_or_else(|_| self.clone())
    }

    /// The number of nodes that come one after another before this one, on the longest path to it: 0 if there are no
    /// dependencies.
    #[must_use]
    pub fn depth_of(&self, node: NodeId) -> usize {
        self.depths[node.index()]
    }

    /// The largest depth of a node. A run without waiting takes as long as `depth() + 1` nodes one after another.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depths.iter().copied().max().unwrap_or_default()
    }

    /// All nodes, each one after its dependencies: by depth, then by declaration.
    #[must_use]
    pub fn in_order(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + '_ {
        self.order.iter().copied()
    }
}
