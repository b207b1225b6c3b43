//! Claims of storage, by themselves or as templates of StatefulSets and pods.

use serde_json::Value;

use super::{
    common::selector,
    errors::{Errors, Verbatim},
    names,
    path::Path,
    quantity,
    read::{at, count, items, part, text},
};

const ACCESS: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// What is claimed.
pub(in crate::in_process) fn spec(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let place = path.child("accessModes");
    if count(spec, "accessModes") == 0 {
        errors.required(&place, "at least 1 access mode is required");
    }
    selector(errors, &path.child("selector"), at(spec, "selector"));
    access_modes(errors, &place, spec);
    let resources = path.child("resources");
    let place = resources.key("storage");
    match at(at(at(spec, "resources"), "requests"), "storage").as_str() {
        None => errors.required(&place, ""),
        Some(size) if quantity::amount(size) <= 0 => {
            errors.invalid(&place, size, "must be greater than zero")
        }
        Some(_) => {}
    }
    for field in ["storageClassName", "volumeAttributesClassName"] {
        if field == "volumeAttributesClassName" {
            sources(errors, path, spec);
        }
        let class = text(spec, field);
        if !class.is_empty() {
            errors.all_invalid(&path.child(field), class, &names::dns_subdomain(class));
        }
    }
}

/// The access modes that a claim or a volume has.
pub(super) fn access_modes(errors: &mut Errors, place: &Path<'_>, spec: &Value) {
    let modes: Vec<&str> = items(spec, "accessModes").filter_map(|(_, mode)| mode.as_str()).collect();
    for mode in modes.iter().filter(|mode| !ACCESS.contains(mode)) {
        errors.not_supported(place, *mode, &ACCESS);
    }
    let of_one_pod = |mode: &&str| *mode == "ReadWriteOncePod";
    if modes.iter().any(of_one_pod) && modes.iter().any(|mode| !of_one_pod(mode) && ACCESS.contains(mode)) {
        errors.forbidden(place, "may not use ReadWriteOncePod with other access modes");
    }
}

fn sources(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    if part(spec, "volumeMode").is_some() && !matches!(text(spec, "volumeMode"), "Block" | "Filesystem") {
        let known = ["Block", "Filesystem"];
        errors.not_supported(&path.child("volumeMode"), text(spec, "volumeMode"), &known);
    }
    for field in ["dataSource", "dataSourceRef"] {
        let (path, Some(source)) = (path.child(field), part(spec, field)) else { continue };
        let (kind, group) = (text(source, "kind"), text(source, "apiGroup"));
        for field in ["name", "kind"] {
            if text(source, field).is_empty() {
                errors.required(&path.child(field), "");
            }
        }
        if group.is_empty() && kind != "PersistentVolumeClaim" {
            let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.invalid(&path, kind, detail);
        } else if !group.is_empty() {
            errors.all_invalid(&path.child("apiGroup"), group, &names::dns_subdomain(group));
        }
        let namespace = text(source, "namespace");
        if field == "dataSourceRef" && !namespace.is_empty() {
            errors.all_invalid(&path.child("namespace"), namespace, &names::dns_label(namespace));
        }
    }
    let (source, reference) = (part(spec, "dataSource"), part(spec, "dataSourceRef"));
    let shown = || Verbatim("{}".to_owned());
    match (source, reference) {
        (Some(_), Some(reference)) if !text(reference, "namespace").is_empty() => {
            errors.invalid(path, shown(), "may not be specified when dataSourceRef.namespace is specified");
        }
        (Some(source), Some(reference))
            if ["apiGroup", "kind", "name"].iter().any(|field| at(source, field) != at(reference, field)) =>
        {
            errors.invalid(path, shown(), "must match dataSourceRef");
        }
        _ => {}
    }
}
