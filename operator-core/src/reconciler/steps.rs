//! The conditions that the steps of a reconciler set, beside those of the run.
//!
//! ```text
//! cx.condition, cx.abnormal ──▶ StepConditions, in the run ──▶ run.conditions(…), at its end
//! ```
//!
//! # Guarantees
//! - A step that a run didn't reach leaves its condition as it is.
//! - `Ready`, `Reconciling` and `Stalled` are those of the run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::Context;
use crate::{
    resource::KubeObject,
    status::conditions::{ConditionStatus, ConditionUpdate, remove, set},
};

/// What the steps of a run have said, by the types of the conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepConditions(BTreeMap<String, Step>);

#[derive(Clone, Debug)]
enum Step {
    Is { status: ConditionStatus, reason: String, message: String, generation: Option<i64> },
    Abnormal { reason: &'static str, message: String },
    Normal,
}

impl StepConditions {
    /// The first thing that is abnormal: its reason, and for people its condition and the message.
    pub(crate) fn abnormal(&self) -> Option<(&'static str, String)> {
        self.0.iter().find_map(|(of, step)| match step {
            Step::Abnormal { reason, message } => Some((*reason, format!("{of}: {message}"))),
            Step::Is { .. } | Step::Normal => None,
        })
    }

    /// Whether a step has said by this condition that something is abnormal.
    pub(crate) fn has_abnormal(&self, r#type: &str) -> bool {
        matches!(self.0.get(r#type), Some(Step::Abnormal { .. }))
    }

    /// Sets the conditions.
    pub(crate) fn say(&self, all: &mut Vec<Condition>, current: Option<i64>, now: Timestamp) {
        for (of, step) in &self.0 {
            let (status, reason, message, observed_generation) = match step {
                Step::Normal => {
                    remove(all, of);
                    continue;
                }
                Step::Is { status, reason, message, generation } => {
                    (*status, &**reason, message, *generation)
                }
                Step::Abnormal { reason, message } => (ConditionStatus::True, *reason, message, current),
            };
            set(all, &ConditionUpdate { r#type: of, status, reason, message, observed_generation }, now);
        }
    }
}

impl<P: KubeObject> Context<P> {
    /// Sets a condition of a step, which [`Run::conditions`](crate::Run::conditions) returns at the end of the run beside its own
    /// ones. The last call for a type counts. A run that doesn't reach the step leaves the condition as it is.
    pub fn condition(&self, update: &ConditionUpdate<'_>) {
        self.note(
            update.r#type,
            Step::Is {
                status: update.status,
                reason: update.reason.to_owned(),
                message: update.message.to_owned(),
                generation: update.observed_generation,
            },
        );
    }

    /// Sets a condition that is there only while something is wrong, such as `NotifyFailed`: `Some` with a reason, one word in
    /// camel case, and a text for people; `None` removes it. While it is there, `Ready` is false for this reason, unless
    /// the run has a worse one.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use operator_core::prelude::*;
    /// # fn send(_: &Pod) -> Result<(), std::io::Error> { Ok(()) }
    /// fn notify(pod: &Pod, cx: &Context<Pod>) {
    ///     cx.abnormal("NotifyFailed", send(pod).err().map(|error| ("NotSent", error.to_string())));
    /// }
    /// ```
    pub fn abnormal(&self, r#type: &str, what: Option<(&'static str, String)>) {
        let step = what.map_or(Step::Normal, |(reason, message)| Step::Abnormal { reason, message });
        self.note(r#type, step);
    }

    fn note(&self, r#type: &str, step: Step) {
        self.any().remembered().lock().steps().0.insert(r#type.to_owned(), step);
    }
}
