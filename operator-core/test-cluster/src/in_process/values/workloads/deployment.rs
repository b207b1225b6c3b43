//! Deployments and ReplicaSets.

use serde_json::Value;

use super::{
    SPEC, pod, selection,
    status::{at_most, collisions, counts},
    unknown_strategy,
};
use crate::in_process::values::{
    common::{Selector, at_most_all, count_or_share, matches, not_negative, number, selects_all, share},
    errors::Errors,
    path::Path,
    read::{at, int, part, same, text},
};

const MORE_THAN_REPLICAS: &str = "cannot be greater than status.replicas";

/// A new Deployment.
pub(super) fn create(deployment: &Value, errors: &mut Errors) {
    let spec = at(deployment, "spec");
    not_negative(errors, &SPEC.child("replicas"), at(spec, "replicas"));
    template(errors, spec);
    strategy(errors, at(spec, "strategy"));
    not_negative(errors, &SPEC.child("minReadySeconds"), at(spec, "minReadySeconds"));
    not_negative(errors, &SPEC.child("revisionHistoryLimit"), at(spec, "revisionHistoryLimit"));
    if let Some(deadline) = int(spec, "progressDeadlineSeconds") {
        let path = SPEC.child("progressDeadlineSeconds");
        not_negative(errors, &path, at(spec, "progressDeadlineSeconds"));
        if deadline <= number(spec, "minReadySeconds") {
            errors.invalid(&path, deadline, "must be greater than minReadySeconds");
        }
    }
}

/// A changed Deployment.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Errors) {
    create(new, errors);
    same_selector(errors, new, old);
}

/// The status of a Deployment.
pub(super) fn status(new: &Value, old: &Value, errors: &mut Errors) {
    let (new, old) = (at(new, "status"), at(old, "status"));
    counts(
        errors,
        new,
        &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
    );
    let limited = ["updatedReplicas", "readyReplicas", "availableReplicas"];
    at_most(errors, new, &limited, "replicas", MORE_THAN_REPLICAS);
    at_most(errors, new, &["availableReplicas"], "readyReplicas", "cannot be greater than readyReplicas");
    collisions(errors, new, old);
}

/// A new ReplicaSet.
pub(super) fn create_set(set: &Value, errors: &mut Errors) {
    let spec = at(set, "spec");
    not_negative(errors, &SPEC.child("replicas"), at(spec, "replicas"));
    not_negative(errors, &SPEC.child("minReadySeconds"), at(spec, "minReadySeconds"));
    template(errors, spec);
}

/// A changed ReplicaSet.
pub(super) fn update_set(new: &Value, old: &Value, errors: &mut Errors) {
    create_set(new, errors);
    same_selector(errors, new, old);
}

/// The status of a ReplicaSet.
pub(super) fn status_of_set(new: &Value, _old: &Value, errors: &mut Errors) {
    let new = at(new, "status");
    counts(
        errors,
        new,
        &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
    );
    let limited = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
    at_most(errors, new, &limited, "replicas", MORE_THAN_REPLICAS);
    at_most(errors, new, &["availableReplicas"], "readyReplicas", "cannot be greater than readyReplicas");
}

/// The selector, which must match the template, and the template.
fn template(errors: &mut Errors, spec: &Value) {
    let Some(selector) = selection(errors, spec, "deployment", "invalid label selector") else { return };
    let (path, template) = (SPEC.child("template"), at(spec, "template"));
    matching(errors, &path, template, selector);
    pod::template::check(errors, &path, template);
    always_restarted(errors, &path, template, "ReplicaSet");
}

/// The labels of the template must be those that are selected. No selector selects nothing, an empty one everything.
pub(super) fn matching(errors: &mut Errors, path: &Path<'_>, template: &Value, selector: Option<&Value>) {
    let labels = at(at(template, "metadata"), "labels");
    if selector.is_none_or(|selector| !selects_all(selector) && !matches(selector, labels)) {
        errors.invalid(&path.child("metadata.labels"), labels, "`selector` does not match template `labels`");
    }
}

/// Pods that are made again and again never end.
pub(super) fn always_restarted(errors: &mut Errors, path: &Path<'_>, template: &Value, owner: &str) {
    let spec = at(template, "spec");
    let policy = text(spec, "restartPolicy");
    if policy != "Always" {
        errors.not_supported(&path.child("spec.restartPolicy"), policy, &["Always"]);
    }
    if int(spec, "activeDeadlineSeconds").is_some() {
        let detail = format!("activeDeadlineSeconds in {owner} is not Supported");
        errors.forbidden(&path.child("spec.activeDeadlineSeconds"), &detail);
    }
}

/// A selector stays as it is.
pub(super) fn same_selector(errors: &mut Errors, new: &Value, old: &Value) {
    let (new, old) = (at(at(new, "spec"), "selector"), at(at(old, "spec"), "selector"));
    if !same(new, old) {
        errors.invalid(&SPEC.child("selector"), Selector(new), "field is immutable");
    }
}

fn strategy(errors: &mut Errors, strategy: &Value) {
    let path = SPEC.child("strategy");
    let rolling = part(strategy, "rollingUpdate");
    let place = path.child("rollingUpdate");
    match (text(strategy, "type"), rolling) {
        ("Recreate", None) => {}
        ("Recreate", Some(_)) => {
            errors.forbidden(&place, "may not be specified when strategy `type` is 'Recreate'");
        }
        ("RollingUpdate", None) => errors.required(&place, "this should be defaulted and never be nil"),
        ("RollingUpdate", Some(rolling)) => {
            let (unavailable, surge) = (at(rolling, "maxUnavailable"), at(rolling, "maxSurge"));
            let place_of_unavailable = place.child("maxUnavailable");
            count_or_share(errors, &place_of_unavailable, unavailable);
            count_or_share(errors, &place.child("maxSurge"), surge);
            if amount(unavailable) == 0 && amount(surge) == 0 {
                errors.invalid(&place_of_unavailable, unavailable, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(errors, &place_of_unavailable, unavailable);
        }
        _ => unknown_strategy(errors, &path, strategy, &["Recreate", "RollingUpdate"]),
    }
}

/// The number in a count or a share; a text that is neither counts as the number that it may be.
pub(super) fn amount(value: &Value) -> i64 {
    match value {
        Value::String(text) => share(value).or_else(|| text.parse().ok()).unwrap_or_default(),
        number => number.as_i64().unwrap_or_default(),
    }
}
