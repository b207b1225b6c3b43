//! For what of another node a node waits.

use std::collections::BTreeSet;

use crate::workflow::{
    NodeId,
    declare::graph::{Word, Words},
};

/// How far another node has to be, unless it isn't wanted or takes no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wait {
    No,
    Applied,
    Ready,
}

/// The nodes that haven't started, each with one after which it starts.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts(pub(super) BTreeSet<(NodeId, NodeId)>);

impl Starts {
    /// For what of the other one a node with these words about it waits.
    pub(super) fn wait(&self, node: NodeId, other: NodeId, words: Words) -> Wait {
        if words.has(Word::After) || words.has(Word::Requires) || self.has(node, other, words) {
            Wait::Ready
        } else if words.has(Word::InOrder) {
            Wait::Applied
        } else {
            Wait::No
        }
    }

    /// Whether the node doesn't start before the other one is ready.
    pub(super) fn has(&self, node: NodeId, other: NodeId, words: Words) -> bool {
        words.has(Word::StartsAfter) && self.0.contains(&(node, other))
    }
}
