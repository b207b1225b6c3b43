//! Kinds with a short rule each, and all kinds without a rule.

use super::{Error, Kstatus, fields::Fields};

pub(super) fn job(fields: Fields<'_>) -> Result<Kstatus, Error> {
    let completions =
        fields.integer("spec.completions")?.or(fields.integer("spec.parallelism")?).unwrap_or(1);
    let (succeeded, failed) = (fields.count("status.succeeded")?, fields.count("status.failed")?);
    let suspended = fields.boolean("spec.suspend")?.unwrap_or_default();
    for condition in fields.conditions()?.iter().filter(|condition| condition.is_true()) {
        match condition.r#type {
            "Complete" => {
                return Ok(Kstatus::current(format!("complete: {succeeded}/{completions} succeeded")));
            }
            "Failed" => {
                let message = format!("{failed} pods failed: {}", condition.words());
                return Ok(Kstatus::failed("JobFailed", message));
            }
            // The condition of a job that has just been resumed may still be there.
            "Suspended" if suspended => return Ok(Kstatus::current("suspended")),
            _ => {}
        }
    }
    if fields.text("status.startTime")?.unwrap_or_default().is_empty() {
        return Ok(Kstatus::in_progress("JobNotStarted", "not started"));
    }
    let active = fields.count("status.active")?;
    Ok(Kstatus::current(format!("running: {active} active, {succeeded} succeeded, {failed} failed")))
}

pub(super) fn persistent_volume_claim(fields: Fields<'_>) -> Result<Kstatus, Error> {
    match fields.text("status.phase")? {
        Some("Bound") => Ok(Kstatus::current("bound")),
        phase => {
            let message = format!("not bound: {}", phase.unwrap_or("no phase yet"));
            Ok(Kstatus::in_progress("NotBound", message))
        }
    }
}

pub(super) fn service(fields: Fields<'_>) -> Result<Kstatus, Error> {
    let balanced = fields.text("spec.type")? == Some("LoadBalancer");
    if balanced && fields.text("spec.clusterIP")?.unwrap_or_default().is_empty() {
        return Ok(Kstatus::in_progress("NoIPAssigned", "no cluster IP yet"));
    }
    if balanced && fields.list("status.loadBalancer.ingress")?.is_empty() {
        return Ok(Kstatus::in_progress("NoAddress", "no address from the load balancer yet"));
    }
    Ok(Kstatus::current("there"))
}

pub(super) fn custom_resource_definition(fields: Fields<'_>) -> Result<Kstatus, Error> {
    for condition in fields.conditions()? {
        match (condition.r#type, condition.status) {
            ("NamesAccepted", "False") => {
                return Ok(Kstatus::failed(condition.reason_or("NamesNotAccepted"), condition.message));
            }
            ("Established", "False") if condition.reason != "Installing" => {
                return Ok(Kstatus::failed(condition.reason_or("NotEstablished"), condition.message));
            }
            ("Established", "True") => return Ok(Kstatus::current("established")),
            _ => {}
        }
    }
    Ok(Kstatus::in_progress("Installing", "being installed"))
}

/// Any kind that follows the conventions.
pub(super) fn other(fields: Fields<'_>) -> Result<Kstatus, Error> {
    let conditions = fields.conditions()?;
    let Some(ready) = conditions.iter().find(|condition| condition.r#type == "Ready") else {
        return Ok(Kstatus::current("there"));
    };
    let message =
        |default: &str| if ready.message.is_empty() { default.to_owned() } else { ready.message.to_owned() };
    match ready.status {
        "False" | "Unknown" => Ok(Kstatus::in_progress(ready.reason_or("NotReady"), message("not ready"))),
        "True" => Ok(Kstatus::current(message("ready"))),
        _ => Ok(Kstatus::current("there")),
    }
}
