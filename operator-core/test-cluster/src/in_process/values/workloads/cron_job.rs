//! CronJobs.

use serde_json::Value;

use super::{SPEC, job, schedule};
use crate::in_process::values::{
    common::{Selector, not_negative},
    errors::Errors,
    path::Path,
    read::{at, flag, part, text},
};

/// A new CronJob.
pub(super) fn create(job: &Value, errors: &mut Errors) {
    check(at(job, "spec"), None, errors);
    // Its Jobs have its name and a number of ten digits.
    let name = text(at(job, "metadata"), "name");
    if name.len() > 52 {
        let path = Path::root("metadata");
        errors.invalid(&path.child("name"), name, "must be no more than 52 characters");
    }
}

/// A changed CronJob.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Errors) {
    check(at(new, "spec"), Some(at(old, "spec")), errors);
}

fn check(spec: &Value, before: Option<&Value>, errors: &mut Errors) {
    let (path, given) = (SPEC.child("schedule"), text(spec, "schedule"));
    let zone = part(spec, "timeZone").and_then(Value::as_str);
    if given.is_empty() {
        errors.required(&path, "");
    } else {
        if let Err(why) = schedule::parse(given) {
            errors.invalid(&path, given, &why);
        }
        let had_zone = before.is_some_and(|before| text(before, "schedule").contains("TZ"));
        match (given.contains("TZ"), had_zone) {
            (true, true) if zone.is_some() => {
                errors.invalid(&path, given, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
            }
            (true, false) => {
                let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
                errors.invalid(&path, given, detail);
            }
            _ => {}
        }
    }
    not_negative(errors, &SPEC.child("startingDeadlineSeconds"), at(spec, "startingDeadlineSeconds"));
    let known = before.map(|before| part(before, "timeZone").and_then(Value::as_str));
    if let Some(zone) = zone.filter(|_| known != Some(zone)) {
        time_zone(errors, zone);
    }
    match text(spec, "concurrencyPolicy") {
        "Allow" | "Forbid" | "Replace" => {}
        other => {
            let path = SPEC.child("concurrencyPolicy");
            errors.not_supported(&path, other, &["Allow", "Forbid", "Replace"]);
        }
    }
    let template = at(at(spec, "jobTemplate"), "spec");
    let path = SPEC.child("jobTemplate.spec");
    job::spec(errors, &path, template);
    if let Some(selector) = part(template, "selector") {
        errors.invalid(&path.child("selector"), Selector(selector), "`selector` will be auto-generated");
    }
    if flag(template, "manualSelector") {
        errors.not_supported(&path.child("manualSelector"), true, &["nil", "false"]);
    }
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        not_negative(errors, &SPEC.child(field), at(spec, field));
    }
}

fn time_zone(errors: &mut Errors, zone: &str) {
    let path = SPEC.child("timeZone");
    if zone.is_empty() {
        return errors.invalid(&path, zone, "timeZone must be nil or non-empty string");
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    let wrong = |part: &str| {
        matches!(part, "" | "." | "..")
            || part.starts_with('-')
            || part.len() > 14
            || !part.bytes().all(inner)
    };
    if zone.split('/').any(wrong) {
        return errors.invalid(&path, zone, &format!("unknown time zone {zone}"));
    }
    if zone.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.invalid(&path, zone, detail);
    }
    if !schedule::is_zone(zone) {
        errors.invalid(&path, zone, &format!("unknown time zone {zone}"));
    }
}
