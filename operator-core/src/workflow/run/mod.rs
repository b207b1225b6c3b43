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

use std::sync::Arc;

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use super::{
    NodeId, Workflow,
    builder::Declared,
    plan::{Checked, Fate, Plan, Reconciled, Removed, Step},
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
    Run { workflow, primary, context, cleans_up: false }.drive(Plan::reconcile(&workflow.graph)).await
}

pub(super) async fn cleanup<P: KubeObject>(
    workflow: &Declared<P>,
    primary: &Arc<P>,
    context: &Context<P>,
) -> WorkflowResult {
    let run = Run { workflow, primary, context, cleans_up: true };
    let result = run.drive(Plan::cleanup(&workflow.graph)).await;
    // Who keeps errors decides about them; what is on its way isn't his to decide about.
    let is_done = match workflow.keeps_errors {
        true => result.deleting().next().is_none(),
        false => result.all_deleted(),
    };
    context.remembered().lock().note_cleanup(workflow.id, &result, is_done);
    result
}

/// What all steps of a run look at.
struct Run<'r, P: KubeObject> {
    workflow: &'r Declared<P>,
    primary: &'r Arc<P>,
    context: &'r Context<P>,
    /// The primary is to go: what nobody waits for is left to whoever takes it afterwards.
    cleans_up: bool,
}

/// The answer to a step.
enum Answer {
    Checked(Checked),
    Judged(Checked),
    Reconciled(Reconciled),
    Removed(Removed),
}

impl Answer {
    /// Tells the plan.
    fn give(self, plan: &mut Plan<'_>, node: NodeId, steps: &mut Vec<Step>) {
        match self {
            Self::Checked(checked) => plan.checked(node, checked, steps),
            Self::Judged(judged) => plan.judged(node, judged, steps),
            Self::Reconciled(reconciled) => plan.reconciled(node, reconciled, steps),
            Self::Removed(removed) => plan.removed(node, removed, steps),
        }
    }
}

impl<P: KubeObject> Run<'_, P> {
    async fn drive(&self, mut plan: Plan<'_>) -> WorkflowResult {
        let graph = &self.workflow.graph;
        let mut records: Vec<Record> = graph.nodes().map(|_| Record::default()).collect();
        let mut steps = Vec::new();
        let mut under_way = FuturesUnordered::new();
        plan.start(&mut steps);
        loop {
            let mut next = 0;
            while let Some(step) = steps.get(next).copied() {
                next += 1;
                if let Some(answer) = self.without_asking(step) {
                    answer.give(&mut plan, step.node(), &mut steps);
                } else {
                    let record = std::mem::take(&mut records[step.node().index()]);
                    under_way.push(self.step(step, record));
                }
            }
            steps.clear();
            let Some((node, record, answer)) = under_way.next().await else { break };
            records[node.index()] = record;
            answer.give(&mut plan, node, &mut steps);
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
    fn without_asking(&self, step: Step) -> Option<Answer> {
        let node = &self.workflow.nodes[step.node().index()];
        if node.activation.is_some() || node.precondition.is_some() {
            return None;
        }
        match step {
            Step::Check(_) => Some(Answer::Checked(Checked::Run)),
            Step::Judge(_) => Some(Answer::Judged(Checked::Run)),
            Step::Reconcile(_) | Step::Delete(_) => None,
        }
    }

    fn tell(&self, node: NodeId, state: &NodeState) {
        let shared = self.context.shared();
        let observation = Observation::NodeState {
            controller: &shared.controller,
            key: self.context.primary_key(),
            node: self.workflow.graph.name(node),
            state,
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
