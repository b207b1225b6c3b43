//! Whether the cluster has done what a node's objects request.

use futures::{FutureExt, future::BoxFuture};
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    resource::has_succeeded,
    results::{ReconcileResult, Secondary, Verdict},
    status::kstatus::{self, Kstatus, Status},
    workflow::conditions::condition::{Answer, AnyCondition, Asking},
};

/// Met once all objects of the node are as requested, by the rules of their kinds: a Deployment has its replicas, a Job
/// has succeeded, a claim is bound; any other kind by its conditions. The reason says what is missing, for example
/// `1/3 replicas ready`, and the detail is a [`Kstatus`]. The default for nodes that make objects.
///
/// The rules are those of kstatus, except for objects that only start or end: a Job that runs, is suspended or has
/// failed isn't ready, nor is a Pod that has failed. A bulk node is ready if it wants nothing and nothing of it is left,
/// and so is a node whose Jobs are gone and were done.
#[derive(Clone, Copy, Debug)]
pub(in crate::workflow) struct Ready;

impl AnyCondition for Ready {
    fn check<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, Answer> {
        is_ready(asking).boxed()
    }
}

async fn is_ready(asking: Asking<'_>) -> Answer {
    let (node, now) = (asking.view, asking.context.wall_clock().now());
    let secondaries = asking.secondaries().await?;
    let awaits_nothing = node.reconciled.is_some_and(ReconcileResult::has_nothing_to_show);
    if secondaries.is_empty() && (awaits_nothing || node.may_lack) {
        return Ok(Verdict::met());
    }
    let mut last = Kstatus::not_found();
    for secondary in &secondaries {
        if has_no_status(secondary) {
            last = Kstatus::without_status();
            continue;
        }
        secondary.check()?;
        // Resources outside the cluster have no status that could be read.
        let Some(object) = secondary.to_json() else { return Ok(Verdict::met()) };
        last = judged(&object, now);
        if !last.is_current() {
            let of = if secondaries.len() > 1 { format!("{}: ", secondary.id()) } else { String::new() };
            return Ok(Verdict::not_met(format!("{of}{}", last.message)).with_detail(last));
        }
    }
    let found = !secondaries.is_empty();
    Ok(Verdict::when(found, last.message.clone()).with_detail(last))
}

/// Whether an object is of a kind that has no status, and isn't being deleted: then it is as requested. This holds for
/// most children, which are neither decoded nor serialized for this check.
fn has_no_status(secondary: &Secondary) -> bool {
    let statusless = secondary
        .kind()
        .is_some_and(|kind| matches!((kind.group(), kind.kind()), ("", "ConfigMap" | "Secret")));
    statusless && secondary.meta().is_some_and(|meta| meta.deletion_timestamp.is_none())
}

/// The status of an object for those that depend on it. To kstatus a Job is current as soon as it runs, and a Pod
/// however it ends: both are as requested. Nodes that depend on them need their outcome.
fn judged(object: &Value, now: Timestamp) -> Kstatus {
    let status = kstatus::compute(object, now).unwrap_or_else(|error| Kstatus::from(&error));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(api_version: &str, kind: &str, spec: &Value, status: &Value) -> (Status, String) {
        let object = json!({ "apiVersion": api_version, "kind": kind, "spec": spec, "status": status });
        let judged = judged(&object, Timestamp::UNIX_EPOCH);
        (judged.status, judged.message)
    }

    fn job(spec: &Value, conditions: &[&str]) -> (Status, String) {
        let conditions: Vec<_> =
            conditions.iter().map(|of| json!({ "type": of, "status": "True" })).collect();
        let status = json!({ "startTime": "2026-01-01T00:00:00Z", "active": 1, "conditions": conditions });
        said("batch/v1", "Job", spec, &status)
    }

    #[test]
    fn what_has_no_status_is_current_as_by_its_rules_until_it_is_deleted() {
        use std::sync::Arc;

        use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::Time};

        use crate::resource::ResourceType;

        let secondary = |secret: Secret| Secondary::of_object(Arc::new(secret), ResourceType::of::<Secret>());
        let mut secret = Secret::default();
        let there = secondary(secret.clone());
        assert!(has_no_status(&there));
        let computed = judged(&there.to_json().unwrap(), Timestamp::UNIX_EPOCH);
        assert_eq!(computed, Kstatus::without_status());
        secret.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        assert!(!has_no_status(&secondary(secret)));
    }

    #[test]
    fn a_job_is_ready_when_it_has_succeeded() {
        let (once, suspended) = (json!({}), json!({ "suspend": true }));
        let running = "running: 1 active, 0 succeeded, 0 failed".to_owned();
        assert_eq!(job(&once, &[]), (Status::InProgress, running.clone()));
        assert_eq!(job(&once, &["SuccessCriteriaMet"]), (Status::InProgress, running));
        assert_eq!(job(&suspended, &["Suspended"]), (Status::InProgress, "suspended".to_owned()));
        assert_eq!(job(&once, &["SuccessCriteriaMet", "Complete"]).0, Status::Current);
        assert_eq!(job(&once, &["Failed"]).0, Status::Failed);
    }

    #[test]
    fn a_pod_that_has_ended_is_ready_if_it_has_succeeded() {
        let pod = |phase: &str| said("v1", "Pod", &json!({}), &json!({ "phase": phase })).0;
        assert_eq!((pod("Succeeded"), pod("Failed")), (Status::Current, Status::Failed));
        let other = said("example.com/v1", "Pod", &json!({}), &json!({ "phase": "Failed" })).0;
        assert_eq!(other, Status::Current, "another group's kind of that name");
    }
}
