//! ResourceQuotas: names and amounts of resources, and scopes that fit them. Pure.

use serde_json::Value;

use super::super::{
    errors::{Errors, Verbatim, json},
    path::Path,
    quantity,
    read::{at, count, entries, items, part, text},
};

const SPEC: Path<'static> = Path::root("spec");
const OF_PODS: [&str; 7] =
    ["cpu", "limits.cpu", "limits.memory", "memory", "pods", "requests.cpu", "requests.memory"];

pub(super) fn quota(quota: &Value, errors: &mut Errors) {
    let spec = at(quota, "spec");
    amounts(errors, &SPEC.child("hard"), at(spec, "hard"));
    scopes(errors, spec);
    if let Some(selector) = part(spec, "scopeSelector") {
        terms(errors, spec, selector);
    }
}

pub(super) fn changed(new: &Value, old: &Value, errors: &mut Errors) {
    quota(new, errors);
    let sorted = |quota: &Value| {
        let mut scopes: Vec<String> = scopes_of(at(quota, "spec")).map(str::to_owned).collect();
        scopes.sort_unstable();
        scopes.dedup();
        scopes
    };
    if sorted(new) != sorted(old) {
        errors.invalid(&SPEC.child("scopes"), shown(at(new, "spec")), "field is immutable");
    }
}

pub(super) fn status(new: &Value, _old: &Value, errors: &mut Errors) {
    let path = Path::root("status");
    for field in ["hard", "used"] {
        amounts(errors, &path.child(field), at(at(new, "status"), field));
    }
}

fn amounts(errors: &mut Errors, path: &Path<'_>, amounts: &Value) {
    for (name, amount) in amounts.as_object().into_iter().flatten() {
        let path = path.key(name);
        quantity::quota_resource(errors, &path, name);
        quantity::of(errors, &path, name, amount.as_str().unwrap_or_default());
    }
}

fn scopes_of(spec: &Value) -> impl Iterator<Item = &str> {
    items(spec, "scopes").filter_map(|(_, scope)| scope.as_str())
}

fn shown(spec: &Value) -> Verbatim {
    Verbatim(json(at(spec, "scopes"), &[]))
}

/// What a scope may limit; `None` for a scope that isn't known.
fn limits(scope: &str) -> Option<&'static [&'static str]> {
    Some(match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => &OF_PODS,
        "BestEffort" => &["pods"],
        "VolumeAttributesClass" => &["persistentvolumeclaims", "requests.storage"],
        _ => return None,
    })
}

/// How many of a quota's resources a scope doesn't fit.
fn unfit(spec: &Value, scope: &str) -> usize {
    let known = entries(spec, "hard").map(|(name, _)| name).filter(|name| quantity::is_of_quotas(name));
    limits(scope).map_or(0, |fit| known.filter(|name| !fit.contains(name)).count())
}

fn scopes(errors: &mut Errors, spec: &Value) {
    let path = SPEC.child("scopes");
    for scope in scopes_of(spec) {
        if limits(scope).is_none() {
            errors.invalid(&path, shown(spec), "unsupported scope");
        }
        for _ in 0..unfit(spec, scope) {
            errors.invalid(&path, shown(spec), "unsupported scope applied to resource");
        }
    }
    conflicts(errors, &path, spec, &|scope| scopes_of(spec).any(|one| one == scope));
}

fn conflicts(errors: &mut Errors, path: &Path<'_>, spec: &Value, has: &dyn Fn(&str) -> bool) {
    for (one, other) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if has(one) && has(other) {
            errors.invalid(path, shown(spec), "conflicting scopes");
        }
    }
}

fn terms(errors: &mut Errors, spec: &Value, selector: &Value) {
    let path = SPEC.child("scopeSelector");
    let path = path.child("matchExpressions");
    for (_, term) in items(selector, "matchExpressions") {
        let (scope, operator) = (text(term, "scopeName"), text(term, "operator"));
        if limits(scope).is_none() {
            errors.invalid(&path.child("scopeName"), scope, "unsupported scope");
        }
        for _ in 0..unfit(spec, scope) {
            errors.invalid(&path, Verbatim(whole(selector)), "unsupported scope applied to resource");
        }
        let either = !matches!(scope, "PriorityClass" | "VolumeAttributesClass") && limits(scope).is_some();
        if either && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort \
                          or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.invalid(&path.child("operator"), operator, detail);
        }
        let place = path.child("values");
        match (operator, count(term, "values")) {
            ("In" | "NotIn", 0) => {
                let detail =
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.required(&place, detail);
            }
            ("Exists" | "DoesNotExist", 1..) => {
                let detail =
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                errors.invalid(&place, at(term, "values"), detail);
            }
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
            _ => errors.invalid(&path.child("operator"), operator, "not a valid selector operator"),
        }
    }
    conflicts(errors, &path, spec, &|scope| {
        items(selector, "matchExpressions").any(|(_, term)| text(term, "scopeName") == scope)
    });
}

/// A selector as Go shows it.
fn whole(selector: &Value) -> String {
    let terms = items(selector, "matchExpressions").map(|(_, term)| {
        let quoted = |field: &str| json(&text(term, field).into(), &[]);
        let values = json(at(term, "values"), &[]);
        let (scope, operator) = (quoted("scopeName"), quoted("operator"));
        format!("{{\"ScopeName\":{scope},\"Operator\":{operator},\"Values\":{values}}}")
    });
    format!("{{\"MatchExpressions\":[{}]}}", terms.collect::<Vec<_>>().join(","))
}
