//! APIServices and RuntimeClasses, which are stored without effect. Pure.

use serde_json::Value;

use super::super::{
    common::{immutable, labels},
    errors::Errors,
    names,
    path::Path,
    read::{at, flag, int, items, part, text},
};

pub(super) fn api_service(service: &Value, errors: &mut Errors) {
    let (spec, path) = (at(service, "spec"), Path::root("spec"));
    let (group, version) = (text(spec, "group"), text(spec, "version"));
    let (name, required) = (text(at(service, "metadata"), "name"), format!("{version}.{group}"));
    if name != required && names::path_segment(name).is_empty() {
        let detail = format!("must be `spec.version+\".\"+spec.group`: {required:?}");
        errors.invalid(&Path::root("metadata").child("name"), name, &detail);
    }
    let field = path.child("group");
    match group {
        "" if version != "v1" => {
            errors.required(&field, "only v1 may have an empty group and it better be legacy kube");
        }
        "" => {}
        _ => errors.all_invalid(&field, group, &names::dns_subdomain(group)),
    }
    errors.all_invalid(&path.child("version"), version, &names::dns_1035_label(version));
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)] {
        let priority = int(spec, field).unwrap_or_default();
        if !(1..=most).contains(&priority) {
            errors.invalid(&path.child(field), priority, &format!("must be positive and less than {most}"));
        }
    }
    server(spec, &path, errors);
}

/// Where the API is served.
fn server(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (bundle, skips) = (text(spec, "caBundle"), flag(spec, "insecureSkipTLSVerify"));
    let skipping = path.child("insecureSkipTLSVerify");
    let Some(service) = part(spec, "service") else {
        if !bundle.is_empty() {
            let padding = bundle.bytes().rev().take_while(|byte| *byte == b'=').count();
            let shown = format!("{} bytes", bundle.len() / 4 * 3 - padding);
            errors.invalid(&path.child("caBundle"), &*shown, "local APIServices may not have a caBundle");
        }
        if skips {
            errors.invalid(&skipping, true, "local APIServices may not have insecureSkipTLSVerify");
        }
        return;
    };
    let path = path.child("service");
    for field in ["namespace", "name"] {
        if text(service, field).is_empty() {
            errors.required(&path.child(field), "");
        }
    }
    port(service, &path, errors);
    if skips && !bundle.is_empty() {
        errors.invalid(&skipping, true, "may not be true if caBundle is present");
    }
}

/// The port of a reference to a Service.
pub(super) fn port(service: &Value, path: &Path<'_>, errors: &mut Errors) {
    let port = int(service, "port").unwrap_or_default();
    let wrong = names::port_number(port);
    if !wrong.is_empty() {
        errors.invalid(&path.child("port"), port, &format!("port is not valid: {}", wrong.join(", ")));
    }
}

pub(super) fn changed_api_service(new: &Value, _old: &Value, errors: &mut Errors) {
    api_service(new, errors);
}

pub(super) fn api_service_status(new: &Value, _old: &Value, errors: &mut Errors) {
    let root = Path::root("status");
    let path = root.child("conditions");
    for (index, condition) in items(at(new, "status"), "conditions") {
        let status = text(condition, "status");
        if !matches!(status, "True" | "False" | "Unknown") {
            let known = ["True", "False", "Unknown"];
            errors.not_supported(&path.index(index).child("status"), status, &known);
        }
    }
}

pub(super) fn runtime_class(class: &Value, errors: &mut Errors) {
    let (handler, field) = (text(class, "handler"), Path::root("handler"));
    match handler {
        "" => errors.required(&field, ""),
        _ => errors.all_invalid(&field, handler, &names::dns_label(handler)),
    }
    let path = Path::root("scheduling");
    labels(errors, &path.child("nodeSelector"), at(at(class, "scheduling"), "nodeSelector"));
}

pub(super) fn changed_runtime_class(new: &Value, old: &Value, errors: &mut Errors) {
    runtime_class(new, errors);
    immutable(errors, &Path::root("handler"), at(new, "handler"), at(old, "handler"));
}
