//! Leases and Namespaces. Pure.

use serde_json::Value;

use super::super::{
    errors::Errors,
    metadata::known_finalizer,
    names,
    path::Path,
    read::{at, int, items, part, text},
};

pub(super) fn lease(lease: &Value, errors: &mut Errors) {
    let (spec, path) = (at(lease, "spec"), Path::root("spec"));
    if let Some(duration) = int(spec, "leaseDurationSeconds").filter(|duration| *duration <= 0) {
        errors.invalid(&path.child("leaseDurationSeconds"), duration, "must be greater than 0");
    }
    if let Some(transitions) = int(spec, "leaseTransitions").filter(|transitions| *transitions < 0) {
        errors.invalid(&path.child("leaseTransitions"), transitions, "must be greater than or equal to 0");
    }
    let strategy = text(spec, "strategy");
    if part(spec, "strategy").is_some() {
        let field = path.child("strategy");
        let path = field.child("strategy");
        if strategy.contains('/') {
            errors.all_invalid(&path, strategy, &names::qualified(strategy));
        } else if strategy != "OldestEmulationVersion" {
            errors.not_supported(&path, strategy, &["OldestEmulationVersion"]);
        }
    }
    if !text(spec, "preferredHolder").is_empty() && strategy.is_empty() {
        errors.forbidden(&path.child("preferredHolder"), "may only be specified if `strategy` is defined");
    }
}

pub(super) fn changed_lease(new: &Value, _old: &Value, errors: &mut Errors) {
    lease(new, errors);
}

pub(super) fn namespace(namespace: &Value, errors: &mut Errors) {
    let root = Path::root("spec");
    let path = root.child("finalizers");
    for (_, finalizer) in items(at(namespace, "spec"), "finalizers") {
        let finalizer = finalizer.as_str().unwrap_or_default();
        errors.all_invalid(&path, finalizer, &names::qualified(finalizer));
        known_finalizer(finalizer, &path, errors);
    }
}

pub(super) fn namespace_status(new: &Value, _old: &Value, errors: &mut Errors) {
    let root = Path::root("status");
    let (path, phase) = (root.child("Phase"), text(at(new, "status"), "phase"));
    let deleted = part(at(new, "metadata"), "deletionTimestamp").is_some();
    match (deleted, phase) {
        (false, "Active") | (true, "Terminating") => {}
        (false, _) => errors.invalid(&path, phase, "may only be 'Active' if `deletionTimestamp` is empty"),
        (true, _) => {
            errors.invalid(&path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
        }
    }
}
