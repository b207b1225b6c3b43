//! Pods.

use jiff::{SignedDuration, Timestamp};

use super::{Error, Kstatus, fields::Fields};

/// How long a pod may be unschedulable before it counts as failed: a node may just be on its way.
const SCHEDULING: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn pod(fields: Fields<'_>, now: Timestamp) -> Result<Kstatus, Error> {
    match fields.text("status.phase")?.unwrap_or_default() {
        "Succeeded" => Ok(Kstatus::current("succeeded")),
        "Failed" => Ok(Kstatus::current("ended, but not successfully")),
        "Running" => running(fields),
        "Pending" => pending(fields, now),
        "" => Ok(Kstatus::in_progress("PodNotObserved", "no phase yet")),
        other => Err(Error::PodPhase(other.to_owned())),
    }
}

fn running(fields: Fields<'_>) -> Result<Kstatus, Error> {
    if fields.conditions()?.iter().any(|condition| condition.r#type == "Ready" && condition.is_true()) {
        return Ok(Kstatus::current("ready"));
    }
    let mut crashing = Vec::new();
    for container in fields.list("status.containerStatuses")? {
        let container = Fields(container);
        if container.text("state.waiting.reason")? == Some("CrashLoopBackOff") {
            crashing.push(container.text("name")?.unwrap_or_default());
        }
    }
    if crashing.is_empty() {
        return Ok(Kstatus::in_progress("PodRunningNotReady", "running, but not ready"));
    }
    Ok(Kstatus::failed("ContainerCrashLooping", format!("crashing again and again: {}", crashing.join(", "))))
}

fn pending(fields: Fields<'_>, now: Timestamp) -> Result<Kstatus, Error> {
    let unschedulable = fields.conditions()?.iter().any(|condition| {
        condition.r#type == "PodScheduled"
            && condition.status == "False"
            && condition.reason == "Unschedulable"
    });
    if !unschedulable {
        return Ok(Kstatus::in_progress("PodPending", "pending"));
    }
    if created(fields)?.is_some_and(|created| now.duration_since(created) < SCHEDULING) {
        return Ok(Kstatus::in_progress("PodNotScheduled", "not scheduled yet"));
    }
    Ok(Kstatus::failed("PodUnschedulable", "can't be scheduled"))
}

fn created(fields: Fields<'_>) -> Result<Option<Timestamp>, Error> {
    const PATH: &str = "metadata.creationTimestamp";
    let parse =
        |text: &str| text.parse().map_err(|_| Error::Type { path: PATH.to_owned(), expected: "a time" });
    fields.text(PATH)?.map(parse).transpose()
}
