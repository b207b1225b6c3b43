//! The kinds that make Pods.

use serde_json::json;

use super::{Object, each, made, missing, part, pods, text};

pub(super) fn deployment(deployment: &mut Object) {
    let Some(spec) = made(deployment, "spec") else { return };
    pods::template(spec);
    missing(spec, "replicas", 1);
    missing(spec, "revisionHistoryLimit", 10);
    missing(spec, "progressDeadlineSeconds", 600);
    if let Some(strategy) = made(spec, "strategy") {
        missing(strategy, "type", "RollingUpdate");
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = made(strategy, "rollingUpdate")
        {
            missing(rolling, "maxUnavailable", "25%");
            missing(rolling, "maxSurge", "25%");
        }
    }
}

pub(super) fn stateful_set(set: &mut Object) {
    let Some(spec) = made(set, "spec") else { return };
    pods::template(spec);
    missing(spec, "podManagementPolicy", "OrderedReady");
    missing(spec, "replicas", 1);
    missing(spec, "revisionHistoryLimit", 10);
    if let Some(strategy) = made(spec, "updateStrategy") {
        if text(strategy, "type").is_empty() {
            missing(strategy, "type", "RollingUpdate");
            missing(strategy, "rollingUpdate", json!({}));
        }
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = part(strategy, "rollingUpdate")
        {
            missing(rolling, "partition", 0);
        }
    }
    if let Some(policy) = made(spec, "persistentVolumeClaimRetentionPolicy") {
        missing(policy, "whenDeleted", "Retain");
        missing(policy, "whenScaled", "Retain");
    }
    for claim in each(spec, "volumeClaimTemplates") {
        super::others::volume_claim(claim);
        missing(claim, "apiVersion", "v1");
        missing(claim, "kind", "PersistentVolumeClaim");
    }
}

pub(super) fn daemon_set(set: &mut Object) {
    let Some(spec) = made(set, "spec") else { return };
    pods::template(spec);
    missing(spec, "revisionHistoryLimit", 10);
    if let Some(strategy) = made(spec, "updateStrategy") {
        missing(strategy, "type", "RollingUpdate");
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = made(strategy, "rollingUpdate")
        {
            missing(rolling, "maxUnavailable", 1);
            missing(rolling, "maxSurge", 0);
        }
    }
}

pub(super) fn replica_set(set: &mut Object) {
    let Some(spec) = made(set, "spec") else { return };
    pods::template(spec);
    missing(spec, "replicas", 1);
}

pub(super) fn job(job: &mut Object) {
    let Some(spec) = made(job, "spec") else { return };
    job_spec(spec);
    let labels = spec["template"]["metadata"]["labels"].clone();
    if let (true, Some(metadata)) = (labels.is_object(), part(job, "metadata")) {
        missing(metadata, "labels", labels);
    }
}

fn job_spec(spec: &mut Object) {
    pods::template(spec);
    let absent = |spec: &Object, field: &str| spec.get(field).is_none_or(serde_json::Value::is_null);
    if absent(spec, "completions") && absent(spec, "parallelism") {
        missing(spec, "completions", 1);
    }
    missing(spec, "parallelism", 1);
    let limit = if absent(spec, "backoffLimitPerIndex") { 6 } else { i32::MAX };
    missing(spec, "backoffLimit", limit);
    missing(spec, "completionMode", "NonIndexed");
    missing(spec, "suspend", false);
    let replacement = if absent(spec, "podFailurePolicy") { "TerminatingOrFailed" } else { "Failed" };
    missing(spec, "podReplacementPolicy", replacement);
    missing(spec, "manualSelector", false);
    if let Some(policy) = part(spec, "podFailurePolicy") {
        for rule in each(policy, "rules") {
            each(rule, "onPodConditions").for_each(|pattern| missing(pattern, "status", "True"));
        }
    }
}

pub(super) fn cron_job(job: &mut Object) {
    let Some(spec) = made(job, "spec") else { return };
    missing(spec, "concurrencyPolicy", "Allow");
    missing(spec, "suspend", false);
    missing(spec, "successfulJobsHistoryLimit", 3);
    missing(spec, "failedJobsHistoryLimit", 1);
    // The template of a CronJob is no Job: its Pods have defaults, its own fields have none.
    if let Some(spec) = part(spec, "jobTemplate").and_then(|template| part(template, "spec")) {
        pods::template(spec);
    }
}
