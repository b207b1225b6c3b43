//! What a node's course depends on.

use std::{future::Future, marker::PhantomData, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;

use crate::{
    dependent::AnyDependent,
    reconciler::{
        AnyContext, BoxError, Context,
        workflow::{ConditionResult, ReconcileResult, Secondary},
    },
    resource::{Access, AnyObject, KubeObject},
};

/// The node that a condition is asked about.
#[derive(Debug)]
pub struct NodeView<'n, P: KubeObject> {
    pub(super) any: AnyView<'n>,
    of: PhantomData<fn(P)>,
}

/// The same for primaries of any type.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyView<'n> {
    pub(super) name: &'n str,
    pub(super) dependent: &'n AnyDependent,
    pub(super) reconciled: Option<&'n ReconcileResult>,
    /// Whether it is ready also where there is nothing.
    pub(super) may_lack: bool,
}

impl<P: KubeObject> NodeView<'_, P> {
    /// The node's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.any.name
    }

    /// What its dependent did in this run; `None` for conditions that are asked before that, and where it failed.
    #[must_use]
    pub fn reconciled(&self) -> Option<&ReconcileResult> {
        self.any.reconciled
    }

    /// What is there of the node's dependent now; several for a bulk dependent.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn secondaries(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Vec<Secondary>, BoxError> {
        let primary = Arc::clone(primary) as AnyObject;
        let all = self.any.dependent.secondaries(&primary, context.any()).await?;
        all.iter().try_for_each(Secondary::check)?;
        Ok(all)
    }

    /// The node's resource, if there is one and it is of type `T`.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn secondary<T: Send + Sync + 'static>(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Option<Arc<T>>, BoxError> {
        Ok(self.secondaries(primary, context).await?.iter().find_map(Secondary::get))
    }

    /// The node's objects in the cluster as JSON.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn json(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Vec<Value>, BoxError> {
        Ok(self.secondaries(primary, context).await?.iter().filter_map(Secondary::to_json).collect())
    }
}

/// Asked about a node before or after it runs. JOSDK's `Condition` and `DetailedCondition`.
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use operator_core::{
///     BoxError, Context,
///     workflow::{Condition, ConditionResult, NodeView},
/// };
///
/// /// Met once the config map has been filled by somebody.
/// struct Filled;
///
/// impl Condition<Pod> for Filled {
///     async fn check(
///         &self,
///         node: &NodeView<'_, Pod>,
///         primary: &Arc<Pod>,
///         context: &Context<Pod>,
///     ) -> Result<ConditionResult, BoxError> {
///         let map = node.secondary::<ConfigMap>(primary, context).await?;
///         let filled = map.is_some_and(|map| map.data.as_ref().is_some_and(|data| !data.is_empty()));
///         Ok(ConditionResult::when(filled, "the config map is empty"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition for workflows of `{P}`",
    note = "implement `operator_core::workflow::Condition<{P}>` for it; a function or a closure goes to `.reconcile_when(…)`, `.ready_when(…)` or `.deleted_when(…)`, and into an attribute as a closure: `|primary, context| is_exposed(primary, context)`"
)]
pub trait Condition<P: KubeObject>: Send + Sync + 'static {
    /// Whether it is met for this primary, and why not.
    ///
    /// # Errors
    /// When it can't be told: the node fails then, and is retried with its primary.
    fn check(
        &self,
        node: &NodeView<'_, P>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<ConditionResult, BoxError>> + Send;

    /// The rights in the cluster that it needs to answer, beside those of its node. By default none.
    fn access(&self) -> Vec<Access> {
        Vec::new()
    }
}

/// What a reconcile precondition says about its node.
#[derive(Clone, Debug)]
pub enum Gate {
    /// It is to be as desired.
    Run,
    /// It stays as it is, whatever that is; with the reason. What depends on it isn't reconciled, and what it depends on isn't
    /// removed: a removal that comes down the chain stops here.
    Hold(String),
    /// It is not to exist, and nothing that depends on it; with the reason.
    Remove(String),
}

/// Decides whether a node is reconciled, held, or removed. It is asked in each run, also while what the node depends on isn't
/// ready, or goes: then "run" keeps the node as it is, or removes it with what it depends on, and an error counts only where a
/// removal has to know the answer. Every [`Condition`] is one by
/// [`Node::reconcile_precondition`](super::Node::reconcile_precondition), where "not met" removes, as in JOSDK, or by
/// [`Node::hold_unless`](super::Node::hold_unless), where it holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no gate for workflows of `{P}`",
    note = "implement `operator_core::workflow::ReconcilePrecondition<{P}>`, or use a `Condition` with `.reconcile_precondition(…)` or `.hold_unless(…)`"
)]
pub trait ReconcilePrecondition<P: KubeObject>: Send + Sync + 'static {
    /// The decision for this primary.
    ///
    /// # Errors
    /// When it can't be told: the node fails then.
    fn gate(
        &self,
        node: &NodeView<'_, P>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Gate, BoxError>> + Send;
}

/// What the check of a condition comes to.
pub(super) type Answer = Result<ConditionResult, BoxError>;

/// A node that is asked about, for a primary of any type.
#[derive(Clone, Copy)]
pub(super) struct Asking<'r> {
    pub(super) view: AnyView<'r>,
    pub(super) primary: &'r AnyObject,
    pub(super) context: &'r Arc<AnyContext>,
}

/// What user code is given.
type Given<'r, P> = (NodeView<'r, P>, Arc<P>, Context<P>);

impl<'r> Asking<'r> {
    /// What user code is given. A node is asked about for primaries of one type only.
    fn typed<P: KubeObject>(self) -> Result<Given<'r, P>, BoxError> {
        let (primary, context) = Context::given(self.primary, self.context)?;
        Ok((NodeView { any: self.view, of: PhantomData }, primary, context))
    }
}

/// A condition of any type.
pub(super) trait AnyCondition: Send + Sync {
    fn check<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, Answer>;
}

/// A [`ReconcilePrecondition`] of any type.
pub(super) trait AnyGate: Send + Sync {
    fn gate<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, Result<Gate, BoxError>>;
}

/// All of these, as one; the first that isn't met says why.
pub(super) fn all_conditions(mut all: Vec<Arc<dyn AnyCondition>>) -> Option<Arc<dyn AnyCondition>> {
    match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Arc::new(All(all))),
    }
}

struct All(Vec<Arc<dyn AnyCondition>>);

impl AnyCondition for All {
    fn check<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, Answer> {
        async move {
            for one in &self.0 {
                let answer = one.check(asking).await?;
                if !answer.is_met() {
                    return Ok(answer);
                }
            }
            Ok(ConditionResult::met())
        }
        .boxed()
    }
}

/// A condition, or a gate, for primaries of type `P`.
pub(super) struct For<C, P> {
    of: C,
    primaries: PhantomData<fn(P)>,
}

impl<C, P> For<C, P> {
    pub(super) fn new(of: C) -> Arc<Self> {
        Arc::new(Self { of, primaries: PhantomData })
    }
}

impl<C: Condition<P>, P: KubeObject> AnyCondition for For<C, P> {
    fn check<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, Answer> {
        // The call itself may panic, too, not only the future that it makes.
        async move {
            let (view, primary, context) = asking.typed::<P>()?;
            self.of.check(&view, &primary, &context).await
        }
        .boxed()
    }
}

impl<G: ReconcilePrecondition<P>, P: KubeObject> AnyGate for For<G, P> {
    fn gate<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, Result<Gate, BoxError>> {
        async move {
            let (view, primary, context) = asking.typed::<P>()?;
            self.of.gate(&view, &primary, &context).await
        }
        .boxed()
    }
}

/// A closure that is asked about primary and context, with the words for "not met".
pub(super) struct When<F>(pub(super) F);

impl<P, F> Condition<P> for When<F>
where
    P: KubeObject,
    F: Fn(&P, &Context<P>) -> bool + Send + Sync + 'static,
{
    async fn check(&self, _: &NodeView<'_, P>, primary: &Arc<P>, context: &Context<P>) -> Answer {
        Ok(ConditionResult::when((self.0)(primary, context), "its condition is not met"))
    }
}

/// What decides whether a node is reconciled, held or removed.
pub(super) enum Precondition {
    /// A gate of the user's own.
    Gate(Arc<dyn AnyGate>),
    /// A condition without which the node is held.
    HoldUnless(Arc<dyn AnyCondition>),
    /// A condition without which the node is removed.
    RemoveUnless(Arc<dyn AnyCondition>),
}

impl Precondition {
    /// Whether it may hold the node.
    pub(super) const fn may_hold(&self) -> bool {
        !matches!(self, Self::RemoveUnless(_))
    }

    /// The decision, and the answer of the condition that it follows from.
    pub(super) async fn decide(&self, asking: Asking<'_>) -> Result<(Gate, ConditionResult), BoxError> {
        let (condition, otherwise): (_, fn(String) -> Gate) = match self {
            Self::Gate(gate) => {
                let gate = gate.gate(asking).await?;
                let answer = match &gate {
                    Gate::Run => ConditionResult::met(),
                    Gate::Hold(reason) | Gate::Remove(reason) => ConditionResult::not_met(reason),
                };
                return Ok((gate, answer));
            }
            Self::HoldUnless(condition) => (condition, Gate::Hold),
            Self::RemoveUnless(condition) => (condition, Gate::Remove),
        };
        let answer = condition.check(asking).await?;
        let gate = if answer.is_met() { Gate::Run } else { otherwise(answer.reason().to_owned()) };
        Ok((gate, answer))
    }
}
