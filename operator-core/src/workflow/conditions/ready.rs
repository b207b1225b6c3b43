//! Whether the cluster has done what a node's objects request.

use futures::{FutureExt, future::BoxFuture};

use crate::{
    results::{ReconcileResult, Verdict},
    status::kstatus::{self, Kstatus},
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
    let now = asking.given.context.wall_clock().now();
    if let Some(progress) = asking.reconciled.and_then(ReconcileResult::progress) {
        let progress = progress.told.clone();
        return Ok(Verdict::when(progress.is_current(), progress.message.clone()).with_detail(progress));
    }
    let secondaries = asking.secondaries().await?;
    let awaits_nothing = asking.reconciled.is_some_and(ReconcileResult::has_nothing_to_show);
    if secondaries.is_empty() && (awaits_nothing || asking.may_lack) {
        return Ok(Verdict::met());
    }
    let mut last = Kstatus::not_found();
    for secondary in &secondaries {
        if secondary.has_no_status() {
            last = Kstatus::without_status();
            continue;
        }
        secondary.check()?;
        // Resources outside the cluster have no status that could be read.
        let Some(object) = secondary.to_json() else { return Ok(Verdict::met()) };
        last = kstatus::awaited(&object, now);
        if !last.is_current() {
            let of = if secondaries.len() > 1 { format!("{}: ", secondary.id()) } else { String::new() };
            return Ok(Verdict::not_met(format!("{of}{}", last.message)).with_detail(last));
        }
    }
    let found = !secondaries.is_empty();
    Ok(Verdict::when(found, last.message.clone()).with_detail(last))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::{results::Secondary, status::kstatus::Status};

    fn said(api_version: &str, kind: &str, spec: &Value, status: &Value) -> (Status, String) {
        let object = json!({ "apiVersion": api_version, "kind": kind, "spec": spec, "status": status });
        let judged = kstatus::awaited(&object, Timestamp::UNIX_EPOCH);
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
        assert!(there.has_no_status());
        let computed = kstatus::awaited(&there.to_json().unwrap(), Timestamp::UNIX_EPOCH);
        assert_eq!(computed, Kstatus::without_status());
        secret.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        assert!(!secondary(secret).has_no_status());
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
