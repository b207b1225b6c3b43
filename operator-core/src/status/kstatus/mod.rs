//! Has the cluster done what an object asks for? The rules are those of `kstatus`, which Flux, kpt and others use.
//!
//! ```text
//! deleted? ─▶ generation observed? ─▶ Reconciling, Stalled? ─▶ the kind's own rule ─▶ Status and message
//!                                                            └ unknown kind: condition Ready, if there is one
//! ```
//!
//! # Guarantees
//! - The result depends on the object and the time alone. `now` matters only to pods that can't be scheduled.
//! - The version of an object doesn't matter, nor does a field that is missing: it has its default.
//!
//! # Known limits
//! These are as in the original, so that an object means the same to every tool. Where an object itself says what is the
//! matter with it, its words count beyond the original's rules: a service of type `LoadBalancer` without an address, and
//! the conditions of built-in kinds that mean trouble, such as `ScalingActive=False`.
//! - A running job is [`Status::Current`]; only one that hasn't started is in progress. If you need its result, check
//!   the condition `Complete`.
//! - A pod that has ended is current, even if it failed.
//! - An object without status and conditions is current.

mod fields;
mod kinds;
mod pod;
mod troubles;
mod workloads;

#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt};

use jiff::Timestamp;
use serde_json::Value;

use super::Error;
use crate::resource::has_succeeded;
use fields::Fields;

/// The progress of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The cluster is working on it.
    InProgress,
    /// The cluster has tried and failed, or makes no progress.
    Failed,
    /// Everything that the object asks for exists.
    Current,
    /// The object is being deleted.
    Terminating,
    /// The object doesn't exist. [`compute`] never returns this, because it is given one.
    NotFound,
    /// The object can't be interpreted. [`compute`] never returns this; it returns an error instead.
    Unknown,
}

impl Status {
    /// Its name, as kstatus writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Current => "Current",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The progress of an object, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kstatus {
    /// The progress.
    pub status: Status,
    /// One word in camel case, suitable for a condition: what an object in progress waits for (`LessReady`), why it has
    /// failed; otherwise the status itself.
    pub reason: Cow<'static, str>,
    /// The reason for people: `1/3 replicas ready`.
    pub message: String,
}

impl Kstatus {
    /// The result for an object that doesn't exist.
    #[must_use]
    pub fn not_found() -> Self {
        Self::plain(Status::NotFound, "not found")
    }

    /// The result for an existing object whose kind has no status.
    pub(crate) fn without_status() -> Self {
        Self::current("there")
    }

    /// Whether everything that the object asks for exists.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.status == Status::Current
    }

    fn plain(status: Status, message: impl Into<String>) -> Self {
        Self { status, reason: status.as_str().into(), message: message.into() }
    }

    fn current(message: impl Into<String>) -> Self {
        Self::plain(Status::Current, message)
    }

    fn in_progress(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status: Status::InProgress, reason: reason.into(), message: message.into() }
    }

    fn failed(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status: Status::Failed, reason: reason.into(), message: message.into() }
    }
}

impl From<&Error> for Kstatus {
    fn from(error: &Error) -> Self {
        Self::plain(Status::Unknown, error.to_string())
    }
}

/// Computes the state of an object. Its `apiVersion` and `kind` have to be set; otherwise it is treated as an unknown
/// kind.
///
/// # Errors
/// If a field has an impossible type, or a pod an unknown phase. [`Kstatus::from`] turns this into [`Status::Unknown`].
///
/// JOSDK: has no counterpart; a `readyPostcondition` is written by hand there. Go: `status.Compute` of `kstatus`.
pub fn compute(object: &Value, now: Timestamp) -> Result<Kstatus, Error> {
    let fields = Fields(object);
    if fields.text("metadata.deletionTimestamp")?.is_some_and(|time| !time.is_empty()) {
        return Ok(Kstatus::plain(Status::Terminating, troubles::stays(fields)?));
    }
    let (generation, observed) =
        (fields.integer("metadata.generation")?, fields.integer("status.observedGeneration")?);
    if let (Some(generation), Some(observed)) = (generation, observed)
        && generation != observed
    {
        let message = format!("generation {generation} not seen yet, but {observed}");
        return Ok(Kstatus::in_progress("LatestGenerationNotObserved", message));
    }
    for condition in fields.conditions()? {
        match condition.r#type {
            "Reconciling" if condition.is_true() => {
                return Ok(Kstatus::in_progress(condition.reason_or("Reconciling"), condition.message));
            }
            "Stalled" if condition.is_true() => {
                return Ok(Kstatus::failed(condition.reason_or("Stalled"), condition.message));
            }
            _ => {}
        }
    }
    let rule = match fields.group_and_kind()? {
        ("apps" | "extensions", "Deployment") => workloads::deployment(fields),
        ("apps" | "extensions", "ReplicaSet") | ("", "ReplicationController") => {
            workloads::replica_set(fields)
        }
        ("apps" | "extensions", "DaemonSet") => workloads::daemon_set(fields),
        ("apps", "StatefulSet") => workloads::stateful_set(fields),
        ("batch", "Job") => kinds::job(fields),
        ("", "Pod") => pod::pod(fields, now),
        ("", "PersistentVolumeClaim") => kinds::persistent_volume_claim(fields),
        ("", "Service") => kinds::service(fields),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => kinds::custom_resource_definition(fields),
        // Its generation was observed; nothing else matters.
        ("policy", "PodDisruptionBudget") => Ok(Kstatus::current("allowed disruptions are computed")),
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => Ok(Kstatus::without_status()),
        _ => kinds::other(fields),
    };
    troubles::or_trouble(fields, rule?)
}

/// The status of an object for those that depend on it. To kstatus a Job is current as soon as it runs, and a Pod
/// however it ends: both are as requested. Nodes that depend on them need their outcome.
pub(crate) fn awaited(object: &Value, now: Timestamp) -> Kstatus {
    let status = compute(object, now).unwrap_or_else(|error| Kstatus::from(&error));
    if !status.is_current() {
        return status;
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match (text("/apiVersion"), text("/kind")) {
        ("batch/v1", "Job") if !has_succeeded(object) => {
            Kstatus { status: Status::InProgress, reason: "JobNotComplete".into(), message: status.message }
        }
        ("v1", "Pod") if text("/status/phase") == "Failed" => {
            Kstatus { status: Status::Failed, reason: "PodFailed".into(), message: status.message }
        }
        _ => status,
    }
}
