//! Volumes that are served by somebody in particular.

use serde_json::Value;

use super::volumes::byte;
use crate::in_process::values::{
    errors::Errors,
    names,
    path::Path,
    paths,
    read::{at, count, entries, flag, int, part, text},
};

/// A volume of one of the sources that aren't checked elsewhere.
pub(in crate::in_process::values) fn check(errors: &mut Errors, path: &Path<'_>, of: &str, source: &Value) {
    // Most ask for a few texts.
    let required: &[&str] = match of {
        "gitRepo" => &["repository"],
        "gcePersistentDisk" => &["pdName"],
        "awsElasticBlockStore" | "cinder" | "portworxVolume" => &["volumeID"],
        "nfs" => &["server", "path"],
        "glusterfs" => &["endpoints", "path"],
        "flexVolume" => &["driver"],
        "azureFile" => &["secretName", "shareName"],
        "azureDisk" => &["diskName", "diskURI"],
        "vsphereVolume" => &["volumePath"],
        "photonPersistentDisk" => &["pdID"],
        "scaleIO" => &["gateway", "system", "volumeName"],
        "iscsi" => &["targetPortal"],
        _ => &[],
    };
    for field in required {
        if text(source, field).is_empty() {
            errors.required(&path.child(field), "");
        }
    }
    match of {
        "gitRepo" => paths::descending(errors, &path.child("directory"), text(source, "directory")),
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            byte(errors, &path.child("partition"), at(source, "partition"), 1);
        }
        "nfs" => {
            let folder = text(source, "path");
            if !folder.starts_with('/') {
                errors.invalid(&path.child("path"), folder, "must be an absolute path");
            }
        }
        "rbd" | "cephfs" => {
            if count(source, "monitors") == 0 {
                errors.required(&path.child("monitors"), "");
            }
            if of == "rbd" && text(source, "image").is_empty() {
                errors.required(&path.child("image"), "");
            }
        }
        "cinder" => secret(errors, path, source),
        "flexVolume" => flex(errors, path, source),
        "flocker" => flocker(errors, path, source),
        "quobyte" => quobyte(errors, path, source),
        "fc" => fibre(errors, path, source),
        "iscsi" => iscsi(errors, path, source),
        "azureDisk" => azure_disk(errors, path, source),
        "storageos" => storage_os(errors, path, source),
        _ => {}
    }
}

fn secret(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    if part(source, "secretRef").is_some_and(|secret| text(secret, "name").is_empty()) {
        errors.required(&path.child("secretRef.name"), "");
    }
}

fn flex(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    for (key, _) in entries(source, "options") {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace);
        let dotted = format!(".{}", namespace.to_lowercase());
        if dotted.ends_with(".kubernetes.io") || dotted.ends_with(".k8s.io") {
            let options = path.child("options");
            errors.invalid(&options.key(key), key, "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

fn flocker(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let (name, uuid) = (text(source, "datasetName"), text(source, "datasetUUID"));
    match (name.is_empty(), uuid.is_empty()) {
        (true, true) => errors.required(path, "one of datasetName and datasetUUID is required"),
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.invalid(path, "resource", detail);
        }
        _ => {}
    }
    if name.contains('/') {
        errors.invalid(&path.child("datasetName"), name, "must not contain '/'");
    }
}

fn quobyte(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = text(source, "registry");
    if registry.is_empty() {
        errors.required(&path.child("registry"), PAIRS);
    } else if text(source, "tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.required(&path.child("tenant"), detail);
    } else {
        let pair = |pair: &str| match pair.strip_prefix('[') {
            Some(rest) => rest.split_once("]:").is_some_and(|(_, port)| !port.contains(['[', ']', ':'])),
            None => pair.matches(':').count() == 1 && !pair.contains(['[', ']']),
        };
        for _ in registry.split(',').filter(|given| !pair(given)) {
            errors.invalid(&path.child("registry"), registry, PAIRS);
        }
    }
    if text(source, "volume").is_empty() {
        errors.required(&path.child("volume"), "");
    }
}

fn fibre(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let (targets, ids) = (count(source, "targetWWNs"), count(source, "wwids"));
    let place = path.child("targetWWNs");
    if targets == 0 && ids == 0 {
        errors.required(&place, "must specify either targetWWNs or wwids, but not both");
    }
    if targets > 0 && ids > 0 {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        errors.invalid(&place, at(source, "targetWWNs"), detail);
    }
    if targets > 0 {
        match int(source, "lun") {
            None => errors.required(&path.child("lun"), "lun is required if targetWWNs is specified"),
            Some(_) => byte(errors, &path.child("lun"), at(source, "lun"), 0),
        }
    }
}

fn iscsi(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    // That of a PersistentVolume is told less.
    let wrong_start = match path.to_string().as_str() {
        "spec.iscsi" => "must be valid format",
        _ => "must be valid format starting with iqn, eui, or naa",
    };
    let name = text(source, "iqn");
    if name.is_empty() {
        errors.required(&path.child("iqn"), "");
    } else if !["iqn", "eui", "naa"].iter().any(|start| name.starts_with(start)) {
        errors.invalid(&path.child("iqn"), name, wrong_start);
    } else if !is_iscsi_name(name) {
        errors.invalid(&path.child("iqn"), name, "must be valid format");
    }
    byte(errors, &path.child("lun"), at(source, "lun"), 0);
    let asks = flag(source, "chapAuthDiscovery") || flag(source, "chapAuthSession");
    if asks && part(source, "secretRef").is_none() {
        errors.required(&path.child("secretRef"), "");
    }
    if part(source, "initiatorName").is_some() {
        let (path, name) = (path.child("initiatorname"), text(source, "initiatorName"));
        if !["iqn", "eui", "naa"].iter().any(|start| name.starts_with(start)) {
            errors.invalid(&path, name, wrong_start);
        } else if !is_iscsi_name(name) {
            errors.invalid(&path, name, "must be valid format");
        }
    }
}

fn is_iscsi_name(name: &str) -> bool {
    let hex = |digits: &str, lengths: &[usize]| {
        lengths.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if let Some(rest) = name.strip_prefix("eui.") {
        return hex(rest, &[16]);
    }
    if let Some(rest) = name.strip_prefix("naa.") {
        return hex(rest, &[32]);
    }
    let Some(rest) = name.strip_prefix("iqn.") else { return false };
    let Some((date, rest)) = rest.split_once('.') else { return false };
    let dated = date.len() == 7
        && date
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 { byte == b'-' } else { byte.is_ascii_digit() });
    let (domain, after) = rest.split_once(':').map_or((rest, None), |(domain, after)| (domain, Some(after)));
    let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    let end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    dated
        && letters(domain)
        && end(domain.bytes().next())
        && end(domain.bytes().next_back())
        && after.is_none_or(|after| !after.is_empty() && !after.contains(char::is_whitespace))
}

fn azure_disk(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let known = ["None", "ReadOnly", "ReadWrite"];
    if part(source, "cachingMode").is_some() && !known.contains(&text(source, "cachingMode")) {
        errors.not_supported(&path.child("cachingMode"), text(source, "cachingMode"), &known);
    }
    let (kind, uri) = (at(source, "kind").as_str(), text(source, "diskURI"));
    let known = ["Dedicated", "Managed", "Shared"];
    if let Some(kind) = kind.filter(|kind| !known.contains(kind)) {
        errors.not_supported(&path.child("kind"), kind, &known);
    }
    let place = path.child("diskURI");
    if kind == Some("Managed") && !uri.starts_with("/subscriptions/") {
        let form =
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
        errors.not_supported(&place, uri, &[form]);
    }
    if kind.is_some_and(|kind| kind != "Managed") && !uri.starts_with("https://") {
        let form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
        errors.not_supported(&place, uri, &[form]);
    }
}

fn storage_os(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    storage_os_volume(errors, path, source);
    secret(errors, path, source);
}

/// The volume of StorageOS, without how it is accessed.
pub(in crate::in_process::values) fn storage_os_volume(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    match text(source, "volumeName") {
        "" => errors.required(&path.child("volumeName"), ""),
        name => errors.all_invalid(&path.child("volumeName"), name, &names::dns_label(name)),
    }
    let namespace = text(source, "volumeNamespace");
    if !namespace.is_empty() {
        errors.all_invalid(&path.child("volumeNamespace"), namespace, &names::dns_label(namespace));
    }
}

/// A volume of a driver.
pub(super) fn csi(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let (place, driver) = (path.child("driver"), text(source, "driver"));
    if driver.is_empty() {
        errors.required(&place, "");
    } else {
        if driver.len() > 63 {
            errors.too_long(&place, 63);
        }
        errors.all_invalid(&place, driver, &names::dns_subdomain(&driver.to_lowercase()));
    }
    if let Some(secret) = part(source, "nodePublishSecretRef") {
        match text(secret, "name") {
            "" => errors.required(&path.child("nodePublishSecretRef.name"), ""),
            name => errors.all_invalid(&path.child("name"), name, &names::dns_subdomain(name)),
        }
    }
}
