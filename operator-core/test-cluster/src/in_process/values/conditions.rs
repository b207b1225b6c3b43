//! The conditions in a status, for the kinds that have the common form of them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    errors::Errors,
    names,
    path::Path,
    read::{at, int, items, text},
};

/// The conditions of a status.
pub(in crate::in_process) fn check(errors: &mut Errors, path: &Path<'_>, status: &Value) {
    let mut types = BTreeSet::new();
    for (index, condition) in items(status, "conditions") {
        let path = path.index(index);
        let of = text(condition, "type");
        if !types.insert(of) {
            errors.duplicate(&path.child("type"), of);
        }
        one(errors, &path, condition);
    }
}

fn one(errors: &mut Errors, path: &Path<'_>, condition: &Value) {
    let (of, status) = (text(condition, "type"), text(condition, "status"));
    errors.all_invalid(&path.child("type"), of, &names::qualified(of));
    if !matches!(status, "True" | "False" | "Unknown") {
        errors.not_supported(&path.child("status"), status, &["False", "True", "Unknown"]);
    }
    if let Some(generation) = int(condition, "observedGeneration").filter(|generation| *generation < 0) {
        let path = path.child("observedGeneration");
        errors.invalid(&path, generation, "must be greater than or equal to zero");
    }
    if at(condition, "lastTransitionTime").is_null() {
        errors.required(&path.child("lastTransitionTime"), "");
    }
    let (reason, place) = (text(condition, "reason"), path.child("reason"));
    if reason.is_empty() {
        errors.required(&place, "");
    } else if !is_reason(reason) {
        let rule = "a condition reason must start with alphabetic character, optionally followed by a string of \
                    alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
        let pattern = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
        let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
        errors.invalid(&place, reason, &names::mismatch(rule, pattern, &examples));
    }
    if reason.len() > 1024 {
        errors.too_long(&place, 1024);
    }
    if text(condition, "message").len() > 32 * 1024 {
        errors.too_long(&path.child("message"), 32 * 1024);
    }
}

fn is_reason(reason: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_,:".contains(&byte);
    reason.bytes().all(inner)
        && reason.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && !reason.ends_with([',', ':'])
}
