//! The state of one object, in the words of a component.
//!
//! ```text
//!                    ┌ alive:       Creating, Updating, Scaling ─▶ Healthy     or Failing
//!  object ─▶ family ─┤ task:        TaskPending ─▶ TaskRunning  ─▶ Completed   or TaskFailing
//!                    ├ operational: OperationPending            ─▶ Operational or OperationFailing
//!                    └ static:      Creating, Updating, OperationPending ─▶ Healthy or Failing
//! ```
//!
//! | family | kinds | ready if |
//! |---|---|---|
//! | alive | Deployment, StatefulSet, DaemonSet, ReplicaSet, Pod | it has its replicas, all of the newest template; a Pod is ready or has succeeded |
//! | task | Job | it has succeeded |
//! | operational | Service | of type `LoadBalancer`: it has an address |
//! | | Ingress | it has an address |
//! | | PersistentVolumeClaim | it is bound |
//! | | HorizontalPodAutoscaler | `ScalingActive` is true, or its target has no replicas on purpose |
//! | | CronJob | it exists |
//! | static | CustomResourceDefinition | `Established` and `NamesAccepted` are true |
//! | | anything else, for example PodDisruptionBudget | [`kstatus`](operator_core::status::kstatus) says so |
//!
//! # Guarantees
//! - An object is ready only if its controller has seen the newest generation of it, as far as the object says so.
//! - Creating and Updating stay until the object is ready, in however many runs that is, also if one of them fails before its
//!   status is written, or if another object was worse meanwhile.
//! - The result depends on the arguments alone.
//!
//! # Assumptions
//! - `apiVersion` and `kind` are set. Otherwise an object is one of an unknown kind.
//! - `before` is the reason of the component's stored condition. No reason is stored for each object: that of the component applies to
//!   all that weren't ready then. Where it was about something worse, the object itself tells whether it is new, or rolls out.

mod kind;
mod reason;
mod suspension;
#[cfg(test)]
pub(crate) mod tests;

use jiff::Timestamp;
use operator_core::{status::conditions::ConditionUpdate, workflow::Operation};
use serde_json::Value;

use kind::{Family, Progress};
pub use reason::Reason;
pub use suspension::{suspend, suspended};

/// The state of an object or of a component, with a text for people.
///
/// If an own `ready` condition returns one as the detail of its verdict, it counts instead of what [`of`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The state.
    pub reason: Reason,
    /// Why, or what it waits for. It may be empty.
    pub message: String,
}

impl Row {
    /// With that reason and text.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    /// As a condition of that type, determined for that generation of the primary.
    #[must_use]
    pub fn update<'r>(&'r self, r#type: &'r str, observed_generation: Option<i64>) -> ConditionUpdate<'r> {
        ConditionUpdate {
            r#type,
            status: self.reason.status(),
            reason: self.reason.as_str(),
            message: &self.message,
            observed_generation,
        }
    }
}

/// The state of an object after the run that has done `operation`, with `before` being the reason of the component's stored
/// condition; `None` if there is none. An object that can't be interpreted is an `Error`.
#[must_use]
pub fn of(object: &Value, operation: Operation, before: Option<Reason>, now: Timestamp) -> Row {
    match kind::progress(object, now) {
        Ok((progress, message)) => Row::new(named(object, progress, operation, before), message),
        Err(error) => Row::new(Reason::Error, error.to_string()),
    }
}

/// The same for a node with a `ready` condition of its own: in the words of the object's family, with the condition's answer and
/// text. For what isn't an object, such as a record in another system, pass [`Value::Null`].
#[must_use]
pub fn by_verdict(
    object: &Value,
    is_ready: bool,
    text: &str,
    operation: Operation,
    before: Option<Reason>,
) -> Row {
    let progress = if is_ready { Progress::Done } else { Progress::Pending };
    Row::new(named(object, progress, operation, before), text)
}

/// What an object counts as when the grace period is over: `Healthy`, `Degraded` if it works in part, or `Down`. `None` for kinds
/// that can't tell, such as a Job or a ConfigMap: then the others of the component count.
#[must_use]
pub fn after_grace(object: &Value, now: Timestamp) -> Option<Reason> {
    let progress = kind::progress(object, now).map(|(progress, _)| progress).ok();
    kind::after_grace(object, progress)
}

/// The word for a progress.
fn named(object: &Value, progress: Progress, operation: Operation, before: Option<Reason>) -> Reason {
    match (Family::of(object), progress) {
        (Family::Alive, Progress::Done) if kind::has_succeeded(object) => Reason::Completed,
        (Family::Alive | Family::Static, Progress::Done) => Reason::Healthy,
        (Family::Alive | Family::Static, Progress::Failed) => Reason::Failing,
        (Family::Alive | Family::Static, Progress::Leaving) => Reason::Updating,
        (family @ (Family::Alive | Family::Static), Progress::Running | Progress::Pending) => {
            on_the_way(object, family, operation, before)
        }
        (Family::Task, Progress::Done) => Reason::Completed,
        (Family::Task, Progress::Failed) => Reason::TaskFailing,
        (Family::Task, Progress::Running) => Reason::TaskRunning,
        (Family::Task, Progress::Pending | Progress::Leaving) => Reason::TaskPending,
        (Family::Operational, Progress::Done) => Reason::Operational,
        (Family::Operational, Progress::Failed) => Reason::OperationFailing,
        (Family::Operational, Progress::Running | Progress::Pending | Progress::Leaving) => {
            Reason::OperationPending
        }
    }
}

/// Creating, Updating, or what an object is that was ready and isn't any more.
fn on_the_way(object: &Value, family: Family, operation: Operation, before: Option<Reason>) -> Reason {
    let unready = match family {
        _ if kind::is_pod(object) => Reason::Creating,
        Family::Alive => Reason::Scaling,
        Family::Static | Family::Task | Family::Operational => Reason::OperationPending,
    };
    let is_changed = object["metadata"]["generation"].as_i64().is_some_and(|generation| generation > 1);
    // The object's own words, where what was stored is about another one.
    let rolls_out = kind::is_rolling_out(object);
    let by_itself = if is_changed { Reason::Updating } else { Reason::Creating };
    match (operation, before) {
        (Operation::Created, _) | (_, Some(Reason::Creating)) => Reason::Creating,
        (Operation::Updated, _) | (_, Some(Reason::Updating)) => Reason::Updating,
        _ if kind::is_stale(object) || rolls_out == Some(true) => by_itself,
        (_, Some(Reason::Scaling)) => unready,
        (_, Some(before)) if before.is_healthy() => unready,
        // Something else was worse, or nothing was stored.
        _ if rolls_out == Some(false) => unready,
        _ => by_itself,
    }
}
