//! Groups of nodes: words that are said of all of them, and a value that a layer above the workflow keeps.
//!
//! ```text
//! group("web", (config, web.after(config))).starts_after(database).only_if(is_on)
//!    │ IntoNode: the nodes one after the other, and the group as their range
//!    ▼
//! AnyGroup ──check──▶ edges of the graph, rules of the start
//! ```

use std::{any::Any, marker::PhantomData, ops::Range, sync::Arc};

use kube::core::DynamicObject;

use super::{
    AnyNodes, IntoNode, Nodes, Predecessor, Wish, any_node::AnyNode, condition::name_of, value::Value,
    wish::OfWish,
};
use crate::{
    dependent::{
        Asked, Capabilities, Changes, Gate,
        function::{Args, Call, Change, Given, PrimaryIs, Signature},
    },
    resource::{Draft, KubeObject},
    results::{Carried, Grouped, NodeKey},
    workflow::Word,
};

/// Whether something is changed for a primary.
type When<P> = dyn Fn(&P) -> bool + Send + Sync;

/// A group of nodes, without its types.
#[derive(Clone, Default)]
pub(in crate::workflow) struct AnyGroup {
    pub(in crate::workflow) name: Arc<str>,
    /// The positions of its nodes.
    pub(in crate::workflow) nodes: Range<usize>,
    /// The positions of the nodes of each of its items, if they are in order.
    pub(in crate::workflow) in_order: Vec<Range<usize>>,
    /// The nodes and groups that all its nodes come after, each with its word.
    pub(in crate::workflow) after: Vec<(NodeKey, Word)>,
    pub(in crate::workflow) starts_when: Vec<Gate>,
    /// What is said of it, beside the nodes that it comes after.
    pub(in crate::workflow) words: Vec<String>,
    pub(in crate::workflow) carried: Option<Carried>,
    /// Values that are kept with single nodes.
    pub(in crate::workflow) of_nodes: Vec<(NodeKey, Carried)>,
    /// Nodes that something is said of and that aren't in it.
    pub(in crate::workflow) strangers: Vec<NodeKey>,
    /// What no other group may claim.
    pub(in crate::workflow) claims: Vec<String>,
}

impl AnyGroup {
    pub(super) fn key(&self) -> NodeKey {
        NodeKey::of_group(Arc::clone(&self.name))
    }

    /// The same with the names of its nodes.
    pub(in crate::workflow) fn grouped(&self, declared: &[AnyNode]) -> Grouped {
        let own = &declared[self.nodes.clone()];
        let name_of = |key: &NodeKey| own.iter().find(|node| is_node(node, key)).map(AnyNode::name);
        let of_nodes = self.of_nodes.iter();
        let of_nodes = of_nodes.filter_map(|(key, value)| Some((name_of(key)?, Arc::clone(value)))).collect();
        let nodes = own.iter().map(AnyNode::name).collect();
        let only_reads = |node: &&AnyNode| node.dependent.capabilities() == Capabilities::READ_ONLY;
        let readers = own.iter().filter(only_reads).map(AnyNode::name).collect();
        Grouped { name: Arc::clone(&self.name), nodes, carried: self.carried.clone(), of_nodes, readers }
    }

    /// The same, with all positions changed.
    fn moved(mut self, to: impl Fn(Range<usize>) -> Range<usize>) -> Self {
        self.nodes = to(self.nodes);
        self.in_order = self.in_order.into_iter().map(to).collect();
        self
    }

    pub(super) fn shifted(self, by: usize) -> Self {
        self.moved(|of| of.start + by..of.end + by)
    }

    /// The same, where that many nodes are declared the other way round.
    #[cfg(feature = "testing")]
    pub(super) fn reversed(self, count: usize) -> Self {
        self.moved(|of| count - of.end..count - of.start)
    }
}

/// Whether the node is meant: by its name, or by its type alone.
fn is_node(node: &AnyNode, key: &NodeKey) -> bool {
    node.key == *key || node.key.called(None) == *key
}

/// Nodes with a name, which stand wherever a node does: tuples nest, so 16 is no limit. What is said of a group is said of
/// each of its nodes. Made by [`group`].
#[must_use = "a group does nothing until it is part of a workflow"]
pub struct Group<P: KubeObject> {
    any: AnyGroup,
    nodes: AnyNodes,
    of: PhantomData<fn(P)>,
}

/// A group of nodes with this name, which no other group of the workflow has.
///
/// ```
/// use k8s_openapi::api::{apps::v1::{Deployment, StatefulSet}, core::v1::{ConfigMap, Pod}};
/// use operator_core::{prelude::*, workflow::{Group, group}};
///
/// fn database(_: &Pod) -> StatefulSet {
///     StatefulSet::default()
/// }
///
/// fn config(_: &Pod) -> ConfigMap {
///     ConfigMap::default()
/// }
///
/// fn server(_: &Pod) -> Deployment {
///     Deployment::default()
/// }
///
/// fn web() -> Group<Pod> {
///     group("web", (config, server.after(config))).starts_after(database)
/// }
///
/// let controller = Controller::of_existing::<Pod>().workflow((database, web()));
/// ```
pub fn group<P: KubeObject, M>(name: impl Into<Arc<str>>, nodes: impl Nodes<P, M>) -> Group<P> {
    let mut all = AnyNodes::default();
    nodes.add_to(&mut all);
    let any = AnyGroup { name: name.into(), nodes: 0..all.nodes.len(), ..AnyGroup::default() };
    Group { any, nodes: all, of: PhantomData }
}

impl<P: KubeObject> Group<P> {
    /// [`Node::after`](crate::Node::after) of each node: a group comes after all nodes of another one.
    pub fn after<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.any.after.push((other.key(), Word::After));
        self
    }

    /// [`Node::requires`](crate::Node::requires) of each node.
    pub fn requires<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.any.after.push((other.key(), Word::Requires));
        self
    }

    /// [`Node::starts_after`](crate::Node::starts_after). The group has started when any of its objects exists, so one that
    /// gets lost is made again.
    pub fn starts_after<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.any.after.push((other.key(), Word::StartsAfter));
        self
    }

    /// [`Node::starts_when`](crate::Node::starts_when), while none of its objects exists.
    pub fn starts_when<F, FS: 'static, W: 'static>(mut self, may_start: F) -> Self
    where
        F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
    {
        self.of(None).for_each(|node| node.terms.data.extend(<F::Args as Args<P>>::needs()));
        self.any.words.push(format!("starts when {}", name_of::<F>()));
        self.any.starts_when.push(OfWish::<P, F, FS, W>::gate(may_start));
        self
    }

    /// [`Node::only_if`](crate::Node::only_if) of each node. Those that are only read aren't read then.
    pub fn only_if<F, FS: 'static, W: 'static>(mut self, wanted: F) -> Self
    where
        F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
    {
        self.any.words.push(format!("only if {}", name_of::<F>()));
        self.gate::<F, FS, W>(None, wanted);
        self
    }

    /// The same for one node of the group.
    pub fn only_if_of<N, M, F, FS: 'static, W: 'static>(mut self, node: N, wanted: F) -> Self
    where
        N: Predecessor<P, M>,
        F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
    {
        self.gate::<F, FS, W>(Some(&node.key()), wanted);
        self
    }

    fn gate<F, FS: 'static, W: 'static>(&mut self, only: Option<&NodeKey>, wanted: F)
    where
        F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
    {
        let gate = OfWish::<P, F, FS, W>::gate(wanted);
        for node in self.of(only) {
            node.terms.data.extend(<F::Args as Args<P>>::needs());
            node.dependent.add_gate(gate.clone());
        }
    }

    /// Each node comes after the one before was applied, even if that isn't ready. One that is held holds those behind it; one
    /// that isn't wanted, or takes no part, doesn't. A group in the group is one item.
    pub fn in_order(mut self) -> Self {
        self.any.in_order.clone_from(&self.nodes.items);
        self
    }

    /// [`Node::change`](crate::Node::change) of each node, after their own changes, by a function of `&mut DynamicObject`.
    /// Records are left out.
    pub fn change<M, C: Change<P, DynamicObject, M>>(mut self, change: C) -> Self {
        self.any.words.push(format!("changed by {}", name_of::<C>()));
        self.edit(None, None, change);
        self
    }

    /// The same as long as `when` is true of the primary. Until then an object isn't brought into the form of any kind.
    pub fn change_while<M, C: Change<P, DynamicObject, M>>(
        mut self,
        when: impl Fn(&P) -> bool + Send + Sync + 'static,
        change: C,
    ) -> Self {
        self.edit(None, Some(&(Arc::new(when) as Arc<When<P>>)), change);
        self
    }

    /// The same for one node of the group.
    pub fn change_of_while<N, NM, M, C>(
        mut self,
        node: N,
        when: impl Fn(&P) -> bool + Send + Sync + 'static,
        change: C,
    ) -> Self
    where
        N: Predecessor<P, NM>,
        C: Change<P, DynamicObject, M>,
    {
        self.edit(Some(&node.key()), Some(&(Arc::new(when) as Arc<When<P>>)), change);
        self
    }

    fn edit<M, C>(&mut self, only: Option<&NodeKey>, when: Option<&Arc<When<P>>>, change: C)
    where
        C: Change<P, DynamicObject, M>,
    {
        let change = Arc::new(change);
        for node in self.of(only) {
            let (change, when) = (Arc::clone(&change), when.cloned());
            let edit = move |draft: &mut dyn Draft, asked: Asked<'_>| {
                let (primary, context) = asked.typed::<P>()?;
                if when.as_ref().is_some_and(|when| !when(&primary)) {
                    return Ok(());
                }
                draft.edit(&|object| change.change(object, Given { primary: &primary, context: &context }))
            };
            node.terms.data.extend(<C::Args as Args<P>>::needs());
            node.dependent.add_change(Changes(Arc::new(edit)), <C::Args as Args<P>>::OF_PRIMARY);
        }
    }

    /// All its nodes, or only one of them. If there is no such node, that is a mistake of the declaration.
    fn of(&mut self, only: Option<&NodeKey>) -> impl Iterator<Item = &mut AnyNode> {
        let nodes = &mut self.nodes.nodes;
        if let Some(only) = only
            && !nodes.iter().any(|node| is_node(node, only))
        {
            self.any.strangers.push(only.clone());
        }
        nodes.iter_mut().filter(move |node| only.is_none_or(|only| is_node(node, only)))
    }

    /// Keeps a value with the group, for a layer above the workflow, which finds it in
    /// [`GroupResult::carried`](crate::workflow::GroupResult::carried). The last value
    /// counts.
    pub fn carrying(mut self, value: impl Any + Send + Sync) -> Self {
        self.any.carried = Some(Arc::new(value));
        self
    }

    /// Keeps a value with a node of the group, which is found in
    /// [`GroupResult::carried_of`](crate::workflow::GroupResult::carried_of). Of several values of a type the first one counts.
    pub fn carrying_of<N: Predecessor<P, M>, M>(mut self, node: N, value: impl Any + Send + Sync) -> Self {
        let key = node.key();
        // Looked for: it has to be there.
        let _ = self.of(Some(&key)).count();
        self.any.of_nodes.push((key, Arc::new(value)));
        self
    }

    /// No other group of the workflow may claim the same, for example `the condition WebReady`.
    pub fn claiming(mut self, what: impl Into<String>) -> Self {
        self.any.claims.push(what.into());
        self
    }

    /// Gives the group another name.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.any.name = name.into();
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.any.name
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> IntoNode<P> for Group<P> {
    fn add_to(self, nodes: &mut AnyNodes) {
        let mut all = self.nodes;
        all.groups.push(self.any);
        nodes.extend(all);
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Predecessor<P> for &Group<P> {
    fn key(self) -> NodeKey {
        self.any.key()
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Value<P> for Group<P> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}

debug_of!(Group<P> [P: KubeObject]: "Group", |it| name: it.any.name, nodes: it.nodes.nodes);
