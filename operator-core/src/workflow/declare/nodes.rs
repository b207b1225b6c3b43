//! The parts of a workflow, alone and in tuples.

use std::marker::PhantomData;

use super::{Node, node};
use crate::{
    dependent::function::{Dependent, OfType, PrimaryIs, ShapeOf},
    resource::KubeObject,
    workflow::declare::any_node::AnyNode,
};

/// A dependent, or a wired node.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a node of a workflow of `{P}`",
    note = "a node is a dependent (`web`) or a wired one (`web.after(html)`), and all nodes of a workflow have the same primary; a node of `DynamicObject`s needs their kind: `.kind(…)`"
)]
pub trait IntoNode<P, M> {
    /// Adds it.
    fn add_to(self, nodes: &mut AnyNodes);
}

/// Nodes without their own types.
#[derive(Default)]
pub struct AnyNodes(pub(in crate::workflow) Vec<AnyNode>);

/// Marks wired nodes.
#[derive(Debug)]
pub struct IsNode;
/// Marks dependents.
#[derive(Debug)]
pub struct IsDependent<M>(PhantomData<M>);

impl<P: KubeObject, Q: PrimaryIs<P>, S: ShapeOf<K>, K> IntoNode<P, IsNode> for Node<Q, S, K> {
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.0.push(self.finish());
    }
}

impl<P: KubeObject, M: 'static, D: Dependent<P, M, Shape: ShapeOf<OfType>>> IntoNode<P, IsDependent<M>>
    for D
{
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.0.push(node::<P, M, D>(self).finish());
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
                $($node.add_to(nodes);)*
            }
        }
    };
}

each_tuple!(tuples);
