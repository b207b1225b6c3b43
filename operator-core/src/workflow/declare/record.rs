//! Nodes of records in another system.

use std::{marker::PhantomData, sync::Arc};

use super::{
    Condition, IntoNode, NodeRef, Predecessor, The,
    condition::{Decides, erase, name_of},
    declared::Said,
    nodes::AnyNodes,
    wish::Wish,
};
use crate::{
    dependent::{
        AnyDependent, External, Records, Standalone, Wants,
        function::{Args, Call, PrimaryIs, Signature},
        record::Resources,
    },
    resource::KubeObject,
    results::{NodeKey, Secondary},
    workflow::{Activation, Word, declare::any_node::AnyNode},
};

/// [`Records`] with their order and their conditions. Made by the methods of [`Records`].
#[must_use = "a node does nothing until it is part of a workflow"]
pub struct RecordNode<P: KubeObject, S> {
    said: Said,
    dependent: ByName,
    of: PhantomData<fn(P) -> S>,
}

/// The dependent of a node, once its name is known.
type ByName = Box<dyn FnOnce(Arc<str>) -> AnyDependent + Send + Sync>;

impl<P: KubeObject, S: Resources> RecordNode<P, S> {
    /// A node that is named after the type `D`, unless it is given a name.
    pub(crate) fn of<D: 'static>(
        dependent: impl FnOnce(Arc<str>) -> AnyDependent + Send + Sync + 'static,
    ) -> Self {
        let mut said = Said::of(NodeKey::of::<D>());
        // A resource outside the cluster has no status.
        said.ready = Some(Vec::new());
        Self { said, dependent: Box::new(dependent), of: PhantomData }
    }

    fn wired(self) -> Self {
        self
    }

    fn finish(self) -> AnyNode {
        let dependent = (self.dependent)(self.said.name());
        self.said.finish(dependent)
    }
}

/// The methods that wire records.
macro_rules! words {
    ($resources:ty) => {
        /// Runs after that node is ready, if that is wanted and takes part, as described at
        /// [`Node::after`](crate::workflow::declare::Node::after). May be called several times.
        pub fn after<N: Predecessor<P, M>, M>(self, other: N) -> RecordNode<P, $resources> {
            let mut node = self.wired();
            node.said.terms.after.push((other.key(), Word::After));
            node
        }

        /// The same, and it isn't wanted if that node isn't, or takes no part, as described at
        /// [`Node::requires`](crate::workflow::declare::Node::requires).
        pub fn requires<N: Predecessor<P, M>, M>(self, other: N) -> RecordNode<P, $resources> {
            let mut node = self.wired();
            node.said.terms.after.push((other.key(), Word::Requires));
            node
        }

        /// Waits for that node only until its own resource exists, as described at
        /// [`Node::starts_after`](crate::Node::starts_after). May be called several times.
        pub fn starts_after<N: Predecessor<P, M>, M>(self, other: N) -> RecordNode<P, $resources> {
            let mut node = self.wired();
            node.said.terms.after.push((other.key(), Word::StartsAfter));
            node
        }

        /// Isn't made for the first time before the function says so, as described at
        /// [`Node::starts_when`](crate::Node::starts_when). May be called several times.
        pub fn starts_when<F, FS: 'static, W: 'static>(self, may_start: F) -> RecordNode<P, $resources>
        where
            F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
        {
            let mut node = self.wired();
            node.said.starts_when::<P, F, FS, W>(may_start);
            node
        }

        /// Exists only if the function says so, as described at [`Node::only_if`](crate::Node::only_if).
        pub fn only_if<F, FS: 'static, W: 'static>(self, wanted: F) -> RecordNode<P, $resources>
        where
            F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
        {
            let mut node = self.wired();
            node.said.only_if::<P, F, FS, W>(wanted);
            node
        }

        /// Nodes that come after it run once the condition is met, instead of as soon as it was reconciled. The
        /// condition is a function of the resource, of the primary, or of both. May be called several times: then all
        /// conditions have to be met.
        pub fn ready<C, CM>(self, condition: C) -> RecordNode<P, $resources>
        where
            C: Condition<P, <$resources as Resources>::Item, CM>,
            CM: 'static,
        {
            let mut node = self.wired();
            let (decides, several) = (Decides::Ready, <$resources as Resources>::SEVERAL);
            let condition = erase::<P, <$resources as Resources>::Item, C, CM>(condition, decides, several);
            node.said.terms.data.extend(C::needs());
            node.said.ready(name_of::<C>(), condition);
            node
        }

        /// It counts as gone once the condition is met: until then the nodes that it comes after aren't deleted, and
        /// its primary stays. A condition of the resource is evaluated while there is one. May be called several times.
        pub fn gone<C, CM>(self, condition: C) -> RecordNode<P, $resources>
        where
            C: Condition<P, <$resources as Resources>::Item, CM>,
            CM: 'static,
        {
            let mut node = self.wired();
            let (decides, several) = (Decides::Gone, <$resources as Resources>::SEVERAL);
            let condition = erase::<P, <$resources as Resources>::Item, C, CM>(condition, decides, several);
            node.said.terms.data.extend(C::needs());
            node.said.gone(name_of::<C>(), condition);
            node
        }

        /// Takes part only if the cluster has that capability; see [`Node::needs`](crate::Node::needs).
        pub fn needs(self, capability: impl Activation) -> RecordNode<P, $resources> {
            let mut node = self.wired();
            node.said.needs(capability);
            node
        }

        /// Names the node; by default it has the name of its type.
        pub fn named(self, name: impl Into<Arc<str>>) -> RecordNode<P, $resources> {
            let mut node = self.wired();
            node.said.name = Some(name.into());
            node
        }

        /// The dependent by itself, for a reconciler that calls it without a workflow.
        #[must_use]
        pub fn standalone(self) -> Standalone<P> {
            Standalone::of_any(self.wired().finish().dependent)
        }
    };
}

impl<P: KubeObject, S: Resources> RecordNode<P, S> {
    words!(S);
}

/// The records of an [`External`].
type Shape<E, P> = <<E as External<P>>::Want as Wants<<E as External<P>>::Resource>>::Shape;

impl<E: External<P>, P: KubeObject> Records<E, P> {
    fn wired(self) -> RecordNode<P, Shape<E, P>> {
        RecordNode::of::<E>(|name| self.declared(name))
    }

    words!(Shape<E, P>);
}

/// Marks records, wired or not.
#[derive(Debug)]
pub struct IsRecords;
#[diagnostic::do_not_recommend]
impl<P: KubeObject, Q: KubeObject + PrimaryIs<P>, S: Resources> IntoNode<P, IsRecords> for RecordNode<Q, S> {
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.push(self.finish());
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, Q: KubeObject + PrimaryIs<P>, E: External<Q>> IntoNode<P, IsRecords> for Records<E, Q> {
    fn add_to(self, nodes: &mut AnyNodes) {
        nodes.push(self.wired().finish());
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, S: Resources> NodeRef<P, IsRecords> for &RecordNode<P, S> {
    type Seen = S::Seen;

    fn seen(objects: &[Secondary]) -> S::Seen {
        S::seen(objects)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, S: Resources> Predecessor<P, IsRecords> for &RecordNode<P, S> {
    fn key(self) -> NodeKey {
        self.said.key()
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, E: External<P>> NodeRef<P, IsRecords> for The<E> {
    type Seen = <Shape<E, P> as Resources>::Seen;

    fn seen(objects: &[Secondary]) -> Self::Seen {
        <Shape<E, P> as Resources>::seen(objects)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, E: External<P>> Predecessor<P, IsRecords> for The<E> {
    fn key(self) -> NodeKey {
        NodeKey::of::<E>()
    }
}

debug_of!(RecordNode<P, S> [P: KubeObject, S]: "RecordNode", |it| name: it.said.name());
