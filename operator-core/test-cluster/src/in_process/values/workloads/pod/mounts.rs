//! Volumes in containers: as folders, or as devices.

use std::collections::BTreeSet;

use serde_json::Value;

use super::spec::Context;
use crate::in_process::values::{
    errors::Errors,
    path::Path,
    paths,
    read::{at, flag, items, part, text},
};

/// The folders of a container that are volumes.
pub(super) fn mounts(errors: &mut Errors, list: &Path<'_>, container: &Value, context: &Context<'_>) {
    let mut known = BTreeSet::new();
    for (index, mount) in items(container, "volumeMounts") {
        let path = list.index(index);
        let (name, folder) = (text(mount, "name"), text(mount, "mountPath"));
        let (name_place, place) = (path.child("name"), path.child("mountPath"));
        if name.is_empty() {
            errors.required(&name_place, "");
        }
        if !context.volumes.iter().any(|(known, _)| *known == name) {
            errors.not_found(&name_place, name);
        }
        if folder.is_empty() {
            errors.required(&place, "");
        }
        if !known.insert(folder) {
            errors.invalid(&place, folder, "must be unique");
        }
        if items(container, "volumeDevices").any(|(_, device)| text(device, "name") == name) {
            errors.invalid(&name_place, name, "must not already exist in volumeDevices");
        }
        if items(container, "volumeDevices").any(|(_, device)| text(device, "devicePath") == folder) {
            errors.invalid(&place, folder, "must not already exist as a path in volumeDevices");
        }
        let (part_of, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
        if !part_of.is_empty() {
            paths::descending(errors, &list.child("subPath"), part_of);
        }
        if !expression.is_empty() {
            if !part_of.is_empty() {
                let detail = "subPathExpr and subPath are mutually exclusive";
                errors.invalid(&path.child("subPathExpr"), expression, detail);
            }
            paths::descending(errors, &list.child("subPathExpr"), expression);
        }
        propagation(errors, &list.child("mountPropagation"), mount, container);
        recursion(errors, &list.child("recursiveReadOnly"), mount);
    }
}

fn propagation(errors: &mut Errors, path: &Path<'_>, mount: &Value, container: &Value) {
    if part(mount, "mountPropagation").is_none() {
        return;
    }
    let mode = text(mount, "mountPropagation");
    if !matches!(mode, "Bidirectional" | "HostToContainer" | "None") {
        errors.not_supported(path, mode, &["Bidirectional", "HostToContainer", "None"]);
    }
    if mode == "Bidirectional" && !flag(at(container, "securityContext"), "privileged") {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        errors.forbidden(path, detail);
    }
}

fn recursion(errors: &mut Errors, path: &Path<'_>, mount: &Value) {
    if part(mount, "recursiveReadOnly").is_none() {
        return;
    }
    match text(mount, "recursiveReadOnly") {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !flag(mount, "readOnly") {
                errors.forbidden(path, "may only be specified when readOnly is true");
            }
            if !matches!(text(mount, "mountPropagation"), "" | "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.forbidden(path, detail);
            }
        }
        other => errors.not_supported(path, other, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// The devices of a container that are volumes.
pub(super) fn devices(errors: &mut Errors, list: &Path<'_>, container: &Value, context: &Context<'_>) {
    let (mut names, mut files) = (BTreeSet::new(), BTreeSet::new());
    for (index, device) in items(container, "volumeDevices") {
        let path = list.index(index);
        let (name, file) = (text(device, "name"), text(device, "devicePath"));
        let (name_place, place) = (path.child("name"), path.child("devicePath"));
        if name.is_empty() {
            errors.required(&name_place, "");
        }
        if names.contains(name) {
            errors.invalid(&name_place, name, "must be unique");
        }
        match context.volumes.iter().find(|(known, _)| *known == name) {
            None => errors.not_found(&name_place, name),
            Some((_, volume)) => {
                let claims = ["persistentVolumeClaim", "ephemeral"];
                if !claims.iter().any(|source| part(volume, source).is_some()) {
                    let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                    errors.invalid(&name_place, name, detail);
                }
            }
        }
        if file.is_empty() {
            errors.required(&place, "");
        }
        if files.contains(file) {
            errors.invalid(&place, file, "must be unique");
        }
        if file.split('/').any(|part| part == "..") {
            errors.invalid(&place, file, "can not contain backsteps ('..')");
        } else {
            files.insert(file);
        }
        if items(container, "volumeMounts").any(|(_, mount)| text(mount, "name") == name) {
            errors.invalid(&name_place, name, "must not already exist in volumeMounts");
        }
        if items(container, "volumeMounts").any(|(_, mount)| text(mount, "mountPath") == file) {
            errors.invalid(&place, file, "must not already exist as a path in volumeMounts");
        }
        if !name.is_empty() {
            names.insert(name);
        }
    }
}
