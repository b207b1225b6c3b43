//! Kinds that run replicas.

use super::{
    Error, Kstatus, Status,
    fields::{Fields, SeenCondition},
};

/// The default of the API, which stands for "no deadline".
const NO_DEADLINE: i64 = i32::MAX as i64;

/// In progress, if there are fewer than wanted.
fn less(have: i64, wanted: i64, reason: &'static str, what: &str) -> Option<Kstatus> {
    (have < wanted).then(|| Kstatus::in_progress(reason, format!("{have}/{wanted} {what}")))
}

/// In progress, if there are more pods than wanted.
fn extra(have: i64, wanted: i64) -> Option<Kstatus> {
    let message = || format!("{} more than the {wanted} wanted replicas to terminate", have - wanted);
    (have > wanted).then(|| Kstatus::in_progress("ExtraPods", message()))
}

fn all_of(wanted: i64, what: &str) -> Kstatus {
    Kstatus::current(format!("{wanted}/{wanted} {what}"))
}

/// As kstatus, and if the Deployment itself says why it makes no progress, in its words.
pub(super) fn deployment(fields: Fields<'_>) -> Result<Kstatus, Error> {
    let rollout = rollout(fields)?;
    if rollout.status != Status::InProgress {
        return Ok(rollout);
    }
    let conditions = fields.conditions()?;
    let stuck = conditions.iter().find(|of| of.r#type == "Progressing" && of.status == "False");
    let stuck = stuck.map(|of| Kstatus::in_progress(of.reason_or("NotProgressing"), of.message.to_owned()));
    Ok(replica_failure(&conditions).or(stuck).unwrap_or(rollout))
}

fn rollout(fields: Fields<'_>) -> Result<Kstatus, Error> {
    // Without a deadline the controller doesn't keep the condition `Progressing`.
    let deadline = fields.integer("spec.progressDeadlineSeconds")?.unwrap_or(NO_DEADLINE);
    let (mut progressing, mut available) = (deadline == NO_DEADLINE, false);
    for condition in fields.conditions()? {
        match condition.r#type {
            "Progressing" if condition.reason == "ProgressDeadlineExceeded" => {
                let why = replica_failure(&fields.conditions()?).map(|why| format!(": {}", why.message));
                let message = format!("progress deadline exceeded{}", why.unwrap_or_default());
                return Ok(Kstatus::failed("ProgressDeadlineExceeded", message));
            }
            "Progressing" => {
                progressing |= condition.is_true() && condition.reason == "NewReplicaSetAvailable";
            }
            "Available" => available |= condition.is_true(),
            _ => {}
        }
    }
    let wanted = fields.replicas()?;
    let replicas = fields.count("status.replicas")?;
    let updated = fields.count("status.updatedReplicas")?;
    let unavailable = || {
        let reason = if !progressing { "ReplicaSetNotAvailable" } else { "DeploymentNotAvailable" };
        let message = if !progressing { "new replica set not available" } else { "deployment not available" };
        (!progressing || !available).then(|| Kstatus::in_progress(reason, message))
    };
    let in_progress = less(replicas, wanted, "LessReplicas", "replicas created")
        .or_else(|| less(updated, wanted, "LessUpdated", "replicas updated"))
        .or_else(|| extra(replicas, wanted));
    if let Some(in_progress) = in_progress {
        return Ok(in_progress);
    }
    let (have, ready) = (fields.count("status.availableReplicas")?, fields.count("status.readyReplicas")?);
    let in_progress = less(have, updated, "LessAvailable", "updated replicas available")
        .or_else(|| less(ready, wanted, "LessReady", "replicas ready"))
        .or_else(unavailable);
    Ok(in_progress.unwrap_or_else(|| all_of(wanted, "replicas ready")))
}

pub(super) fn stateful_set(fields: Fields<'_>) -> Result<Kstatus, Error> {
    if fields.text("spec.updateStrategy.type")? == Some("OnDelete") {
        return Ok(Kstatus::current("pods are updated when someone deletes them"));
    }
    let wanted = fields.replicas()?;
    let replicas = fields.count("status.replicas")?;
    let in_progress = less(replicas, wanted, "LessReplicas", "replicas created")
        .or(less(fields.count("status.readyReplicas")?, wanted, "LessReady", "replicas ready"))
        .or_else(|| extra(replicas, wanted));
    if let Some(in_progress) = in_progress {
        return Ok(in_progress);
    }
    if let Some(partition) = fields.integer("spec.updateStrategy.rollingUpdate.partition")? {
        let (updated, wanted) = (fields.count("status.updatedReplicas")?, wanted - partition);
        let in_progress = less(updated, wanted, "PartitionRollout", "replicas of the partition updated");
        return Ok(in_progress.unwrap_or_else(|| Kstatus::current("the partition is updated")));
    }
    let current = fields.count("status.currentReplicas")?;
    if let Some(in_progress) = less(current, wanted, "LessCurrent", "replicas of the current revision") {
        return Ok(in_progress);
    }
    let (current, update) = (fields.text("status.currentRevision")?, fields.text("status.updateRevision")?);
    if current.unwrap_or_default() != update.unwrap_or_default() {
        return Ok(Kstatus::in_progress("RevisionMismatch", "new revision not current yet"));
    }
    Ok(all_of(wanted, "replicas ready"))
}

pub(super) fn daemon_set(fields: Fields<'_>) -> Result<Kstatus, Error> {
    // Every daemon set has a generation, and its controller reports the observed one: without it, the controller hasn't begun.
    if fields.integer("metadata.generation")?.is_none() {
        return Ok(Kstatus::in_progress("NoGeneration", "no generation yet"));
    }
    if fields.integer("status.observedGeneration")?.is_none() {
        return Ok(Kstatus::in_progress("NoObservedGeneration", "not seen by its controller yet"));
    }
    let Some(wanted) = fields.integer("status.desiredNumberScheduled")? else {
        return Ok(Kstatus::in_progress("NoDesiredNumber", "number of nodes not known yet"));
    };
    let in_progress =
        less(fields.count("status.currentNumberScheduled")?, wanted, "LessCurrent", "pods scheduled")
            .or(less(fields.count("status.updatedNumberScheduled")?, wanted, "LessUpdated", "pods updated"))
            .or(less(fields.count("status.numberAvailable")?, wanted, "LessAvailable", "pods available"))
            .or(less(fields.count("status.numberReady")?, wanted, "LessReady", "pods ready"));
    Ok(in_progress.unwrap_or_else(|| all_of(wanted, "pods ready")))
}

/// Not a failure: the controller tries again, for example until there is quota.
fn replica_failure(conditions: &[SeenCondition<'_>]) -> Option<Kstatus> {
    let fails = |condition: &&SeenCondition<'_>| condition.r#type == "ReplicaFailure" && condition.is_true();
    let message = format!("a pod can't be created or deleted: {}", conditions.iter().find(fails)?.message);
    Some(Kstatus::in_progress("ReplicaFailure", message))
}

pub(super) fn replica_set(fields: Fields<'_>) -> Result<Kstatus, Error> {
    if let Some(failure) = replica_failure(&fields.conditions()?) {
        return Ok(failure);
    }
    let wanted = fields.replicas()?;
    let in_progress =
        less(fields.count("status.fullyLabeledReplicas")?, wanted, "LessLabelled", "replicas labelled")
            .or(less(
                fields.count("status.availableReplicas")?,
                wanted,
                "LessAvailable",
                "replicas available",
            ))
            .or(less(fields.count("status.readyReplicas")?, wanted, "LessReady", "replicas ready"))
            .or(extra(fields.count("status.replicas")?, wanted));
    Ok(in_progress.unwrap_or_else(|| all_of(wanted, "replicas ready")))
}
