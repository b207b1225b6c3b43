//! How a run invokes its controller's workflow.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    error::Awaited,
    reconciler::{AnyContext, AnyGiven, steps::StepConditions},
    resource::{AnyObject, ObjectKey, ResourceType, label_value},
    results::{Grouped, LatestResults, NodeKey, Secondary, WorkflowError, WorkflowResult},
};

/// Takes the results of a workflow run that is dropped before its end.
pub(crate) type Unfinished<'r> = &'r (dyn Fn(WorkflowResult) + Send + Sync);

/// A workflow as the dispatcher and the context see it.
pub(crate) trait ManagedWorkflow: fmt::Debug + Send + Sync {
    /// The fields of the primary's status in which nodes keep ids; a status function may not set them.
    fn own_fields(&self) -> &[Arc<str>];
    /// Reconciles everything that can be reconciled, or, in a clean-up, deletes everything that has to be deleted.
    fn run<'r>(
        &'r self,
        is_cleanup: bool,
        given: AnyGiven<'r>,
        unfinished: Unfinished<'r>,
    ) -> BoxFuture<'r, WorkflowResult>;
    /// Reconciles these nodes and all nodes that they come after, and leaves the others unchanged; `before` is the
    /// result of the workflow so far in the same run of the primary. Returns the result of the part, and everything
    /// that is then known.
    fn reconcile_part<'r>(
        &'r self,
        part: &'r [NodeKey],
        before: Option<&'r WorkflowResult>,
        given: AnyGiven<'r>,
        unfinished: Unfinished<'r>,
    ) -> BoxFuture<'r, Result<Parted, WorkflowError>>;
    /// The objects of the node with that name now. Ready at once, unless user code has to be called.
    fn secondaries<'r>(&'r self, node: &str, given: AnyGiven<'r>) -> BoxFuture<'r, Vec<Secondary>>;
    /// These resources of the node with that name, which the run has written or found, each in its newest known state.
    /// Calls no user code.
    fn newest(&self, node: &str, of: Vec<Secondary>, context: &AnyContext) -> Vec<Secondary>;
    /// The nodes that write objects of this kind, by the values of their labels, and whether each wants one with
    /// this key; `None` if that can't be said before its turn.
    fn wants(
        &self,
        kind: &ResourceType,
        key: &ObjectKey,
        primary: &AnyObject,
        context: &Arc<AnyContext>,
    ) -> Vec<Wants>;
    /// Whether one of these nodes comes after the other, by the values of their labels.
    fn are_in_order(&self, one: &str, other: &str) -> bool;
    /// Whether user code invokes it; otherwise it runs before `reconcile`.
    fn is_explicit(&self) -> bool;
    /// Whether errors stay in the result; otherwise they fail the run.
    fn keeps_errors(&self) -> bool;
    /// The number of its nodes.
    fn len(&self) -> usize;
    /// The names of its nodes, in the order of their declaration.
    fn names(&self) -> Vec<&str>;
    /// Its groups, in the order of their declaration; one within another comes before that.
    fn groups(&self) -> Vec<Grouped>;
    /// The name of the node of this function or value, if there is one.
    fn node_name(&self, key: &NodeKey) -> Option<&str>;
    /// The same for a function of the other node, which has to come after it.
    fn node_before(&self, key: &NodeKey, by: Option<&str>) -> Result<&str, WorkflowError>;
}

/// Whether a node wants an object.
pub(crate) struct Wants {
    /// The value of the node's label.
    pub(crate) node: String,
    /// `None` if it hasn't said so in this run.
    pub(crate) wants: Option<bool>,
    /// Whether its turn may come late: it comes after others, or needs something of the cluster.
    pub(crate) is_late: bool,
}

/// The result of a part of a workflow.
pub(crate) struct Parted {
    pub(crate) part: WorkflowResult,
    /// Merged with the results of its earlier runs.
    pub(crate) all: WorkflowResult,
}

/// The delay after which a primary runs again, at the latest, if another system was asked to delete something for it.
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// By nodes, what the others have made that each was shown.
pub(crate) type Reads = BTreeMap<String, BTreeSet<String>>;

/// The results of one run: complete, or as far as the workflow got before it was dropped.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    reconciled: Option<Arc<WorkflowResult>>,
    cleaned_up: Option<Arc<WorkflowResult>>,
    /// The workflows whose clean-up isn't done, including those that user code calls itself, with their errors.
    unfinished: BTreeMap<u64, Option<WorkflowError>>,
    /// When something that isn't done or met has to be looked at again, at the latest.
    pub(crate) again_in: Option<Duration>,
    /// For what a step of the reconciler waits.
    awaited: Option<Awaited>,
    /// The conditions of its steps.
    steps: StepConditions,
    /// Whether the primary is left alone.
    pub(crate) is_paused: bool,
    /// The nodes, by the values of their labels, that aren't wanted (`true`) or take no part.
    out: BTreeMap<String, bool>,
    /// The reads of each node, by its name: the nodes that have made what it was shown, by the values of their labels.
    reads: Reads,
    /// The nodes, present and former ones, whose records the run has taken care of.
    cared_for: BTreeSet<String>,
}

impl Remembered {
    /// The result of the workflow, of a clean-up or of a reconcile.
    pub(crate) fn of(&self, cleanup: bool) -> Option<Arc<WorkflowResult>> {
        if cleanup { self.cleaned_up.clone() } else { self.reconciled.clone() }
    }

    /// Records this result of a clean-up of this workflow; an earlier one in the run doesn't count any more.
    pub(crate) fn note_cleanup(&mut self, workflow: u64, result: &WorkflowResult, is_done: bool) {
        match is_done {
            true => self.unfinished.remove(&workflow),
            false => self.unfinished.insert(workflow, result.check().err()),
        };
    }

    /// Records that a deletion outside the cluster was requested and isn't done.
    pub(crate) fn note_asked(&mut self) {
        self.note_again_in(ASKED_AGAIN_AFTER);
    }

    /// Records which nodes aren't wanted (`true`) or take no part, by the values of their labels.
    pub(crate) fn note_out(&mut self, out: BTreeMap<String, bool>) {
        self.out = out;
    }

    /// Whether that node isn't wanted; `None` if it takes part and may be wanted.
    pub(crate) fn is_going(&self, node: &str) -> Option<bool> {
        self.out.get(node).copied()
    }

    /// Records that a node was shown something that the other one has made.
    pub(crate) fn note_read(&mut self, node: &str, maker: &str) {
        // Nodes may be shown many objects of few makers.
        if self.reads.get(node).is_some_and(|read| node == maker || read.contains(maker)) {
            return;
        }
        let read = self.reads.entry(node.to_owned()).or_default();
        if node != maker {
            read.insert(maker.to_owned());
        }
    }

    /// Records that the run takes care of the records of this node.
    pub(crate) fn note_records_of(&mut self, node: &str) {
        self.cared_for.insert(node.to_owned());
    }

    /// Whether it does.
    pub(crate) fn has_records_of(&self, node: &str) -> bool {
        self.cared_for.contains(node)
    }

    /// Records that a condition that isn't met has to be evaluated again after this time.
    pub(crate) fn note_again_in(&mut self, delay: Duration) {
        self.again_in = Some(self.again_in.map_or(delay, |known| known.min(delay)));
    }

    /// Records that a step of the reconciler waits.
    pub(crate) fn note_awaited(&mut self, awaited: Awaited) {
        self.note_again_in(awaited.after);
        self.awaited = Some(awaited);
    }

    pub(crate) fn steps(&mut self) -> &mut StepConditions {
        &mut self.steps
    }

    /// The result of the workflow, for what a step waits, and the conditions of the steps.
    pub(crate) fn outcome(
        &self,
        cleanup: bool,
    ) -> (Option<Arc<WorkflowResult>>, Option<Awaited>, StepConditions) {
        (self.of(cleanup), self.awaited.clone(), self.steps.clone())
    }

    /// Whether all clean-ups are done; the error if one failed.
    pub(crate) fn is_cleaned_up(&self) -> Result<bool, WorkflowError> {
        match self.unfinished.values().flatten().next() {
            Some(error) => Err(error.clone()),
            None => Ok(self.unfinished.is_empty()),
        }
    }
}

impl AnyContext {
    /// The resources that a node has now, for a function of another one, `by`. None if they aren't wanted any more.
    pub(crate) fn seen(
        self: &Arc<Self>,
        key: &NodeKey,
        by: Option<&str>,
    ) -> Result<Vec<Secondary>, WorkflowError> {
        let workflow = self.shared().workflow.as_ref().ok_or(WorkflowError::NoWorkflow)?;
        let node = workflow.node_before(key, by)?;
        if self.remembered().lock().is_going(&label_value(node)) == Some(true) {
            return Ok(Vec::new());
        }
        let primary = self.own_primary().ok_or(WorkflowError::PrimaryGone)?;
        // Nothing that would need a request is read.
        let given = AnyGiven { primary: &primary, context: self };
        let known = workflow.secondaries(node, given).now_or_never();
        Ok(workflow.newest(node, known.unwrap_or_default(), self))
    }

    /// The nodes by whose reads others are kept: what each has read in this run, or, unless this run has asked it, in the last
    /// one that did.
    pub(crate) fn reads(&self, is_asked: impl Fn(&str) -> bool) -> Reads {
        let (now, scope) = (self.remembered().lock().reads.clone(), self.scope());
        // Most primaries have no reads, and nothing is kept for them.
        if now.is_empty() && scope.look(|_: &mut Reads| ()).is_none() {
            return now;
        }
        scope.change_anyway(|known: &mut Reads| {
            known.retain(|node, _| !is_asked(node));
            known.extend(now);
            known.retain(|_, makers| !makers.is_empty());
            known.clone()
        })
    }

    /// Runs the controller's workflow for the primary that `reconcile` was given, or, in a clean-up, `cleanup`, and
    /// remembers the result. For explicit invocation; otherwise it has run before that.
    pub(crate) async fn run_workflow(
        self: &Arc<Self>,
        is_cleanup: bool,
    ) -> Result<Arc<WorkflowResult>, WorkflowError> {
        let (workflow, primary) = self.managed()?;
        let keep = |result| self.keep(result, is_cleanup);
        let given = AnyGiven { primary: &primary, context: self };
        let result = workflow.run(is_cleanup, given, &|unfinished| drop(keep(unfinished))).await;
        answer(workflow, keep(result))
    }

    /// Reconciles these nodes and those that they come after. Returns their outcomes; what is known about the others is kept.
    pub(crate) async fn run_part(
        self: &Arc<Self>,
        part: &[NodeKey],
    ) -> Result<Arc<WorkflowResult>, WorkflowError> {
        let (workflow, primary) = self.managed()?;
        let before = self.remembered().lock().of(false);
        let keep = |result| drop(self.keep(result, false));
        let given = AnyGiven { primary: &primary, context: self };
        let parted = workflow.reconcile_part(part, before.as_deref(), given, &keep);
        let Parted { part, all } = parted.await?;
        keep(all);
        answer(workflow, Arc::new(part))
    }

    /// Keeps a result, and records the states of the nodes.
    fn keep(&self, result: WorkflowResult, is_cleanup: bool) -> Arc<WorkflowResult> {
        let (now, result) = (self.wall_clock().now(), Arc::new(result));
        let mut remembered = self.remembered().lock();
        let place = if is_cleanup { &mut remembered.cleaned_up } else { &mut remembered.reconciled };
        place.replace(Arc::clone(&result));
        drop(remembered);
        let workflow = self.shared().workflow.iter();
        let names = || workflow.flat_map(|workflow| workflow.names()).map(Arc::from).collect();
        let note = |latest: &mut LatestResults| latest.note(&result, now, names);
        self.scope().change(note);
        result
    }

    fn managed(&self) -> Result<(&dyn ManagedWorkflow, AnyObject), WorkflowError> {
        let workflow = self.shared().workflow.as_ref().ok_or(WorkflowError::NoWorkflow)?;
        Ok((&**workflow, self.given_primary()?))
    }

    /// The primary that the run works on.
    ///
    /// # Errors
    /// If it is gone. The run ends in the same way as if a write had found this.
    pub(crate) fn given_primary(&self) -> Result<AnyObject, WorkflowError> {
        self.own_primary().ok_or_else(|| {
            self.findings().primary_is_gone = true;
            WorkflowError::PrimaryGone
        })
    }
}

/// Returns the result or its errors, as the workflow is configured.
fn answer(
    workflow: &dyn ManagedWorkflow,
    result: Arc<WorkflowResult>,
) -> Result<Arc<WorkflowResult>, WorkflowError> {
    if !workflow.keeps_errors() {
        result.check()?;
    }
    Ok(result)
}
