//! One node of a workflow, as it is declared.

use std::{any::type_name_of_val, collections::BTreeMap, fmt, marker::PhantomData, sync::Arc};

use super::{
    activation::{Activation, AnyActivation},
    condition::{AnyCondition, Condition, For, Precondition, ReconcilePrecondition, When},
    outline::short_name,
};
use crate::{
    dependent::{AnyDependent, Capabilities, IntoDependent},
    reconciler::{
        Context, DataType,
        workflow::{ConditionKind, NodeKey},
    },
    resource::{Access, KubeObject},
};

/// Declares a dependent as part of a workflow: what it depends on, and its conditions. JOSDK's `@Dependent`
/// within `@Workflow`.
#[must_use = "a node does nothing until it is given to a workflow"]
pub struct Node<P: KubeObject> {
    pub(super) any: AnyNode,
    of: PhantomData<fn(P)>,
}

/// The same for primaries of any type.
pub(super) struct AnyNode {
    pub(super) dependent: AnyDependent,
    /// The type of the function or value that it is, where it isn't known by its name.
    pub(super) key: Option<NodeKey>,
    /// Whether its name can be used: that of a closure can't.
    pub(super) is_named: bool,
    pub(super) depends_on: Vec<String>,
    /// The same of nodes that are known by their types.
    pub(super) after: Vec<NodeKey>,
    pub(super) activation: Option<Arc<dyn AnyActivation>>,
    pub(super) precondition: Option<Precondition>,
    pub(super) ready: Option<Arc<dyn AnyCondition>>,
    pub(super) deleted: Option<Arc<dyn AnyCondition>>,
    /// Whether it has to be gone before what it depends on, and its primary, are.
    pub(super) first: bool,
    /// Whether it is ready also where it is only read and there is nothing.
    pub(super) optional: bool,
    /// The names of the event sources that run only while this node is active; filled in when the workflow is built.
    pub(super) sources: Vec<String>,
    /// The rights that its conditions need.
    pub(super) asks: Vec<Access>,
    /// The data that its functions take out of the run.
    pub(super) data: Vec<DataType>,
    /// The conditions in words, by what they decide.
    pub(super) words: BTreeMap<ConditionKind, String>,
}

impl<P: KubeObject> Node<P> {
    /// A node that depends on nothing, called like its dependent.
    pub fn new(dependent: impl IntoDependent<P>) -> Self {
        let any = AnyNode::of(dependent.into_dependent().any().clone());
        Self { any, of: PhantomData }
    }

    /// Names the node; needed where one type is used twice.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.any.dependent = self.any.dependent.named(name);
        self
    }

    /// Runs after that node is ready, and is deleted before it, unless both are left to the garbage collector at the end of
    /// their primary. May be said several times.
    pub fn depends_on(mut self, node: impl Into<String>) -> Self {
        self.any.depends_on.push(node.into());
        self
    }

    /// Takes part only where the cluster is able to: otherwise the node is not there, so that it isn't deleted either, and
    /// what depends on it is removed. Its event source runs only while at least one primary has it active. JOSDK's
    /// `activationCondition`.
    pub fn activation_condition(mut self, condition: impl Activation) -> Self {
        self.any.say(ConditionKind::Activation, "active if", &condition);
        self.any.asks.extend(condition.access());
        self.any.activation = Some(Arc::new(condition));
        self
    }

    /// Exists only where the condition is met: otherwise it is deleted, after everything that depends on it, also while what
    /// it depends on isn't ready. JOSDK's `reconcilePrecondition`.
    pub fn reconcile_precondition(mut self, condition: impl Condition<P>) -> Self {
        self.any.say(ConditionKind::ReconcilePrecondition, "if", &condition);
        self.any.asks.extend(condition.access());
        self.any.precondition = Some(Precondition::RemoveUnless(For::<_, P>::new(condition)));
        self
    }

    /// Stays as it is until the condition is met: neither it nor what depends on it is reconciled, and a removal that comes
    /// from what it depends on stops at it. Cleaning up ignores it.
    pub fn hold_unless(mut self, condition: impl Condition<P>) -> Self {
        self.any.say(ConditionKind::ReconcilePrecondition, "held unless", &condition);
        self.any.asks.extend(condition.access());
        self.any.precondition = Some(Precondition::HoldUnless(For::<_, P>::new(condition)));
        self
    }

    /// Is run, held or removed, as the gate says.
    pub fn gate(mut self, gate: impl ReconcilePrecondition<P>) -> Self {
        self.any.say(ConditionKind::ReconcilePrecondition, "gate", &gate);
        self.any.precondition = Some(Precondition::Gate(For::<_, P>::new(gate)));
        self
    }

    /// What depends on it runs once the condition is met. JOSDK's `readyPostcondition`.
    pub fn ready_postcondition(mut self, condition: impl Condition<P>) -> Self {
        self.any.say(ConditionKind::ReadyPostcondition, "ready when", &condition);
        self.any.asks.extend(condition.access());
        self.any.ready = Some(For::<_, P>::new(condition));
        self
    }

    /// What it depends on is deleted, and its primary goes, once the condition is met. At the end of its primary the workflow
    /// deletes it for that, also where the garbage collector would. JOSDK's `deletePostcondition`.
    pub fn delete_postcondition(mut self, condition: impl Condition<P>) -> Self {
        self.any.say(ConditionKind::DeletePostcondition, "deleted when", &condition);
        self.any.asks.extend(condition.access());
        self.any.deleted = Some(For::<_, P>::new(condition));
        self
    }

    /// What is only read may be missing: then the node is ready all the same. Otherwise what depends on it waits until it is
    /// there.
    pub fn optional(mut self) -> Self {
        self.any.optional = true;
        self
    }

    /// [`Node::reconcile_precondition`] by a closure.
    pub fn reconcile_when(self, condition: impl Fn(&P, &Context<P>) -> bool + Send + Sync + 'static) -> Self {
        self.reconcile_precondition(When(condition))
    }

    /// [`Node::ready_postcondition`] by a closure.
    pub fn ready_when(self, condition: impl Fn(&P, &Context<P>) -> bool + Send + Sync + 'static) -> Self {
        self.ready_postcondition(When(condition))
    }

    /// [`Node::delete_postcondition`] by a closure.
    pub fn deleted_when(self, condition: impl Fn(&P, &Context<P>) -> bool + Send + Sync + 'static) -> Self {
        self.delete_postcondition(When(condition))
    }
}

impl AnyNode {
    /// A node of that dependent, of which nothing is said.
    pub(super) fn of(dependent: AnyDependent) -> Self {
        Self {
            dependent,
            key: None,
            is_named: true,
            depends_on: Vec::new(),
            after: Vec::new(),
            activation: None,
            precondition: None,
            ready: None,
            deleted: None,
            first: false,
            optional: false,
            sources: Vec::new(),
            asks: Vec::new(),
            data: Vec::new(),
            words: BTreeMap::new(),
        }
    }

    /// Whether it isn't ready where nothing was found: it is only read, it is one, and what depends on it needs it.
    pub(super) fn has_to_be_found(&self) -> bool {
        let reads = self.dependent.capabilities() == Capabilities::READ_ONLY;
        reads && !self.optional && !self.dependent.is_several()
    }

    /// Whether its gate, or its dependent, may hold it.
    pub(super) fn may_be_held(&self) -> bool {
        self.precondition.as_ref().is_some_and(Precondition::may_hold)
            || self.dependent.judged().is_some_and(|judged| judged.holds)
    }

    /// Whether its dependent is asked what it wants. `in_order`: all that it depends on is ready.
    pub(super) fn is_wish_asked(&self, in_order: bool) -> bool {
        self.dependent.judged().is_some_and(|judged| in_order || judged.before_order)
    }

    /// What is said about a node in outlines.
    fn say<C>(&mut self, kind: ConditionKind, verb: &str, condition: &C) {
        let name = short_name(type_name_of_val(condition));
        let name = if name.starts_with("When<") { "closure" } else { &name };
        self.words.insert(kind, format!("{verb} {name}"));
    }

    /// The conditions in words, as in `if Exposed`.
    pub(super) fn conditions(&self) -> Vec<String> {
        self.words.values().cloned().collect()
    }

    pub(super) fn name(&self) -> Arc<str> {
        self.dependent.shared_name()
    }
}

impl<P: KubeObject> fmt::Debug for Node<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

impl fmt::Debug for AnyNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("dependent", &self.dependent)
            .field("depends_on", &self.depends_on)
            .finish_non_exhaustive()
    }
}
