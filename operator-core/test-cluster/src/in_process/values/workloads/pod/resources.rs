//! What containers use.

use serde_json::Value;

use crate::in_process::values::{
    errors::{Errors, Verbatim, json},
    names,
    path::Path,
    quantity::{self, amount},
    read::{at, count, entries, items, part, text},
};

/// What a container asks for, and what it may use.
pub(super) fn of_container(errors: &mut Errors, path: &Path<'_>, resources: &Value, claims: &[&str]) {
    check(errors, path, resources, quantity::container_resource);
    claims_used(errors, &path.child("claims"), resources, claims);
}

/// What the node adds for a pod of some runtime.
pub(super) fn overhead(errors: &mut Errors, path: &Path<'_>, overhead: &Value) {
    if !overhead.is_null() {
        let limits = serde_json::json!({ "limits": overhead });
        check(errors, path, &limits, quantity::container_resource);
    }
}

/// Requests and limits of resources, whose names are checked by `name`.
pub(super) fn check(
    errors: &mut Errors,
    path: &Path<'_>,
    resources: &Value,
    name: fn(&mut Errors, &Path<'_>, &str),
) {
    let limits = at(resources, "limits");
    let (mut basic, mut huge) = (false, false);
    for side in ["limits", "requests"] {
        let list = path.child(side);
        for (resource, given) in entries(resources, side) {
            let (path_of_all, given) = (path, given.as_str().unwrap_or_default());
            let path = list.key(resource);
            name(errors, &path, resource);
            quantity::of(errors, &path, resource, given);
            if side == "requests" {
                request(errors, path_of_all, resource, given, limits);
            }
            if quantity::is_huge_pages(resource) {
                huge = true;
                if let Some(why) = quantity::huge_pages(resource, given) {
                    errors.invalid(&path, given, &why);
                }
            }
            basic |= matches!(resource, "cpu" | "memory");
        }
    }
    if huge && !basic {
        errors.forbidden(path, "HugePages require cpu or memory");
    }
}

/// The names of the claims of a pod.
pub(super) fn claim_names(spec: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = items(spec, "resourceClaims").map(|(_, claim)| text(claim, "name")).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    names
}

/// The claims that a container uses.
pub(super) fn claims_used(errors: &mut Errors, path: &Path<'_>, resources: &Value, claims: &[&str]) {
    let mut known: Vec<String> = Vec::new();
    for (index, claim) in items(resources, "claims") {
        let path = path.index(index);
        let (name, request) = (text(claim, "name"), text(claim, "request"));
        if name.is_empty() {
            errors.required(&path, "");
            continue;
        }
        if known.iter().any(|known| known == name) {
            errors.duplicate(&path, name);
        } else {
            let mut key = name.to_owned();
            if !request.is_empty() {
                errors.all_invalid(&path.child("request"), request, &names::dns_label(request));
                key = format!("{name}/{request}");
            }
            if known.contains(&key) {
                errors.duplicate(&path, &key);
            } else if request.is_empty() {
                let parts =
                    known.iter().filter(|known| known.split_once('/').is_some_and(|(of, _)| of == name));
                parts.for_each(|_| errors.duplicate(&path, name));
            }
            known.push(key);
        }
        if !claims.contains(&name) {
            let among = if claims.is_empty() {
                " which is empty".to_owned()
            } else {
                format!(": {}", claims.join(", "))
            };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{among}");
            errors.not_found_among(&path, name, &detail);
        }
    }
}

/// The claims of a pod.
pub(super) fn pod_claims(errors: &mut Errors, path: &Path<'_>, spec: &Value, pod: Option<&Value>) {
    if count(spec, "resourceClaims") == 0 {
        return;
    }
    let mirror = pod.is_some_and(|pod| part(at(pod, "annotations"), "kubernetes.io/config.mirror").is_some());
    let mut known = Vec::new();
    for (index, claim) in items(spec, "resourceClaims") {
        if mirror {
            errors.forbidden(&Path::root(""), "static pods do not support resource claims");
            continue;
        }
        let path = path.index(index);
        let name = text(claim, "name");
        if name.is_empty() {
            errors.required(&path.child("name"), "");
        } else if known.contains(&name) {
            errors.duplicate(&path.child("name"), name);
        } else {
            errors.all_invalid(&path.child("name"), name, &names::dns_label(name));
            known.push(name);
        }
        let (of, template) = (part(claim, "resourceClaimName"), part(claim, "resourceClaimTemplateName"));
        let shown = || {
            let field = |value: Option<&Value>| value.map_or("null".to_owned(), |value| json(value, &[]));
            Verbatim(format!(
                "{{\"Name\":{},\"ResourceClaimName\":{},\"ResourceClaimTemplateName\":{}}}",
                json(&name.into(), &[]),
                field(of),
                field(template)
            ))
        };
        match (of, template) {
            (Some(_), Some(_)) => {
                let detail =
                    "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
                errors.invalid(&path, shown(), detail);
            }
            (None, None) => {
                let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
                errors.invalid(&path, shown(), detail);
            }
            _ => {}
        }
        for field in ["resourceClaimName", "resourceClaimTemplateName"] {
            if part(claim, field).is_some() {
                let name = text(claim, field);
                errors.all_invalid(&path.child(field), name, &names::dns_subdomain(name));
            }
        }
    }
}

/// What is asked for can't be more than what may be used.
fn request(errors: &mut Errors, path: &Path<'_>, resource: &str, given: &str, limits: &Value) {
    let requests = path.child("requests");
    let Some(limit) = limits.get(resource).and_then(Value::as_str) else {
        if !quantity::may_be_overcommitted(resource) {
            errors.required(&path.child("limits"), "Limit must be set for non overcommitable resources");
        }
        return;
    };
    if amount(given) != amount(limit) && !quantity::may_be_overcommitted(resource) {
        errors.invalid(&requests, given, &format!("must be equal to {resource} limit of {limit}"));
    } else if amount(given) > amount(limit) {
        errors.invalid(
            &requests,
            given,
            &format!("must be less than or equal to {resource} limit of {limit}"),
        );
    }
}
