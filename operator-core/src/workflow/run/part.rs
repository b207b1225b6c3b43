//! A run of some nodes of a workflow.
//!
//! All nodes that they come after also take part, so the order is kept. A node outside is held as it is: it isn't
//! evaluated, and a removal that reaches it waits, unless the same run of the primary has removed it
//! before.

use super::{Checked, Declared, NodeRecord, Plan, Removed, Reply, Step, WorkflowRun, pruning};
use crate::{
    reconciler::{AnyGiven, Parted, Unfinished},
    results::{NodeKey, NodeResult, NodeState, WorkflowError, WorkflowResult},
    workflow::{Graph, NodeId},
};

/// The reason for a removal to wait for a node outside.
pub(super) const OUTSIDE: &str = "it isn't in this part";

/// The nodes that take part.
pub(super) struct Only {
    /// Whether each does, in the order of the declarations.
    nodes: Vec<bool>,
    /// Whether nothing of each exists, as far as the same run of the primary has seen before.
    gone: Vec<bool>,
}

impl Only {
    /// These and all that they come after.
    fn of(
        workflow: &Declared,
        part: &[NodeKey],
        before: Option<&WorkflowResult>,
    ) -> Result<Self, WorkflowError> {
        let node = |key: &NodeKey| {
            let node = workflow.names.get(key).and_then(|name| workflow.graph.node(name));
            node.ok_or_else(|| unknown(workflow, key))
        };
        let named = part.iter().map(node).collect::<Result<Vec<_>, _>>()?;
        let graph = &workflow.graph;
        let is_gone = |node: &NodeResult| {
            matches!(node.state, NodeState::Deleted | NodeState::Left { .. } | NodeState::Inactive { .. })
        };
        let before = of_each(graph, before.map_or(&[], WorkflowResult::nodes));
        let gone = before.map(|node| node.is_some_and(is_gone));
        Ok(Self { nodes: with_all_before(graph, named), gone: gone.collect() })
    }
}

/// The result of each node, if there is one. They are in the order of the nodes, so that each is visited once.
fn of_each<'r>(
    graph: &'r Graph,
    results: &'r [NodeResult],
) -> impl Iterator<Item = Option<&'r NodeResult>> + 'r {
    let mut results = results.iter().peekable();
    graph.nodes().map(move |node| results.next_if(|result| *result.name == *graph.name(node)))
}

/// Whether each node is one of these, or one that they come after.
pub(super) fn with_all_before(graph: &Graph, mut open: Vec<NodeId>) -> Vec<bool> {
    let mut nodes = vec![false; graph.len()];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut nodes[node.index()], true) {
            open.extend(graph.dependencies_of(node));
        }
    }
    nodes
}

/// The answer of a node that takes no part, depending on whether nothing of it exists, or something may.
pub(super) fn outside(step: Step, is_gone: bool) -> Option<Reply> {
    let checked = if is_gone { Checked::Remove } else { Checked::Hold };
    match step {
        Step::Check(_) => Some(Reply::Checked(checked)),
        Step::Judge(_) => Some(Reply::Judged(checked)),
        Step::Delete(_) => Some(Reply::Removed(Removed::Gone)),
        // It is held, or gone.
        Step::Reconcile(_) | Step::Sweep(_) => None,
    }
}

pub(super) fn unknown(workflow: &Declared, key: &NodeKey) -> WorkflowError {
    let node = key.short().map_or_else(|| key.to_string(), str::to_owned);
    let nearest = workflow.graph.nearest(&node);
    WorkflowError::UnknownNode { node, nearest }
}

/// Reconciles a part, as described at `ManagedWorkflow::reconcile_part`.
pub(super) async fn reconcile(
    workflow: &Declared,
    part: &[NodeKey],
    before: Option<&WorkflowResult>,
    given: AnyGiven<'_>,
    unfinished: Unfinished<'_>,
) -> Result<Parted, WorkflowError> {
    let only = Only::of(workflow, part, before)?;
    let run = WorkflowRun { workflow, given, cleans_up: false, only: Some(&only) };
    let plan = Plan::reconcile(&workflow.graph);
    let part = run.drive(plan, &|dropped| unfinished(merged(&workflow.graph, before, &dropped))).await;
    let mut all = merged(&workflow.graph, before, &part);
    // Former nodes may have left objects that are wanted by a node that hasn't taken part yet.
    if all.nodes().len() == workflow.nodes.len() {
        pruning::prune(workflow, given, &mut all).await;
    }
    // A failure of that belongs to the run, not to a node.
    let mut part = part;
    all.nodes().iter().skip(workflow.nodes.len()).for_each(|further| part.add(further.clone()));
    Ok(Parted { part, all })
}

/// What is known about all nodes, in the order of their declaration, without those that were never reached.
pub(super) fn merged(
    graph: &Graph,
    before: Option<&WorkflowResult>,
    part: &WorkflowResult,
) -> WorkflowResult {
    let before = of_each(graph, before.map_or(&[], WorkflowResult::nodes));
    let known = of_each(graph, part.nodes()).zip(before).filter_map(|(part, before)| part.or(before));
    WorkflowResult::new(known.cloned().collect())
}

impl WorkflowRun<'_> {
    /// Whether the node takes part.
    pub(super) fn takes_part(&self, node: NodeId) -> bool {
        self.only.is_none_or(|only| only.nodes[node.index()])
    }

    /// The answer of a node that takes no part.
    pub(super) fn outside(&self, step: Step, record: &mut NodeRecord) -> Option<Reply> {
        let is_gone = self.only?.gone[step.node().index()];
        if !is_gone {
            OUTSIDE.clone_into(&mut record.reason);
        }
        outside(step, is_gone)
    }
}
