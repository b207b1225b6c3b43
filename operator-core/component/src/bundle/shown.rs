//! What a run has shown of a bundle.

use std::collections::BTreeMap;

use operator_core::{
    Run, Waiting,
    resource::KubeObject,
    status::conditions::{self, ConditionUpdate},
    workflow::{NodeResult, NodeState, Operation, ReconcileResult, Secondary},
};

use super::{
    BundleStatus, Count, Inventory, InventoryItem, Settings,
    course::{Next, Outcome, Sight, next},
};

/// A bundle whose status is made.
pub(super) struct Seen<'s, P: KubeObject> {
    pub(super) name: &'s str,
    pub(super) settings: &'s dyn Settings<P>,
    /// Of what it is made of; `None` if the primary can't say that.
    pub(super) digest: Option<String>,
    /// How many objects the status names.
    pub(super) named: usize,
}

impl<P: KubeObject> Seen<'_, P> {
    /// The status after this run. Asks for another run when it changes by itself.
    pub(super) fn status(self, before: &BundleStatus, primary: &P, run: &Run<P>) -> BundleStatus {
        let node = run.nodes().iter().find(|node| *node.name == *self.name);
        let outcome = self.outcome(node, primary, run);
        let reconciled = node.and_then(|node| node.reconciled.as_ref());
        let inventory = match reconciled {
            Some(result) => inventory(result, self.named),
            None => before.inventory.clone(),
        };
        let is_ready = matches!(outcome, Outcome::Ready(_));
        let generation = primary.meta().generation.unwrap_or_default();
        let timeout = self.settings.timeout(primary);
        let digest = self.digest.filter(|_| !run.is_cleanup());
        let sight = Sight { generation, digest, outcome, inventory, now: run.now(), timeout };
        let Next { mut status, ready, again_in } = next(before, sight);
        let requeue = is_ready.then(|| self.settings.requeue(primary));
        if let Some(soonest) = again_in.into_iter().chain(requeue).min() {
            run.again_in(soonest);
        }
        let Some(ready) = ready else {
            status.conditions.clone_from(&before.conditions);
            return status;
        };
        status.conditions = run.conditions(primary);
        let update = ConditionUpdate {
            r#type: "Ready",
            status: ready.status,
            reason: ready.reason,
            message: &ready.message,
            observed_generation: Some(generation),
        };
        conditions::set(&mut status.conditions, &update, run.now());
        status
    }

    fn outcome(&self, node: Option<&NodeResult>, primary: &P, run: &Run<P>) -> Outcome {
        let Some(node) = node else {
            let error = run.error().map(ToString::to_string);
            return error
                .map_or_else(|| Outcome::NotReached("nothing is done yet".to_owned()), Outcome::Failed);
        };
        let reason = || node.state.reason().to_owned();
        match &node.state {
            NodeState::Ready(_) => Outcome::Ready(counted(node)),
            NodeState::NotReady { .. } => Outcome::Processing(reason()),
            NodeState::Held { .. } if self.settings.is_suspended(primary) => Outcome::Suspended(reason()),
            NodeState::Waiting { .. } | NodeState::Held { .. } => Outcome::Waiting(reason()),
            NodeState::Failed { .. } if run.is_cleanup() => Outcome::DeletionFailed(reason()),
            NodeState::Failed { .. } if run.error_as::<Waiting>().is_some() => Outcome::Waiting(reason()),
            NodeState::Failed { .. } => Outcome::Failed(reason()),
            NodeState::Deleting { reason } if reason.contains("isn't of this set") => {
                Outcome::Blocked(reason.clone())
            }
            NodeState::Deleting { reason } => Outcome::Deleting(reason.clone()),
            NodeState::Deleted | NodeState::Left { .. } => {
                Outcome::Deleting("all objects are gone".to_owned())
            }
            // It waits for others, or takes no part.
            _ => Outcome::NotReached(node.state.to_string()),
        }
    }
}

fn counted(node: &NodeResult) -> String {
    let all = node.reconciled.as_ref().map(|result| existing(result).count());
    all.map_or_else(|| "all objects are ready".to_owned(), |all| format!("{all}/{all} ready"))
}

/// The objects without those that have gone.
fn existing(result: &ReconcileResult) -> impl Iterator<Item = &Secondary> {
    let exists = result.operations().iter().filter(|(operation, _)| *operation != Operation::Deleted);
    exists.map(|(_, object)| object)
}

/// The objects, counted, and as many of them by name.
fn inventory(result: &ReconcileResult, named: usize) -> Inventory {
    let unready: BTreeMap<_, _> =
        result.unready().iter().map(|(object, status)| (key(object), status.message.clone())).collect();
    let mut kinds = BTreeMap::<String, Count>::new();
    let mut objects = Vec::new();
    for object in existing(result) {
        let key = key(object);
        let why = unready.get(&key).cloned();
        let count = kinds.entry(key.0.clone()).or_default();
        count.total += 1;
        count.ready += u32::from(why.is_none());
        let (namespace, name) = match key.1.split_once('/') {
            Some((namespace, name)) => (Some(namespace.to_owned()), name.to_owned()),
            None => (None, key.1),
        };
        objects.push(InventoryItem { kind: key.0, namespace, name, unready: why });
    }
    objects.sort_by(|one, other| rank(one).cmp(&rank(other)));
    objects.truncate(named);
    Inventory { kinds, objects }
}

/// Those that aren't ready come first.
fn rank(item: &InventoryItem) -> impl Ord {
    (item.unready.is_none(), &item.kind, &item.namespace, &item.name)
}

/// Its kind, as in `Deployment.apps`, and its name.
fn key(object: &Secondary) -> (String, String) {
    let kind = object.kind().map_or_else(String::new, |kind| match kind.group() {
        "" => kind.kind().to_owned(),
        group => format!("{}.{group}", kind.kind()),
    });
    (kind, object.id().to_owned())
}
