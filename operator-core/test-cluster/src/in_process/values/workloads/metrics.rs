//! The metrics by which pods are scaled.

use serde_json::Value;

use super::autoscaler;
use crate::in_process::values::{
    errors::{Errors, Verbatim, quoted},
    names,
    path::Path,
    quantity,
    read::{at, int, part, text},
};

const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// One metric.
pub(super) fn check(errors: &mut Errors, path: &Path<'_>, metric: &Value) {
    let (of, place) = (text(metric, "type"), path.child("type"));
    if of.is_empty() {
        errors.required(&place, "must specify a metric source type");
    }
    if !TYPES.contains(&of) {
        errors.not_supported(&place, of, &TYPES);
    }
    let mut present = Vec::new();
    for source in ["object", "external", "pods", "resource", "containerResource"] {
        let Some(given) = part(metric, source) else { continue };
        present.push(source);
        // Only the first one is looked at.
        if present.len() == 1 {
            check_source(errors, &path.child(source), source, given);
        }
    }
    let expected = match of {
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        "External" => "external",
        "ContainerResource" => "containerResource",
        _ => {
            errors.not_supported(&place, of, &TYPES);
            ""
        }
    };
    if !expected.is_empty() && !present.contains(&expected) {
        errors.required(&path.child(expected), "must populate information for the given metric source");
    }
    if present.len() != 1 {
        for other in present.into_iter().filter(|source| *source != expected) {
            errors.forbidden(&path.child(other), "must populate the given metric source only");
        }
    }
}

fn check_source(errors: &mut Errors, path: &Path<'_>, of: &str, source: &Value) {
    let target = at(source, "target");
    let place = path.child("target");
    let (value, average) = (part(target, "value").is_some(), part(target, "averageValue").is_some());
    let utilization = int(target, "averageUtilization").is_some();
    match of {
        "object" => {
            let described = at(source, "describedObject");
            autoscaler::reference(errors, &path.child("describedObject"), described, true, false);
            identifier(errors, &path.child("metric"), at(source, "metric"));
            self::target(errors, &place, target);
            if !value && !average {
                errors
                    .required(&place.child("averageValue"), "must set either a target value or averageValue");
            }
        }
        "external" => {
            identifier(errors, &path.child("metric"), at(source, "metric"));
            self::target(errors, &place, target);
            if !value && !average {
                let detail = "must set either a target value for metric or a per-pod target";
                errors.required(&place.child("averageValue"), detail);
            }
            if value && average {
                let detail = "may not set both a target value for metric and a per-pod target";
                errors.forbidden(&place.child("value"), detail);
            }
        }
        "pods" => {
            identifier(errors, &path.child("metric"), at(source, "metric"));
            self::target(errors, &place, target);
            if !average {
                errors.required(&place.child("averageValue"), "must specify a positive target averageValue");
            }
        }
        _ => {
            let name = text(source, "name");
            if name.is_empty() {
                errors.required(&path.child("name"), "must specify a resource name");
            } else if of == "containerResource" {
                quantity::container_resource(errors, &path.child("name"), name);
            }
            if of == "containerResource" {
                match text(source, "container") {
                    "" => errors.required(&path.child("container"), "must specify a container"),
                    name => errors.all_invalid(&path.child("container"), name, &names::dns_label(name)),
                }
            }
            self::target(errors, &place, target);
            if !utilization && !average {
                let detail = "must set either a target raw value or a target utilization";
                errors.required(&place.child("averageUtilization"), detail);
            }
            if utilization && average {
                let detail = "may not set both a target raw value and a target utilization";
                errors.forbidden(&place.child("averageValue"), detail);
            }
        }
    }
}

fn identifier(errors: &mut Errors, path: &Path<'_>, metric: &Value) {
    match text(metric, "name") {
        "" => errors.required(&path.child("name"), "must specify a metric name"),
        name => errors.all_invalid(&path.child("name"), name, &names::path_segment(name)),
    }
}

fn target(errors: &mut Errors, path: &Path<'_>, target: &Value) {
    let of = text(target, "type");
    if of.is_empty() {
        errors.required(&path.child("type"), "must specify a metric target type");
    }
    if !matches!(of, "Utilization" | "Value" | "AverageValue") {
        errors.invalid(&path.child("type"), of, "must be either Utilization, Value, or AverageValue");
    }
    for field in ["value", "averageValue"] {
        if part(target, field).is_some() && quantity::amount(text(target, field)) <= 0 {
            let shown = Verbatim(quoted(text(target, field)));
            errors.invalid(&path.child(field), shown, "must be positive");
        }
    }
    if let Some(share) = int(target, "averageUtilization").filter(|share| *share < 1) {
        errors.invalid(&path.child("averageUtilization"), share, "must be greater than 0");
    }
}
