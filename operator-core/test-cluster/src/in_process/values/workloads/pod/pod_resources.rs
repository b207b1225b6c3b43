//! What the containers of a pod use together.

use std::collections::BTreeMap;

use serde_json::Value;

use super::resources;
use crate::in_process::values::{
    errors::Errors,
    path::Path,
    quantity::{self, amount},
    read::{at, entries, items, part, text},
};

/// The resources of a whole pod.
pub(super) fn check(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let Some(given) = part(spec, "resources") else { return };
    let path = path.child("resources");
    if text(at(spec, "os"), "name") == "windows" {
        return errors.forbidden(&path, "may not be set for a windows pod");
    }
    if part(given, "claims").is_some() {
        errors.forbidden(&path.child("claims"), "claims may not be set for Resources at pod-level");
    }
    resources::check(errors, &path, given, quantity::pod_resource);
    resources::claims_used(errors, &path.child("claims"), given, &resources::claim_names(spec));
    sums(errors, &path, spec, given);
    let (list, limits) = (path.child("containers"), at(given, "limits"));
    for (index, container) in items(spec, "containers") {
        for (resource, own) in entries(at(container, "resources"), "limits") {
            let (own, limit) = (own.as_str().unwrap_or_default(), text(limits, resource));
            if !limit.is_empty() && amount(own) > amount(limit) {
                let container = list.index(index);
                let path = container.key(resource);
                let detail = format!("must be less than or equal to pod limits of {limit}");
                errors.invalid(&path.child("limits"), own, &detail);
            }
        }
    }
}

/// What a pod asks for is at least what its containers ask for together; so are its limits of huge pages.
fn sums(errors: &mut Errors, path: &Path<'_>, spec: &Value, given: &Value) {
    for side in ["requests", "limits"] {
        let list = path.child(side);
        for (resource, sum) in aggregate(spec, side) {
            let own = text(at(given, side), &resource);
            let counts = side == "requests" || quantity::is_huge_pages(&resource);
            if counts && !own.is_empty() && sum > amount(own) {
                let sum = quantity::written_like(&given_first(spec, side, &resource), sum);
                let detail = format!("must be greater than or equal to aggregate container {side} of {sum}");
                errors.invalid(&list.key(&resource), own, &detail);
            }
        }
    }
}

/// The amount of the first container that has one, in whose form sums are written.
fn given_first(spec: &Value, side: &str, resource: &str) -> String {
    let mut all = items(spec, "containers").chain(items(spec, "initContainers"));
    let given = |container: &Value| text(at(at(container, "resources"), side), resource).to_owned();
    all.find_map(|(_, container)| Some(given(container)).filter(|given| !given.is_empty()))
        .unwrap_or_default()
}

/// All containers at once, or one that runs before beside those that have been started before it and stay.
fn aggregate(spec: &Value, side: &str) -> BTreeMap<String, i128> {
    let of = |container: &Value| -> Vec<(String, i128)> {
        entries(at(container, "resources"), side)
            .map(|(resource, given)| (resource.to_owned(), amount(given.as_str().unwrap_or_default())))
            .collect()
    };
    let add = |sum: &mut BTreeMap<String, i128>, more: &[(String, i128)]| {
        for (resource, more) in more {
            *sum.entry(resource.clone()).or_default() += more;
        }
    };
    let most = |sum: &mut BTreeMap<String, i128>, other: &BTreeMap<String, i128>| {
        for (resource, other) in other {
            let sum = sum.entry(resource.clone()).or_default();
            *sum = (*sum).max(*other);
        }
    };
    let (mut all, mut staying, mut before) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (_, container) in items(spec, "containers") {
        add(&mut all, &of(container));
    }
    for (_, container) in items(spec, "initContainers") {
        let own = of(container);
        let mut now;
        if text(container, "restartPolicy") == "Always" {
            add(&mut all, &own);
            add(&mut staying, &own);
            now = staying.clone();
        } else {
            now = BTreeMap::new();
            add(&mut now, &own);
            staying.iter().for_each(|(resource, more)| *now.entry(resource.clone()).or_default() += more);
        }
        most(&mut before, &now);
    }
    most(&mut all, &before);
    all
}
