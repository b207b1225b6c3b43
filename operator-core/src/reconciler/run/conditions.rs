//! The conditions of a primary that follow from a run. Pure.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ManagedFieldsEntry};
use serde::Deserialize;
use serde_json::Value;

use super::RunError;
use crate::{
    operations::matcher::{is_applied_by, owned_fields},
    resource::{Object, cut},
    results::{ConditionKind, NOT_COME_TO, NodeResult, NodeState, WantCode},
    status::conditions::{ConditionUpdate, set, worded},
};

const READY: &str = "Ready";
pub(crate) const RECONCILING: &str = "Reconciling";
pub(super) const STALLED: &str = "Stalled";
/// The reason of a hold whose code can't be one.
const HELD: &str = "Held";
/// The reason of a failure that gives none.
const FAILED: &str = "Failed";
/// The reason if something is waited for, and none of what waits has a code.
const WAITING: &str = "Waiting";
/// The reason if a step says that something is abnormal, and gives no word for it.
const ABNORMAL: &str = "Abnormal";
/// The reason if no node wants anything to exist.
const NOTHING_WANTED: &str = "NothingWanted";
/// The reason if the primary is paused.
const SUSPENDED: &str = "Suspended";
const OWN: &[&str] = &[READY, RECONCILING, STALLED];

/// The longest message, in bytes: enough for people, and far below the limit in the usual schema of conditions.
const LONGEST: usize = 1024;

/// Whether a node waits for something.
pub(super) fn waits(state: &NodeState) -> bool {
    matches!(
        state,
        NodeState::NotReady { .. }
            | NodeState::Waiting { .. }
            | NodeState::Blocked { .. }
            | NodeState::Starting { .. }
            | NodeState::Deleting { .. }
            | NodeState::Pending { .. }
    )
}

/// Whether it waits for another node of the workflow.
fn is_behind(state: &NodeState) -> bool {
    matches!(state, NodeState::Blocked { .. } | NodeState::Starting { by: Some(_), .. })
}

pub(super) fn failed(state: &NodeState) -> bool {
    matches!(state, NodeState::Failed { .. })
}

/// Whether something was in progress for a node when its run was dropped.
pub(super) fn hangs(state: &NodeState) -> bool {
    matches!(state, NodeState::Pending { reason } if reason != NOT_COME_TO)
}

/// The status of a condition, and the reason for it.
#[derive(Debug)]
struct Said {
    holds: bool,
    reason: &'static str,
    message: String,
}

/// What a run says about its primary.
#[derive(Debug)]
pub(super) struct Verdict {
    ready: Said,
    reconciling: Said,
    stalled: Said,
}

impl Verdict {
    /// `nodes` are those of the controller's workflow, if it was run. The last pair is for what a step waits, with its code, and
    /// what should have been run and was not.
    pub(super) fn of(
        error: Option<&RunError>,
        is_cleanup: bool,
        nodes: Option<&[NodeResult]>,
        (stopped, not_run): (Option<(&'static str, String)>, Option<String>),
    ) -> Self {
        let of_nodes = |is: &dyn Fn(&NodeState) -> bool| lines(nodes.unwrap_or_default(), is);
        if let Some(error) = error {
            let reason = match error {
                RunError { timed_out: true, .. } => "TimedOut",
                RunError { panicked: true, .. } => "Panicked",
                RunError { .. } => error.code().unwrap_or(FAILED),
            };
            let message = [error.to_string(), of_nodes(&hangs)].join("; ");
            let (reason, message) = worded(reason, FAILED, message.trim_end_matches("; ").to_owned());
            return Self::unready(reason, &message, !error.is_stalled, error.is_stalled);
        }
        let failed = of_nodes(&failed);
        if !failed.is_empty() {
            return Self::unready(FAILED, &failed, false, true);
        }
        // What waits for another node of this run has nothing to add to that one's reason.
        let roots = of_nodes(&|state| waits(state) && !is_behind(state));
        let all = of_nodes(&waits);
        let waiting = if roots.is_empty() { &all } else { &roots };
        let wait = |message| {
            let is_waiting = |state: &NodeState| {
                matches!(state, NodeState::Waiting { .. } | NodeState::Starting { by: None, .. })
            };
            worded(code(nodes.unwrap_or_default(), is_waiting).unwrap_or(WAITING), WAITING, message)
        };
        if let Some((code, reason)) = stopped {
            let (code, message) = worded(code, WAITING, [reason, roots].join("; "));
            return Self::unready(code, message.trim_end_matches("; "), true, false);
        }
        if is_cleanup {
            let message = if waiting.is_empty() { "the clean-up isn't done" } else { waiting };
            return Self::unready("Deleting", message, true, false);
        }
        if let Some(why) = nothing_wanted(nodes.unwrap_or_default()) {
            let said = |holds, message| Said { holds, reason: NOTHING_WANTED, message };
            let (going, quiet) = (!all.is_empty(), String::new());
            return Self {
                ready: said(true, why),
                reconciling: said(going, all),
                stalled: said(false, quiet),
            };
        }
        let held = of_nodes(&|state| matches!(state, NodeState::Held { .. }));
        if !held.is_empty() {
            let is_held = |state: &NodeState| matches!(state, NodeState::Held { .. });
            let (code, held) = worded(code(nodes.unwrap_or_default(), is_held).unwrap_or(HELD), HELD, held);
            let mut verdict = Self::unready(code, &held, false, true);
            // A node that only waits for a held node continues when the hold ends.
            if !roots.is_empty() {
                let (reason, message) = wait(roots);
                verdict.reconciling = Said { holds: true, reason, message };
            }
            return verdict;
        }
        if !waiting.is_empty() {
            let (code, waiting) = wait(waiting.clone());
            return Self::unready(code, &waiting, true, false);
        }
        if let Some(not_run) = not_run {
            return Self::unready(WAITING, &not_run, true, false);
        }
        let said = |holds| Said { holds, reason: "Succeeded", message: String::new() };
        let kept: Vec<_> = nodes.unwrap_or_default().iter().filter_map(kept).collect();
        let reconciling = match kept.is_empty() {
            true => said(false),
            false => Said { holds: true, reason: "Removing", message: kept.join("; ") },
        };
        Self { ready: said(true), reconciling, stalled: said(false) }
    }

    /// Not ready, and whether that changes without a change of the primary.
    fn unready(reason: &'static str, message: &str, reconciling: bool, stalled: bool) -> Self {
        let said = |holds| Said { holds, reason, message: message.to_owned() };
        // The other conditions have the reason.
        let unless = |holds| if holds { said(true) } else { Said { message: String::new(), ..said(false) } };
        Self { ready: said(false), reconciling: unless(reconciling), stalled: unless(stalled) }
    }

    /// The same if something is abnormal, which isn't worse than what the run itself says.
    pub(super) fn unless(mut self, abnormal: Option<(&'static str, String)>) -> Self {
        if let Some((reason, message)) = abnormal.filter(|_| self.ready.holds) {
            let (reason, message) = worded(reason, ABNORMAL, message);
            self.ready = Said { holds: false, reason, message };
        }
        self
    }

    /// It is left alone.
    pub(super) fn paused() -> Self {
        Self::unready(SUSPENDED, "it is paused", false, false)
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready.holds
    }

    /// Sets the conditions.
    pub(super) fn say(&self, all: &mut Vec<Condition>, generation: Option<i64>, now: Timestamp) {
        for (of, said) in [(READY, &self.ready), (RECONCILING, &self.reconciling), (STALLED, &self.stalled)] {
            let update = ConditionUpdate {
                r#type: of,
                status: said.holds.into(),
                reason: said.reason,
                message: &cut(said.message.clone(), LONGEST),
                observed_generation: generation,
            };
            set(all, &update, now);
        }
    }
}

/// What each node said if none is wanted.
fn nothing_wanted(nodes: &[NodeResult]) -> Option<String> {
    let why = |node: &NodeResult| match (&node.unwanted, &node.state) {
        // It stays because of a node outside of the part that was run.
        (Some(_), NodeState::Waiting { .. }) => None,
        (Some(unwanted), _) => Some(format!("{}: {}", node.name, unwanted.reason)),
        (None, NodeState::Inactive { reason }) => Some(format!("{}: {reason}", node.name)),
        _ => None,
    };
    let is_unwanted = nodes.iter().any(|node| node.unwanted.is_some());
    let said: Option<Vec<_>> = nodes.iter().map(why).collect();
    Some(said.filter(|_| is_unwanted)?.join("; "))
}

/// Why a node keeps something that it no longer wants.
fn kept(node: &NodeResult) -> Option<String> {
    Some(format!("{}: what it no longer wants {}", node.name, node.kept.as_ref()?))
}

/// The first code of a node in such a state.
fn code(nodes: &[NodeResult], is: impl Fn(&NodeState) -> bool) -> Option<&'static str> {
    nodes.iter().filter(|node| is(&node.state)).find_map(|node| {
        let gate = node.conditions.get(&ConditionKind::OnlyIf)?;
        gate.detail::<WantCode>().map(|code| code.0)
    })
}

/// The nodes in such a state, in one line.
fn lines(nodes: &[NodeResult], is: &dyn Fn(&NodeState) -> bool) -> String {
    let lines: Vec<_> = nodes
        .iter()
        .filter(|node| is(&node.state))
        .map(|node| format!("{}: {}", node.name, as_it_is(&node.state)))
        .collect();
    lines.join("; ")
}

/// A state in words that stay the same while the state does: what the run did about it isn't told.
fn as_it_is(state: &NodeState) -> String {
    match state {
        NodeState::NotReady { reason, .. } => format!("not ready: {reason}"),
        other => other.to_string(),
    }
}

/// How a list of conditions is applied.
#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// Each item on its own, by its type; these are the types of those that a manager has applied.
    Items(Vec<String>),
    /// As a whole: items that aren't listed are removed.
    Whole,
}

/// The conditions in the status of `object` that `manager`, when it applies the status, has to repeat.
///
/// If they are applied as items, those of others stay without being repeated, and repeating them would take them over.
/// A manager that hasn't applied any yet can't know which case it is: `None`, unless there are none of others, or
/// `live` shows how they were applied.
pub(super) fn known(object: &dyn Object, manager: &str, live: Option<&dyn Object>) -> Option<Vec<Condition>> {
    let all = conditions_of(object);
    let own = |entry: &&ManagedFieldsEntry| is_applied_by(entry, manager, Some("status"));
    let shape = entries(object).filter(own).find_map(shape);
    let shape = match shape {
        Some(shape) => shape,
        None if all.iter().all(|condition| OWN.contains(&&*condition.type_)) => Shape::Whole,
        None => match entries(live?).find_map(self::shape) {
            // None of the conditions is the manager's.
            Some(Shape::Items(_)) => Shape::Items(Vec::new()),
            Some(Shape::Whole) | None => Shape::Whole,
        },
    };
    Some(match shape {
        Shape::Whole => all,
        Shape::Items(types) => all.into_iter().filter(|condition| types.contains(&condition.type_)).collect(),
    })
}

/// The other manager that applies the condition of this type; `None` if only the `live` object can show it.
///
/// What was taken away by force leaves the type of the item to its former owner, and no more. A manager that applies `Ready` as well
/// is this controller under a former name.
pub(super) fn other_manager(
    object: &dyn Object,
    (manager, r#type): (&str, &str),
    live: Option<&dyn Object>,
) -> Option<Option<String>> {
    let own = entries(object).find(|entry| is_applied_by(entry, manager, Some("status")));
    let is_own = own.is_some_and(|own| {
        has_item(own, r#type, |item| item.get("f:reason").is_some()) || shape(own) == Some(Shape::Whole)
    });
    // Nearly always it is, and then the object isn't read as a whole.
    if is_own || !conditions_of(object).iter().any(|condition| condition.type_ == r#type) {
        return Some(None);
    }
    let mut others = entries(live?).filter_map(|entry| {
        let name = entry.manager.as_deref()?;
        let applies = name != manager && is_applied_by(entry, name, Some("status"));
        let has = |r#type| has_item(entry, r#type, |_| true);
        (applies && has(r#type) && !has(READY)).then(|| name.to_owned())
    });
    Some(others.next())
}

/// Whether the entry's manager has applied the condition of this type, and this is so of the fields of it that it owns.
fn has_item(entry: &ManagedFieldsEntry, r#type: &str, is_so: impl Fn(&Value) -> bool) -> bool {
    let Some(fields) = owned_fields(entry) else { return false };
    let items = fields.get("f:status").and_then(|status| status.get("f:conditions")?.as_object());
    items
        .into_iter()
        .flatten()
        .any(|(key, fields)| type_in(key).is_some_and(|of| of == r#type) && is_so(fields))
}

/// The type in the key of an item of conditions, as in `k:{"type":"Ready"}`.
fn type_in(key: &str) -> Option<String> {
    let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    Some(key.get("type")?.as_str()?.to_owned())
}

fn entries(object: &dyn Object) -> impl Iterator<Item = &ManagedFieldsEntry> {
    object.meta().managed_fields.iter().flatten()
}

/// The conditions in the status. An item that can't be read as a condition is left out.
pub(super) fn conditions_of(object: &dyn Object) -> Vec<Condition> {
    let Ok(object) = object.to_value() else { return Vec::new() };
    let items = object.pointer("/status/conditions").and_then(Value::as_array);
    items.into_iter().flatten().filter_map(|item| Condition::deserialize(item).ok()).collect()
}

/// Whether the status of a primary says that it is paused.
pub(crate) fn says_paused(primary: &dyn Object) -> bool {
    let says = |of: &Condition| (&*of.type_, &*of.status, &*of.reason) == (READY, "False", SUSPENDED);
    conditions_of(primary).iter().any(says)
}

/// How the conditions are applied, if the entry has some.
fn shape(entry: &ManagedFieldsEntry) -> Option<Shape> {
    let fields = owned_fields(entry)?;
    let items = fields.get("f:status")?.get("f:conditions")?.as_object()?;
    let is_whole = !items.keys().any(|key| key.starts_with("k:"));
    Some(if is_whole {
        Shape::Whole
    } else {
        Shape::Items(items.keys().filter_map(|key| type_in(key)).collect())
    })
}
