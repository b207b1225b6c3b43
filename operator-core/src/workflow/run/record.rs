//! What a run has learned of a node, and how it is told.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    observe::error_chain,
    reconciler::{
        BoxError,
        workflow::{ConditionKind, ConditionResult, NodeResult, NodeState, ReconcileResult},
    },
    workflow::{
        Graph, NodeId,
        plan::{Fate, Obstacle, RemovalObstacle},
    },
};

/// What is known of one node. A step owns it while it is under way.
#[derive(Default)]
pub(super) struct Record {
    /// The answers so far: each condition is asked once in a run.
    pub(super) conditions: BTreeMap<ConditionKind, ConditionResult>,
    pub(super) reconciled: Option<ReconcileResult>,
    error: Option<(Arc<BoxError>, String)>,
    /// Why it came to what it came to.
    pub(super) reason: String,
    /// Why it counts as gone without having been deleted.
    pub(super) left: Option<&'static str>,
}

impl Record {
    pub(super) fn failed(&mut self, error: BoxError) {
        let words = error_chain(&*error).to_string();
        self.error = Some((Arc::new(error), words));
    }

    pub(super) fn finish(self, name: Arc<str>, state: NodeState) -> NodeResult {
        let Self { conditions, reconciled, error, .. } = self;
        // A gate that couldn't be asked yet is no failure where nothing depended on its answer.
        let error = error.filter(|_| matches!(state, NodeState::Failed { .. })).map(|(error, _)| error);
        NodeResult { name, state, reconciled, conditions, error }
    }
}

/// What is told of a node that has come to this end.
pub(super) fn state_of(fate: Fate, node: NodeId, records: &[Record], graph: &Graph) -> NodeState {
    let record = &records[node.index()];
    let operation = || record.reconciled.as_ref().map(ReconcileResult::operation).unwrap_or_default();
    let reason = || record.reason.clone();
    let blocked_by =
        |by: NodeId, reason: String| NodeState::Blocked { by: Arc::from(graph.name(by)), reason };
    let blocked = |by: NodeId, until: &str| {
        let because = &records[by.index()].reason;
        blocked_by(by, if because.is_empty() { until.to_owned() } else { format!("{until}: {because}") })
    };
    match fate {
        Fate::Pending => NodeState::Waiting { reason: "its turn".to_owned() },
        Fate::Ready => NodeState::Ready(operation()),
        Fate::NotReady => NodeState::NotReady { operation: operation(), reason: reason() },
        Fate::Failed | Fate::DeleteFailed => NodeState::Failed {
            error: record.error.as_ref().map(|(_, words)| words.clone()).unwrap_or_default(),
        },
        Fate::Inactive => NodeState::Inactive { reason: reason() },
        Fate::Held => NodeState::Held { reason: reason() },
        Fate::Waiting => NodeState::Waiting { reason: reason() },
        Fate::Gone => match record.left {
            Some(reason) => NodeState::Left { reason },
            None => NodeState::Deleted,
        },
        Fate::Deleting => NodeState::Deleting { reason: reason() },
        Fate::Blocked { by, because } => match because {
            Obstacle::NotReady => blocked(by, "to be ready"),
            Obstacle::Failed => blocked_by(by, "to succeed".to_owned()),
            Obstacle::Held => blocked(by, "to be let go"),
            Obstacle::Waiting => blocked(by, "to start"),
        },
        Fate::RemovalBlocked { by, because } => match because {
            RemovalObstacle::Deleting => blocked(by, "to be gone"),
            RemovalObstacle::DeleteFailed => blocked_by(by, "to be gone, which failed".to_owned()),
            RemovalObstacle::Held => blocked(by, "to be let go"),
            RemovalObstacle::Waiting => blocked(by, "to start"),
            RemovalObstacle::Failed => blocked_by(by, "to be let go, which failed".to_owned()),
        },
    }
}
