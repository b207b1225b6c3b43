//! Values as nodes, without their type: called by the derive.

use super::{IsDependent, IsNode, IsRecords, Node, node, record::RecordNode};
use crate::{
    dependent::{
        External, Records,
        function::{ByHand, Dependent, Shape},
    },
    resource::KubeObject,
};

/// A value that can be wired: a dependent with state, records, or a node that has settings already.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dependent of `{P}`",
    note = "a dependent is a function `fn(&{P}) -> K`, or a value whose type implements `Dependent<{P}>`"
)]
pub trait Value<P, M = ByHand> {
    /// The node.
    type Node;

    /// Makes it a node.
    fn wired(self) -> Self::Node;
}

/// A value as a node.
pub fn wired<P, M, V: Value<P, M>>(value: V) -> V::Node {
    value.wired()
}

impl<P: KubeObject, M: 'static, D: Dependent<P, M>> Value<P, IsDependent<M>> for D {
    type Node = Node<P, D::Shape>;

    fn wired(self) -> Node<P, D::Shape> {
        node(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, S: Shape, K> Value<P, IsNode> for Node<P, S, K> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, S> Value<P, IsRecords> for RecordNode<P, S> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, E: External<P>> Value<P, IsRecords> for Records<E, P> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}
