//! The parts of a workflow, alone and in tuples.

use std::{marker::PhantomData, ops::Range};

use super::{Node, any_node::AnyNode, group::AnyGroup, node};
use crate::{
    dependent::function::{ByHand, Dependent, OfType, PrimaryIs, ShapeOf},
    resource::KubeObject,
};

/// A dependent, a wired node, or a group of nodes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a node of a workflow of `{P}`",
    note = "a node is a dependent (`web`) or a wired one (`web.after(html)`), and all nodes of a workflow have the same primary; a node of `DynamicObject`s needs their kind: `.kind(…)`"
)]
pub trait IntoNode<P, M = ByHand> {
    /// Adds it. A type of your own that stands for a group passes this on to the group.
    fn add_to(self, nodes: &mut AnyNodes);
}

/// Nodes without their own types, and their groups.
#[derive(Default)]
pub struct AnyNodes {
    pub(in crate::workflow) nodes: Vec<AnyNode>,
    pub(in crate::workflow) groups: Vec<AnyGroup>,
    /// The nodes of each item of the tuple.
    pub(in crate::workflow) items: Vec<Range<usize>>,
}

impl AnyNodes {
    pub(super) fn push(&mut self, node: AnyNode) {
        self.nodes.push(node);
    }

    /// Adds further nodes with their groups.
    pub(in crate::workflow) fn extend(&mut self, further: Self) {
        let by = self.nodes.len();
        self.nodes.extend(further.nodes);
        self.groups.extend(further.groups.into_iter().map(|group| group.shifted(by)));
    }

    /// The same, declared the other way round.
    #[cfg(feature = "testing")]
    pub(super) fn reversed(self) -> Self {
        let Self { mut nodes, groups, items } = self;
        nodes.reverse();
        Self { groups: groups.into_iter().map(|group| group.reversed(nodes.len())).collect(), nodes, items }
    }

    /// What was added since the item before is one item.
    fn end_item(&mut self) {
        let start = self.items.last().map_or(0, |item| item.end);
        self.items.push(start..self.nodes.len());
    }
}

/// Marks wired nodes.
#[derive(Debug)]
pub struct IsNode;
/// Marks dependents.
#[derive(Debug)]
pub struct IsDependent<M>(PhantomData<M>);

impl<P: KubeObject, Q: PrimaryIs<P>, S: ShapeOf<K>, K> IntoNode<P, IsNode> for Node<Q, S, K> {
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.push(self.finish());
    }
}

impl<P: KubeObject, M: 'static, D: Dependent<P, M, Shape: ShapeOf<OfType>>> IntoNode<P, IsDependent<M>>
    for D
{
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.push(node::<P, M, D>(self).finish());
    }
}

/// A tuple of 1 to 16 nodes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of nodes",
    label = "not a tuple of 1 to 16 nodes",
    note = "write `.workflow((html, web.after(html)))`, with two brackets; one node alone is `.workflow((html,))`; more than 16 go into a second `.workflow(…)`"
)]
pub trait Nodes<P, M> {
    /// Adds all of them.
    fn add_to(self, nodes: &mut AnyNodes);
}

macro_rules! tuples {
    ($($node:ident $marker:ident),*) => {
        impl<P: KubeObject, $($node, $marker,)*> Nodes<P, ($($marker,)*)> for ($($node,)*)
        where
            $($node: IntoNode<P, $marker>,)*
        {
            #[allow(non_snake_case)]
            fn add_to(self, nodes: &mut AnyNodes) {
                let ($($node,)*) = self;
                $(
                    $node.add_to(nodes);
                    nodes.end_item();
                )*
            }
        }
    };
}

each_tuple!(tuples);
