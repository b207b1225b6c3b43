//! PodDisruptionBudgets.

use serde_json::Value;

use super::{SPEC, STATUS, status::counts};
use crate::in_process::values::{
    common::{Selector, at_most_all, count_or_share, selector},
    conditions,
    errors::{Errors, Shown as _, Verbatim, json},
    read::{at, part, text},
};

/// A new budget.
pub(super) fn create(budget: &Value, errors: &mut Errors) {
    let spec = at(budget, "spec");
    if part(spec, "minAvailable").is_some() && part(spec, "maxUnavailable").is_some() {
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            json(at(spec, "minAvailable"), &[]),
            Selector(at(spec, "selector")).shown(),
            json(at(spec, "maxUnavailable"), &[]),
            json(at(spec, "unhealthyPodEvictionPolicy"), &[]),
        );
        errors.invalid(&SPEC, Verbatim(shown), "minAvailable and maxUnavailable cannot be both set");
    }
    for field in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = part(spec, field) {
            count_or_share(errors, &SPEC.child(field), value);
            at_most_all(errors, &SPEC.child(field), value);
        }
    }
    selector(errors, &SPEC.child("selector"), at(spec, "selector"));
    if part(spec, "unhealthyPodEvictionPolicy").is_some() {
        let policy = text(spec, "unhealthyPodEvictionPolicy");
        if !matches!(policy, "AlwaysAllow" | "IfHealthyBudget") {
            let path = SPEC.child("unhealthyPodEvictionPolicy");
            errors.not_supported(&path, policy, &["AlwaysAllow", "IfHealthyBudget"]);
        }
    }
}

/// A changed budget.
pub(super) fn update(new: &Value, _old: &Value, errors: &mut Errors) {
    create(new, errors);
}

/// The status of a budget.
pub(super) fn status(new: &Value, _old: &Value, errors: &mut Errors) {
    let status = at(new, "status");
    conditions::check(errors, &STATUS.child("conditions"), status);
    counts(errors, status, &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]);
}
