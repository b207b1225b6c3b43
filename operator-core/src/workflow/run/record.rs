//! The data of a run about a node, and how it is reported.

use std::{collections::BTreeMap, fmt, mem::take, sync::Arc};

use parking_lot::{Mutex, MutexGuard};

use super::part::OUTSIDE;
use crate::{
    dependent::Gate,
    environment::Now,
    observe::error_chain,
    reconciler::BoxError,
    results::{
        ConditionKind, NOT_COME_TO, NodeResult, NodeState, ReconcileResult, Secondary, Unwanted, Verdict,
    },
    workflow::{
        Graph, NodeId,
        plan::{Checked, Fate, Obstacle, RemovalObstacle},
    },
};

/// Whether a node takes part.
#[derive(Clone, Copy, Debug)]
pub(super) enum Activity {
    Active,
    Inactive,
    /// Its event source has not seen everything yet; the primary is triggered when it has.
    Waiting,
}

/// A part of user code.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Dependent,
    Condition(ConditionKind),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dependent => f.write_str("dependent"),
            Self::Condition(kind) => write!(f, "{kind}"),
        }
    }
}

/// What is known about all nodes.
pub(super) struct NodeRecords(Vec<Mutex<NodeRecord>>);

impl NodeRecords {
    /// Nothing is known.
    pub(super) fn of(graph: &Graph) -> Self {
        Self(graph.nodes().map(|_| Mutex::default()).collect())
    }

    /// What is known about a node. The lock is held only for a short read or write.
    pub(super) fn get(&self, node: NodeId) -> MutexGuard<'_, NodeRecord> {
        self.of_node(node).lock()
    }

    /// The records that a step about a node writes to.
    pub(super) fn of_node(&self, node: NodeId) -> &Mutex<NodeRecord> {
        &self.0[node.index()]
    }
}

/// What is known about one node.
#[derive(Default)]
pub(super) struct NodeRecord {
    /// Whether it takes part, if that is evaluated; set before anything else is done about it.
    pub(super) activity: Option<Result<Activity, BoxError>>,
    /// The answers so far: each condition is evaluated once in a run.
    pub(super) conditions: BTreeMap<ConditionKind, Verdict>,
    pub(super) reconciled: Option<ReconcileResult>,
    error: Option<(Arc<BoxError>, String)>,
    /// The answer to the question whether it should exist, if its dependent was asked before its turn.
    pub(super) judged: Option<Checked>,
    /// Whether it was reconciled, and came to an end that could change.
    pub(super) was_open: bool,
    /// Decide whether it may start, if it hasn't started.
    pub(super) starts_when: Vec<Gate>,
    /// Whether one of these said no.
    pub(super) is_starting: bool,
    /// The reason for its outcome.
    pub(super) reason: String,
    /// Why it counts as gone without having been deleted.
    pub(super) left: Option<&'static str>,
    /// The part of user code that is being called, and since when.
    pub(super) under_way: Option<(Part, Now)>,
    /// Why it, or at least what depends on it, should not exist, if that was decided by this node.
    pub(super) removes: Option<String>,
    /// The number of its resources that existed and were to be deleted.
    pub(super) deleted: Option<usize>,
}

impl NodeRecord {
    /// Whether the node takes part; it does if that isn't evaluated.
    pub(super) fn activity(&mut self) -> Result<Activity, BoxError> {
        match self.activity.take() {
            None => Ok(Activity::Active),
            Some(Ok(activity)) => {
                self.activity = Some(Ok(activity));
                Ok(activity)
            }
            Some(Err(error)) => {
                // A second question gets the same answer as text.
                self.activity = Some(Err(error_chain(&*error).to_string().into()));
                Err(error)
            }
        }
    }

    /// The reported states of its resources are no older than this state, which was read.
    pub(super) fn read(&mut self, read: &[Secondary]) {
        if let Some(reconciled) = &mut self.reconciled {
            reconciled.renew(read);
        }
    }

    pub(super) fn failed(&mut self, error: BoxError) {
        let words = error_chain(&*error).to_string();
        self.error = Some((Arc::new(error), words));
    }

    /// What is reported about the node at the end. The reason stays, for the nodes that it blocks.
    pub(super) fn finish(
        &mut self,
        name: Arc<str>,
        state: NodeState,
        unwanted: Option<Unwanted>,
        kept: Option<String>,
    ) -> NodeResult {
        let (conditions, reconciled) = (take(&mut self.conditions), self.reconciled.take());
        // A gate that couldn't be evaluated yet isn't a failure if nothing depended on its answer.
        let error =
            self.error.take().filter(|_| matches!(state, NodeState::Failed { .. })).map(|(error, _)| error);
        NodeResult { name, state, reconciled, conditions, error, unwanted, kept }
    }
}

/// Why each node should not exist: the nearest node that decided so, among those that it requires and itself. Empty if
/// all should exist.
pub(super) fn unwanted(
    graph: &Graph,
    fate: impl Fn(NodeId) -> Fate,
    records: &NodeRecords,
    cleans_up: bool,
) -> Vec<Option<Unwanted>> {
    if !graph.nodes().any(|node| fate(node).is_about_removal()) {
        return Vec::new();
    }
    // The distance, and the node.
    let mut nearest: Vec<Option<(usize, NodeId)>> = vec![None; graph.len()];
    let mut unwanted = vec![None; graph.len()];
    for node in graph.in_order() {
        let is_removed = fate(node).is_about_removal();
        let (says_so, deleted) = {
            let record = records.get(node);
            (record.removes.is_some(), record.deleted)
        };
        let above = graph.required_by(node).filter_map(|above| nearest[above.index()]).min();
        nearest[node.index()] = match above {
            _ if says_so => Some((0, node)),
            Some((distance, by)) if is_removed => Some((distance + 1, by)),
            _ => None,
        };
        if !is_removed {
            continue;
        }
        let (by, reason) = match nearest[node.index()] {
            Some((_, by)) if !cleans_up => {
                (Some(Arc::from(graph.name(by))), records.get(by).removes.clone().unwrap_or_default())
            }
            _ => (None, String::new()),
        };
        unwanted[node.index()] = Some(Unwanted { by, reason, deleted });
    }
    unwanted
}

/// Because of which node something stays that isn't wanted any more, in words.
pub(super) fn kept_for(by: &str, because: RemovalObstacle, is_outside: bool) -> String {
    let why = match because {
        RemovalObstacle::Held if is_outside => "isn't in this part",
        RemovalObstacle::Held => "is held",
        RemovalObstacle::Waiting | RemovalObstacle::Blocked => "waits",
        RemovalObstacle::Failed => "has failed",
        RemovalObstacle::Deleting => "isn't gone yet",
        RemovalObstacle::DeleteFailed => "can't be deleted",
        RemovalObstacle::Keeping => "keeps something that it no longer wants",
    };
    format!("stays for {by}, which {why}")
}

/// What is reported about a node with this fate; `blocking` is the reason of the node that blocks it, if there is one.
pub(super) fn state_of(
    fate: Fate,
    record: &NodeRecord,
    blocking: Option<&str>,
    graph: &Graph,
    now: impl FnOnce() -> Now,
) -> NodeState {
    let operation = || record.reconciled.as_ref().map(ReconcileResult::operation).unwrap_or_default();
    let reason = || record.reason.clone();
    let blocked_by =
        |by: NodeId, reason: String| NodeState::Blocked { by: Arc::from(graph.name(by)), reason };
    let blocked = |by: NodeId, until: &str| {
        let because = blocking.unwrap_or_default();
        blocked_by(by, if because.is_empty() { until.to_owned() } else { format!("{until}: {because}") })
    };
    match fate {
        Fate::Pending => NodeState::Pending {
            reason: match &record.under_way {
                Some((part, since)) => format!("{part} called {:.0} s ago", (now() - *since).as_secs_f64()),
                None => NOT_COME_TO.to_owned(),
            },
        },
        Fate::Ready => NodeState::Ready(operation()),
        Fate::NotReady => NodeState::NotReady { operation: operation(), reason: reason() },
        Fate::Failed | Fate::DeleteFailed => NodeState::Failed {
            error: record.error.as_ref().map(|(_, words)| words.clone()).unwrap_or_default(),
        },
        Fate::Inactive => NodeState::Inactive { reason: reason() },
        Fate::Held => NodeState::Held { reason: reason() },
        Fate::Waiting if record.is_starting => NodeState::Starting { by: None, reason: reason() },
        Fate::Waiting => NodeState::Waiting { reason: reason() },
        Fate::Gone => match record.left {
            Some(reason) => NodeState::Left { reason },
            None => NodeState::Deleted,
        },
        Fate::Deleting => NodeState::Deleting { reason: reason() },
        Fate::Blocked { by, because } => match because {
            Obstacle::NotReady => blocked(by, "to be ready"),
            Obstacle::Failed => blocked_by(by, "to succeed".to_owned()),
            Obstacle::Held => blocked(by, "to be released"),
            Obstacle::Waiting => blocked(by, "to start"),
        },
        Fate::Starting { by, because } => {
            let by = graph.name(by);
            let why = match (because, blocking.unwrap_or_default()) {
                (Obstacle::Failed, _) => "it has failed",
                (Obstacle::Held, "") => "it is held",
                (_, "") => "it isn't ready",
                (_, reason) => reason,
            };
            NodeState::Starting { by: Some(Arc::from(by)), reason: format!("{by}: {why}") }
        }
        Fate::RemovalBlocked { by, because } => match because {
            RemovalObstacle::Deleting => blocked(by, "to be gone"),
            RemovalObstacle::DeleteFailed => blocked_by(by, "to be gone, which failed".to_owned()),
            RemovalObstacle::Held if blocking == Some(OUTSIDE) => {
                NodeState::Waiting { reason: kept_for(graph.name(by), because, true) }
            }
            RemovalObstacle::Held => blocked(by, "to be released"),
            RemovalObstacle::Waiting => blocked(by, "to start"),
            RemovalObstacle::Failed => blocked_by(by, "to be released, which failed".to_owned()),
            RemovalObstacle::Blocked => blocked_by(by, "to be brought about without it".to_owned()),
            RemovalObstacle::Keeping => blocked_by(by, "to give up what it no longer wants".to_owned()),
        },
    }
}
