//! The outcome of a run of a primary, and the function that makes the status from it.
//!
//! ```text
//! workflow ──WorkflowResult──┐
//! failure ────RunError───────┼─▶ Run ──▶ status function ──▶ dispatcher, which writes the status
//! primary's conditions ──────┘
//! ```

mod conditions;
mod error;
mod function;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    marker::PhantomData,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

pub use error::RunError;
pub use function::StatusFunction;
pub(crate) use function::{AnyStatus, SerializedStatus, erased};

use super::{AnyContext, AnyGiven, Data, steps::StepConditions};
use crate::resource::{AnyObject, KubeObject};
use crate::{
    error::Awaited,
    reconciler::ManagedWorkflow,
    results::{
        GroupResult, LatestResults, NodeResult, NodeState, NodeStatus, Operation, Secondary, WorkflowError,
        WorkflowResult,
    },
};
pub(crate) use conditions::{RECONCILING, says_paused};
use conditions::{STALLED, Verdict};

/// The outcome of a run of a primary. The controller's status function gets it at the end of each run, even if the run
/// failed, passed its deadline or panicked, and while a clean-up waits. A reconciler gets one for its workflow. JOSDK:
/// `WorkflowReconcileResult`, `WorkflowCleanupResult`.
///
/// Displayed as text, it has one line for each node.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Service};
/// use operator_core::{Controller, Reconciler, Run};
/// use serde_json::{Value, json};
///
/// fn status(service: &Service, run: &Run<Service>) -> Value {
///     json!({ "conditions": run.conditions(service) })
/// }
///
/// fn declared(reconciler: impl Reconciler<Primary = Service>) {
/// # let _ =
///     Controller::builder(reconciler).status(status);
/// }
/// ```
pub struct Run<P: KubeObject> {
    any: Arc<AnyRun>,
    of: PhantomData<fn(P)>,
}

/// The same for primaries of any type.
pub(crate) struct AnyRun {
    context: Arc<AnyContext>,
    primary: AnyObject,
    /// The workflow, if there is one.
    workflow: Option<Arc<dyn ManagedWorkflow>>,
    /// The result of the workflow, if the workflow was run.
    result: Option<Arc<WorkflowResult>>,
    error: Option<RunError>,
    /// For what a step of the reconciler waits.
    awaited: Option<Awaited>,
    /// The conditions of its steps.
    steps: StepConditions,
    is_cleanup: bool,
    is_paused: bool,
    /// Whether nodes are missing on purpose.
    is_part: bool,
    /// Whether the live object has to be read before it is known which conditions have to be repeated.
    is_unsure: AtomicBool,
    live: OnceLock<AnyObject>,
}

impl<P: KubeObject> Run<P> {
    /// The same if the caller knows the type of the primaries.
    pub(crate) fn of_any(any: Arc<AnyRun>) -> Self {
        Self { any, of: PhantomData }
    }

    /// Whether everything is as it should be: the run didn't fail, it was not a clean-up, and each node of the
    /// controller's workflow is ready, or should not exist and doesn't. A node that wasn't reached isn't ready.
    #[must_use]
    pub fn all_ready(&self) -> bool {
        self.any.verdict().is_ready()
    }

    /// After a clean-up: whether everything that had to be deleted is gone, and the primary may be removed, too.
    /// False if the workflow wasn't run.
    #[must_use]
    pub fn all_deleted(&self) -> bool {
        self.any.result.as_ref().is_some_and(|result| result.all_deleted())
    }

    /// The errors of all nodes as one.
    ///
    /// # Errors
    /// If a node failed. JOSDK: `throwAggregateExceptionIfErrorsPresent`.
    pub fn check(&self) -> Result<(), WorkflowError> {
        self.any.result.as_ref().map_or(Ok(()), |result| result.check())
    }

    /// Why the run failed; `None` if it didn't.
    #[must_use]
    pub fn error(&self) -> Option<&RunError> {
        self.any.error.as_ref()
    }

    /// The error of type `E` because of which the run failed: what user code returned, or the first of its causes that is
    /// one, within [`Permanent`](crate::Permanent), the error of a node, or any error that names it as its source. The
    /// outermost error of an `anyhow::Error` is hidden if the conversion into a box isn't
    /// `reallocate_into_boxed_dyn_error_without_backtrace`; what is below a `context` is found.
    #[must_use]
    pub fn error_as<E: std::error::Error + 'static>(&self) -> Option<&E> {
        error::find(self.error()?.get_ref())
    }

    /// Whether the run was a clean-up.
    #[must_use]
    pub fn is_cleanup(&self) -> bool {
        self.any.is_cleanup
    }

    /// Whether the run has done nothing because the primary is paused: see
    /// [`paused_when`](crate::ControllerBuilder::paused_when).
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.any.is_paused
    }

    /// Whether a step has said by [`Context::abnormal`](crate::Context::abnormal) that something is wrong.
    #[must_use]
    pub fn is_abnormal(&self) -> bool {
        self.any.steps.abnormal().is_some()
    }

    /// Whether something has happened since the run began: then another run follows at once.
    #[must_use]
    pub fn another_follows(&self) -> bool {
        let context = &self.any.context;
        context.shared().processor.next_reconciliation_imminent(context.primary_key())
    }

    /// The outcome of each node of the controller's workflow, in the order of their declaration. If the run was
    /// dropped, for example at the deadline, they show how far it got. Empty if the run didn't reach the workflow. If
    /// removing the leftovers of earlier versions failed, one more node, which isn't declared, has the error.
    #[must_use]
    pub fn nodes(&self) -> &[NodeResult] {
        self.any.nodes()
    }

    /// The groups of the controller's workflow, in the order of their declaration, with what the run did about their nodes; one
    /// within another comes before that.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupResult<'_>> {
        let groups = self.workflow().map(ManagedWorkflow::groups).unwrap_or_default();
        groups.into_iter().map(|group| GroupResult::of(group, self.result())).collect()
    }

    /// The latest outcome of each node, in this run or an earlier one, and since when; in the order of their
    /// declarations. Empty before the first run, and after a restart of the operator.
    #[must_use]
    pub fn latest(&self) -> Vec<NodeStatus> {
        let latest = |latest: &mut LatestResults| latest.nodes();
        self.any.context.scope().look(latest).unwrap_or_default()
    }

    /// The nodes that wait: they aren't ready, can't start yet, wait for another node, or wait to be deleted. Each
    /// state has the reason.
    pub fn waiting(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes().iter().filter(|node| conditions::waits(&node.state))
    }

    /// The nodes that failed, each with its error. JOSDK: `getErroredDependents`.
    pub fn failed(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes().iter().filter(|node| conditions::failed(&node.state))
    }

    /// The nodes that are held. Each state has the reason.
    pub fn held(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes().iter().filter(|node| matches!(node.state, NodeState::Held { .. }))
    }

    /// The nodes that should not exist. The node that caused this, and the reason, are in their
    /// [`unwanted`](crate::workflow::NodeResult::unwanted).
    pub fn removed(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes().iter().filter(|node| node.unwanted.is_some())
    }

    /// The nodes that take no part, because the cluster lacks something that they need. Each state has the reason.
    pub fn inactive(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes().iter().filter(|node| matches!(node.state, NodeState::Inactive { .. }))
    }

    /// The conditions `Ready`, `Reconciling` and `Stalled` for the current generation of the primary, for the field
    /// `conditions` of its status. A time stays the same while the status of its condition does, so a run that changes
    /// nothing writes nothing. Other conditions in the status are kept.
    ///
    /// | the run | `Ready` | `Reconciling` | `Stalled` |
    /// |---|---|---|---|
    /// | succeeded | `True` | `False`; `True`, `Removing`, while something stays that isn't wanted any more | `False` |
    /// | no node wants anything | `True`, `NothingWanted` | `True` while objects are going | `False` |
    /// | waits for a node | `False`, `Waiting` or the code of the wait | `True` | `False` |
    /// | holds a node | `False`, `Held` or the code of the hold | `False`, unless another one waits | `True` |
    /// | stopped at a step that waits | `False`, with its code | `True` | `False` |
    /// | failed, and is retried | `False`, `Failed`, `TimedOut`, `Panicked` or its own reason | `True` | `False` |
    /// | failed, and isn't | the same | `False` | `True` |
    /// | failed, and is retried, but something outside decides: an object in the way, a refused write, a missing namespace | the same | `False` | `True` |
    /// | cleaned up | `False`, `Deleting` | `True` | `False` |
    /// | did nothing, because the primary is paused | `False`, `Suspended` | `False` | `False` |
    ///
    /// The messages are the reasons of the nodes, or the error.
    #[must_use]
    pub fn conditions(&self, primary: &P) -> Vec<Condition> {
        self.any.conditions(primary)
    }

    /// The name of another field manager that applies the condition of this type, which the status should leave out then: all that it
    /// has is taken over. A manager that applies `Ready` as well doesn't count, as it is this controller under a former name.
    #[must_use]
    pub fn manager_of_condition(&self, r#type: &str) -> Option<String> {
        self.any.manager_of_condition(r#type)
    }

    /// The time of day, for conditions of your own; that of a dry run is the one that it was given.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.any.context.wall_clock().now()
    }

    /// Asks for another run of the primary after this time, for example because a condition of your own changes by then. The
    /// earliest of all requests counts, and the maximum interval still applies. While a failed run is retried, the retry policy
    /// decides; after a failure that isn't, the request counts.
    pub fn again_in(&self, delay: Duration) {
        self.any.context.remembered().lock().note_again_in(delay);
    }

    /// The data of type `T` that the reconciler has put into the run, with [`Context::put`](crate::Context::put).
    #[must_use]
    pub fn data<T: Send + Sync + 'static>(&self) -> Option<Data<T>> {
        self.any.context.data().get().ok()
    }

    /// The outcome of the node with that name.
    pub(crate) fn node_named(&self, name: &str) -> Option<&NodeResult> {
        self.any.result.as_ref()?.node(name)
    }

    /// The outcomes of all nodes.
    pub(crate) fn result(&self) -> Option<&WorkflowResult> {
        self.any.result.as_deref()
    }

    /// The objects of a node: those that the run has written or found, otherwise the known ones. Objects that
    /// should no longer exist are left out.
    pub(crate) fn secondaries(&self, node: &str) -> Vec<Secondary> {
        self.any.secondaries(node)
    }

    /// The workflow.
    pub(crate) fn workflow(&self) -> Option<&dyn ManagedWorkflow> {
        self.any.workflow.as_deref()
    }
}

impl AnyRun {
    pub(crate) fn new(context: &Arc<AnyContext>, primary: AnyObject, mut error: Option<RunError>) -> Self {
        let is_cleanup = primary.meta().deletion_timestamp.is_some();
        let remembered = context.remembered().lock();
        let (result, awaited, steps) = remembered.outcome(is_cleanup);
        let is_paused = remembered.is_paused && error.is_none();
        drop(remembered);
        if let Some(error) = &mut error {
            let first = |is: &dyn Fn(&NodeState) -> bool| {
                result.iter().flat_map(|result| result.nodes()).find(|node| is(&node.state))
            };
            let (failed, hung) = (first(&conditions::failed), first(&conditions::hangs));
            let node = if error.timed_out { hung.or(failed) } else { failed.or(hung) };
            error.node = node.map(|node| Arc::clone(&node.name));
        }
        Self {
            context: Arc::clone(context),
            primary,
            workflow: context.shared().workflow.clone(),
            result,
            error,
            awaited,
            steps,
            is_cleanup,
            is_paused,
            is_part: false,
            is_unsure: AtomicBool::new(false),
            live: OnceLock::new(),
        }
    }

    /// The outcome of a part of the workflow, whatever else the run does.
    pub(crate) fn of_part(
        context: &Arc<AnyContext>,
        primary: AnyObject,
        result: Arc<WorkflowResult>,
    ) -> Self {
        Self { result: Some(result), is_part: true, ..Self::new(context, primary, None) }
    }

    /// The outcome of a standalone workflow, which the reconciler calls.
    pub(crate) fn of_standalone(
        context: &Arc<AnyContext>,
        primary: AnyObject,
        workflow: Arc<dyn ManagedWorkflow>,
        result: WorkflowResult,
        is_cleanup: bool,
    ) -> Self {
        let workflow = Some(workflow);
        Self { workflow, is_cleanup, ..Self::of_part(context, primary, Arc::new(result)) }
    }

    /// Whether a status made from it may be wrong about conditions of others, as long as the live object
    /// hasn't been read.
    pub(crate) fn is_unsure(&self) -> bool {
        self.is_unsure.load(Ordering::Relaxed)
    }

    /// Adds the live object.
    pub(crate) fn looked(&self, live: AnyObject) {
        // It is read only once.
        let _ = self.live.set(live);
    }

    /// Whether a person has asked for what it says: a deletion, or a pause.
    pub(crate) fn was_asked_for(&self) -> bool {
        self.is_cleanup || self.is_paused
    }

    /// Whether a condition that the run has set tells of trouble while it is true.
    pub(crate) fn tells_of_trouble(&self, r#type: &str) -> bool {
        r#type == STALLED || self.steps.has_abnormal(r#type)
    }

    fn nodes(&self) -> &[NodeResult] {
        self.result.as_ref().map_or(&[], |result| result.nodes())
    }

    fn verdict(&self) -> Verdict {
        if self.is_paused {
            return Verdict::paused();
        }
        let nodes = self.result.as_ref().map(|result| result.nodes());
        let stopped = self.awaited.as_ref().map(|awaited| (awaited.code, awaited.reason.clone()));
        Verdict::of(self.error.as_ref(), self.is_cleanup, nodes, (stopped, self.not_run()))
            .unless(self.steps.abnormal())
    }

    /// The part of the workflow that should have been run and was not.
    fn not_run(&self) -> Option<String> {
        let workflow = self.workflow.as_ref().filter(|_| !self.is_part)?;
        let Some(result) = &self.result else { return Some("the workflow was not run".to_owned()) };
        // Most workflows were run as a whole.
        if result.nodes().len() >= workflow.len() {
            return None;
        }
        let missing: Vec<_> =
            workflow.names().into_iter().filter(|name| result.node(name).is_none()).collect();
        (!missing.is_empty()).then(|| format!("not run: {}", missing.join(", ")))
    }

    fn conditions(&self, primary: &impl KubeObject) -> Vec<Condition> {
        // The newest state, so changes that others have made meanwhile aren't undone.
        let newest = self.context.primary();
        let newest = newest.as_deref().unwrap_or(primary);
        let known = match self.context.shared().applies {
            true => {
                let manager = &*self.context.shared().writer.field_manager;
                conditions::known(newest, manager, self.live.get().map(|live| &**live))
            }
            false => Some(conditions::conditions_of(newest)),
        };
        let mut all = known.unwrap_or_else(|| {
            self.is_unsure.store(true, Ordering::Relaxed);
            conditions::conditions_of(newest)
        });
        let (generation, now) = (primary.meta().generation, self.context.wall_clock().now());
        self.steps.say(&mut all, generation, now);
        self.verdict().say(&mut all, generation, now);
        all
    }

    fn manager_of_condition(&self, r#type: &str) -> Option<String> {
        let (shared, newest) = (self.context.shared(), self.context.primary()?);
        let (of, live) = ((&*shared.writer.field_manager, r#type), self.live.get().map(|live| &**live));
        let found = if shared.applies { conditions::other_manager(&*newest, of, live) } else { Some(None) };
        found.unwrap_or_else(|| {
            self.is_unsure.store(true, Ordering::Relaxed);
            None
        })
    }

    fn secondaries(&self, name: &str) -> Vec<Secondary> {
        // A run that didn't reach the node has no result of it.
        let node = self.nodes().iter().find(|node| &*node.name == name);
        if node.is_some_and(|node| node.unwanted.is_some()) {
            return Vec::new();
        }
        if let Some(reconciled) = node.and_then(|node| node.reconciled.as_ref()) {
            let there = reconciled.operations().iter().filter(|(of, _)| *of != Operation::Deleted);
            let there = there.map(|(_, secondary)| secondary.clone()).collect();
            // The answer to a write shows the time before the cluster has reacted to it.
            return match &self.workflow {
                Some(workflow) => workflow.newest(name, there, &self.context),
                None => there,
            };
        }
        let Some(workflow) = &self.workflow else { return Vec::new() };
        // Objects in the cluster are read from a cache, at once. Others, which would need a request, aren't read.
        let given = AnyGiven { primary: &self.primary, context: &self.context };
        workflow.secondaries(name, given).now_or_never().unwrap_or_default()
    }
}

/// One line for each node.
impl<P: KubeObject> fmt::Display for Run<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.result().map_or(Ok(()), |result| result.fmt(f))
    }
}

debug_of!(Run<P> [P: KubeObject]: "Run", |it|
    run: it.any.context.run(), is_cleanup: it.any.is_cleanup, error: it.any.error);
