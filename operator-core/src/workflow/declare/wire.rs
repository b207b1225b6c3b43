//! Wiring on the function itself.

use std::sync::Arc;

use k8s_openapi::api::batch::v1::Job;

use super::{Condition, Node, Predecessor, Wish, node};
use crate::{
    dependent::{
        Adoption, Standalone,
        function::{
            Args, AtRunTime, ByHand, Call, Change, Dependent, Function, KindAtRunTime, OfType, PrimaryIs,
            SaysKind, Shape, ShapeOf, Signature, wanted::Mixed,
        },
    },
    resource::KubeObject,
    workflow::Activation,
};

/// Methods of dependents, whether functions or values: `web.after(html)` is short for
/// [`node(web).after(html)`](crate::node). They are described at [`Node`].
///
/// Every function whose first argument is a reference to an object has them. Whether it is a dependent is checked by
/// the methods, so an error names the argument or the result that is wrong.
pub trait Wire<M>: Sized {
    /// The type of the primaries.
    type Primary: KubeObject;

    /// [`Node::after`].
    fn after<D: 'static, S: Shape, DM, N>(self, other: N) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        N: Predecessor<Self::Primary, DM>,
    {
        node(self).after(other)
    }

    /// [`Node::requires`].
    fn requires<D: 'static, S: Shape, DM, N>(self, other: N) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        N: Predecessor<Self::Primary, DM>,
    {
        node(self).requires(other)
    }

    /// [`Node::starts_after`].
    fn starts_after<D: 'static, S: Shape, DM, N>(self, other: N) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        N: Predecessor<Self::Primary, DM>,
    {
        node(self).starts_after(other)
    }

    /// [`Node::starts_when`].
    fn starts_when<D: 'static, S: Shape, F, FS: 'static, W: 'static>(
        self,
        may_start: F,
    ) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        F: Call<Self::Primary, FS>,
        F: Signature<FS, First: PrimaryIs<Self::Primary>, Args: Args<Self::Primary>, Return: Wish<W>>,
    {
        node(self).starts_when(may_start)
    }

    /// [`Node::kind`].
    fn kind<D: 'static, S: Shape<Item: KindAtRunTime>>(
        self,
        kind: impl SaysKind,
    ) -> Node<Self::Primary, S, AtRunTime>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).kind(kind)
    }

    /// [`Node::kinds`](Node::kinds).
    fn kinds<D: 'static, K: SaysKind>(self, kinds: impl IntoIterator<Item = K>) -> Node<Self::Primary, Mixed>
    where
        Self: Dependent<Self::Primary, D, Shape = Mixed>,
    {
        node(self).kinds(kinds)
    }

    /// [`Node::may_be_empty`](Node::may_be_empty).
    fn may_be_empty<D: 'static>(self) -> Node<Self::Primary, Mixed>
    where
        Self: Dependent<Self::Primary, D, Shape = Mixed>,
    {
        node(self).may_be_empty()
    }

    /// [`Node::only_if`].
    fn only_if<D: 'static, S: Shape, F, FS: 'static, W: 'static>(self, wanted: F) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        F: Call<Self::Primary, FS>,
        F: Signature<FS, First: PrimaryIs<Self::Primary>, Args: Args<Self::Primary>, Return: Wish<W>>,
    {
        node(self).only_if(wanted)
    }

    /// [`Node::change`].
    fn change<D: 'static, S: Shape, CM, C>(self, change: C) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        C: Change<Self::Primary, S::Item, CM>,
    {
        node(self).change(change)
    }

    /// [`Node::ready`].
    fn ready<D: 'static, S: Shape, CM: 'static, C>(self, condition: C) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        C: Condition<Self::Primary, S::Item, CM>,
    {
        node(self).ready(condition)
    }

    /// [`Node::also_ready`].
    fn also_ready<D: 'static, S: Shape, CM: 'static, C>(self, condition: C) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        C: Condition<Self::Primary, S::Item, CM>,
    {
        node(self).also_ready(condition)
    }

    /// [`Node::ready_when_applied`].
    fn ready_when_applied<D: 'static, S: Shape>(self) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).ready_when_applied()
    }

    /// [`Node::gone`].
    fn gone<D: 'static, S: Shape, CM: 'static, C>(self, condition: C) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
        C: Condition<Self::Primary, S::Item, CM>,
    {
        node(self).gone(condition)
    }

    /// [`Node::needs`].
    fn needs<D: 'static, S: Shape>(self, capability: impl Activation) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).needs(capability)
    }

    /// [`Node::when_served`].
    fn when_served<D: 'static, S: Shape>(self) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).when_served()
    }

    /// [`Node::delete_first`].
    fn delete_first<D: 'static, S: Shape>(self) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).delete_first()
    }

    /// [`Node::create_only`].
    fn create_only<D: 'static, S: Shape>(self) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).create_only()
    }

    /// [`Node::once_per`].
    fn once_per<D: 'static, S: Shape<Item = Job>, T: ToString>(
        self,
        key: impl Fn(&Self::Primary) -> T + Send + Sync + 'static,
    ) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).once_per(key)
    }

    /// [`Node::adopt`].
    fn adopt<D: 'static, S: Shape>(self, adoption: Adoption) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).adopt(adoption)
    }

    /// [`Node::optional`].
    fn optional<D: 'static, S: Shape>(self) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).optional()
    }

    /// [`Node::standalone`].
    fn standalone<D: 'static, S: ShapeOf<OfType>>(self) -> Standalone<Self::Primary>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).standalone()
    }

    /// [`Node::named`].
    fn named<D: 'static, S: Shape>(self, name: impl Into<Arc<str>>) -> Node<Self::Primary, S>
    where
        Self: Dependent<Self::Primary, D, Shape = S>,
    {
        node(self).named(name)
    }
}

impl<S, F> Wire<Function<S, ()>> for F
where
    F: Signature<S>,
    F::First: KubeObject,
{
    type Primary = F::First;
}

impl<P: KubeObject, D: Dependent<P>> Wire<(ByHand, P)> for D {
    type Primary = P;
}
