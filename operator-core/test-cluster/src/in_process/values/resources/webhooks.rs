//! Configurations of admission webhooks, which are stored without effect. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    super::{
        common::selector,
        errors::Errors,
        names,
        path::Path,
        read::{at, count, int, items, part, text},
    },
    registered::port,
};

/// The most seconds that a call may take.
const LONGEST: i64 = 30;

/// Webhooks that change objects.
pub(super) fn changing(configuration: &Value, errors: &mut Errors) {
    all(configuration, true, errors);
}

/// Webhooks that only deny objects.
pub(super) fn denying(configuration: &Value, errors: &mut Errors) {
    all(configuration, false, errors);
}

pub(super) fn changed_changing(new: &Value, _old: &Value, errors: &mut Errors) {
    all(new, true, errors);
}

pub(super) fn changed_denying(new: &Value, _old: &Value, errors: &mut Errors) {
    all(new, false, errors);
}

fn all(configuration: &Value, change: bool, errors: &mut Errors) {
    let (root, mut known) = (Path::root("webhooks"), BTreeSet::new());
    for (index, webhook) in items(configuration, "webhooks") {
        let path = root.index(index);
        check(webhook, change, &path, errors);
        versions(webhook, &path.child("admissionReviewVersions"), errors);
        let name = text(webhook, "name");
        if !name.is_empty() && !known.insert(name) {
            errors.duplicate(&path.child("name"), name);
        }
    }
}

fn check(webhook: &Value, change: bool, path: &Path<'_>, errors: &mut Errors) {
    full_name(text(webhook, "name"), &path.child("name"), errors);
    let rules = path.child("rules");
    for (index, of) in items(webhook, "rules") {
        rule(of, &rules.index(index), errors);
    }
    choice(webhook, "failurePolicy", &["Fail", "Ignore"], path, errors);
    choice(webhook, "matchPolicy", &["Equivalent", "Exact"], path, errors);
    match part(webhook, "sideEffects") {
        None => errors.required(&path.child("sideEffects"), "must specify one of None, NoneOnDryRun"),
        Some(_) => choice(webhook, "sideEffects", &["None", "NoneOnDryRun"], path, errors),
    }
    if let Some(seconds) = int(webhook, "timeoutSeconds").filter(|seconds| !(1..=LONGEST).contains(seconds)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.invalid(&path.child("timeoutSeconds"), seconds, detail);
    }
    for field in ["namespaceSelector", "objectSelector"] {
        selector(errors, &path.child(field), at(webhook, field));
    }
    if change {
        choice(webhook, "reinvocationPolicy", &["IfNeeded", "Never"], path, errors);
    }
    client(at(webhook, "clientConfig"), &path.child("clientConfig"), errors);
}

fn full_name(name: &str, path: &Path<'_>, errors: &mut Errors) {
    let wrong = names::dns_subdomain(name);
    if name.is_empty() {
        errors.required(path, "");
    } else if !wrong.is_empty() {
        errors.invalid(path, name, &wrong.join(","));
    } else if name.split('.').count() < 3 {
        errors.invalid(path, name, "should be a domain with at least three segments separated by dots");
    }
}

/// A value that is one of a few, if it is there.
fn choice(object: &Value, field: &str, known: &[&str], path: &Path<'_>, errors: &mut Errors) {
    if let Some(value) = at(object, field).as_str().filter(|value| !known.contains(value)) {
        errors.not_supported(&path.child(field), value, known);
    }
}

fn rule(rule: &Value, path: &Path<'_>, errors: &mut Errors) {
    let operations = path.child("operations");
    if count(rule, "operations") == 0 {
        errors.required(&operations, "");
    }
    not_beside_all(rule, "operations", "operations", path, errors);
    for (index, operation) in items(rule, "operations") {
        let (operation, known) =
            (operation.as_str().unwrap_or_default(), ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]);
        if !known.contains(&operation) {
            errors.not_supported(&operations.index(index), operation, &known);
        }
    }
    for (field, words) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        if count(rule, field) == 0 {
            errors.required(&path.child(field), "");
        }
        not_beside_all(rule, field, words, path, errors);
    }
    let versions = path.child("apiVersions");
    for (index, _) in items(rule, "apiVersions").filter(|(_, version)| **version == "") {
        errors.required(&versions.index(index), "");
    }
    let resources = path.child("resources");
    if count(rule, "resources") == 0 {
        errors.required(&resources, "");
    }
    for (index, _) in items(rule, "resources").filter(|(_, resource)| **resource == "") {
        errors.required(&resources.index(index), "");
    }
    choice(rule, "scope", &["*", "Cluster", "Namespaced"], path, errors);
}

/// Whoever names all names nothing else.
fn not_beside_all(rule: &Value, field: &str, words: &str, path: &Path<'_>, errors: &mut Errors) {
    if count(rule, field) > 1 && items(rule, field).any(|(_, value)| *value == "*") {
        let detail = format!("if '*' is present, must not specify other {words}");
        errors.invalid(&path.child(field), at(rule, field), &detail);
    }
}

/// Who is called. The real server names the two fields of a Service the other way round.
fn client(config: &Value, path: &Path<'_>, errors: &mut Errors) {
    match (part(config, "url"), part(config, "service")) {
        (Some(url), None) => {
            let url = url.as_str().unwrap_or_default();
            if let Some((scheme, _)) = url.split_once("://").filter(|(scheme, _)| *scheme != "https") {
                let detail = "'https' is the only allowed URL scheme; desired format: https://host[/path]";
                errors.invalid(&path.child("url"), scheme, detail);
            }
        }
        (None, Some(service)) => {
            let path = path.child("service");
            for (field, named) in [("namespace", "name"), ("name", "namespace")] {
                if text(service, field).is_empty() {
                    errors.required(&path.child(named), "");
                }
            }
            port(service, &path, errors);
        }
        _ => errors.required(path, "exactly one of url or service is required"),
    }
}

fn versions(webhook: &Value, path: &Path<'_>, errors: &mut Errors) {
    const KNOWN: [&str; 2] = ["v1", "v1beta1"];
    let field = "admissionReviewVersions";
    if count(webhook, field) == 0 {
        return errors.required(path, "must specify one of v1, v1beta1");
    }
    let mut seen = BTreeSet::new();
    for (index, version) in items(webhook, field) {
        let version = version.as_str().unwrap_or_default();
        if seen.insert(version) {
            errors.all_invalid(&path.index(index), version, &names::dns_1035_label(version));
        } else {
            errors.invalid(&path.index(index), version, "duplicate version");
        }
    }
    if !KNOWN.iter().any(|known| seen.contains(known)) {
        errors.invalid(path, at(webhook, field), "must include at least one of v1, v1beta1");
    }
}
