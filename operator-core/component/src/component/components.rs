//! The conditions of all components of a primary, as its status has them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::object::HasStatus;
use operator_core::{
    Run,
    resource::KubeObject,
    status::conditions::{self, ConditionStatus},
    workflow::{GroupResult, NodeState},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    parts::{Parts, Phase},
    rules::Rules,
};
use crate::{
    condition::{self, Before, Outcome, Stage},
    health::{Reason, Row},
};

/// The part of a status that components keep; it is flattened into the status:
///
/// ```
/// use operator_component::{Components, HasComponents};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
/// #[serde(rename_all = "camelCase", default)]
/// struct ShopStatus {
///     #[serde(flatten)]
///     components: Components,
///     url: Option<String>,
/// }
///
/// impl HasComponents for ShopStatus {
///     fn components(&self) -> &Components {
///         &self.components
///     }
/// }
/// ```
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Components {
    /// The conditions of the components, of the run and of its steps.
    #[schemars(schema_with = "conditions::list_map")]
    pub conditions: Vec<Condition>,
    /// The generation of the primary that the conditions are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Since when each component converges, by its name. Those that don't are missing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub converging_since: BTreeMap<String, String>,
}

/// A status that has [`Components`].
#[diagnostic::on_unimplemented(
    message = "the status `{Self}` has no components",
    label = "this status keeps no conditions of components",
    note = "add `#[serde(flatten)] components: Components` to it, and `impl HasComponents for {Self}` that returns this field"
)]
pub trait HasComponents {
    /// What was stored.
    fn components(&self) -> &Components;
}

impl Components {
    /// The conditions after a run: for the status function of a controller whose workflow has components. It asks for another run
    /// when a grace period is over.
    ///
    /// `Ready` is true only if all components are, and nothing else of the run is missing; its reason is that of the worst component
    /// that isn't. `Reconciling` and `Stalled` are those of [`Run::conditions`].
    ///
    /// A component's condition that another field manager applies is left to that manager, and `Ready` is false and says so.
    #[must_use]
    pub fn of<P>(primary: &P, run: &Run<P>) -> Self
    where
        P: KubeObject + HasStatus<Status: HasComponents>,
    {
        let (nothing, now) = (Self::default(), run.now());
        let stored = primary.status().map_or(&nothing, HasComponents::components);
        let groups = run.groups();
        let judging =
            Judging { primary, stored, groups: &groups, now, generation: primary.meta().generation };
        judging.components(run)
    }
}

/// What the conditions are made of.
struct Judging<'r, P> {
    primary: &'r P,
    stored: &'r Components,
    groups: &'r [GroupResult<'r>],
    now: Timestamp,
    generation: Option<i64>,
}

/// A component after a run.
struct Judged<'r> {
    name: &'r str,
    condition: &'r str,
    /// `None` if it never ran.
    outcome: Option<Outcome>,
}

impl<P: KubeObject> Judging<'_, P> {
    fn components(&self, run: &Run<P>) -> Components {
        let mut conditions = run.conditions(self.primary);
        let mut all: Vec<Judged<'_>> = (0..self.groups.len()).filter_map(|at| self.judge(at)).collect();
        // A component that an earlier version had.
        conditions.retain(|condition| !self.is_former(condition, &all));
        for of in &mut all {
            if let Some(manager) = run.manager_of_condition(of.condition) {
                let text = format!(
                    "the condition {} is applied by the field manager {manager}; name another one with `.condition(…)`, or \
                     remove it there",
                    of.condition
                );
                tracing::warn!(component = of.name, "{text}");
                // What isn't applied stays as the other one has it.
                conditions.retain(|condition| condition.type_ != of.condition);
                of.outcome = Some(Row::new(Reason::Error, text).into());
                continue;
            }
            let row = of.outcome.as_ref().map_or_else(condition::never_ran, |outcome| outcome.row.clone());
            conditions::set(&mut conditions, &row.update(of.condition, self.generation), self.now);
            for warning in of.outcome.iter().flat_map(|outcome| &outcome.warnings) {
                tracing::warn!(component = of.name, "{warning}");
            }
        }
        if let Some(ready) = self.ready(run, &all) {
            conditions::set(&mut conditions, &ready.update("Ready", self.generation), self.now);
        }
        let outcomes = || all.iter().filter_map(|of| Some((of.name, of.outcome.as_ref()?)));
        if let Some(soonest) = outcomes().filter_map(|(_, outcome)| outcome.again_in).min() {
            run.again_in(soonest);
        }
        let since =
            outcomes().filter_map(|(name, of)| Some((name.to_owned(), of.converging_since?.to_string())));
        let converging_since = since.collect();
        Components { conditions, observed_generation: self.generation, converging_since }
    }

    /// `Ready`; `None` if it is that of the run, because it is paused, or something beside the components is missing.
    fn ready(&self, run: &Run<P>, all: &[Judged<'_>]) -> Option<Row> {
        if run.is_paused() {
            return None;
        }
        let rows = all.iter().map(|of| (of.name, of.outcome.as_ref().map(|outcome| &outcome.row)));
        let ready = condition::ready(rows);
        if ready.reason.status() != ConditionStatus::True {
            return Some(ready);
        }
        let is_in_component = |node: &str| {
            let components = self.groups.iter().filter(|group| Rules::<P>::of(group).is_some());
            components.flat_map(GroupResult::node_names).any(|name| name == node)
        };
        let others = run.nodes().iter().filter(|node| !is_in_component(&node.name));
        let fine = |state: &NodeState| {
            matches!(
                state,
                NodeState::Ready(_)
                    | NodeState::Inactive { .. }
                    | NodeState::Deleted
                    | NodeState::Left { .. }
            )
        };
        let is_fine = run.error().is_none() && !run.is_cleanup() && !run.is_abnormal();
        let is_fine = is_fine && others.map(|node| &node.state).all(fine);
        is_fine.then_some(ready)
    }

    /// The component that is the group at this position, if it is one.
    fn judge(&self, at: usize) -> Option<Judged<'_>> {
        let group = &self.groups[at];
        let rules = Rules::<P>::of(group)?;
        let (name, condition) = (group.name(), &*rules.condition);
        let since = self.stored.converging_since.get(name).and_then(|since| since.parse().ok());
        let before = Before::of(&self.stored.conditions, condition, since, self.generation);
        let gate = rules.gate(self.primary);
        if group.nodes().is_empty() && gate.is_ok() {
            // The run ended before its workflow: what is known stays.
            let stored = conditions::find(&self.stored.conditions, condition);
            let row = stored.zip(before.reason).map(|(stored, reason)| Row::new(reason, &*stored.message));
            let outcome =
                row.map(|row| Outcome { converging_since: before.converging_since, ..Outcome::from(row) });
            return Some(Judged { name, condition, outcome });
        }
        let not_started = self.not_started(group);
        let stage = Stage::of(gate, not_started, rules.suspended.is(self.primary));
        let phase = match stage {
            Stage::Suspended => Phase::Suspended,
            Stage::Off => Phase::Off,
            Stage::GateFailed(_) | Stage::NotStarted(_) | Stage::On => Phase::On,
        };
        let parts = Parts { group, before: before.reason, now: self.now }.of(phase);
        let outcome = condition::judge(&stage, &parts, &before, rules.grace, self.now);
        Some(Judged { name, condition, outcome: Some(outcome) })
    }

    /// For what a component waits that hasn't started.
    fn not_started(&self, group: &GroupResult<'_>) -> Option<String> {
        let waits = |state: &NodeState| match state {
            NodeState::Starting { by, reason } => Some((by.clone(), reason.clone())),
            _ => None,
        };
        let (by, reason) = group.nodes().iter().find_map(|node| waits(&node.state))?;
        // A prerequisite comes earlier in the graph, so this ends.
        let is_of = |by: &str, at: usize| self.groups[at].node_names().any(|name| name == by);
        let of = by.and_then(|by| {
            let mut all = (0..self.groups.len()).filter(|at| is_of(&by, *at));
            all.find_map(|at| self.judge(at))
        });
        Some(match of {
            Some(of) => {
                condition::prerequisite_not_met(of.condition, of.outcome.as_ref().map(|outcome| &outcome.row))
            }
            None => format!("Prerequisite not met: {reason}"),
        })
    }

    /// Whether it is the condition of a component that there isn't any more.
    fn is_former(&self, condition: &Condition, all: &[Judged<'_>]) -> bool {
        let is_of_run = ["Ready", "Reconciling", "Stalled"].contains(&&*condition.type_);
        !is_of_run
            && !all.iter().any(|of| of.condition == condition.type_)
            && condition.type_.ends_with("Ready")
            && Reason::parse(&condition.reason).is_some()
    }
}
