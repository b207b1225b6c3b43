//! The kinds that make Pods.

use serde_json::{Value, json};

use super::{super::recorded::at, Object, each, made, missing, part, pods, text};

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

/// The annotation in which a DaemonSet counts the changes of its template.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Counts the changes of a DaemonSet's template.
pub(super) fn template_generation(live: Option<&Value>, set: &mut Value) {
    let count = |set: &Value| {
        let text = at(at(at(set, "metadata"), "annotations"), TEMPLATE_GENERATION).as_str().unwrap_or("0");
        text.parse::<u64>().unwrap_or(0)
    };
    let template = |set: &Value| at(at(set, "spec"), "template").clone();
    let generation = match live {
        None => 1,
        Some(live) => count(live) + u64::from(template(live) != template(set)),
    };
    if !set["metadata"]["annotations"].is_object() {
        set["metadata"]["annotations"] = json!({});
    }
    set["metadata"]["annotations"][TEMPLATE_GENERATION] = json!(generation.to_string());
}

pub(super) fn daemon_set(set: &mut Object) {
    if let Some(annotations) = made(set, "metadata").and_then(|metadata| made(metadata, "annotations")) {
        missing(annotations, TEMPLATE_GENERATION, "0");
    }
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
    job_labels(job);
}

/// A Job has the labels of its Pods, unless it has others.
pub(super) fn job_labels(job: &mut Object) {
    let labels =
        job.get("spec").map(|spec| spec["template"]["metadata"]["labels"].clone()).unwrap_or_default();
    if let (true, Some(metadata)) = (labels.is_object(), part(job, "metadata")) {
        missing(metadata, "labels", labels);
    }
}

/// The Pods of a Job are found by its uid, unless the Job specifies otherwise.
pub(super) fn job_selector(job: &mut Object) {
    let metadata = job.get("metadata").cloned().unwrap_or_default();
    let Some(spec) = part(job, "spec") else { return };
    if spec.get("manualSelector") == Some(&json!(true)) {
        return;
    }
    let (name, uid) = (at(&metadata, "name"), at(&metadata, "uid"));
    let before = spec["template"]["metadata"]["labels"].clone();
    let labels = made(spec, "template")
        .and_then(|template| made(template, "metadata"))
        .and_then(|metadata| made(metadata, "labels"));
    if let Some(labels) = labels {
        for label in ["job-name", "batch.kubernetes.io/job-name"] {
            missing(labels, label, name.clone());
        }
        for label in ["controller-uid", "batch.kubernetes.io/controller-uid"] {
            missing(labels, label, uid.clone());
        }
    }
    if let Some(labels) = made(spec, "selector").and_then(|selector| made(selector, "matchLabels")) {
        missing(labels, "batch.kubernetes.io/controller-uid", uid.clone());
    }
    // A Job without labels has those of its template: the very same, as they are now.
    let after = spec["template"]["metadata"]["labels"].clone();
    if at(&metadata, "labels") == &before
        && let Some(metadata) = part(job, "metadata")
    {
        metadata.insert("labels".to_owned(), after);
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
    failure_policy(spec);
}

/// A pattern of a condition is about one that is true.
fn failure_policy(spec: &mut Object) {
    let Some(policy) = part(spec, "podFailurePolicy") else { return };
    for rule in each(policy, "rules") {
        for pattern in each(rule, "onPodConditions").filter(|pattern| text(pattern, "status").is_empty()) {
            pattern.insert("status".to_owned(), json!("True"));
        }
    }
}

pub(super) fn cron_job(job: &mut Object) {
    let Some(spec) = made(job, "spec") else { return };
    missing(spec, "concurrencyPolicy", "Allow");
    missing(spec, "suspend", false);
    missing(spec, "successfulJobsHistoryLimit", 3);
    missing(spec, "failedJobsHistoryLimit", 1);
    // The template of a CronJob is no Job: its Pods and policies have defaults, its own fields have none.
    if let Some(spec) = part(spec, "jobTemplate").and_then(|template| part(template, "spec")) {
        pods::template(spec);
        failure_policy(spec);
    }
}
