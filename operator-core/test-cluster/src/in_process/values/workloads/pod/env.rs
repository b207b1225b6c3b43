//! Environment variables of containers, and the fields of a pod that they and files may show.

use serde_json::Value;

use crate::in_process::values::{
    errors::Errors,
    names,
    path::Path,
    paths,
    read::{at, items, part, text},
};

const SHOWN: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The variables of a container.
pub(super) fn variables(errors: &mut Errors, path: &Path<'_>, container: &Value) {
    for (index, variable) in items(container, "env") {
        let path = path.index(index);
        match text(variable, "name") {
            "" => errors.required(&path.child("name"), ""),
            name => errors.all_invalid(&path.child("name"), name, &names::variable(name)),
        }
        if let Some(from) = part(variable, "valueFrom") {
            value_from(errors, &path.child("valueFrom"), from, !text(variable, "value").is_empty());
        }
    }
}

fn value_from(errors: &mut Errors, path: &Path<'_>, from: &Value, has_value: bool) {
    let mut sources = 0;
    if let Some(field) = part(from, "fieldRef") {
        sources += 1;
        self::field(errors, &path.child("fieldRef"), field, &SHOWN);
    }
    if let Some(resource) = part(from, "resourceFieldRef") {
        sources += 1;
        self::resource(errors, &path.child("resourceFieldRef"), resource, false);
    }
    for source in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(key) = part(from, source) {
            sources += 1;
            let path = path.child(source);
            let name = text(key, "name");
            errors.all_invalid(&path.child("name"), name, &names::dns_subdomain(name));
            match text(key, "key") {
                "" => errors.required(&path.child("key"), ""),
                key => errors.all_invalid(&path.child("key"), key, &names::config_key(key)),
            }
        }
    }
    if let Some(file) = part(from, "fileKeyRef") {
        sources += 1;
        self::file(errors, &path.child("fileKeyRef"), file);
    }
    if sources == 0 {
        let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
                      `fileKeyRef`";
        errors.invalid(path, "", detail);
    } else if has_value {
        errors.invalid(path, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        errors.invalid(path, "", "may not have more than one field specified at a time");
    }
}

fn file(errors: &mut Errors, path: &Path<'_>, file: &Value) {
    match text(file, "key") {
        "" => errors.required(&path.child("key"), ""),
        key => errors.all_invalid(&path.child("key"), key, &names::variable(key)),
    }
    match text(file, "volumeName") {
        "" => errors.required(&path.child("volumeName"), ""),
        name => errors.all_invalid(&path.child("volumeName"), name, &names::dns_label(name)),
    }
    match text(file, "path") {
        "" => errors.required(&path.child("path"), ""),
        file => paths::no_steps_back(errors, &path.child("path"), file),
    }
}

/// A field of the pod.
pub(super) fn field(errors: &mut Errors, path: &Path<'_>, field: &Value, shown: &[&str]) {
    const CONVERTED: [&str; 14] = [
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.serviceAccountName",
        "spec.schedulerName",
        "status.phase",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let (version, name) = (text(field, "apiVersion"), text(field, "fieldPath"));
    let place = path.child("fieldPath");
    if version.is_empty() {
        return errors.required(&path.child("apiVersion"), "");
    }
    if name.is_empty() {
        return errors.required(&place, "");
    }
    let subscript = name.strip_suffix("']").and_then(|name| name.split_once("['"));
    let subscript = subscript.filter(|(map, key)| !map.is_empty() && !key.is_empty());
    let why = match subscript {
        _ if version != "v1" => Some(format!("unsupported pod version: {version}")),
        Some(("metadata.labels" | "metadata.annotations", _)) => None,
        Some(_) => Some(format!("field label does not support subscript: {name}")),
        None if CONVERTED.contains(&name) || name == "spec.host" => None,
        None => Some(format!("field label not supported: {name}")),
    };
    if let Some(why) = why {
        return errors.invalid(&place, name, &format!("error converting fieldPath: {why}"));
    }
    match subscript {
        Some(("metadata.annotations", key)) => {
            let key = key.to_lowercase();
            errors.all_invalid(path, &key, &names::qualified(&key));
        }
        Some((_, key)) => errors.all_invalid(path, key, &names::qualified(key)),
        None => {
            let name = if name == "spec.host" { "spec.nodeName" } else { name };
            if !shown.contains(&name) {
                errors.not_supported(&place, name, shown);
            }
        }
    }
}

/// What a container may use.
pub(super) fn resource(errors: &mut Errors, path: &Path<'_>, field: &Value, of_volume: bool) {
    const SHOWN: [&str; 6] = [
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
    ];
    const SIZES: &str = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
    let (resource, divisor) = (text(field, "resource"), text(field, "divisor"));
    let huge = resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
    if of_volume && text(field, "containerName").is_empty() {
        errors.required(&path.child("containerName"), "");
    } else if resource.is_empty() {
        errors.required(&path.child("resource"), "");
    } else if !SHOWN.contains(&resource) && !huge {
        errors.not_supported(&path.child("resource"), resource, &SHOWN);
    }
    if matches!(divisor, "" | "0") {
        return;
    }
    let sizes = |what: &str| format!("only divisor's values {SIZES} are supported with the {what} resource");
    let (right, why) = match resource.split_once('.').map_or("", |(_, resource)| resource) {
        "cpu" => (
            matches!(divisor, "1" | "1m"),
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned(),
        ),
        "memory" => (SIZES.split(", ").any(|size| size == divisor), sizes("memory")),
        "ephemeral-storage" => {
            (SIZES.split(", ").any(|size| size == divisor), sizes("local ephemeral storage"))
        }
        _ if huge => (SIZES.split(", ").any(|size| size == divisor), sizes("hugepages")),
        _ => (true, String::new()),
    };
    if !right {
        errors.invalid(&path.child("divisor"), resource, &why);
    }
}

/// Maps and Secrets all of whose entries are variables.
pub(super) fn sources(errors: &mut Errors, list: &Path<'_>, container: &Value) {
    for (index, source) in items(container, "envFrom") {
        let path = list.index(index);
        let prefix = text(source, "prefix");
        if !prefix.is_empty() {
            errors.all_invalid(&path.child("prefix"), prefix, &names::variable(prefix));
        }
        let mut sources = 0;
        for field in ["configMapRef", "secretRef"] {
            let Some(reference) = part(source, field) else { continue };
            sources += 1;
            let path = path.child(field);
            let place = path.child("name");
            match at(reference, "name").as_str().unwrap_or_default() {
                "" => errors.required(&place, ""),
                name => {
                    // A dash at the end is taken for the beginning of what is generated.
                    let asked = match name.strip_suffix('-') {
                        Some(rest) if !rest.is_empty() => {
                            let end = rest.char_indices().next_back().map_or(0, |(at, _)| at);
                            format!("{}a", rest.get(..end).unwrap_or_default())
                        }
                        _ => name.to_owned(),
                    };
                    errors.all_invalid(&place, name, &names::dns_subdomain(&asked));
                }
            }
        }
        if sources == 0 {
            errors.invalid(list, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if sources > 1 {
            errors.invalid(list, "", "may not have more than one field specified at a time");
        }
    }
}
