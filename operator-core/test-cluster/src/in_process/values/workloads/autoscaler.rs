//! HorizontalPodAutoscalers.

use serde_json::Value;

use super::{SPEC, metrics, status::counts};
use crate::in_process::values::{
    common::number,
    errors::Errors,
    names,
    path::Path,
    quantity,
    read::{at, count, int, items, part, text},
};

/// A new autoscaler.
pub(super) fn create(autoscaler: &Value, errors: &mut Errors) {
    check(at(autoscaler, "spec"), None, errors);
}

/// A changed autoscaler.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Errors) {
    check(at(new, "spec"), Some(at(old, "spec")), errors);
}

/// The status of an autoscaler.
pub(super) fn status(new: &Value, _old: &Value, errors: &mut Errors) {
    counts(errors, at(new, "status"), &["currentReplicas", "desiredReplicas"]);
}

fn check(spec: &Value, before: Option<&Value>, errors: &mut Errors) {
    let (min, max) = (int(spec, "minReplicas"), number(spec, "maxReplicas"));
    let path = SPEC.child("maxReplicas");
    if let Some(min) = min.filter(|min| *min < 1) {
        errors.invalid(&SPEC.child("minReplicas"), min, "must be greater than or equal to 1");
    }
    if max == 0 {
        errors.required(&path, "must be set and greater than 0");
    } else if max < 0 {
        errors.invalid(&path, max, "must be greater than or equal to 1");
    }
    if min.is_some_and(|min| max < min) {
        errors.invalid(&path, max, "must be greater than or equal to `minReplicas`");
    }
    let target = at(spec, "scaleTargetRef");
    let known = before.map(|before| at(before, "scaleTargetRef")).is_some_and(|before| {
        ["apiVersion", "kind"].iter().all(|field| text(before, field) == text(target, field))
    });
    let groupless = known || text(target, "kind") == "ReplicationController";
    reference(errors, &SPEC.child("scaleTargetRef"), target, groupless, known);
    let path = SPEC.child("metrics");
    for (index, metric) in items(spec, "metrics") {
        metrics::check(errors, &path.index(index), metric);
    }
    let beyond = |(_, metric): (usize, &Value)| matches!(text(metric, "type"), "Object" | "External");
    if min == Some(0) && !items(spec, "metrics").any(beyond) {
        let detail =
            "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.forbidden(&path, detail);
    }
    for side in ["scaleUp", "scaleDown"] {
        if let Some(rules) = part(at(spec, "behavior"), side) {
            scaling(errors, &SPEC.child("behavior").child(side), rules);
        }
    }
}

/// A reference to an object of any version.
pub(super) fn reference(
    errors: &mut Errors,
    path: &Path<'_>,
    reference: &Value,
    groupless: bool,
    any_version: bool,
) {
    for field in ["kind", "name"] {
        match text(reference, field) {
            "" => errors.required(&path.child(field), ""),
            value => errors.all_invalid(&path.child(field), value, &names::path_segment(value)),
        }
    }
    let version = text(reference, "apiVersion");
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let place = path.child("apiVersion");
    if any_version {
    } else if version.matches('/').count() > 1 {
        errors.invalid(&place, version, &format!("unexpected GroupVersion string: {version}"));
    } else if !groupless && group.is_empty() {
        errors.invalid(&place, version, "apiVersion must specify API group");
    }
}

fn scaling(errors: &mut Errors, path: &Path<'_>, rules: &Value) {
    if let Some(window) = int(rules, "stabilizationWindowSeconds") {
        let path = path.child("stabilizationWindowSeconds");
        if window < 0 {
            errors.invalid(&path, window, "must be greater than or equal to zero");
        }
        if window > 3600 {
            errors.invalid(&path, window, "must be less than or equal to 3600");
        }
    }
    if part(rules, "selectPolicy").is_some() {
        let policy = text(rules, "selectPolicy");
        if !matches!(policy, "Max" | "Min" | "Disabled") {
            errors.not_supported(&path.child("selectPolicy"), policy, &["Disabled", "Max", "Min"]);
        }
    }
    let list = path.child("policies");
    if count(rules, "policies") == 0 {
        errors.required(&list, "must specify at least one Policy");
    }
    for (index, policy) in items(rules, "policies") {
        let path = list.index(index);
        let (of, value, period) =
            (text(policy, "type"), number(policy, "value"), number(policy, "periodSeconds"));
        if !matches!(of, "Pods" | "Percent") {
            errors.not_supported(&path.child("type"), of, &["Percent", "Pods"]);
        }
        if value <= 0 {
            errors.invalid(&path.child("value"), value, "must be greater than zero");
        }
        if period <= 0 {
            errors.invalid(&path.child("periodSeconds"), period, "must be greater than zero");
        }
        if period > 1800 {
            errors.invalid(&path.child("periodSeconds"), period, "must be less than or equal to 1800");
        }
    }
    if part(rules, "tolerance").is_some() {
        quantity::not_negative(errors, &path.child("tolerance"), text(rules, "tolerance"));
    }
}
