//! Which nodes and which other pods a pod wants beside it.

use serde_json::Value;

use crate::in_process::values::{
    common::{number, selector},
    errors::Errors,
    names,
    path::Path,
    read::{at, count, entries, items, part, text},
};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// The wishes of a pod.
pub(super) fn check(errors: &mut Errors, path: &Path<'_>, affinity: &Value) {
    if let Some(nodes) = part(affinity, "nodeAffinity") {
        of_nodes(errors, &path.child("nodeAffinity"), nodes);
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        let (path, pods) = (path.child(field), at(affinity, field));
        let list = path.child(REQUIRED);
        for (index, of) in items(pods, REQUIRED) {
            pod_term(errors, &list.index(index), of);
        }
        let list = path.child(PREFERRED);
        for (index, weighted) in items(pods, PREFERRED) {
            let path = list.index(index);
            weight(errors, &path, weighted);
            pod_term(errors, &path.child("podAffinityTerm"), at(weighted, "podAffinityTerm"));
        }
    }
}

fn weight(errors: &mut Errors, path: &Path<'_>, weighted: &Value) {
    let weight = number(weighted, "weight");
    if !(1..=100).contains(&weight) {
        errors.invalid(&path.child("weight"), weight, "must be in the range 1-100");
    }
}

fn of_nodes(errors: &mut Errors, path: &Path<'_>, nodes: &Value) {
    if let Some(required) = part(nodes, REQUIRED) {
        node_selector(errors, &path.child(REQUIRED), required);
    }
    let list = path.child(PREFERRED);
    for (index, weighted) in items(nodes, PREFERRED) {
        let path = list.index(index);
        weight(errors, &path, weighted);
        // Nodes may have any labels as long as nothing depends on them.
        node_term(errors, &path.child("preference"), at(weighted, "preference"), false);
    }
}

/// The nodes that something must be on.
pub(in crate::in_process::values) fn node_selector(errors: &mut Errors, path: &Path<'_>, required: &Value) {
    let list = path.child("nodeSelectorTerms");
    if count(required, "nodeSelectorTerms") == 0 {
        errors.required(&list, "must have at least one node selector term");
    }
    for (index, of) in items(required, "nodeSelectorTerms") {
        node_term(errors, &list.index(index), of, true);
    }
}

fn node_term(errors: &mut Errors, path: &Path<'_>, of: &Value, strict: bool) {
    let list = path.child("matchExpressions");
    for (index, requirement) in items(of, "matchExpressions") {
        let path = list.index(index);
        let (operator, key) = (text(requirement, "operator"), text(requirement, "key"));
        let (place, values) = (path.child("values"), count(requirement, "values"));
        match operator {
            "In" | "NotIn" if values == 0 => {
                errors.required(&place, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if values > 0 => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&place, detail);
            }
            "Gt" | "Lt" if values != 1 => {
                errors.required(&place, "must be specified single value when `operator` is 'Lt' or 'Gt'");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => errors.invalid(&path.child("operator"), other, "not a valid selector operator"),
        }
        errors.all_invalid(&path.child("key"), key, &names::qualified(key));
        for (index, value) in items(requirement, "values").filter(|_| strict) {
            let value = value.as_str().unwrap_or_default();
            errors.all_invalid(&place.index(index), value, &names::label_value(value));
        }
    }
    let list = path.child("matchFields");
    for (index, requirement) in items(of, "matchFields") {
        let path = list.index(index);
        let (operator, key) = (text(requirement, "operator"), text(requirement, "key"));
        let place = path.child("values");
        match operator {
            "In" | "NotIn" => {
                if count(requirement, "values") != 1 {
                    let detail =
                        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                    errors.required(&place, detail);
                }
            }
            other => errors.invalid(&path.child("operator"), other, "not a valid selector operator"),
        }
        if key != "metadata.name" {
            errors.invalid(&path.child("key"), key, "not a valid field selector key");
            continue;
        }
        for (index, value) in items(requirement, "values") {
            let value = value.as_str().unwrap_or_default();
            errors.all_invalid(&place.index(index), value, &names::dns_subdomain(value));
        }
    }
}

fn pod_term(errors: &mut Errors, path: &Path<'_>, of: &Value) {
    for field in ["labelSelector", "namespaceSelector"] {
        selector(errors, &path.child(field), at(of, field));
    }
    for (_, name) in items(of, "namespaces") {
        let name = name.as_str().unwrap_or_default();
        errors.all_invalid(&path.child("namespace"), name, &names::dns_label(name));
    }
    label_keys(errors, path, of);
    let (place, key) = (path.child("topologyKey"), text(of, "topologyKey"));
    if key.is_empty() {
        errors.required(&place, "can not be empty");
    }
    errors.all_invalid(&place, key, &names::qualified(key));
}

/// Labels of the pod itself by which other pods are selected or not.
pub(super) fn label_keys(errors: &mut Errors, path: &Path<'_>, of: &Value) {
    let keys = |field: &str| -> Vec<&str> {
        items(of, field).map(|(_, key)| key.as_str().unwrap_or_default()).collect()
    };
    let selector = part(of, "labelSelector");
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let list = path.child(field);
        if selector.is_none() && count(of, field) > 0 {
            errors.forbidden(&list, "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys(field).into_iter().enumerate() {
            errors.all_invalid(&list.index(index), key, &names::qualified(key));
        }
    }
    let (matching, others) = (keys("matchLabelKeys"), keys("mismatchLabelKeys"));
    if let Some(selector) = selector {
        let mut known: Vec<&str> = entries(selector, "matchLabels").map(|(key, _)| key).collect();
        for (_, requirement) in items(selector, "matchExpressions") {
            let key = text(requirement, "key");
            let index = matching.iter().rposition(|matching| *matching == key);
            if let Some(index) = index.filter(|_| known.contains(&key)) {
                let detail = "exists in both matchLabelKeys and labelSelector";
                errors.invalid(&path.index(index), key, detail);
            }
            known.push(key);
        }
    }
    let list = path.child("matchLabelKeys");
    for (index, key) in matching.iter().enumerate().filter(|(_, key)| others.contains(key)) {
        errors.invalid(&list.index(index), *key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}
