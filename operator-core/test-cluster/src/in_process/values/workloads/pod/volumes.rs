//! The volumes of a pod.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{claim, env, older_volumes, projected, spec::one_of};
use crate::in_process::values::{
    common::{annotations, labels},
    errors::Errors,
    names::{self, outside},
    path::Path,
    paths,
    quantity::amount,
    read::{at, items, part, text},
};

/// The sources of volumes, in the order in which they are looked at, and their names in errors.
const SOURCES: [(&str, &str); 30] = [
    ("emptyDir", "emptyDir"),
    ("hostPath", "hostPath"),
    ("gitRepo", "gitRepo"),
    ("gcePersistentDisk", "persistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("secret", "secret"),
    ("nfs", "nfs"),
    ("iscsi", "iscsi"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("persistentVolumeClaim", "persistentVolumeClaim"),
    ("rbd", "rbd"),
    ("cinder", "cinder"),
    ("cephfs", "cephfs"),
    ("quobyte", "quobyte"),
    ("downwardAPI", "downwardAPI"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("configMap", "configMap"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("storageos", "storageos"),
    ("projected", "projected"),
    ("scaleIO", "scaleIO"),
    ("csi", "csi"),
    ("ephemeral", "ephemeral"),
    ("image", "image"),
];

/// Checks all volumes, and returns those that are right, by their names.
pub(super) fn check<'v>(
    errors: &mut Errors,
    list: &Path<'_>,
    spec: &'v Value,
    pod: Option<&Value>,
) -> Vec<(&'v str, &'v Value)> {
    let pod_name = pod.map(|pod| text(pod, "name")).filter(|name| !name.is_empty());
    let made = |volume: &Value| {
        let name = pod_name.filter(|_| part(volume, "ephemeral").is_some())?;
        Some(format!("{name}-{}", text(volume, "name")))
    };
    let claims: Vec<String> = items(spec, "volumes").filter_map(|(_, volume)| made(volume)).collect();
    let mut known = BTreeSet::new();
    let mut right = Vec::new();
    for (index, volume) in items(spec, "volumes") {
        let path = list.index(index);
        let (name, place) = (text(volume, "name"), path.child("name"));
        let before = errors.len();
        source(errors, &path, volume, pod.is_some());
        if let Some(claim) = made(volume).filter(|_| !name.is_empty()) {
            for why in names::dns_subdomain(&claim) {
                errors.invalid(&place, name, &format!("PVC name {claim:?}: {why}"));
            }
        }
        if name.is_empty() {
            errors.required(&place, "");
        } else {
            errors.all_invalid(&place, name, &names::dns_label(name));
        }
        if known.contains(name) {
            errors.duplicate(&place, name);
        }
        if errors.len() == before {
            known.insert(name);
            right.push((name, volume));
        }
        let claimed = text(at(volume, "persistentVolumeClaim"), "claimName");
        if part(volume, "persistentVolumeClaim").is_some() && claims.iter().any(|claim| claim == claimed) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.invalid(&path.child("persistentVolumeClaim.claimName"), claimed, detail);
        }
    }
    right
}

fn source(errors: &mut Errors, path: &Path<'_>, volume: &Value, is_pod: bool) {
    let mut found = false;
    for (field, shown) in SOURCES {
        let Some(given) = part(volume, field) else { continue };
        if std::mem::replace(&mut found, true) {
            let shown = match field {
                "downwardAPI" => "downwarAPI",
                "cephfs" => "cephFS",
                field => field,
            };
            errors.forbidden(&path.child(shown), "may not specify more than 1 volume type");
            continue;
        }
        let place = path.child(shown);
        match field {
            "emptyDir" => {
                if part(given, "sizeLimit").is_some() && amount(text(given, "sizeLimit")) < 0 {
                    let detail = "SizeLimit field must be a valid resource quantity";
                    errors.forbidden(&place.child("sizeLimit"), detail);
                }
            }
            "hostPath" => host_path(errors, &place, given),
            "secret" | "configMap" => {
                let name = if field == "secret" { "secretName" } else { "name" };
                if text(given, name).is_empty() {
                    errors.required(&place.child(name), "");
                }
                mode(errors, &place.child("defaultMode"), at(given, "defaultMode"));
                let list = place.child("items");
                for (index, item) in items(given, "items") {
                    key_to_path(errors, &list.index(index), item);
                }
            }
            "persistentVolumeClaim" => {
                if text(given, "claimName").is_empty() {
                    errors.required(&place.child("claimName"), "");
                }
            }
            "downwardAPI" => {
                mode(errors, &place.child("defaultMode"), at(given, "defaultMode"));
                // The real server doesn't say which item it is.
                items(given, "items").for_each(|(_, item)| downward_file(errors, &place, item));
            }
            "projected" => projected::check(errors, &place, given),
            "csi" => older_volumes::csi(errors, &place, given),
            "ephemeral" => ephemeral(errors, &place, given),
            "image" => {
                if is_pod && text(given, "reference").is_empty() {
                    errors.required(&place.child("reference"), "");
                }
                let pull = text(given, "pullPolicy");
                one_of(errors, &place.child("pullPolicy"), pull, &["Always", "IfNotPresent", "Never"]);
            }
            _ => older_volumes::check(errors, &place, field, given),
        }
        if field == "iscsi" {
            let (name, portal) = (text(volume, "name"), text(given, "targetPortal"));
            if part(given, "initiatorName").is_some() && name.len() + 1 + portal.len() > 64 {
                let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                              iscsi.initiatorName is specified.";
                errors.invalid(&path.child("name"), name, detail);
            }
        }
    }
    if !found {
        errors.required(path, "must specify a volume type");
    }
}

/// A folder of the node.
pub(in crate::in_process::values) fn host_path(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let folder = text(source, "path");
    if folder.is_empty() {
        return errors.required(&path.child("path"), "");
    }
    paths::no_steps_back(errors, &path.child("path"), folder);
    let known =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    let of = text(source, "type");
    if !known.contains(&of) {
        errors.not_supported(&path.child("type"), of, &known);
    }
}

/// The rights of a file, as a number.
pub(super) fn mode(errors: &mut Errors, path: &Path<'_>, mode: &Value) {
    if let Some(mode) = mode.as_i64().filter(|mode| !(0..=0o777).contains(mode)) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.invalid(path, mode, detail);
    }
}

/// The file that an entry of a map becomes.
pub(super) fn key_to_path(errors: &mut Errors, path: &Path<'_>, item: &Value) {
    for field in ["key", "path"] {
        if text(item, field).is_empty() {
            errors.required(&path.child(field), "");
        }
    }
    paths::own(errors, &path.child("path"), text(item, "path"));
    mode(errors, &path.child("mode"), at(item, "mode"));
}

/// The file that a field of the pod becomes.
pub(super) fn downward_file(errors: &mut Errors, path: &Path<'_>, item: &Value) {
    const SHOWN: [&str; 5] =
        ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
    let file = text(item, "path");
    if file.is_empty() {
        errors.required(&path.child("path"), "");
    }
    paths::own(errors, &path.child("path"), file);
    match (part(item, "fieldRef"), part(item, "resourceFieldRef")) {
        (Some(field), resource) => {
            env::field(errors, &path.child("fieldRef"), field, &SHOWN);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.invalid(path, "resource", detail);
            }
        }
        (None, Some(resource)) => env::resource(errors, &path.child("resourceFieldRef"), resource, true),
        (None, None) => errors.required(path, "one of fieldRef and resourceFieldRef is required"),
    }
    mode(errors, &path.child("mode"), at(item, "mode"));
}

fn ephemeral(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let path = path.child("volumeClaimTemplate");
    let Some(template) = part(source, "volumeClaimTemplate") else { return errors.required(&path, "") };
    let (metadata, place) = (at(template, "metadata"), path.child("metadata"));
    annotations(errors, &place.child("annotations"), at(metadata, "annotations"));
    labels(errors, &place.child("labels"), at(metadata, "labels"));
    for (field, shown) in [
        ("name", "name"),
        ("generateName", "generateName"),
        ("namespace", "namespace"),
        ("uid", "uID"),
        ("selfLink", "selfLink"),
        ("resourceVersion", "resourceVersion"),
        ("generation", "generation"),
        ("creationTimestamp", "creationTimestamp"),
        ("deletionTimestamp", "deletionTimestamp"),
        ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"),
        ("managedFields", "managedFields"),
        ("ownerReferences", "ownerReferences"),
        ("finalizers", "finalizers"),
    ] {
        if part(metadata, field).is_some() {
            errors.forbidden(&place.child(shown), "cannot be set");
        }
    }
    claim::spec(errors, &path.child("spec"), at(template, "spec"));
}

/// A number of a partition or a unit, which has a byte.
pub(super) fn byte(errors: &mut Errors, path: &Path<'_>, value: &Value, from: i64) {
    if let Some(number) = value.as_i64().filter(|number| !(0..=255).contains(number)) {
        errors.invalid(path, number, &outside(from, 255));
    }
}
