//! When a Job has failed, and when it has succeeded.

use std::collections::BTreeSet;

use serde_json::Value;

use super::indexes;
use crate::in_process::values::{
    common::not_negative,
    errors::{Errors, Verbatim, json, quoted},
    names,
    path::Path,
    read::{at, count, int, items, part, text},
};

/// The policies of a Job for its pods.
pub(super) fn check(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let failure = part(spec, "podFailurePolicy");
    if let Some(policy) = failure {
        let path = path.child("podFailurePolicy.rules");
        let rules = count(policy, "rules");
        if rules > 20 {
            errors.too_many(&path, rules, 20);
        }
        for (index, rule) in items(policy, "rules") {
            failure_rule(errors, &path.index(index), spec, rule);
        }
    }
    if let Some(policy) = part(spec, "successPolicy") {
        let path = path.child("successPolicy");
        if text(spec, "completionMode") == "Indexed" {
            success(errors, &path.child("rules"), spec, policy);
        } else {
            let detail = "requires indexed completion mode";
            errors.invalid(&path, Verbatim(shown("successPolicy", policy)), detail);
        }
    }
    if part(spec, "podReplacementPolicy").is_some() {
        let (path, policy) = (path.child("podReplacementPolicy"), text(spec, "podReplacementPolicy"));
        if failure.is_some() {
            if policy != "Failed" {
                errors.not_supported(&path, policy, &["Failed"]);
            }
        } else if !matches!(policy, "Failed" | "TerminatingOrFailed") {
            errors.not_supported(&path, policy, &["Failed", "TerminatingOrFailed"]);
        }
    }
}

/// A list of texts as Go shows it: `["a" "b"]`.
fn listed(known: &[&str]) -> String {
    format!("valid values: [{}]", known.iter().map(|known| quoted(known)).collect::<Vec<_>>().join(" "))
}

fn failure_rule(errors: &mut Errors, path: &Path<'_>, spec: &Value, rule: &Value) {
    const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
    let place = path.child("action");
    match text(rule, "action") {
        "" => errors.required(&place, &listed(&ACTIONS)),
        "FailIndex" if int(spec, "backoffLimitPerIndex").is_none() => {
            errors.invalid(&place, "FailIndex", "requires the backoffLimitPerIndex to be set");
        }
        action if !ACTIONS.contains(&action) => errors.not_supported(&place, action, &ACTIONS),
        _ => {}
    }
    let (codes, conditions) = (part(rule, "onExitCodes"), count(rule, "onPodConditions"));
    if let Some(codes) = codes {
        exit_codes(errors, &path.child("onExitCodes"), spec, codes);
    }
    if conditions > 20 {
        errors.too_many(&path.child("onPodConditions"), conditions, 20);
    }
    for (index, pattern) in items(rule, "onPodConditions") {
        const STATES: [&str; 3] = ["False", "True", "Unknown"];
        let list = path.child("onPodConditions");
        let path = list.index(index);
        let (of, status) = (text(pattern, "type"), text(pattern, "status"));
        errors.all_invalid(&path.child("type"), of, &names::qualified(of));
        match status {
            "" => errors.required(&path.child("status"), &listed(&STATES)),
            status if !STATES.contains(&status) => {
                errors.not_supported(&path.child("status"), status, &STATES);
            }
            _ => {}
        }
    }
    match (codes.is_some(), conditions > 0) {
        (true, true) => {
            errors.invalid_unshown(path, "specifying both OnExitCodes and OnPodConditions is not supported");
        }
        (false, false) => {
            errors.invalid_unshown(path, "specifying one of OnExitCodes and OnPodConditions is required");
        }
        _ => {}
    }
}

fn exit_codes(errors: &mut Errors, path: &Path<'_>, spec: &Value, codes: &Value) {
    const OPERATORS: [&str; 2] = ["In", "NotIn"];
    let operator = text(codes, "operator");
    match operator {
        "" => errors.required(&path.child("operator"), &listed(&OPERATORS)),
        operator if !OPERATORS.contains(&operator) => {
            errors.not_supported(&path.child("operator"), operator, &OPERATORS);
        }
        _ => {}
    }
    if part(codes, "containerName").is_some() {
        let (name, pods) = (text(codes, "containerName"), at(at(spec, "template"), "spec"));
        let mut all = items(pods, "containers").chain(items(pods, "initContainers"));
        if !all.any(|(_, container)| text(container, "name") == name) {
            let detail = "must be one of the container or initContainer names in the pod template";
            errors.invalid(&path.child("containerName"), name, detail);
        }
    }
    let (place, values) = (path.child("values"), at(codes, "values"));
    match count(codes, "values") {
        0 => errors.invalid(&place, values, "at least one value is required"),
        many if many > 255 => errors.too_many(&place, many, 255),
        _ => {}
    }
    let (mut seen, mut last, mut ordered) = (BTreeSet::new(), None, true);
    for (index, value) in items(codes, "values") {
        let (path, value) = (place.index(index), value.as_i64().unwrap_or_default());
        if operator == "In" && value == 0 {
            errors.invalid(&path, value, "must not be 0 for the In operator");
        }
        if !seen.insert(value) {
            errors.duplicate(&path, value);
        }
        ordered &= last.is_none_or(|last| last <= value);
        last = Some(value);
    }
    if !ordered {
        errors.invalid(&place, values, "must be ordered");
    }
}

fn success(errors: &mut Errors, path: &Path<'_>, spec: &Value, policy: &Value) {
    let rules = count(policy, "rules");
    if rules == 0 {
        errors.required(path, "at least one rules must be specified when the successPolicy is specified");
    }
    if rules > 20 {
        errors.too_many(path, rules, 20);
    }
    let completions = int(spec, "completions").unwrap_or_default();
    for (index, rule) in items(policy, "rules") {
        let path = path.index(index);
        let (indexes, count) = (part(rule, "succeededIndexes"), int(rule, "succeededCount"));
        if indexes.is_none() && count.is_none() {
            errors.required(&path, "at least one of succeededCount or succeededIndexes must be specified");
        }
        let mut total = 0;
        if indexes.is_some() {
            let (place, indexes) = (path.child("succeededIndexes"), text(rule, "succeededIndexes"));
            if indexes.len() > 64 * 1024 {
                errors.too_long(&place, 64 * 1024);
            }
            match indexes::count(indexes, completions) {
                Ok(count) => total = count,
                Err(why) => {
                    errors.invalid(&place, indexes, &format!("error parsing succeededIndexes: {why}"));
                }
            }
        }
        if let Some(count) = count {
            let place = path.child("succeededCount");
            not_negative(errors, &place, at(rule, "succeededCount"));
            if count > completions {
                let detail = format!(
                    "must be less than or equal to {completions} (the number of specified completions)"
                );
                errors.invalid(&place, count, &detail);
            }
            if indexes.is_some() && count > total {
                let detail = format!(
                    "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes \
                     field)"
                );
                errors.invalid(&place, count, &detail);
            }
        }
    }
}

/// A policy as the server has it in memory.
pub(super) fn shown(field: &str, policy: &Value) -> String {
    if policy.is_null() {
        return "null".to_owned();
    }
    let rules = items(policy, "rules").map(|(_, rule)| match field {
        "successPolicy" => format!(
            "{{\"SucceededIndexes\":{},\"SucceededCount\":{}}}",
            json(at(rule, "succeededIndexes"), &[]),
            json(at(rule, "succeededCount"), &[])
        ),
        _ => {
            let codes = part(rule, "onExitCodes").map_or("null".to_owned(), |codes| {
                format!(
                    "{{\"ContainerName\":{},\"Operator\":{},\"Values\":{}}}",
                    json(at(codes, "containerName"), &[]),
                    json(at(codes, "operator"), &[]),
                    json(at(codes, "values"), &[])
                )
            });
            let conditions = match count(rule, "onPodConditions") {
                0 => "null".to_owned(),
                _ => {
                    let patterns = items(rule, "onPodConditions").map(|(_, pattern)| {
                        format!(
                            "{{\"Type\":{},\"Status\":{}}}",
                            json(at(pattern, "type"), &[]),
                            json(at(pattern, "status"), &[])
                        )
                    });
                    format!("[{}]", patterns.collect::<Vec<_>>().join(","))
                }
            };
            format!(
                "{{\"Action\":{},\"OnExitCodes\":{codes},\"OnPodConditions\":{conditions}}}",
                json(at(rule, "action"), &[])
            )
        }
    });
    let rules: Vec<String> = rules.collect();
    if rules.is_empty() {
        "{\"Rules\":null}".to_owned()
    } else {
        format!("{{\"Rules\":[{}]}}", rules.join(","))
    }
}
