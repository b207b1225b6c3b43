//! One run of a workflow: does the steps that the plan requests, as many at the same time as possible, within the run's
//! own task.
//!
//! ```text
//! activation of all nodes ──┐
//! plan ──Step───────────────┴▶ futures (each writes to its node's record) ──▶ FuturesUnordered ──(node, answer)──▶ plan
//! ```
//!
//! Nothing is shared between steps, and nothing outlives the future of the run except what is known so far: dropping
//! the future drops all steps, and reports that.
//!
//! Activation is evaluated at the start, even for nodes that the run doesn't reach: a kind that no node can use any
//! more is no longer watched, and a step waits only for the answer about its own node.

mod part;
pub(in crate::workflow) mod pruning;
mod record;
mod steps;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    task::Poll,
};

use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, ready},
    poll,
    stream::FuturesUnordered,
};

use parking_lot::Mutex;

use super::{
    AnyWorkflow, Graph, NodeId,
    declare::{Start, any_node::AnyNode, builder::Declared},
    plan::{Checked, Fate, Plan, Reconciled, Removed, Step, Swept},
};
use crate::{
    dependent::{Capabilities, OfKind},
    environment::Now,
    observe::Observation,
    reconciler::{AnyContext, AnyGiven, ManagedWorkflow, Parted, Unfinished, Wants},
    resource::{AnyObject, ObjectKey, ResourceType, label_value},
    results::{Grouped, NodeKey, NodeState, Secondary, WorkflowError, WorkflowResult},
};

use part::{OUTSIDE, Only};
use record::{Activity, NodeRecord, NodeRecords, Part, kept_for, state_of, unwanted};

/// The caller of a workflow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Invoker {
    /// The controller, for its managed workflow: everything wanted is part of it, or deliberately outside it.
    Framework,
    /// The reconciler, by an explicit call.
    Reconciler,
}

/// Runs a workflow: reconciles all that can be, or, in a clean-up, deletes what has to be deleted.
pub(super) async fn run(
    workflow: &Declared,
    is_cleanup: bool,
    given: AnyGiven<'_>,
    unfinished: Unfinished<'_>,
    invoker: Invoker,
) -> WorkflowResult {
    let run = WorkflowRun { workflow, given, cleans_up: is_cleanup, only: None };
    let note = |result: &WorkflowResult, is_done: bool| {
        if is_cleanup {
            given.context.remembered().lock().note_cleanup(workflow.id, result, is_done);
        }
    };
    let plan = if is_cleanup { Plan::cleanup } else { Plan::reconcile };
    let unfinished = |dropped| {
        // A caller that has dropped it can't remove the finalizer.
        note(&dropped, false);
        unfinished(dropped);
    };
    let mut result = run.drive(plan(&workflow.graph), &unfinished).await;
    if invoker == Invoker::Framework {
        pruning::prune(workflow, given, &mut result).await;
    }
    // A reconciler that handles errors itself decides about them, but not about deletions in progress.
    let is_done = match workflow.settings.keeps_errors {
        true => result.deleting().next().is_none(),
        false => result.all_deleted(),
    };
    note(&result, is_done);
    result
}

/// The data that all steps of a run share.
struct WorkflowRun<'r> {
    workflow: &'r Declared,
    given: AnyGiven<'r>,
    /// The primary is being deleted: objects whose end nothing waits for are left to what deletes them afterwards.
    cleans_up: bool,
    /// The nodes that take part, if not all do.
    only: Option<&'r Only>,
}

/// The progress of a run. If it is dropped before its end, it reports that.
struct Course<'r> {
    run: &'r WorkflowRun<'r>,
    plan: Plan<'r>,
    records: NodeRecords,
    unfinished: Option<Unfinished<'r>>,
}

impl Course<'_> {
    /// What is known about all nodes, taken from the records.
    fn result(&self) -> WorkflowResult {
        let Self { run: WorkflowRun { workflow, cleans_up, .. }, plan, records, .. } = self;
        let graph = &workflow.graph;
        let mut unwanted = unwanted(graph, |node| plan.fate(node), records, *cleans_up);
        let fates = workflow.nodes.iter().zip(plan.fates());
        let fates = fates.filter(|(_, (node, _))| self.run.takes_part(*node));
        let nodes = fates.map(|(declared, (node, fate))| {
            let why = unwanted.get_mut(node.index()).and_then(Option::take);
            // One after the other: if two were held at the same time, the order would have to be the same everywhere.
            let blocking = fate.blocked_by().map(|by| records.get(by).reason.clone());
            let keeper = plan.kept_for(node).map(|of| (of, records.get(of.by).reason == OUTSIDE));
            let mut record = records.get(node);
            let state = state_of(fate, &record, blocking.as_deref(), graph, || self.run.now());
            let leaves = record.reconciled.as_ref().is_some_and(|result| result.leaves);
            let kept = keeper
                .filter(|_| leaves)
                .map(|(of, is_outside)| kept_for(graph.name(of.by), of.because, is_outside));
            record.finish(declared.name(), state, why, kept)
        });
        WorkflowResult::new(nodes.collect())
    }
}

impl Drop for Course<'_> {
    fn drop(&mut self) {
        if let Some(unfinished) = self.unfinished.take() {
            unfinished(self.result());
        }
    }
}

/// A task that runs at the same time as others.
#[derive(Clone, Copy)]
enum Task {
    /// Determine whether the node takes part.
    Activate(NodeId),
    Do(Step),
}

/// The answer to a step.
enum Reply {
    Checked(Checked),
    Judged(Checked),
    Reconciled(Reconciled),
    Swept(Swept),
    Removed(Removed),
}

impl Reply {
    /// Passes it to the plan.
    fn give(self, plan: &mut Plan<'_>, node: NodeId, steps: &mut Vec<Step>) {
        match self {
            Self::Checked(checked) => plan.checked(node, checked, steps),
            Self::Judged(judged) => plan.judged(node, judged, steps),
            Self::Reconciled(reconciled) => plan.reconciled(node, reconciled, steps),
            Self::Swept(swept) => plan.swept(node, swept, steps),
            Self::Removed(removed) => plan.removed(node, removed, steps),
        }
    }
}

impl WorkflowRun<'_> {
    async fn drive(&self, plan: Plan<'_>, unfinished: Unfinished<'_>) -> WorkflowResult {
        // Another run of a workflow, within the same run of the primary, may have read other data.
        self.given.context.memo().clear();
        self.given.context.remembered().lock().note_out(BTreeMap::new());
        let graph = &self.workflow.graph;
        let mut course =
            Course { run: self, plan, records: NodeRecords::of(graph), unfinished: Some(unfinished) };
        if !self.cleans_up {
            let starts = self.unstarted(&course.records).await;
            if !starts.is_empty() {
                // Nothing has been asked of it yet.
                let plan = std::mem::replace(&mut course.plan, Plan::reconcile(graph));
                course.plan = plan.starting(starts);
            }
        }
        self.follow(&mut course.plan, &course.records).await;
        course.unfinished = None;
        let result = course.result();
        for (node, of) in graph.nodes().filter(|node| self.takes_part(*node)).zip(result.nodes()) {
            // Nodes that wait for others are reported at the end, when it is certain that the others don't come this time.
            if matches!(of.state, NodeState::Blocked { .. } | NodeState::Starting { by: Some(_), .. }) {
                self.tell(node, &of.state);
            }
        }
        result
    }

    /// The nodes that haven't started, each with one after which it starts. The records get the functions that decide about that.
    async fn unstarted(&self, records: &NodeRecords) -> BTreeSet<(NodeId, NodeId)> {
        let mut all = BTreeSet::new();
        for start in &self.workflow.starts {
            if self.has_started(start).await {
                continue;
            }
            for node in &start.nodes {
                all.extend(start.after.iter().map(|other| (*node, *other)));
                records.get(*node).starts_when.extend(start.when.iter().cloned());
            }
        }
        all
    }

    /// Whether one of these nodes has an object of its own that isn't going. What only reads has none.
    async fn has_started(&self, start: &Start) -> bool {
        for node in &start.nodes {
            let dependent = &self.workflow.nodes[node.index()].dependent;
            if !dependent.capabilities().can_write() {
                continue;
            }
            // What can't be read is reported by the node's own run.
            let known = dependent.known(self.given).await.unwrap_or_default();
            let is_going = |of: &Secondary| of.meta().is_some_and(|meta| meta.deletion_timestamp.is_some());
            if known.iter().any(|object| !is_going(object)) {
                return true;
            }
        }
        false
    }

    async fn follow(&self, plan: &mut Plan<'_>, records: &NodeRecords) {
        let graph = &self.workflow.graph;
        let mut steps = Vec::new();
        let mut under_way = FuturesUnordered::new();
        let mut activating: BTreeSet<NodeId> =
            graph.nodes().filter(|node| self.takes_part(*node) && self.asks_activation(*node)).collect();
        let mut postponed: Vec<Step> = Vec::new();
        for node in &activating {
            under_way.push(self.perform(Task::Activate(*node), records.of_node(*node)).boxed());
        }
        plan.start(&mut steps);
        loop {
            let mut next = 0;
            while let Some(step) = steps.get(next).copied() {
                next += 1;
                let node = step.node();
                if activating.contains(&node) {
                    postponed.push(step);
                    continue;
                }
                let known = self.known(step, plan, &mut records.get(node));
                let known = match known {
                    Some(known) => Some(known),
                    None => {
                        // Most nodes have nothing to wait for, and needn't be in the list of waiting ones.
                        let mut step = self.perform(Task::Do(step), records.of_node(node)).boxed();
                        match poll!(&mut step) {
                            Poll::Ready((_, answer)) => answer,
                            Poll::Pending => {
                                under_way.push(step);
                                None
                            }
                        }
                    }
                };
                if let Some(answer) = known {
                    self.take(answer, plan, records, node, &mut steps);
                }
            }
            steps.clear();
            let Some((node, answer)) = under_way.next().await else {
                if !plan.is_applied() {
                    break;
                }
                plan.remove(&self.reads(plan, records), &mut steps);
                continue;
            };
            let Some(answer) = answer else {
                activating.remove(&node);
                steps.extend(postponed.extract_if(.., |step| step.node() == node));
                continue;
            };
            self.take(answer, plan, records, node, &mut steps);
        }
    }

    /// Pairs of nodes of which the second one has read what the first one has made: in this run, or, if this run didn't ask it,
    /// in the last one that did. None if nothing is to be removed.
    fn reads(&self, plan: &Plan<'_>, records: &NodeRecords) -> Vec<(NodeId, NodeId)> {
        let graph = &self.workflow.graph;
        // What isn't wanted any more may still be of what it has read, unless it is only read itself.
        let is_asked = |node: &str| {
            let Some(id) = graph.node(node) else { return true };
            let only_reads =
                self.workflow.nodes[id.index()].dependent.capabilities() == Capabilities::READ_ONLY;
            let record = records.get(id);
            record.reconciled.is_some() || only_reads && record.removes.is_some()
        };
        let all = self.given.context.reads(is_asked);
        let leaves = |node| records.get(node).reconciled.as_ref().is_some_and(|result| result.leaves);
        if !graph.nodes().any(|node| plan.is_out(node) || leaves(node)) {
            return Vec::new();
        }
        let pairs = all.iter().flat_map(|(by, makers)| makers.iter().map(move |maker| (maker, by)));
        pairs.filter_map(|(maker, by)| Some((labelled(graph, maker)?, graph.node(by)?))).collect()
    }

    /// Passes an answer on. What isn't wanted is known to the context from now on.
    fn take(
        &self,
        answer: Reply,
        plan: &mut Plan<'_>,
        records: &NodeRecords,
        node: NodeId,
        steps: &mut Vec<Step>,
    ) {
        let is_wish = matches!(answer, Reply::Checked(_) | Reply::Judged(_));
        answer.give(plan, node, steps);
        if is_wish && plan.is_out(node) {
            let graph = &self.workflow.graph;
            let out = graph.nodes().filter(|node| plan.is_out(*node));
            let out = out.map(|node| (label_value(graph.name(node)), plan.fate(node) != Fate::Inactive));
            self.given.context.remembered().lock().note_out(out.collect());
        }
        self.tell_if_settled(plan, records, node);
    }

    fn tell_if_settled(&self, plan: &Plan<'_>, records: &NodeRecords, node: NodeId) {
        let fate = plan.fate(node);
        if self.takes_part(node) && fate != Fate::Pending && fate.blocked_by().is_none() {
            let state = state_of(fate, &records.get(node), None, &self.workflow.graph, || self.now());
            self.tell(node, &state);
        }
    }

    /// The answer to a step; none to the question whether a node takes part: that answer is in its record.
    async fn perform(&self, task: Task, record: &Mutex<NodeRecord>) -> (NodeId, Option<Reply>) {
        match task {
            Task::Activate(node) => {
                let activity = self.activate(node, record).await;
                record.lock().activity = Some(activity);
                (node, None)
            }
            Task::Do(step) => (step.node(), Some(self.step(step, record).await)),
        }
    }

    fn now(&self) -> Now {
        self.given.context.shared().writer.environment.now()
    }

    fn tell(&self, node: NodeId, state: &NodeState) {
        let shared = self.given.context.shared();
        let observation = Observation::NodeState {
            controller: &shared.writer.controller,
            key: self.given.context.primary_key(),
            node: self.workflow.graph.name(node),
            state,
        };
        shared.writer.observers.observe(&observation);
        tracing::debug!(node = self.workflow.graph.name(node), %state, "node");
    }
}

/// The node whose label has this value.
fn labelled(graph: &Graph, label: &str) -> Option<NodeId> {
    graph.nodes().find(|node| label_value(graph.name(*node)) == label)
}

impl AnyWorkflow {
    fn node_called(&self, node: &str) -> Option<&AnyNode> {
        self.0.nodes.iter().find(|declared| declared.dependent.name() == node)
    }
}

impl ManagedWorkflow for AnyWorkflow {
    fn own_fields(&self) -> &[Arc<str>] {
        &self.0.own_fields
    }

    fn run<'r>(
        &'r self,
        is_cleanup: bool,
        given: AnyGiven<'r>,
        unfinished: Unfinished<'r>,
    ) -> BoxFuture<'r, WorkflowResult> {
        run(&self.0, is_cleanup, given, unfinished, Invoker::Framework).boxed()
    }

    fn reconcile_part<'r>(
        &'r self,
        part: &'r [NodeKey],
        before: Option<&'r WorkflowResult>,
        given: AnyGiven<'r>,
        unfinished: Unfinished<'r>,
    ) -> BoxFuture<'r, Result<Parted, WorkflowError>> {
        part::reconcile(&self.0, part, before, given, unfinished).boxed()
    }

    fn secondaries<'r>(&'r self, node: &str, given: AnyGiven<'r>) -> BoxFuture<'r, Vec<Secondary>> {
        let Some(node) = self.node_called(node) else { return ready(Vec::new()).boxed() };
        // The node's own run reports what can't be read.
        node.dependent.known(given).map(Result::unwrap_or_default).boxed()
    }

    fn newest(&self, node: &str, of: Vec<Secondary>, context: &AnyContext) -> Vec<Secondary> {
        match self.node_called(node) {
            Some(node) => node.dependent.newest(of, context),
            None => of,
        }
    }

    fn wants(
        &self,
        kind: &ResourceType,
        key: &ObjectKey,
        primary: &AnyObject,
        context: &Arc<AnyContext>,
    ) -> Vec<Wants> {
        let is_kind = |objects: &OfKind| objects.kind.is_kind_of(kind);
        let of_kind = self.0.nodes.iter().filter(|node| {
            let declaration = node.dependent.declaration();
            declaration.outside.is_none()
                && declaration.capabilities.can_write()
                && (declaration.of_any_kind || declaration.objects.as_ref().is_some_and(is_kind))
        });
        let answers = of_kind.map(|node| {
            let name = label_value(node.dependent.name());
            let is_out = context.remembered().lock().is_going(&name).is_some();
            let given = AnyGiven { primary, context };
            let wants = if is_out { Some(false) } else { node.dependent.wants(kind, key, given) };
            let is_late = !node.terms.activations.is_empty() || !node.terms.after.is_empty();
            Wants { node: name, wants, is_late }
        });
        answers.collect()
    }

    fn are_in_order(&self, one: &str, other: &str) -> bool {
        let graph = &self.0.graph;
        let (Some(one), Some(other)) = (labelled(graph, one), labelled(graph, other)) else { return false };
        graph.comes_after(one, other) || graph.comes_after(other, one)
    }

    fn is_explicit(&self) -> bool {
        self.0.settings.explicit
    }

    fn keeps_errors(&self) -> bool {
        self.0.settings.keeps_errors
    }

    fn len(&self) -> usize {
        self.0.nodes.len()
    }

    fn names(&self) -> Vec<&str> {
        self.node_names().collect()
    }

    fn groups(&self) -> Vec<Grouped> {
        self.0.groups.iter().map(|group| group.grouped(&self.0.nodes)).collect()
    }

    fn node_name(&self, key: &NodeKey) -> Option<&str> {
        self.0.names.get(key).map(|name| &**name)
    }

    fn node_before(&self, key: &NodeKey, by: Option<&str>) -> Result<&str, WorkflowError> {
        let name = self.node_name(key).ok_or_else(|| part::unknown(&self.0, key))?;
        let graph = &self.0.graph;
        let (node, by) = (graph.node(name), by.and_then(|by| graph.node(by)));
        match (node, by) {
            (Some(node), Some(by)) if !graph.comes_after(by, node) => {
                Err(WorkflowError::Unordered { node: graph.name(by).to_owned(), other: name.to_owned() })
            }
            _ => Ok(name),
        }
    }
}
