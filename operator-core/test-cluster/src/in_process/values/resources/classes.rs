//! Classes: of priorities, of storage, of Ingresses. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::{
    common::{domain_path, immutable},
    errors::Errors,
    names,
    path::Path,
    read::{at, count, int, items, part, text},
};

/// So high may a priority be that isn't one of Kubernetes itself.
const HIGHEST: i64 = 1_000_000_000;

pub(super) fn priority(class: &Value, errors: &mut Errors) {
    let name = text(at(class, "metadata"), "name");
    let value = int(class, "value").unwrap_or_default();
    if name.starts_with("system-") {
        if let Some(why) = unknown_system(name, value) {
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {why}"
            );
            errors.forbidden(&Path::root("metadata").child("name"), &detail);
        }
    } else if value > HIGHEST {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        errors.forbidden(&Path::root("value"), &detail);
    }
    match class.get("preemptionPolicy").and_then(Value::as_str) {
        None | Some("PreemptLowerPriority" | "Never") => {}
        Some("") => errors.required(&Path::root("preemptionPolicy"), ""),
        Some(other) => {
            errors.not_supported(&Path::root("preemptionPolicy"), other, &["PreemptLowerPriority", "Never"]);
        }
    }
}

/// Why a name is none of the two that Kubernetes itself has.
fn unknown_system(name: &str, value: i64) -> Option<String> {
    let known = match name {
        "system-node-critical" => 2_000_001_000,
        "system-cluster-critical" => 2_000_000_000,
        _ => return Some(format!("{name} is not a known system priority class")),
    };
    (value != known).then(|| format!("value of {name} PriorityClass must be {known}"))
}

pub(super) fn changed_priority(new: &Value, old: &Value, errors: &mut Errors) {
    if int(new, "value").unwrap_or_default() != int(old, "value").unwrap_or_default() {
        errors.forbidden(&Path::root("value"), "may not be changed in an update.");
    }
    let field = "preemptionPolicy";
    immutable(errors, &Path::root(field), at(new, field), at(old, field));
}

pub(super) fn storage(class: &Value, errors: &mut Errors) {
    let provisioner = text(class, "provisioner");
    match provisioner {
        "" => errors.required(&Path::root("provisioner"), ""),
        _ => {
            let lower = provisioner.to_lowercase();
            errors.all_invalid(&Path::root("provisioner"), &lower, &names::qualified(&lower));
        }
    }
    if let policy = text(class, "reclaimPolicy")
        && !matches!(policy, "" | "Delete" | "Retain")
    {
        errors.not_supported(&Path::root("reclaimPolicy"), policy, &["Delete", "Retain"]);
    }
    if let mode = text(class, "volumeBindingMode")
        && !matches!(mode, "Immediate" | "WaitForFirstConsumer")
    {
        let known = ["Immediate", "WaitForFirstConsumer"];
        errors.not_supported(&Path::root("volumeBindingMode"), mode, &known);
    }
    topologies(class, errors);
}

/// Places that a volume may be in. The real server begins with an empty one for each, so that an empty one is there twice.
fn topologies(class: &Value, errors: &mut Errors) {
    let (root, field) = (Path::root("allowedTopologies"), "allowedTopologies");
    let mut known: Vec<BTreeMap<&str, BTreeSet<&str>>> = vec![BTreeMap::new(); count(class, field)];
    for (index, term) in items(class, field) {
        let place = root.index(index);
        let path = place.child("matchLabelExpressions");
        let mut keys = BTreeMap::new();
        for (index, expression) in items(term, "matchLabelExpressions") {
            let (path, key) = (path.index(index), text(expression, "key"));
            let (field, mut values) = (path.child("values"), BTreeSet::new());
            if count(expression, "values") == 0 {
                errors.required(&field, "");
            }
            for (index, value) in items(expression, "values") {
                let value = value.as_str().unwrap_or_default();
                if !values.insert(value) {
                    errors.duplicate(&field.index(index), value);
                }
            }
            errors.all_invalid(&path.child("key"), key, &names::qualified(key));
            if keys.insert(key, values).is_some() {
                errors.duplicate(&path.child("key"), key);
            }
        }
        known.iter().filter(|other| **other == keys).for_each(|_| errors.duplicate(&path, ""));
        known.push(keys);
    }
}

pub(super) fn changed_storage(new: &Value, old: &Value, errors: &mut Errors) {
    storage(new, errors);
    immutable(errors, &Path::root("parameters"), at(new, "parameters"), at(old, "parameters"));
    for field in ["provisioner", "reclaimPolicy", "volumeBindingMode"] {
        if text(new, field) != text(old, field) {
            errors.invalid(&Path::root(field), text(new, field), "field is immutable");
        }
    }
}

pub(super) fn ingress(class: &Value, errors: &mut Errors) {
    const LIMIT: usize = 250;
    let (spec, path) = (at(class, "spec"), Path::root("spec"));
    let (controller, field) = (text(spec, "controller"), path.child("controller"));
    if controller.len() > LIMIT {
        errors.too_long(&field, LIMIT);
    }
    domain_path(errors, &field, controller);
    if let Some(parameters) = part(spec, "parameters") {
        self::parameters(parameters, &path.child("parameters"), errors);
    }
}

fn parameters(parameters: &Value, path: &Path<'_>, errors: &mut Errors) {
    if let Some(group) = parameters.get("apiGroup").and_then(Value::as_str) {
        errors.all_invalid(&path.child("apiGroup"), group, &names::dns_subdomain(group));
    }
    for field in ["kind", "name"] {
        match text(parameters, field) {
            "" => errors.required(&path.child(field), ""),
            value => errors.all_invalid(&path.child(field), value, &names::path_segment(value)),
        }
    }
    let namespace = parameters.get("namespace").and_then(Value::as_str);
    match (parameters.get("scope").and_then(Value::as_str), namespace) {
        (None, _) => errors.required(&path.child("scope"), ""),
        (Some("Namespace"), None) => {
            errors.required(&path.child("namespace"), "`parameters.scope` is set to 'Namespace'");
        }
        (Some("Namespace"), Some(name)) => {
            errors.all_invalid(&path.child("namespace"), name, &names::dns_label(name));
        }
        (Some("Cluster"), Some(_)) => {
            errors.forbidden(&path.child("namespace"), "`parameters.scope` is set to 'Cluster'");
        }
        (Some("Cluster"), None) => {}
        (Some(other), _) => errors.not_supported(&path.child("scope"), other, &["Cluster", "Namespace"]),
    }
}

pub(super) fn changed_ingress(new: &Value, old: &Value, errors: &mut Errors) {
    let of = |class| text(at(class, "spec"), "controller");
    if of(new) != of(old) {
        errors.invalid(&Path::root("spec").child("controller"), of(new), "field is immutable");
    }
    ingress(new, errors);
}
