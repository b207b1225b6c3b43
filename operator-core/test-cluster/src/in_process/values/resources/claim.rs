//! PersistentVolumeClaims: of a claim little may change. Pure.

use serde_json::{Value, json};

use super::super::{
    claim::spec,
    common::immutable,
    errors::Errors,
    names,
    path::Path,
    quantity,
    read::{at, count, entries, part, same, text},
};
use crate::in_process::kinds::storage::CLASS;

const SPEC: Path<'static> = Path::root("spec");

pub(super) fn claim(claim: &Value, errors: &mut Errors) {
    spec(errors, &SPEC, at(claim, "spec"));
}

fn size(of: &Value, field: &str) -> i128 {
    at(at(of, field), "storage").as_str().map_or(0, quantity::amount)
}

pub(super) fn changed(new: &Value, old: &Value, errors: &mut Errors) {
    claim(new, errors);
    let annotated = |claim| text(at(at(claim, "metadata"), "annotations"), CLASS);
    if annotated(new) != annotated(old) {
        let root = Path::root("metadata");
        let root = root.child("annotations");
        errors.invalid(&root.key(CLASS), annotated(new), "field is immutable");
    }
    let (spec, before) = (at(new, "spec"), at(old, "spec"));
    let bound = text(at(new, "status"), "phase") == "Bound";
    if !same(&comparable(spec, before, bound), before) {
        let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
                      claims\n";
        errors.forbidden(&SPEC, detail);
    }
    let (wanted, had) = (size(at(spec, "resources"), "requests"), size(at(before, "resources"), "requests"));
    if wanted < had && wanted <= size(at(old, "status"), "capacity") {
        let path = SPEC.child("resources.requests.storage");
        errors.forbidden(&path, "field can not be less than status.capacity");
    }
    immutable(errors, &Path::root("volumeMode"), at(spec, "volumeMode"), at(before, "volumeMode"));
    let (class, current) =
        (at(spec, "volumeAttributesClassName"), part(at(old, "status"), "currentVolumeAttributesClassName"));
    if current.is_some() && *class != before["volumeAttributesClassName"] {
        let what = match class.as_str() {
            None => "nil",
            Some("") => "empty string",
            Some(_) => return,
        };
        let detail =
            format!("update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil");
        errors.forbidden(&SPEC.child("volumeAttributesClassName"), &detail);
    }
}

/// The new values with what may change as it was before.
fn comparable(spec: &Value, before: &Value, bound: bool) -> Value {
    let mut spec = spec.clone();
    let mut keep = |field: &str| spec[field] = at(before, field).clone();
    if text(before, "volumeName").is_empty() {
        keep("volumeName");
    }
    if part(before, "storageClassName").is_none() {
        keep("storageClassName");
    }
    if bound {
        keep("volumeAttributesClassName");
        if at(&spec, "resources").get("requests").is_some_and(Value::is_object) {
            spec["resources"]["requests"]["storage"] = before["resources"]["requests"]["storage"].clone();
        }
    }
    spec
}

pub(super) fn status(new: &Value, _old: &Value, errors: &mut Errors) {
    if count(at(new, "spec"), "accessModes") == 0 {
        errors.required(&Path::root("Spec.accessModes"), "");
    }
    let (status, root) = (at(new, "status"), Path::root("status"));
    let basic = |errors: &mut Errors, path: &Path<'_>, amount: &Value| {
        let amount = quantity::amount(amount.as_str().unwrap_or_default());
        // Whole numbers are shown, rounded up.
        let whole = amount.div_euclid(1_000_000_000) + i128::from(amount.rem_euclid(1_000_000_000) > 0);
        if whole < 0 {
            let whole = i64::try_from(whole).unwrap_or(i64::MIN);
            errors.invalid(path, whole, "must be a valid resource quantity");
        }
        whole >= 0
    };
    for (name, amount) in entries(status, "capacity") {
        basic(errors, &root.child("capacity").key(name), amount);
    }
    let path = root.child("allocatedResourceStatuses");
    const STATUSES: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    for (name, state) in entries(status, "allocatedResourceStatuses") {
        storage_name(name, &path, errors);
        if !STATUSES.iter().any(|known| *state == json!(known)) {
            let mut known = STATUSES;
            known.sort_unstable();
            errors.not_supported(&path, name, &known);
        }
    }
    let path = root.child("allocatedResources");
    for (name, amount) in entries(status, "allocatedResources") {
        let place = path.key(name);
        if storage_name(name, &path, errors) && basic(errors, &place, amount) {
            quantity::of(errors, &place, "storage", amount.as_str().unwrap_or_default());
        }
    }
}

/// The name of what a volume has: of Kubernetes' own resources only storage.
fn storage_name(name: &str, path: &Path<'_>, errors: &mut Errors) -> bool {
    let wrong = names::qualified(name);
    errors.all_invalid(path, name, &wrong);
    if !wrong.is_empty() {
        return false;
    }
    let native = !name.contains('/') || name.contains("kubernetes.io/");
    if native && name != "storage" {
        errors.not_supported(path, name, &["storage"]);
        return false;
    }
    true
}
