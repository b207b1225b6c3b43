//! The leftovers of nodes that the controller no longer has. They are removed after all other removals, unless a node failed
//! or is held, and only if each node that makes such objects has said what it wants: by then, a node that wants such an
//! object under its name has taken it over.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    dependent::{AnyDependent, Deletion, Pruning, forget_departed},
    event_source::Claimant,
    reconciler::{AnyContext, AnyGiven, BoxError},
    resource::{Access, ResourceType},
    results::{NodeResult, NodeState, WorkflowResult},
    workflow::{Cluster, conditions::served::to_watch_definitions, declare::builder::Declared},
};

/// Its name in the result, if it fails.
const NAME: &str = "(former nodes)";

/// Removes them, unless a node failed or is held; failures are in the result.
pub(super) async fn prune(workflow: &Declared, given: AnyGiven<'_>, result: &mut WorkflowResult) {
    let stops = |state: &NodeState| {
        matches!(state, NodeState::Failed { .. } | NodeState::Held { .. } | NodeState::Pending { .. })
    };
    if result.nodes().iter().any(|node| stops(&node.state)) {
        return;
    }
    if let Err(error) = try_to(workflow, given, result).await {
        let state = NodeState::Failed { error: error.to_string() };
        result.add(NodeResult { error: Some(Arc::new(error)), ..former(NAME, state) });
    }
}

/// The result of what isn't a node of this version.
fn former(name: &str, state: NodeState) -> NodeResult {
    NodeResult {
        name: name.into(),
        state,
        reconciled: None,
        conditions: BTreeMap::new(),
        error: None,
        unwanted: None,
        kept: None,
    }
}

async fn try_to(
    workflow: &Declared,
    given: AnyGiven<'_>,
    result: &mut WorkflowResult,
) -> Result<(), BoxError> {
    let removed = Mutex::default();
    let pruning = Pruning { data: workflow.settings.prunes_data, removed: &removed };
    let mut sources = BTreeSet::new();
    // The event source of a node that takes no part doesn't run, and that of one that waits may not.
    let active = workflow.nodes.iter().zip(result.nodes()).filter(|(_, result)| {
        !matches!(result.state, NodeState::Inactive { .. } | NodeState::Waiting { .. })
    });
    for (node, _) in active {
        let declaration = node.dependent.declaration();
        // Another node with the source may be able to: one that retains or reads objects, or keeps ids in them, prunes nothing.
        let prunes = declaration.capabilities.deletes && declaration.outside.is_none();
        if let Some(objects) = declaration.objects.as_ref().filter(|_| prunes)
            && sources.insert(&objects.source)
        {
            node.dependent.prune(given, pruning).await?;
        }
        if declaration.of_any_kind && declaration.capabilities.deletes {
            node.dependent.prune(given, pruning).await?;
        }
    }
    for (index, retired) in workflow.settings.retired.iter().enumerate() {
        let claimant = Claimant { workflow: workflow.id, node: workflow.nodes.len() + index };
        if is_shown(retired, claimant, given.context).await? {
            retired.prune(given, pruning).await?;
        }
    }
    for retired in &workflow.settings.retired_records {
        if retired.remove(given).await?.deletion == Deletion::Asked {
            let state = NodeState::Deleting { reason: "its records are being deleted".to_owned() };
            result.add(former(retired.name(), state));
        }
    }
    let former_sets = &workflow.settings.former_sets;
    for node in former_sets.named(given) {
        if let Some(reason) = former_sets.remove(&node, given, pruning.data).await? {
            result.add(former(&node, NodeState::Deleting { reason }));
        }
    }
    forget_departed(given.context).await
}

/// Whether the objects of a former node can be read. Its event source runs while the cluster serves the kind; otherwise nothing
/// can be left of them. The primary is triggered when the source is synced.
async fn is_shown(
    retired: &AnyDependent,
    claimant: Claimant,
    context: &AnyContext,
) -> Result<bool, BoxError> {
    let (sources, names) = (context.shared().sources.conditional(), retired.event_sources());
    let mut names = names.iter().map(|source| source.declaration.name());
    for kind in kinds(retired).filter(|kind| has_definition(kind)) {
        if !Cluster::of(context).serves(kind).await? {
            names.for_each(|name| sources.release(&name, context.scope(), claimant));
            return Ok(false);
        }
    }
    Ok(names.all(|name| sources.claim(&name, context.scope(), claimant).is_ok()))
}

fn kinds(retired: &AnyDependent) -> impl Iterator<Item = &ResourceType> {
    retired.declaration().objects.iter().map(|objects| &objects.kind)
}

/// Whether it may be served by some clusters only. A group without a dot is Kubernetes' own.
fn has_definition(kind: &ResourceType) -> bool {
    kind.group().contains('.')
}

/// The rights that are needed to find out which of their kinds the cluster serves.
pub(in crate::workflow) fn asks(retired: &[AnyDependent]) -> impl Iterator<Item = Access> {
    let is_asked = retired.iter().flat_map(kinds).any(has_definition);
    is_asked.then(to_watch_definitions).into_iter()
}
