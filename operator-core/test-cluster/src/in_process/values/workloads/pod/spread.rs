//! How the pods that are alike are spread over nodes.

use serde_json::Value;

use super::affinity;
use crate::in_process::values::{
    common::{number, selector},
    errors::Errors,
    path::Path,
    read::{at, int, items, part, text},
};

/// The rules of a pod.
pub(super) fn check(errors: &mut Errors, list: &Path<'_>, spec: &Value) {
    let all: Vec<&Value> = items(spec, "topologySpreadConstraints").map(|(_, rule)| rule).collect();
    for (index, rule) in all.iter().enumerate() {
        let path = list.index(index);
        let (skew, key) = (number(rule, "maxSkew"), text(rule, "topologyKey"));
        let otherwise = text(rule, "whenUnsatisfiable");
        if skew <= 0 {
            errors.invalid(&path.child("maxSkew"), skew, "must be greater than zero");
        }
        if key.is_empty() {
            errors.required(&path.child("topologyKey"), "can not be empty");
        }
        if !matches!(otherwise, "DoNotSchedule" | "ScheduleAnyway") {
            let known = ["DoNotSchedule", "ScheduleAnyway"];
            errors.not_supported(&path.child("whenUnsatisfiable"), otherwise, &known);
        }
        let same = |other: &&Value| {
            text(other, "topologyKey") == key && text(other, "whenUnsatisfiable") == otherwise
        };
        if all.iter().skip(index + 1).any(same) {
            let path = path.child("{topologyKey, whenUnsatisfiable}");
            errors.duplicate(&path, &format!("{{{key}, {otherwise}}}"));
        }
        if let Some(domains) = int(rule, "minDomains") {
            let path = path.child("minDomains");
            if domains <= 0 {
                errors.invalid(&path, domains, "must be greater than zero");
            }
            if otherwise != "DoNotSchedule" {
                let detail =
                    format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {otherwise}");
                errors.invalid(&path, domains, &detail);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policy = text(rule, field);
            if part(rule, field).is_some() && !matches!(policy, "Ignore" | "Honor") {
                errors.not_supported(&path.child(field), policy, &["Honor", "Ignore"]);
            }
        }
        affinity::label_keys(errors, &path, rule);
        selector(errors, &path.child("labelSelector"), at(rule, "labelSelector"));
    }
}
