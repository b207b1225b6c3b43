//! DaemonSets.

use serde_json::Value;

use super::{
    SPEC,
    deployment::{always_restarted, amount, same_selector},
    pod,
    status::{collisions, counts},
    unknown_strategy, usable,
};
use crate::in_process::values::{
    common::{Selector, at_most_all, count_or_share, matches, not_negative, selects_all},
    errors::Errors,
    read::{at, part, text},
};

/// A new DaemonSet.
pub(super) fn create(set: &Value, errors: &mut Errors) {
    let spec = at(set, "spec");
    let selector = part(spec, "selector");
    let usable = selector.is_none_or(|selector| usable(errors, &SPEC.child("selector"), selector));
    let (path, template) = (SPEC.child("template"), at(spec, "template"));
    let labels = at(at(template, "metadata"), "labels");
    if usable && selector.is_none_or(|selector| !matches(selector, labels)) {
        errors.invalid(&path.child("metadata.labels"), labels, "`selector` does not match template `labels`");
    }
    if let Some(selector) = selector.filter(|selector| selects_all(selector)) {
        let detail = "empty selector is invalid for daemonset";
        errors.invalid(&SPEC.child("selector"), Selector(selector), detail);
    }
    pod::template::check(errors, &path, template);
    always_restarted(errors, &path, template, "DaemonSet");
    not_negative(errors, &SPEC.child("minReadySeconds"), at(spec, "minReadySeconds"));
    strategy(errors, at(spec, "updateStrategy"));
    not_negative(errors, &SPEC.child("revisionHistoryLimit"), at(spec, "revisionHistoryLimit"));
}

/// A changed DaemonSet. The generation of its template is counted by the server, so that it is always right.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Errors) {
    same_selector(errors, new, old);
    create(new, errors);
}

/// The status of a DaemonSet.
pub(super) fn status(new: &Value, old: &Value, errors: &mut Errors) {
    let (new, old) = (at(new, "status"), at(old, "status"));
    counts(
        errors,
        new,
        &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
    );
    collisions(errors, new, old);
}

fn strategy(errors: &mut Errors, strategy: &Value) {
    let path = SPEC.child("updateStrategy");
    let place = path.child("rollingUpdate");
    match (text(strategy, "type"), part(strategy, "rollingUpdate")) {
        ("OnDelete", _) => {}
        ("RollingUpdate", None) => errors.required(&place, ""),
        ("RollingUpdate", Some(rolling)) => {
            let (unavailable, surge) = (at(rolling, "maxUnavailable"), at(rolling, "maxSurge"));
            let (of_unavailable, of_surge) = (place.child("maxUnavailable"), place.child("maxSurge"));
            count_or_share(errors, &of_unavailable, unavailable);
            count_or_share(errors, &of_surge, surge);
            at_most_all(errors, &of_unavailable, unavailable);
            at_most_all(errors, &of_surge, surge);
            match (amount(unavailable) != 0, amount(surge) != 0) {
                (true, true) => {
                    errors.invalid(&of_surge, surge, "may not be set when maxUnavailable is non-zero");
                }
                (false, false) => errors.required(&of_unavailable, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => unknown_strategy(errors, &path, strategy, &["RollingUpdate", "OnDelete"]),
    }
}
