//! References to a node: by its function, by its type, or by itself.

use std::marker::PhantomData;

use super::{IsDependent, IsNode, Node};
use crate::{
    dependent::function::{ByHand, Dependent, Shape},
    resource::KubeObject,
    results::{NodeKey, Secondary},
};

/// A reference to a node of a workflow of `P`: its function (`html`), [`the::<Records>()`](the) for a value, or a
/// reference to the wired node (`&records`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a node of a workflow of `{P}`",
    label = "names no node",
    note = "a node is named by its function (`html`), by its type (`the::<Records>()`), or by a reference to it (`&wired`)"
)]
pub trait NodeRef<P, M> {
    /// The form in which a run returns the node's resources.
    type Seen;

    /// These resources in that form.
    #[doc(hidden)]
    fn seen(objects: &[Secondary]) -> Self::Seen;

    /// The key of the node.
    #[doc(hidden)]
    fn key(self) -> NodeKey;
}

impl<P: KubeObject, M: 'static, D: Dependent<P, M>> NodeRef<P, IsDependent<M>> for D {
    type Seen = <D::Shape as Shape>::Seen;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        D::Shape::seen(objects)
    }

    fn key(self) -> NodeKey {
        NodeKey::of::<D>()
    }
}

impl<P: KubeObject, S: Shape, K> NodeRef<P, IsNode> for &Node<P, S, K> {
    type Seen = S::Seen;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        S::seen(objects)
    }

    fn key(self) -> NodeKey {
        Node::key(self)
    }
}

/// Refers to the node of a value by its type. Made by [`the`].
pub struct The<D>(PhantomData<fn() -> D>);

/// Refers to the node of a value by its type, as in `web.after(the::<Records>())`.
#[must_use]
pub fn the<D>() -> The<D> {
    The(PhantomData)
}

impl<P: KubeObject, D: Dependent<P>> NodeRef<P, ByHand> for The<D> {
    type Seen = <D::Shape as Shape>::Seen;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        D::Shape::seen(objects)
    }

    fn key(self) -> NodeKey {
        NodeKey::of::<D>()
    }
}

debug_of!(The<D> [D]: "The");
