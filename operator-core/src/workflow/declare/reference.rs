//! References to a node: by its function, by its type, or by itself.

use std::marker::PhantomData;

use super::{IsDependent, IsNode, Node};
use crate::{
    dependent::function::{ByHand, Dependent, Shape},
    resource::KubeObject,
    results::{NodeKey, Secondary},
};

/// What a node can come after: a node, named as in [`NodeRef`], or a reference to a group, `&web()`. A group is found by its
/// name, so it may be made anew. For a type of your own that stands for a group, return the key of its group.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a node of a workflow of `{P}`",
    label = "names no node",
    note = "a node is named by its function (`html`), by its type (`the::<Records>()`), or by a reference to it (`&wired`); a group by a reference to it"
)]
pub trait Predecessor<P, M = ByHand> {
    /// The key of the node, or of the group.
    fn key(self) -> NodeKey;
}

/// A reference to a node of a workflow of `P`: its function (`html`), [`the::<Records>()`](the) for a value, or a
/// reference to the wired node (`&records`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a node of a workflow of `{P}`",
    label = "names no node",
    note = "a node is named by its function (`html`), by its type (`the::<Records>()`), or by a reference to it (`&wired`)"
)]
pub trait NodeRef<P, M>: Predecessor<P, M> {
    /// The form in which a run returns the node's resources.
    type Seen;

    /// These resources in that form.
    #[doc(hidden)]
    fn seen(objects: &[Secondary]) -> Self::Seen;
}

impl<P: KubeObject, M: 'static, D: Dependent<P, M>> Predecessor<P, IsDependent<M>> for D {
    fn key(self) -> NodeKey {
        NodeKey::of::<D>()
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, S: Shape, K> Predecessor<P, IsNode> for &Node<P, S, K> {
    fn key(self) -> NodeKey {
        Node::key(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, D: Dependent<P>> Predecessor<P, ByHand> for The<D> {
    fn key(self) -> NodeKey {
        NodeKey::of::<D>()
    }
}

impl<P: KubeObject, M: 'static, D: Dependent<P, M>> NodeRef<P, IsDependent<M>> for D {
    type Seen = <D::Shape as Shape>::Seen;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        D::Shape::seen(objects)
    }
}

impl<P: KubeObject, S: Shape, K> NodeRef<P, IsNode> for &Node<P, S, K> {
    type Seen = S::Seen;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        S::seen(objects)
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
}

debug_of!(The<D> [D]: "The");
