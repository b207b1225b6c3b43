//! One run of a workflow: does the steps that the plan asks for, all at the same time that may be, inside the run's own
//! task.
//!
//! ```text
//! plan ──Step──▶ step future (owns its node's record) ──▶ FuturesUnordered ──(node, record, answer)──▶ plan
//! ```
//!
//! Nothing is shared between steps, and nothing outlives the future of the run: dropping it drops all of them.

mod record;
mod steps;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use super::{
    NodeId, Workflow,
    builder::Declared,
    plan::{Checked, CleanupPlan, Fate, ReconcilePlan, Reconciled, Removed, Step},
};
use crate::{
    observe::Observation,
    reconciler::{
        Context,
        workflow::{ManagedWorkflow, NodeState, WorkflowResult},
    },
    resource::KubeObject,
};

use record::{Record, state_of};

pub(super) async fn reconcile<P: KubeObject>(
    workflow: &Declared<P>,
    primary: &Arc<P>,
    context: &Context<P>,
) -> WorkflowResult {
    Run { workflow, primary, context, cleans_up: false }.drive(ReconcilePlan::new(&workflow.graph)).await
}

pub(super) async fn cleanup<P: KubeObject>(
    workflow: &Declared<P>,
    primary: &Arc<P>,
    context: &Context<P>,
) -> WorkflowResult {
    Run { workflow, primary, context, cleans_up: true }.drive(CleanupPlan::new(&workflow.graph)).await
}

/// What all steps of a run look at.
struct Run<'r, P: KubeObject> {
    workflow: &'r Declared<P>,
    primary: &'r Arc<P>,
    context: &'r Context<P>,
    /// The primary is to go: only what nobody else deletes is deleted.
    cleans_up: bool,
}

/// The answer to a step.
enum Answer {
    Checked(Checked),
    Reconciled(Reconciled),
    Removed(Removed),
}

/// Either plan.
trait Plan {
    fn start(&mut self, steps: &mut Vec<Step>);
    fn answer(&mut self, node: NodeId, answer: Answer, steps: &mut Vec<Step>);
    fn fate(&self, node: NodeId) -> Fate;
}

impl Plan for ReconcilePlan<'_> {
    fn start(&mut self, steps: &mut Vec<Step>) {
        ReconcilePlan::start(self, steps);
    }

    fn answer(&mut self, node: NodeId, answer: Answer, steps: &mut Vec<Step>) {
        match answer {
            Answer::Checked(checked) => self.checked(node, checked, steps),
            Answer::Reconciled(reconciled) => self.reconciled(node, reconciled, steps),
            Answer::Removed(removed) => self.removed(node, removed, steps),
        }
    }

    fn fate(&self, node: NodeId) -> Fate {
        ReconcilePlan::fate(self, node)
    }
}

impl Plan for CleanupPlan<'_> {
    fn start(&mut self, steps: &mut Vec<Step>) {
        CleanupPlan::start(self, steps);
    }

    fn answer(&mut self, node: NodeId, answer: Answer, steps: &mut Vec<Step>) {
        // A clean-up asks for nothing but deletions.
        if let Answer::Removed(removed) = answer {
            self.removed(node, removed, steps);
        }
    }

    fn fate(&self, node: NodeId) -> Fate {
        CleanupPlan::fate(self, node)
    }
}

impl<P: KubeObject> Run<'_, P> {
    async fn drive(&self, mut plan: impl Plan) -> WorkflowResult {
        let graph = &self.workflow.graph;
        let mut records: Vec<Record> = graph.nodes().map(|_| Record::default()).collect();
        let mut steps = Vec::new();
        let mut under_way = FuturesUnordered::new();
        plan.start(&mut steps);
        loop {
            let mut next = 0;
            while let Some(step) = steps.get(next).copied() {
                next += 1;
                if self.needs_no_check(step) {
                    plan.answer(step.node(), Answer::Checked(Checked::Run), &mut steps);
                } else {
                    let record = std::mem::take(&mut records[step.node().index()]);
                    under_way.push(self.step(step, record));
                }
            }
            steps.clear();
            let Some((node, record, answer)) = under_way.next().await else { break };
            records[node.index()] = record;
            plan.answer(node, answer, &mut steps);
            // What waits for others is told at the end, when it is certain that they don't come this time.
            let fate = plan.fate(node);
            if fate != Fate::Pending && fate.blocked_by().is_none() {
                self.tell(node, &state_of(fate, node, &records, graph));
            }
        }
        let states: Vec<NodeState> = graph
            .nodes()
            .map(|node| {
                let fate = plan.fate(node);
                let state = state_of(fate, node, &records, graph);
                if fate.blocked_by().is_some() {
                    self.tell(node, &state);
                }
                state
            })
            .collect();
        let results = self.workflow.nodes.iter().zip(records).zip(states);
        WorkflowResult::new(
            results.map(|((node, record), state)| record.finish(node.name(), state)).collect(),
        )
    }

    /// Most nodes have no conditions; nothing has to be waited for then.
    fn needs_no_check(&self, step: Step) -> bool {
        let node = &self.workflow.nodes[step.node().index()];
        matches!(step, Step::Check(_)) && node.activation.is_none() && node.precondition.is_none()
    }

    fn tell(&self, node: NodeId, state: &NodeState) {
        let shared = self.context.shared();
        // By itself, the reason doesn't say which node has to come first.
        let reason = match state {
            NodeState::Blocked { by, reason } => Cow::Owned(format!("{by} {reason}")),
            other => Cow::Borrowed(other.reason()),
        };
        let observation = Observation::NodeState {
            controller: &shared.controller,
            key: self.context.primary_key(),
            node: self.workflow.graph.name(node),
            state: state.as_str(),
            reason: &reason,
        };
        shared.writer.observers.observe(&observation);
        tracing::debug!(node = self.workflow.graph.name(node), %state, "node");
    }
}

impl<P: KubeObject> ManagedWorkflow<P> for Workflow<P> {
    fn reconcile<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, WorkflowResult> {
        reconcile(&self.0, primary, context).boxed()
    }

    fn cleanup<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> BoxFuture<'r, WorkflowResult> {
        cleanup(&self.0, primary, context).boxed()
    }

    fn is_explicit(&self) -> bool {
        self.0.explicit
    }

    fn keeps_errors(&self) -> bool {
        self.0.keeps_errors
    }
}
