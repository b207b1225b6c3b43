//! Values as nodes, whatever their type: what the derive calls.

use super::{IsBulkCustom, IsCustom, IsDependent, IsExternal, IsNode, Node, external::External, node};
use crate::{
    dependent::{
        CustomDependent, DependentResource,
        bulk::{BulkCustomDependent, BulkDependentResource},
        function::{Dependent, Shape},
    },
    resource::KubeObject,
};

/// A value that can be wired: a dependent with state, a custom one, or a node that has settings already.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dependent of `{P}`",
    note = "a dependent is a function `fn(&{P}) -> K`, or a value whose type implements `Dependent<{P}>`"
)]
pub trait Value<P, M> {
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
impl<P: KubeObject, S> Value<P, IsExternal> for External<P, S> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, D: DependentResource<P>> Value<P, IsCustom> for CustomDependent<D, P> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, D: BulkDependentResource<P>> Value<P, IsBulkCustom> for BulkCustomDependent<D, P> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}
