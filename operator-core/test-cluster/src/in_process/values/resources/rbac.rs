//! Roles and who has them. Pure.

use serde_json::Value;

use super::super::{
    common::selector,
    errors::{Errors, Verbatim, quoted},
    names,
    path::Path,
    read::{at, count, items, part, text},
};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(role: &Value, errors: &mut Errors) {
    rules(role, true, errors);
}

pub(super) fn changed_role(new: &Value, _old: &Value, errors: &mut Errors) {
    role(new, errors);
}

pub(super) fn cluster_role(role: &Value, errors: &mut Errors) {
    rules(role, false, errors);
    let Some(aggregation) = part(role, "aggregationRule") else { return };
    let root = Path::root("aggregationRule");
    let path = root.child("clusterRoleSelectors");
    if count(aggregation, "clusterRoleSelectors") == 0 {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.required(&path, detail);
    }
    for (index, one) in items(aggregation, "clusterRoleSelectors") {
        let path = path.index(index);
        let before = errors.len();
        selector(errors, &path, one);
        // What can't be used as a selector is refused once more, without its value.
        if errors.len() > before {
            errors.invalid(&path, Verbatim("null".to_owned()), "invalid label selector.");
        }
    }
}

pub(super) fn changed_cluster_role(new: &Value, _old: &Value, errors: &mut Errors) {
    cluster_role(new, errors);
}

fn rules(role: &Value, namespaced: bool, errors: &mut Errors) {
    let root = Path::root("rules");
    for (index, rule) in items(role, "rules") {
        let path = root.index(index);
        if count(rule, "verbs") == 0 {
            errors.required(&path.child("verbs"), "verbs must contain at least one value");
        }
        if count(rule, "nonResourceURLs") > 0 {
            let (path, urls) = (path.child("nonResourceURLs"), at(rule, "nonResourceURLs"));
            if namespaced {
                errors.invalid(&path, urls, "namespaced rules cannot apply to non-resource URLs");
            }
            if ["apiGroups", "resources", "resourceNames"].iter().any(|field| count(rule, field) > 0) {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                errors.invalid(&path, urls, detail);
            }
            continue;
        }
        if count(rule, "apiGroups") == 0 {
            errors.required(&path.child("apiGroups"), "resource rules must supply at least one api group");
        }
        if count(rule, "resources") == 0 {
            errors.required(&path.child("resources"), "resource rules must supply at least one resource");
        }
    }
}

pub(super) fn binding(binding: &Value, errors: &mut Errors) {
    bound(binding, &["Role", "ClusterRole"], true, errors);
}

pub(super) fn cluster_binding(binding: &Value, errors: &mut Errors) {
    bound(binding, &["ClusterRole"], false, errors);
}

pub(super) fn changed_binding(new: &Value, old: &Value, errors: &mut Errors) {
    binding(new, errors);
    same_role(new, old, errors);
}

pub(super) fn changed_cluster_binding(new: &Value, old: &Value, errors: &mut Errors) {
    cluster_binding(new, errors);
    same_role(new, old, errors);
}

fn same_role(new: &Value, old: &Value, errors: &mut Errors) {
    let (new, old) = (at(new, "roleRef"), at(old, "roleRef"));
    if ["apiGroup", "kind", "name"].iter().any(|field| text(new, field) != text(old, field)) {
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            quoted(text(new, "apiGroup")),
            quoted(text(new, "kind")),
            quoted(text(new, "name"))
        );
        errors.invalid(&Path::root("roleRef"), Verbatim(shown), "cannot change roleRef");
    }
}

fn bound(binding: &Value, kinds: &[&str], namespaced: bool, errors: &mut Errors) {
    let (path, role) = (Path::root("roleRef"), at(binding, "roleRef"));
    if text(role, "apiGroup") != GROUP {
        errors.not_supported(&path.child("apiGroup"), text(role, "apiGroup"), &[GROUP]);
    }
    if !kinds.contains(&text(role, "kind")) {
        errors.not_supported(&path.child("kind"), text(role, "kind"), kinds);
    }
    match text(role, "name") {
        "" => errors.required(&path.child("name"), ""),
        name => errors.all_invalid(&path.child("name"), name, &names::path_segment(name)),
    }
    let root = Path::root("subjects");
    for (index, one) in items(binding, "subjects") {
        subject(one, namespaced, &root.index(index), errors);
    }
}

fn subject(subject: &Value, namespaced: bool, path: &Path<'_>, errors: &mut Errors) {
    let (kind, name, group) = (text(subject, "kind"), text(subject, "name"), text(subject, "apiGroup"));
    if name.is_empty() {
        errors.required(&path.child("name"), "");
    }
    match kind {
        "ServiceAccount" => {
            if !name.is_empty() {
                errors.all_invalid(&path.child("name"), name, &names::dns_subdomain(name));
            }
            if !group.is_empty() {
                errors.not_supported(&path.child("apiGroup"), group, &[""]);
            }
            if !namespaced && text(subject, "namespace").is_empty() {
                errors.required(&path.child("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                errors.not_supported(&path.child("apiGroup"), group, &[GROUP]);
            }
        }
        other => errors.not_supported(&path.child("kind"), other, &["ServiceAccount", "User", "Group"]),
    }
}
