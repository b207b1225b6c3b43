//! The parts of a component, made of the results of its nodes.

use jiff::Timestamp;
use operator_core::{
    status::kstatus::Kstatus,
    workflow::{ConditionKind, GroupResult, NodeResult, NodeState, Operation, Secondary},
};
use serde_json::{Value, json};

use super::rules::{Auxiliary, ByHand, Quiet};
use crate::{
    condition::Part,
    health::{self, Reason, Row},
};

/// What the parts are made for.
#[derive(Clone, Copy)]
pub(super) enum Phase {
    On,
    Suspended,
    Off,
}

/// What all parts of a component have in common.
pub(super) struct Parts<'r> {
    pub(super) group: &'r GroupResult<'r>,
    pub(super) before: Option<Reason>,
    pub(super) now: Timestamp,
}

impl Parts<'_> {
    pub(super) fn of(&self, phase: Phase) -> Vec<Part> {
        let nodes = self.group.nodes().iter();
        nodes.flat_map(|node| self.rows(node, phase).into_iter().map(|row| self.part(node, row))).collect()
    }

    fn part(&self, node: &NodeResult, (row, object): (Row, Option<Value>)) -> Part {
        Part {
            node: node.name.to_string(),
            row,
            after_grace: object.and_then(|object| health::after_grace(&object, self.now)),
            is_auxiliary: self.group.carried_of::<Auxiliary>(&node.name).is_some(),
            is_quiet: self.group.carried_of::<Quiet>(&node.name).is_some(),
        }
    }

    /// The rows of a node, each with its object; none if there is nothing to say about it.
    fn rows(&self, node: &NodeResult, phase: Phase) -> Vec<(Row, Option<Value>)> {
        let one = |reason, text: &str| vec![(Row::new(reason, format!("{}: {text}", node.name)), None)];
        let is_elsewhere = |by: &str| !self.group.node_names().any(|name| name == by);
        match (&node.state, phase) {
            (NodeState::Failed { error }, _) => one(Reason::Error, error),
            // The run ended before it came to an end.
            (NodeState::Pending { reason }, _) => one(Reason::Error, reason),
            (NodeState::Deleting { reason }, Phase::Off) => one(Reason::Updating, reason),
            (NodeState::Deleting { reason }, Phase::Suspended) => one(Reason::Suspending, reason),
            (NodeState::Blocked { by, reason }, Phase::Off) => {
                one(Reason::Updating, &format!("waits for {by} {reason}"))
            }
            (_, Phase::Off) | (NodeState::Deleting { .. }, Phase::On) => Vec::new(),
            (NodeState::Held { reason } | NodeState::Waiting { reason }, Phase::On) => {
                one(Reason::Blocked, reason)
            }
            (NodeState::Held { reason } | NodeState::Waiting { reason }, Phase::Suspended) => {
                one(Reason::Suspending, reason)
            }
            // The one that it waits for has a row of its own, unless it is elsewhere.
            (NodeState::Blocked { by, reason }, Phase::On) if is_elsewhere(by) => {
                one(Reason::Blocked, &format!("waits for {by} {reason}"))
            }
            (NodeState::Blocked { by, reason }, Phase::Suspended) => {
                one(Reason::Suspending, &format!("waits for {by} {reason}"))
            }
            (NodeState::NotReady { reason, .. }, Phase::On) if operations(node).is_empty() => {
                one(Reason::Blocked, reason)
            }
            (NodeState::Ready(_) | NodeState::NotReady { .. }, Phase::On) => self.healths(node),
            // What is only read isn't suspended with the component.
            (_, Phase::Suspended) if self.group.only_reads(&node.name) => Vec::new(),
            (NodeState::Ready(_) | NodeState::NotReady { .. }, Phase::Suspended) => self.suspensions(node),
            _ => Vec::new(),
        }
    }

    fn healths(&self, node: &NodeResult) -> Vec<(Row, Option<Value>)> {
        let ready = node.conditions.get(&ConditionKind::Ready);
        let own = ready.filter(|verdict| verdict.detail::<Kstatus>().is_none());
        let row = |operation: Operation, object: &Value| match own {
            Some(verdict) => match verdict.detail::<Row>() {
                Some(row) => row.clone(),
                None => {
                    health::by_verdict(object, verdict.is_met(), verdict.reason(), operation, self.before)
                }
            },
            None => health::of(object, operation, self.before, self.now),
        };
        let rows = operations(node).into_iter().map(|(operation, object)| {
            let Row { reason, message } = row(operation, &object);
            let text =
                if message.is_empty() { node.name.to_string() } else { format!("{}: {message}", node.name) };
            (Row::new(reason, text), Some(object).filter(|object| !object.is_null()))
        });
        rows.collect()
    }

    fn suspensions(&self, node: &NodeResult) -> Vec<(Row, Option<Value>)> {
        let by_hand = self.group.carried_of::<ByHand>(&node.name).is_some();
        let objects = operations(node).into_iter().filter(|(_, object)| !object.is_null());
        let row = |(_, object): (Operation, Value)| {
            let Row { reason, message } = health::suspended(&object, by_hand, self.now);
            (Row::new(reason, format!("{}: {message}", node.name)), Some(object))
        };
        objects.map(row).collect()
    }
}

/// What was done about each of a node's objects that exist, as JSON; `null` for what isn't an object.
fn operations(node: &NodeResult) -> Vec<(Operation, Value)> {
    let all = node.reconciled.iter().flat_map(|all| all.operations());
    let there = all.filter(|(operation, _)| *operation != Operation::Deleted);
    // Of most children the kind is enough, which needn't be decoded.
    let json = |object: &Secondary| match object.kind().filter(|_| object.has_no_status()) {
        Some(kind) => json!({ "apiVersion": kind.api_version(), "kind": kind.kind() }),
        None => object.to_json().unwrap_or_default(),
    };
    there.map(|(operation, object)| (*operation, json(object))).collect()
}
