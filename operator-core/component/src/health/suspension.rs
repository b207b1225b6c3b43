//! How kinds are suspended, and whether they are.

use jiff::Timestamp;
use operator_core::status::kstatus::{self, Status};
use serde_json::{Value, json};

use super::{
    Reason, Row,
    kind::{UNSEEN, count, group_and_kind, has_old_status, is_true, is_unseen, text},
};

/// How a kind is suspended.
#[derive(Clone, Copy)]
enum Means {
    /// It gets no replicas.
    Replicas,
    /// By `spec.suspend` of a Job.
    Job,
    /// By `spec.suspend` of a CronJob.
    CronJob,
}

impl Means {
    fn of(object: &Value) -> Option<Self> {
        match group_and_kind(object) {
            ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") => Some(Self::Replicas),
            ("batch", "Job") => Some(Self::Job),
            ("batch", "CronJob") => Some(Self::CronJob),
            _ => None,
        }
    }
}

/// Changes what is wanted so that it is suspended: Deployments, StatefulSets and ReplicaSets get no replicas, Jobs and CronJobs
/// `suspend`. Returns `false`, and changes nothing, if the kind has no suspension: such objects stay as they are.
pub fn suspend(object: &mut Value) -> bool {
    let (field, value) = match Means::of(object) {
        Some(Means::Replicas) => ("replicas", json!(0)),
        Some(Means::Job | Means::CronJob) => ("suspend", json!(true)),
        None => return false,
    };
    if !object["spec"].is_object() {
        object["spec"] = json!({});
    }
    object["spec"][field] = value;
    true
}

/// Whether an object of a suspended component is suspended: `Suspended`, or `Suspending` with what it waits for. `by_hand` says
/// that the component has a change of its own for it, which makes it suspended once the cluster has done what it asks for. Otherwise
/// a kind without a suspension stays as it is, and counts as suspended. An object that can't be interpreted is an `Error`.
#[must_use]
pub fn suspended(object: &Value, by_hand: bool, now: Timestamp) -> Row {
    let means = Means::of(object).filter(|_| !by_hand);
    if means.is_none() && !by_hand {
        return Row::new(Reason::Suspended, format!("{} stays as it is", text(&object["kind"])));
    }
    let found = match kstatus::compute(object, now) {
        Ok(found) => found,
        Err(error) => return Row::new(Reason::Error, error.to_string()),
    };
    if found.status == Status::Terminating || has_old_status(&found) {
        return Row::new(Reason::Suspending, found.message);
    }
    let done = match means {
        None if found.is_current() => Ok(found.message),
        None => Err(found.message),
        Some(Means::Replicas) => without_replicas(object),
        Some(Means::Job) => job(object),
        Some(Means::CronJob) => cron_job(object),
    };
    match done {
        Ok(text) => Row::new(Reason::Suspended, text),
        Err(waits_for) => Row::new(Reason::Suspending, waits_for),
    }
}

fn without_replicas(object: &Value) -> Result<String, String> {
    if object["spec"]["replicas"] != 0 {
        return Err("Waiting for the replicas to be set to zero".to_owned());
    }
    match count(&object["status"]["replicas"]) {
        _ if is_unseen(object) => Err(UNSEEN.to_owned()),
        0 => Ok(format!("{} scaled to zero", text(&object["kind"]))),
        running => Err(format!("Waiting for replicas to scale down, {running} replicas still running.")),
    }
}

fn job(object: &Value) -> Result<String, String> {
    if is_true(object, "Complete") || is_true(object, "Failed") {
        return Ok("Job has ended".to_owned());
    }
    if object["spec"]["suspend"] != true {
        return Err("Waiting for Job suspend field to be applied".to_owned());
    }
    match count(&object["status"]["active"]) {
        // Until its controller says so, it may start another Pod.
        0 if !is_true(object, "Suspended") => Err(UNSEEN.to_owned()),
        0 => Ok("Job is suspended".to_owned()),
        active => Err(format!("Job is suspending, {active} pod(s) still active")),
    }
}

fn cron_job(object: &Value) -> Result<String, String> {
    if object["spec"]["suspend"] != true {
        return Err("Waiting for suspend flag to be applied".to_owned());
    }
    match object["status"]["active"].as_array().map_or(0, Vec::len) {
        0 => Ok("CronJob suspended".to_owned()),
        active => Err(format!("CronJob suspended but {active} active jobs still running")),
    }
}
