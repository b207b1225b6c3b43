//! Nodes of resources that a user's type reads and writes itself, in the cluster or outside.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    Condition, IntoNode, NodeRef, The,
    condition::{Decides, erase, name_of},
    declared::Said,
    nodes::AnyNodes,
    wish::{OfWish, Wish},
};
use crate::{
    dependent::{
        AnyDependent, CustomDependent, DependentResource, Standalone,
        bulk::{BulkCustomDependent, BulkDependentResource},
        function::{Args, Call, PrimaryIs, Signature},
    },
    reconciler::workflow::{ConditionKind, NodeKey, Secondary},
    resource::KubeObject,
    workflow::{Activation, node::AnyNode},
};

/// What is read of the resources of a node: of one, or of any number.
pub trait Resources: 'static {
    /// Their type.
    type Item: Send + Sync + 'static;
    /// What is read.
    type Seen;
    /// Whether there may be any number of them.
    const SEVERAL: bool;

    /// What is read of these.
    fn seen(all: &[Secondary]) -> Self::Seen;
}

/// One resource. `run.get(…)` returns `Option<Arc<R>>`.
#[derive(Debug)]
pub struct OneOf<R>(PhantomData<fn() -> R>);
/// Any number of them. `run.get(…)` returns `Vec<Arc<R>>`.
#[derive(Debug)]
pub struct ManyOf<R>(PhantomData<fn() -> R>);

impl<R: Send + Sync + 'static> Resources for OneOf<R> {
    type Item = R;
    type Seen = Option<Arc<R>>;
    const SEVERAL: bool = false;

    fn seen(all: &[Secondary]) -> Option<Arc<R>> {
        all.iter().find_map(Secondary::get)
    }
}

impl<R: Send + Sync + 'static> Resources for ManyOf<R> {
    type Item = R;
    type Seen = Vec<Arc<R>>;
    const SEVERAL: bool = true;

    fn seen(all: &[Secondary]) -> Vec<Arc<R>> {
        all.iter().filter_map(Secondary::get).collect()
    }
}

/// A [`CustomDependent`] or a [`BulkCustomDependent`] with its order and its conditions. Made by their methods.
#[must_use = "a node does nothing until it is given to a workflow"]
pub struct External<P: KubeObject, S> {
    said: Said,
    dependent: AnyDependent,
    of: PhantomData<fn(P) -> S>,
}

impl<P: KubeObject, S: Resources> External<P, S> {
    fn of<D: 'static>(dependent: AnyDependent) -> Self {
        let mut said = Said::of(NodeKey::of::<D>());
        // What is outside has no status.
        said.ready_when_called();
        if Some(dependent.name()) != NodeKey::of::<D>().short() {
            said.named(dependent.shared_name());
        }
        Self { said, dependent, of: PhantomData }
    }

    fn wired(self) -> Self {
        self
    }

    fn finish(self) -> AnyNode {
        let named = self.dependent.named(self.said.name());
        self.said.finish(named, || None)
    }
}

/// The methods that wire custom nodes.
macro_rules! words {
    ($resources:ty) => {
        /// Runs after that node is ready, and is deleted before it. May be called several times.
        pub fn after<N: NodeRef<P, M>, M>(self, other: N) -> External<P, $resources> {
            let mut node = self.wired();
            node.said.after(other.key());
            node
        }

        /// Exists only if the function says so: a function of the primary that returns `bool`, `Verdict`, `Want<()>`,
        /// or a `Result` of one of these. Otherwise it is deleted, after everything that comes after it, or left
        /// unchanged, on hold.
        pub fn only_if<F, FS: 'static, W: 'static>(self, wanted: F) -> External<P, $resources>
        where
            F: Signature<FS> + Call<P, FS>,
            F::First: PrimaryIs<P>,
            F::Args: Args<P>,
            F::Return: Wish<W>,
        {
            let mut node = self.wired();
            node.said.word(ConditionKind::OnlyIf, name_of::<F>());
            node.said.takes(<F::Args as Args<P>>::needs());
            node.dependent = OfWish::<P, F, FS, W>::asked_of(node.dependent, wanted);
            node
        }

        /// What comes after it runs once the condition is met, instead of as soon as it was reconciled. The condition
        /// is a function of the resource, of the primary, or of both. May be called several times: then all conditions
        /// have to be met.
        pub fn ready<C, CM>(self, condition: C) -> External<P, $resources>
        where
            C: Condition<P, <$resources as Resources>::Item, CM>,
            CM: 'static,
        {
            let mut node = self.wired();
            let (decides, several) = (Decides::Ready, <$resources as Resources>::SEVERAL);
            let condition = erase::<P, <$resources as Resources>::Item, C, CM>(condition, decides, several);
            node.said.takes(C::needs());
            node.said.ready(name_of::<C>(), condition);
            node
        }

        /// It counts as gone once the condition is met: until then what it comes after isn't deleted, and its primary
        /// stays. A condition of the resource is evaluated while there is one. May be called several times.
        pub fn gone<C, CM>(self, condition: C) -> External<P, $resources>
        where
            C: Condition<P, <$resources as Resources>::Item, CM>,
            CM: 'static,
        {
            let mut node = self.wired();
            let (decides, several) = (Decides::Gone, <$resources as Resources>::SEVERAL);
            let condition = erase::<P, <$resources as Resources>::Item, C, CM>(condition, decides, several);
            node.said.takes(C::needs());
            node.said.gone(name_of::<C>(), condition);
            node
        }

        /// Takes part only if the cluster has that capability; see [`Node::needs`](crate::Node::needs).
        pub fn needs(self, capability: impl Activation) -> External<P, $resources> {
            let mut node = self.wired();
            node.said.needs(capability);
            node
        }

        /// Names the node; by default it has the name of its type.
        pub fn named(self, name: impl Into<Arc<str>>) -> External<P, $resources> {
            let mut node = self.wired();
            node.said.named(name.into());
            node
        }

        /// The dependent by itself, for a reconciler that calls it without a workflow.
        #[must_use]
        pub fn standalone(self) -> Standalone<P> {
            Standalone::of_any(self.wired().finish().dependent)
        }
    };
}

impl<P: KubeObject, S: Resources> External<P, S> {
    words!(S);
}

impl<D: DependentResource<P>, P: KubeObject> CustomDependent<D, P> {
    fn wired(self) -> External<P, OneOf<D::Resource>> {
        External::of::<D>(self.declared())
    }

    words!(OneOf<D::Resource>);
}

impl<D: BulkDependentResource<P>, P: KubeObject> BulkCustomDependent<D, P> {
    fn wired(self) -> External<P, ManyOf<D::Resource>> {
        External::of::<D>(self.declared())
    }

    words!(ManyOf<D::Resource>);
}

/// Marks custom nodes.
#[derive(Debug)]
pub struct IsExternal;
/// Marks custom declarations without settings.
#[derive(Debug)]
pub struct IsCustom;
/// The same for bulk ones.
#[derive(Debug)]
pub struct IsBulkCustom;

#[diagnostic::do_not_recommend]
impl<P: KubeObject, Q: KubeObject + PrimaryIs<P>, S: Resources> IntoNode<P, IsExternal> for External<Q, S> {
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.0.push(self.finish());
    }
}

#[diagnostic::do_not_recommend]
impl<P, Q, D> IntoNode<P, IsCustom> for CustomDependent<D, Q>
where
    P: KubeObject,
    Q: KubeObject + PrimaryIs<P>,
    D: DependentResource<Q>,
{
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.0.push(self.wired().finish());
    }
}

#[diagnostic::do_not_recommend]
impl<P, Q, D> IntoNode<P, IsBulkCustom> for BulkCustomDependent<D, Q>
where
    P: KubeObject,
    Q: KubeObject + PrimaryIs<P>,
    D: BulkDependentResource<Q>,
{
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.0.push(self.wired().finish());
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, S: Resources> NodeRef<P, IsExternal> for &External<P, S> {
    type Seen = S::Seen;

    fn seen(objects: &[Secondary]) -> S::Seen {
        S::seen(objects)
    }

    fn key(self) -> NodeKey {
        self.said.key()
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, D: DependentResource<P>> NodeRef<P, IsCustom> for The<D> {
    type Seen = Option<Arc<D::Resource>>;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        OneOf::seen(objects)
    }

    fn key(self) -> NodeKey {
        NodeKey::of::<D>()
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, D: BulkDependentResource<P>> NodeRef<P, IsBulkCustom> for The<D> {
    type Seen = Vec<Arc<D::Resource>>;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        ManyOf::seen(objects)
    }

    fn key(self) -> NodeKey {
        NodeKey::of::<D>()
    }
}

impl<P: KubeObject, S> fmt::Debug for External<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("External").field("dependent", &self.dependent).finish_non_exhaustive()
    }
}
