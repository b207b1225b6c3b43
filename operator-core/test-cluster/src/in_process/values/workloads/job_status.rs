//! The status of Jobs: a Job that has ended stays so. What was wrong before and stays as it is isn't held against a change.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{STATUS, indexes, status::counts};
use crate::in_process::values::{
    common::number,
    errors::{Errors, Verbatim, json},
    read::{at, count, flag, int, items, part, same, text},
};

const NO_TIME: Value = Value::Null;

/// The status of a Job.
pub(super) fn check(new: &Value, old: &Value, errors: &mut Errors) {
    let (spec, status, before) = (at(new, "spec"), at(new, "status"), at(old, "status"));
    counts(errors, status, &["active", "succeeded", "failed", "ready", "terminating"]);
    uncounted(errors, status);
    ends(errors, spec, status, before);
    index_lists(errors, spec, status, before);
    let (ready, terminating) = (int(status, "ready"), int(status, "terminating"));
    let changed = |field: &str| !same(at(status, field), at(before, field));
    let finished = is(status, "Complete") || is(status, "Failed");
    let was_finished = is(before, "Complete") || is(before, "Failed");
    if (finished != was_finished || changed("terminating"))
        && let Some(terminating) = terminating.filter(|terminating| *terminating > 0 && finished)
    {
        let path = STATUS.child("terminating");
        errors.invalid(&path, terminating, "terminating>0 is invalid for finished job");
    }
    if (changed("ready") || changed("active"))
        && let Some(ready) = ready.filter(|ready| *ready > number(status, "active"))
    {
        errors.invalid(&STATUS.child("ready"), ready, "cannot set more ready pods than active");
    }
    success(errors, spec, status);
    kept(errors, spec, status, before);
}

/// Whether a condition is true.
fn is(status: &Value, of: &str) -> bool {
    items(status, "conditions")
        .any(|(_, condition)| text(condition, "type") == of && text(condition, "status") == "True")
}

fn uncounted(errors: &mut Errors, status: &Value) {
    let pods = at(status, "uncountedTerminatedPods");
    let path = STATUS.child("uncountedTerminatedPods");
    let mut seen = BTreeSet::new();
    for list in ["succeeded", "failed"] {
        for (index, uid) in items(pods, list) {
            let (list, uid) = (path.child(list), uid.as_str().unwrap_or_default());
            let path = list.index(index);
            if uid.is_empty() {
                errors.invalid(&path, uid, "must not be empty");
            } else if !seen.insert(uid) {
                errors.duplicate(&path, uid);
            }
        }
    }
}

/// What must be so at the end of a Job.
fn ends(errors: &mut Errors, spec: &Value, status: &Value, before: &Value) {
    let changed = |field: &str| !same(at(status, field), at(before, field));
    let flipped = |of: &str| is(status, of) != is(before, of);
    let (complete, failed) = (is(status, "Complete"), is(status, "Failed"));
    let finished = complete || failed;
    let end = finished != (is(before, "Complete") || is(before, "Failed"));
    let conditions = STATUS.child("conditions");
    let wrong = |errors: &mut Errors, asked: bool, wrong: bool, detail: &str| {
        if asked && wrong {
            errors.invalid_unshown(&conditions, detail);
        }
    };
    let asked = flipped("Complete") || flipped("Failed");
    wrong(errors, asked, complete && failed, "cannot set Complete=True and Failed=true conditions");
    let asked = flipped("Complete") || flipped("FailureTarget");
    let both = complete && is(status, "FailureTarget");
    wrong(errors, asked, both, "cannot set Complete=True and FailureTarget=true conditions");
    let (start, completion) = (part(status, "startTime"), part(status, "completionTime"));
    let place = STATUS.child("completionTime");
    if flipped("Complete") || changed("completionTime") {
        if let Some(time) = completion.filter(|_| !complete) {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            errors.invalid(&place, Verbatim(json(time, &[])), detail);
        }
        if completion.is_none() && complete {
            errors.required(&place, "completionTime is required for Complete jobs");
        }
    }
    if (changed("startTime") || changed("completionTime"))
        && let (Some(start), Some(completion)) = (start, completion)
        && completion.as_str() < start.as_str()
    {
        errors.invalid(&place, Verbatim(json(completion, &[])), "must be equal to or after `startTime`");
    }
    let asked = flipped("Failed") || changed("failedIndexes");
    let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
    wrong(errors, asked, failed && !is(status, "FailureTarget"), detail);
    let asked = flipped("Complete") || flipped("SuccessCriteriaMet");
    let detail = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
    wrong(errors, asked, complete && !is(status, "SuccessCriteriaMet"), detail);
    let active = number(status, "active");
    if (end || changed("active")) && active > 0 && finished {
        errors.invalid(&STATUS.child("active"), active, "active>0 is invalid for finished job");
    }
    let empty = flag(spec, "suspend") && int(spec, "completions") == Some(0);
    if (end || changed("startTime")) && !empty && start.is_none() && finished {
        errors.required(&STATUS.child("startTime"), "startTime is required for finished job");
    }
    let pods = at(status, "uncountedTerminatedPods");
    if (end || changed("uncountedTerminatedPods"))
        && finished
        && count(pods, "failed") + count(pods, "succeeded") > 0
    {
        let list = |field: &str| json(at(pods, field), &[]);
        let shown = format!("{{\"Succeeded\":{},\"Failed\":{}}}", list("succeeded"), list("failed"));
        let path = STATUS.child("uncountedTerminatedPods");
        errors.invalid(&path, Verbatim(shown), "must be empty for finished job");
    }
}

fn index_lists(errors: &mut Errors, spec: &Value, status: &Value, before: &Value) {
    let changed = |field: &str| !same(at(status, field), at(before, field));
    let (of_completed, of_failed) = (changed("completedIndexes"), changed("failedIndexes"));
    let (completed, failed) = (text(status, "completedIndexes"), text(status, "failedIndexes"));
    let has_failed = part(status, "failedIndexes").is_some();
    let (completions, per_index) = (int(spec, "completions"), int(spec, "backoffLimitPerIndex"));
    let (place, failed_place) = (STATUS.child("completedIndexes"), STATUS.child("failedIndexes"));
    if let (true, Some(completions)) = (of_completed, completions)
        && let Err(why) = indexes::count(completed, completions)
    {
        errors.invalid(&place, completed, &format!("error parsing completedIndexes: {why}"));
    }
    if let (true, Some(completions)) = (of_failed && per_index.is_some() && has_failed, completions)
        && let Err(why) = indexes::count(failed, completions)
    {
        errors.invalid(&failed_place, failed, &format!("error parsing failedIndexes: {why}"));
    }
    if of_completed && !completed.is_empty() && text(spec, "completionMode") != "Indexed" {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.invalid(&place, completed, detail);
    }
    if of_failed && per_index.is_none() && has_failed {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.invalid(&failed_place, failed, detail);
    }
    if let (true, Some(completions)) = ((of_failed || of_completed) && has_failed, completions)
        && let Some(index) = indexes::overlap(completed, failed, completions)
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.invalid(&failed_place, failed, &detail);
    }
}

fn success(errors: &mut Errors, spec: &Value, status: &Value) {
    let conditions = STATUS.child("conditions");
    let met = is(status, "SuccessCriteriaMet");
    if met && is(status, "Failed") {
        errors.invalid_unshown(&conditions, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if met && is(status, "FailureTarget") {
        let detail = "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions";
        errors.invalid_unshown(&conditions, detail);
    }
    if part(spec, "successPolicy").is_some() && !met && is(status, "Complete") {
        let detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        errors.invalid_unshown(&conditions, detail);
    }
}

/// What doesn't go back.
fn kept(errors: &mut Errors, spec: &Value, status: &Value, before: &Value) {
    let conditions = STATUS.child("conditions");
    for of in ["Failed", "Complete", "FailureTarget"] {
        if is(before, of) && !is(status, of) {
            let detail = format!("cannot disable the terminal {of}=True condition");
            errors.invalid_unshown(&conditions, &detail);
        }
    }
    let indexed = text(spec, "completionMode") == "Indexed";
    let scales = indexed && same(at(spec, "completions"), at(spec, "parallelism"));
    for (field, may_fall) in [("failed", false), ("succeeded", scales)] {
        let count = number(status, field);
        if count < number(before, field) && !may_fall {
            let detail = format!("cannot decrease the {field} counter");
            errors.invalid(&STATUS.child(field), count, &detail);
        }
    }
    let times = |field: &str| (part(status, field), part(before, field));
    if let (Some(new), Some(old)) = times("completionTime")
        && new != old
    {
        let path = STATUS.child("completionTime");
        errors.invalid(&path, Verbatim(json(new, &[])), "field is immutable");
    }
    let resumes = is(before, "Suspended")
        && items(status, "conditions").any(|(_, condition)| {
            text(condition, "type") == "Suspended" && text(condition, "status") == "False"
        });
    if let (new, Some(old)) = times("startTime")
        && new != Some(old)
        && !resumes
        && !flag(spec, "suspend")
    {
        let shown = json(new.unwrap_or(&NO_TIME), &[]);
        let detail = "field is immutable for unsuspended job once set";
        errors.invalid(&STATUS.child("startTime"), Verbatim(shown), detail);
    }
    let (met, was_met) = (is(status, "SuccessCriteriaMet"), is(before, "SuccessCriteriaMet"));
    if was_met && !met {
        errors.invalid_unshown(&conditions, "cannot disable the SuccessCriteriaMet=True condition");
    }
    if is(before, "Complete") && !was_met && met {
        let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.invalid_unshown(&conditions, detail);
    }
}
