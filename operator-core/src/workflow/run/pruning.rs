//! The leftovers of nodes that the controller no longer has. They are removed when all other nodes have come to an end:
//! by then, a node that wants such an object under its name has taken it over.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    dependent::{Pruning, forget_departed},
    reconciler::{AnyContext, BoxError},
    resource::AnyObject,
    results::{NodeResult, NodeState, WorkflowResult},
    workflow::declare::builder::Declared,
};

/// Its name in the result, if it fails.
const NAME: &str = "(former nodes)";

/// Removes them, unless a node that may want some of them hasn't come to an end; failures are in the result.
pub(super) async fn prune(
    workflow: &Declared,
    primary: &AnyObject,
    context: &Arc<AnyContext>,
    result: &mut WorkflowResult,
) {
    if !result.nodes().iter().all(|node| has_ended(&node.state)) {
        return;
    }
    if let Err(error) = try_to(workflow, primary, context, result).await {
        result.add(NodeResult {
            name: NAME.into(),
            state: NodeState::Failed { error: error.to_string() },
            reconciled: None,
            conditions: BTreeMap::new(),
            error: Some(Arc::new(error)),
            unwanted: None,
        });
    }
}

async fn try_to(
    workflow: &Declared,
    primary: &AnyObject,
    context: &Arc<AnyContext>,
    result: &WorkflowResult,
) -> Result<(), BoxError> {
    let pruning = Pruning { data: workflow.prunes_data };
    let mut sources = BTreeSet::new();
    // The event source of a node that takes no part doesn't run.
    let active = workflow
        .nodes
        .iter()
        .zip(result.nodes())
        .filter(|(_, result)| !matches!(result.state, NodeState::Inactive { .. }));
    for (node, _) in active {
        let declaration = node.dependent.declaration();
        // Another node with the source may be able to: one that retains or reads objects, or keeps ids in them, prunes nothing.
        let prunes = declaration.capabilities.can_delete() && !declaration.outside;
        if let Some(objects) = declaration.objects.as_ref().filter(|_| prunes)
            && sources.insert(&objects.source)
        {
            node.dependent.prune(primary, context, pruning).await?;
        }
    }
    for retired in &workflow.retired {
        retired.prune(primary, context, pruning).await?;
    }
    forget_departed(context).await
}

/// Whether a node has done all its work, so the objects it wants belong to it.
const fn has_ended(state: &NodeState) -> bool {
    match state {
        NodeState::Ready(_)
        | NodeState::NotReady { .. }
        | NodeState::Inactive { .. }
        | NodeState::Deleted
        | NodeState::Deleting { .. }
        | NodeState::Left { .. } => true,
        NodeState::Failed { .. }
        | NodeState::Waiting { .. }
        | NodeState::Pending { .. }
        | NodeState::Blocked { .. }
        | NodeState::Held { .. } => false,
    }
}
