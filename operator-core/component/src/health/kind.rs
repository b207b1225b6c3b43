//! What the kinds say in their statuses.

use jiff::Timestamp;
use operator_core::status::{
    Error,
    kstatus::{self, Kstatus, Status},
};
use serde_json::Value;

use super::Reason;

pub(super) const UNSEEN: &str = "not seen by its controller yet";
const NO_ADDRESS: &str = "no address from the load balancer yet";

/// The families of kinds, which have their own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Runs for long.
    Alive,
    /// Runs until it has succeeded.
    Task,
    /// Depends on an external system.
    Operational,
    /// Everything else.
    Static,
}

/// How far an object has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Everything that it asks for exists.
    Done,
    /// It can't go on.
    Failed,
    /// A task that has begun.
    Running,
    /// Not there yet.
    Pending,
    /// It is being deleted, and will be made again.
    Leaving,
}

/// Group and kind; the core group is the empty text.
pub(super) fn group_and_kind(object: &Value) -> (&str, &str) {
    let group = text(&object["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
    (group, text(&object["kind"]))
}

impl Family {
    pub(super) fn of(object: &Value) -> Self {
        match group_and_kind(object) {
            ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") | ("", "Pod") => Self::Alive,
            ("batch", "Job") => Self::Task,
            ("", "Service" | "PersistentVolumeClaim")
            | ("networking.k8s.io", "Ingress")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("batch", "CronJob") => Self::Operational,
            _ => Self::Static,
        }
    }
}

pub(super) fn is_pod(object: &Value) -> bool {
    group_and_kind(object) == ("", "Pod")
}

/// Whether it is a Pod that has done its work.
pub(super) fn has_succeeded(object: &Value) -> bool {
    is_pod(object) && text(&object["status"]["phase"]) == "Succeeded"
}

/// Whether its newest template is still on its way; `None` if the object doesn't say so. What a Deployment lacks after that is replicas.
pub(super) fn is_rolling_out(object: &Value) -> Option<bool> {
    let status = &object["status"];
    match group_and_kind(object) {
        ("apps", "Deployment") => {
            let progressing = condition(object, "Progressing").filter(|of| of["status"] == "True")?;
            Some(text(&progressing["reason"]) != "NewReplicaSetAvailable")
        }
        ("apps", "StatefulSet") => {
            let (current, newest) = (text(&status["currentRevision"]), text(&status["updateRevision"]));
            (!current.is_empty() && current != newest).then_some(true)
        }
        _ => None,
    }
}

/// How far an object has come, and the text about it: by kstatus, and where a component needs more than that, by the kind.
pub(super) fn progress(object: &Value, now: Timestamp) -> Result<(Progress, String), Error> {
    let found = kstatus::compute(object, now)?;
    let progress = match found.status {
        Status::Current => Progress::Done,
        Status::Failed => Progress::Failed,
        Status::Terminating => Progress::Leaving,
        Status::InProgress | Status::NotFound | Status::Unknown => Progress::Pending,
    };
    if has_old_status(&found) || matches!(progress, Progress::Failed | Progress::Leaving) {
        return Ok((progress, found.message));
    }
    Ok(by_kind(object, &found).unwrap_or((progress, found.message)))
}

/// Whether the status is about an earlier generation.
pub(super) fn has_old_status(found: &Kstatus) -> bool {
    found.reason == "LatestGenerationNotObserved"
}

/// Whether what its status says isn't about its newest generation.
pub(super) fn is_stale(object: &Value) -> bool {
    let (newest, seen) = (&object["metadata"]["generation"], &object["status"]["observedGeneration"]);
    is_unseen(object) || (newest.is_i64() && seen.is_i64() && newest != seen)
}

/// Whether it is of a kind whose controller says which generation it has seen, and hasn't said so yet.
pub(super) fn is_unseen(object: &Value) -> bool {
    matches!(group_and_kind(object), ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"))
        && object["metadata"]["generation"].is_i64()
        && object["status"]["observedGeneration"].is_null()
}

/// What kstatus doesn't say.
fn by_kind(object: &Value, found: &Kstatus) -> Option<(Progress, String)> {
    let pending = |text: &str| Some((Progress::Pending, text.to_owned()));
    let (status, is_current) = (&object["status"], found.is_current());
    match group_and_kind(object) {
        _ if is_unseen(object) => pending(UNSEEN),
        ("", "Pod") => pod(status),
        ("batch", "Job") => job(object, found),
        ("", "Service") if is_current && text(&object["spec"]["type"]) == "LoadBalancer" => {
            if has_address(status) { None } else { pending(NO_ADDRESS) }
        }
        ("networking.k8s.io", "Ingress") if is_current && !has_address(status) => pending(NO_ADDRESS),
        ("autoscaling", "HorizontalPodAutoscaler") => Some(autoscaler(object)),
        ("apiextensions.k8s.io", "CustomResourceDefinition") if is_current => {
            match condition(object, "NamesAccepted") {
                Some(accepted) if accepted["status"] == "True" => None,
                Some(refused) if refused["status"] == "False" => Some((Progress::Failed, words(refused))),
                _ => pending("names not accepted yet"),
            }
        }
        _ => None,
    }
}

fn pod(status: &Value) -> Option<(Progress, String)> {
    if text(&status["phase"]) == "Failed" {
        let why = Some(text(&status["message"])).filter(|why| !why.is_empty());
        return Some((Progress::Failed, why.unwrap_or("ended, but not successfully").to_owned()));
    }
    let containers = status["containerStatuses"].as_array().into_iter().flatten();
    containers.into_iter().find_map(|container| {
        let code = container["state"]["terminated"]["exitCode"].as_i64().filter(|code| *code != 0)?;
        let name = text(&container["name"]);
        Some((Progress::Failed, format!("container {name} has ended with exit code {code}")))
    })
}

/// To kstatus a Job is current as soon as it runs.
fn job(object: &Value, found: &Kstatus) -> Option<(Progress, String)> {
    let status = &object["status"];
    if is_true(object, "Complete") || !found.is_current() {
        return None;
    }
    if object["spec"]["suspend"] == true {
        return Some((Progress::Pending, "suspended".to_owned()));
    }
    let has_pods = ["active", "succeeded", "failed"].iter().any(|of| count(&status[*of]) > 0);
    Some(if has_pods {
        (Progress::Running, found.message.clone())
    } else {
        (Progress::Pending, "waiting for its pods".to_owned())
    })
}

fn autoscaler(object: &Value) -> (Progress, String) {
    let is_false = |of: &&Value| text(&of["status"]) == "False";
    if let Some(unable) = condition(object, "AbleToScale").filter(is_false) {
        return (Progress::Failed, words(unable));
    }
    let Some(active) = condition(object, "ScalingActive") else {
        return (Progress::Pending, UNSEEN.to_owned());
    };
    let progress = match (text(&active["status"]), text(&active["reason"])) {
        // Its target has no replicas, which somebody wanted.
        ("True", _) | ("False", "ScalingDisabled") => Progress::Done,
        ("False", _) => Progress::Failed,
        _ => Progress::Pending,
    };
    (progress, words(active))
}

/// What an object counts as after the grace period; `None` if its kind can't tell.
pub(super) fn after_grace(object: &Value, progress: Option<Progress>) -> Option<Reason> {
    let status = &object["status"];
    let works = match group_and_kind(object) {
        ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") => count(&status["readyReplicas"]) > 0,
        ("apps", "DaemonSet") => count(&status["numberReady"]) > 0,
        ("", "Pod") => text(&status["phase"]) == "Running",
        ("", "PersistentVolumeClaim") | ("networking.k8s.io", "Ingress") => {
            progress == Some(Progress::Pending)
        }
        _ => return None,
    };
    Some(match progress {
        Some(Progress::Done) => Reason::Healthy,
        _ if works => Reason::Degraded,
        _ => Reason::Down,
    })
}

/// Whether a load balancer has an address.
fn has_address(status: &Value) -> bool {
    let entries = status["loadBalancer"]["ingress"].as_array().into_iter().flatten();
    entries.into_iter().any(|entry| !text(&entry["ip"]).is_empty() || !text(&entry["hostname"]).is_empty())
}

fn condition<'o>(object: &'o Value, r#type: &str) -> Option<&'o Value> {
    object["status"]["conditions"].as_array()?.iter().find(|of| of["type"] == r#type)
}

pub(super) fn is_true(object: &Value, r#type: &str) -> bool {
    condition(object, r#type).is_some_and(|of| of["status"] == "True")
}

/// The message of a condition, or its type and status.
fn words(condition: &Value) -> String {
    match text(&condition["message"]) {
        "" => format!("{} is {}", text(&condition["type"]), text(&condition["status"])),
        message => message.to_owned(),
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}
