//! Events, in both of their forms. Pure.

use serde_json::Value;

use super::super::{
    common::immutable,
    errors::{Errors, Verbatim, quoted},
    names,
    path::Path,
    read::{at, int, part, same, text},
};

/// What a form calls the same field.
struct Form {
    about: &'static str,
    message: &'static str,
    controller: &'static str,
    shown_controller: &'static str,
}

const CORE: Form = Form {
    about: "involvedObject",
    message: "message",
    controller: "reportingComponent",
    shown_controller: "reportingComponent",
};
const NEW: Form = Form {
    about: "regarding",
    message: "note",
    controller: "reportingController",
    shown_controller: "reportingController",
};

pub(super) fn core(event: &Value, errors: &mut Errors) {
    values(event, &CORE, errors);
}

pub(super) fn changed_core(new: &Value, _old: &Value, errors: &mut Errors) {
    core(new, errors);
}

fn values(event: &Value, form: &Form, errors: &mut Errors) {
    let about = Path::root("involvedObject");
    let (own, namespace) =
        (text(at(event, "metadata"), "namespace"), text(at(event, form.about), "namespace"));
    let differs = match (part(event, "eventTime"), namespace) {
        (None, "") => !matches!(own, "" | "default"),
        (None, namespace) => own != namespace,
        (Some(_), "") => !matches!(own, "default" | "kube-system"),
        (Some(_), _) => false,
    };
    if differs {
        errors.invalid(&about.child("namespace"), namespace, "does not match event.namespace");
    }
    if part(event, "eventTime").is_none() {
        return;
    }
    let (path, controller) = (Path::root(form.shown_controller), text(event, form.controller));
    if controller.is_empty() {
        errors.required(&path, "");
    }
    errors.all_invalid(&path, controller, &names::qualified(controller));
    for field in ["reportingInstance", "action", "reason"] {
        let (path, value) = (Path::root(field), text(event, field));
        if value.is_empty() {
            errors.required(&path, "");
        }
        if value.len() > 128 {
            errors.invalid(&path, "", "can have at most 128 characters");
        }
    }
    if text(event, form.message).len() > 1024 {
        errors.invalid(&Path::root("message"), "", "can have at most 1024 characters");
    }
}

pub(super) fn new(event: &Value, errors: &mut Errors) {
    values(event, &NEW, errors);
    series(event, errors);
    if part(event, "eventTime").is_none() {
        errors.required(&Path::root("eventTime"), "");
    }
    let kind = text(event, "type");
    if !matches!(kind, "Normal" | "Warning") {
        errors.invalid(&Path::root("type"), "", &format!("has invalid value: {kind}"));
    }
    let source = at(event, "deprecatedSource");
    let old = [
        ("firstTimestamp", part(event, "deprecatedFirstTimestamp").is_some()),
        ("lastTimestamp", part(event, "deprecatedLastTimestamp").is_some()),
        ("count", int(event, "deprecatedCount").is_some_and(|count| count != 0)),
        ("source", !text(source, "component").is_empty() || !text(source, "host").is_empty()),
    ];
    for (field, _) in old.into_iter().filter(|(_, is_set)| *is_set) {
        errors.invalid(&Path::root(field), "", "needs to be unset");
    }
}

fn series(event: &Value, errors: &mut Errors) {
    let Some(series) = part(event, "series") else { return };
    if int(series, "count").unwrap_or_default() < 2 {
        errors.invalid(&Path::root("series.count"), "", "should be at least 2");
    }
    if part(series, "lastObservedTime").is_none() {
        errors.required(&Path::root("series.lastObservedTime"), "");
    }
}

pub(super) fn changed(new: &Value, old: &Value, errors: &mut Errors) {
    values(new, &NEW, errors);
    if !same(at(new, "series"), at(old, "series")) {
        series(new, errors);
    }
    let mut object = |shown: &str, field: &str, nothing: &str| {
        let value = at(new, field);
        if !same(value, at(old, field)) {
            let text = if value.is_null() { nothing.to_owned() } else { reference(value) };
            errors.invalid(&Path::root(shown), Verbatim(text), "field is immutable");
        }
    };
    object("involvedObject", "regarding", &reference(&Value::Null));
    object("related", "related", "null");
    let source = at(new, "deprecatedSource");
    if !same(source, at(old, "deprecatedSource")) {
        let (component, host) = (quoted(text(source, "component")), quoted(text(source, "host")));
        let shown = format!("{{\"Component\":{component},\"Host\":{host}}}");
        errors.invalid(&Path::root("source"), Verbatim(shown), "field is immutable");
    }
    // The reason is compared twice.
    let texts = [
        ("reason", "reason"),
        ("message", "note"),
        ("reason", "reason"),
        ("type", "type"),
        ("action", "action"),
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ];
    for (shown, field) in texts.into_iter().filter(|(_, field)| text(new, field) != text(old, field)) {
        errors.invalid(&Path::root(shown), text(new, field), "field is immutable");
    }
    let count = |event| int(event, "deprecatedCount").unwrap_or_default();
    if count(new) != count(old) {
        errors.invalid(&Path::root("count"), count(new), "field is immutable");
    }
    for (shown, field) in [
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("eventTime", "eventTime"),
    ] {
        immutable(errors, &Path::root(shown), at(new, field), at(old, field));
    }
}

/// A reference as Go has it in memory.
fn reference(value: &Value) -> String {
    let names = [
        ("Kind", "kind"),
        ("Namespace", "namespace"),
        ("Name", "name"),
        ("UID", "uid"),
        ("APIVersion", "apiVersion"),
        ("ResourceVersion", "resourceVersion"),
        ("FieldPath", "fieldPath"),
    ];
    let fields: Vec<_> =
        names.iter().map(|(shown, field)| format!("\"{shown}\":{}", quoted(text(value, field)))).collect();
    format!("{{{}}}", fields.join(","))
}
