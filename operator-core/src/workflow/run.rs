//! One run of a workflow.

use std::{collections::BTreeMap, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{Node, Workflow, builder::Declared};
use crate::{
    observe::error_chain,
    reconciler::{
        BoxError, Context,
        workflow::{ManagedWorkflow, NodeResult, NodeState, ReconcileResult, WorkflowResult},
    },
    resource::KubeObject,
};

pub(super) async fn reconcile<P: KubeObject>(
    workflow: &Declared<P>,
    primary: &Arc<P>,
    context: &Context<P>,
) -> WorkflowResult {
    let mut results = Vec::new();
    for node in &workflow.nodes {
        results.push(reconciled(node, node.dependent.reconcile(primary, context).await));
    }
    WorkflowResult::new(results)
}

pub(super) async fn cleanup<P: KubeObject>(
    workflow: &Declared<P>,
    primary: &Arc<P>,
    context: &Context<P>,
) -> WorkflowResult {
    let mut results = Vec::new();
    for node in workflow.nodes.iter().rev() {
        if node.dependent.capabilities().needs_cleanup() {
            let state = match node.dependent.delete(primary, context).await {
                Ok(()) => (NodeState::Deleted, None),
                Err(error) => failed(error),
            };
            results.push(result(node, state, None));
        } else {
            results.push(result(node, (NodeState::Deleted, None), None));
        }
    }
    results.reverse();
    WorkflowResult::new(results)
}

fn reconciled<P: KubeObject>(node: &Node<P>, answer: Result<ReconcileResult, BoxError>) -> NodeResult {
    match answer {
        Ok(done) => result(node, (NodeState::Ready(done.operation()), None), Some(done)),
        Err(error) => result(node, failed(error), None),
    }
}

fn failed(error: BoxError) -> (NodeState, Option<Arc<BoxError>>) {
    (NodeState::Failed { error: error_chain(&*error).to_string() }, Some(Arc::new(error)))
}

fn result<P: KubeObject>(
    node: &Node<P>,
    (state, error): (NodeState, Option<Arc<BoxError>>),
    reconciled: Option<ReconcileResult>,
) -> NodeResult {
    NodeResult { name: Arc::from(node.name()), state, reconciled, conditions: BTreeMap::new(), error }
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
