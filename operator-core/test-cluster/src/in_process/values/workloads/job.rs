//! Jobs.

use serde_json::{Value, json};

use super::{SPEC, job_policies, pod, usable};
use crate::in_process::values::{
    common::{Selector, domain_path, immutable, matches, not_negative, number},
    errors::{Errors, Verbatim},
    internal, names,
    path::Path,
    read::{at, flag, int, items, part, same, text},
};

/// A new Job.
pub(super) fn create(job: &Value, errors: &mut Errors) {
    check(job, true, errors);
}

/// A changed Job: its pods stay as they are, unless it is suspended.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Errors) {
    let labels = at(at(at(at(old, "spec"), "template"), "metadata"), "labels");
    let prefixed = ["batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"];
    check(new, prefixed.iter().all(|label| labels.get(label).is_some()), errors);
    let (spec, before) = (at(new, "spec"), at(old, "spec"));
    whole(errors, spec);
    completions(errors, spec, before);
    if !same(at(spec, "selector"), at(before, "selector")) {
        errors.invalid(&SPEC.child("selector"), Selector(at(spec, "selector")), "field is immutable");
    }
    template(errors, new, old);
    immutable(
        errors,
        &SPEC.child("completionMode"),
        at(spec, "completionMode"),
        at(before, "completionMode"),
    );
    for field in ["podFailurePolicy", "successPolicy"] {
        if field == "successPolicy" {
            for field in ["backoffLimitPerIndex", "managedBy"] {
                immutable(errors, &SPEC.child(field), at(spec, field), at(before, field));
            }
        }
        if !same(at(spec, field), at(before, field)) {
            let shown = job_policies::shown(field, at(spec, field));
            errors.invalid(&SPEC.child(field), Verbatim(shown), "field is immutable");
        }
    }
}

fn check(job: &Value, prefixed: bool, errors: &mut Errors) {
    let spec = at(job, "spec");
    generated(errors, job, prefixed);
    whole(errors, spec);
    let (name, completions) = (text(at(job, "metadata"), "name"), number(spec, "completions"));
    if text(spec, "completionMode") == "Indexed" && completions > 0 {
        let last = format!("{name}-{}", completions - 1);
        if !names::dns_label(&last).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {last}");
            errors.invalid(&Path::root("metadata").child("name"), name, &detail);
        }
    }
}

/// The labels by which the pods of a Job are found are made by the server, and nobody else sets other ones.
fn generated(errors: &mut Errors, job: &Value, prefixed: bool) {
    let (spec, metadata) = (at(job, "spec"), at(job, "metadata"));
    let Some(selector) = part(spec, "selector").filter(|_| !flag(spec, "manualSelector")) else { return };
    let (uid, name) = (text(metadata, "uid"), text(metadata, "name"));
    let labels = at(at(at(spec, "template"), "metadata"), "labels");
    let mut wanted = vec![("controller-uid", uid), ("job-name", name)];
    if prefixed {
        wanted.push(("batch.kubernetes.io/controller-uid", uid));
        wanted.push(("batch.kubernetes.io/job-name", name));
    }
    for (label, value) in &wanted {
        let spec = SPEC.child("template.metadata.labels");
        let (path, detail) = (spec.key(label), format!("must be '{value}'"));
        match labels.get(label).and_then(Value::as_str) {
            None => errors.required(&path, &detail),
            Some(found) if found != *value => errors.invalid(&path, labels, &detail),
            Some(_) => {}
        }
    }
    let wanted: Value = wanted.into_iter().map(|(label, value)| (label.to_owned(), json!(value))).collect();
    let mut other = Errors::default();
    if usable(&mut other, &SPEC, selector) && !matches(selector, &wanted) {
        errors.invalid(&SPEC.child("selector"), Selector(selector), "`selector` not auto-generated");
    }
}

fn whole(errors: &mut Errors, spec: &Value) {
    self::spec(errors, &SPEC, spec);
    let path = SPEC.child("selector");
    let usable = match part(spec, "selector") {
        None => {
            errors.required(&path, "");
            true
        }
        Some(selector) => usable(errors, &path, selector),
    };
    let labels = at(at(at(spec, "template"), "metadata"), "labels");
    let selected = part(spec, "selector").is_some_and(|selector| matches(selector, labels));
    if usable && !selected {
        let path = SPEC.child("template.metadata.labels");
        errors.invalid(&path, labels, "`selector` does not match template `labels`");
    }
}

/// What the Jobs of a CronJob have as well.
pub(super) fn spec(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        not_negative(errors, &path.child(field), at(spec, field));
    }
    let (per_index, max_failed) = (int(spec, "backoffLimitPerIndex"), int(spec, "maxFailedIndexes"));
    if max_failed.is_some() && per_index.is_none() {
        errors.required(&path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    if part(spec, "managedBy").is_some() {
        let manager = text(spec, "managedBy");
        domain_path(errors, &path.child("managedBy"), manager);
        if manager.len() > 63 {
            errors.too_long(&path.child("managedBy"), 63);
        }
    }
    let mode = part(spec, "completionMode").map(|_| text(spec, "completionMode"));
    if let Some(mode) = mode.filter(|mode| !matches!(*mode, "NonIndexed" | "Indexed")) {
        errors.not_supported(&path.child("completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    if mode == Some("Indexed") {
        indexed(errors, path, spec);
    }
    if mode.is_none_or(|mode| mode == "NonIndexed") {
        for (field, value) in [("backoffLimitPerIndex", per_index), ("maxFailedIndexes", max_failed)] {
            if let Some(value) = value {
                errors.invalid(&path.child(field), value, "requires indexed completion mode");
            }
        }
    }
    job_policies::check(errors, path, spec);
    let (place, template) = (path.child("template"), at(spec, "template"));
    pod::template::check(errors, &place, template);
    let restart = text(at(template, "spec"), "restartPolicy");
    let place = place.child("spec.restartPolicy");
    match restart {
        "Always" | "" => errors.required(&place, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if part(spec, "podFailurePolicy").is_some() => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.invalid(&place, restart, detail);
        }
        "OnFailure" | "Never" => {}
        other => errors.not_supported(&place, other, &["OnFailure", "Never"]),
    }
}

fn indexed(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    const MANY: i64 = 100_000;
    const PARALLEL: i64 = 10_000;
    let (completions, parallelism) = (int(spec, "completions"), int(spec, "parallelism"));
    let (per_index, max_failed) = (int(spec, "backoffLimitPerIndex"), int(spec, "maxFailedIndexes"));
    if completions.is_none() {
        errors.required(&path.child("completions"), "when completion mode is Indexed");
    }
    if let Some(parallelism) = parallelism.filter(|parallelism| *parallelism > MANY) {
        let detail = format!("must be less than or equal to {MANY} when completion mode is Indexed");
        errors.invalid(&path.child("parallelism"), parallelism, &detail);
    }
    let place = path.child("maxFailedIndexes");
    if let (Some(completions), Some(failed)) = (completions, max_failed)
        && failed > completions
    {
        errors.invalid(&place, failed, "must be less than or equal to completions");
    }
    if let Some(failed) = max_failed.filter(|failed| *failed > MANY) {
        errors.invalid(&place, failed, &format!("must be less than or equal to {MANY}"));
    }
    if completions.is_some_and(|completions| completions > MANY) && per_index.is_some() {
        if max_failed.is_none() {
            errors.required(&place, &format!("must be specified when completions is above {MANY}"));
        }
        let detail = format!(
            "must be less than or equal to {PARALLEL} when completions are above {MANY} and used with backoff limit per \
             index"
        );
        if let Some(parallelism) = parallelism.filter(|parallelism| *parallelism > PARALLEL) {
            errors.invalid(&path.child("parallelism"), parallelism, &detail);
        }
        if let Some(failed) = max_failed.filter(|failed| *failed > PARALLEL) {
            errors.invalid(&place, failed, &detail);
        }
    }
}

fn completions(errors: &mut Errors, spec: &Value, before: &Value) {
    let path = SPEC.child("completions");
    let (new, old) = (int(spec, "completions"), int(before, "completions"));
    if text(spec, "completionMode") != "Indexed" {
        immutable(errors, &path, at(spec, "completions"), at(before, "completions"));
    } else if let Some(new) = new.filter(|new| Some(*new) != old && *new != number(spec, "parallelism")) {
        errors.invalid(&path, new, "can only be modified in tandem with spec.parallelism");
    }
}

/// The template stays; of a suspended Job, where its pods run and what they use may change.
fn template(errors: &mut Errors, new: &Value, old: &Value) {
    let (spec, before, status) = (at(new, "spec"), at(old, "spec"), at(old, "status"));
    let template = at(spec, "template");
    let suspended = flag(before, "suspend");
    let is_suspended =
        |condition: &Value| text(condition, "type") == "Suspended" && text(condition, "status") == "True";
    let started = part(status, "startTime").is_some();
    let settled = !started || items(status, "conditions").any(|(_, condition)| is_suspended(condition));
    let free = suspended && settled && number(status, "active") == 0;
    let mut allowed = at(before, "template").clone();
    if free {
        allow_elsewhere(&mut allowed, template);
        allow_resources(&mut allowed, template);
        if !same(at(template, "spec"), at(&allowed, "spec")) {
            let shown = internal::pod_spec(at(template, "spec"));
            errors.invalid(&SPEC.child("template.spec"), Verbatim(shown), "field is immutable");
        }
    } else if !same(template, &allowed) {
        let shown = internal::pod_template(template);
        errors.invalid(&SPEC.child("template"), Verbatim(shown), "field is immutable");
    }
}

/// Takes over what says where pods run.
fn allow_elsewhere(allowed: &mut Value, template: &Value) {
    let given = at(template, "spec");
    if let Some(spec) = allowed.get_mut("spec").and_then(Value::as_object_mut) {
        for field in ["nodeSelector", "tolerations", "schedulingGates"] {
            match part(given, field) {
                Some(value) => spec.insert(field.to_owned(), value.clone()),
                None => spec.remove(field),
            };
        }
        let mut affinity = spec.get("affinity").cloned().unwrap_or_default();
        match (at(given, "affinity"), affinity.is_null()) {
            (Value::Null, true) => {}
            (Value::Null, false) => {
                affinity.as_object_mut().map(|affinity| affinity.remove("nodeAffinity"));
                if affinity.as_object().is_some_and(serde_json::Map::is_empty) {
                    affinity = Value::Null;
                }
            }
            (given, _) => {
                if affinity.is_null() {
                    affinity = json!({});
                }
                affinity["nodeAffinity"] = at(given, "nodeAffinity").clone();
            }
        }
        spec.insert("affinity".to_owned(), affinity);
    }
    if let Some(metadata) = allowed.get_mut("metadata") {
        for field in ["annotations", "labels"] {
            metadata[field] = at(at(template, "metadata"), field).clone();
        }
    }
}

/// Takes over what the containers of the same names use.
fn allow_resources(allowed: &mut Value, template: &Value) {
    for list in ["containers", "initContainers"] {
        let given = at(at(template, "spec"), list).as_array();
        let containers = allowed.get_mut("spec").and_then(|spec| spec.get_mut(list));
        let (Some(given), Some(containers)) = (given, containers.and_then(Value::as_array_mut)) else {
            continue;
        };
        if given.len() != containers.len() {
            continue;
        }
        for (container, given) in containers.iter_mut().zip(given) {
            if text(container, "name") == text(given, "name") {
                container["resources"] = at(given, "resources").clone();
            }
        }
    }
}
