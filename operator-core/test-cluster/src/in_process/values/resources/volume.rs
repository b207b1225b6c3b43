//! PersistentVolumes: where they are never changes. Pure.

use serde_json::{Value, json};

use super::super::{
    claim::access_modes,
    common::immutable,
    errors::{Errors, Verbatim},
    internal, names,
    path::Path,
    paths, quantity,
    read::{at, count, entries, part, same, text},
    workloads::{host_path, node_selector, older_volume, storage_os_volume},
};

const SPEC: Path<'static> = Path::root("spec");

/// The sources of volumes, in the order in which they are looked at: their names, how a second one is called, and where what
/// is wrong with a first one is.
const SOURCES: [(&str, &str, &str); 22] = [
    ("hostPath", "hostPath", "hostPath"),
    ("gcePersistentDisk", "gcePersistentDisk", "persistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore", "awsElasticBlockStore"),
    ("glusterfs", "glusterfs", "glusterfs"),
    ("flocker", "flocker", "flocker"),
    ("nfs", "nfs", "nfs"),
    ("rbd", "rbd", "rbd"),
    ("quobyte", "quobyte", "quobyte"),
    ("cephfs", "cephFS", "cephfs"),
    ("iscsi", "iscsi", "iscsi"),
    ("cinder", "cinder", "cinder"),
    ("fc", "fc", "fc"),
    // A second one of this sort passes.
    ("flexVolume", "", "flexVolume"),
    ("azureFile", "azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk", "azureDisk"),
    ("scaleIO", "scaleIO", "scaleIO"),
    ("local", "local", "local"),
    ("storageos", "storageos", "storageos"),
    ("csi", "csi", "csi"),
];

/// The sources that are mounted with options.
const MOUNTED: [&str; 13] = [
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

const OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";

pub(super) fn volume(volume: &Value, errors: &mut Errors) {
    spec(errors, volume);
    mount_options(errors, volume);
}

pub(super) fn changed(new: &Value, old: &Value, errors: &mut Errors) {
    volume(new, errors);
    spec(errors, new);
    let (spec, before) = (at(new, "spec"), at(old, "spec"));
    let (mut source, was) = (sources(spec), sources(before));
    // A secret for growing may come later.
    let secret = |source: &Value| part(at(source, "csi"), "controllerExpandSecretRef").is_some();
    if part(&was, "csi").is_some() && !secret(&was) && secret(&source) {
        source["csi"].as_object_mut().map(|csi| csi.remove("controllerExpandSecretRef"));
    }
    if !same(&source, &was) {
        let detail = format!(
            "spec.persistentvolumesource is immutable after creation\n{}",
            internal::volume_difference(&was, &source)
        );
        errors.forbidden(&SPEC.child("persistentvolumesource"), &detail);
    }
    immutable(errors, &Path::root("volumeMode"), at(spec, "volumeMode"), at(before, "volumeMode"));
    if let Some(affinity) = part(before, "nodeAffinity")
        && !same(at(spec, "nodeAffinity"), &renewed_labels(affinity, at(spec, "nodeAffinity")))
    {
        let detail = "field is immutable, except for updating from beta label to GA";
        let shown = internal::volume_affinity(at(spec, "nodeAffinity"));
        errors.invalid(&Path::root("nodeAffinity"), Verbatim(shown), detail);
    }
    const CLASS: &str = "volumeAttributesClassName";
    if part(before, CLASS).is_some() && part(spec, CLASS).is_none() {
        errors.forbidden(&SPEC.child(CLASS), "update from non-nil value to nil is forbidden");
    }
}

/// The part of a volume that says where it is.
fn sources(spec: &Value) -> Value {
    let mut all = json!({});
    for (field, _, _) in SOURCES {
        if let Some(source) = part(spec, field) {
            all[field] = source.clone();
        }
    }
    all
}

/// An affinity with the newer names of labels of nodes, where another one has them.
fn renewed_labels(affinity: &Value, new: &Value) -> Value {
    const RENAMED: [(&str, &str); 5] = [
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ];
    let mut affinity = affinity.clone();
    const TERMS: &str = "/required/nodeSelectorTerms";
    let terms = affinity.pointer_mut(TERMS).and_then(Value::as_array_mut);
    for (term, new) in
        terms.into_iter().flatten().zip(new.pointer(TERMS).and_then(Value::as_array).into_iter().flatten())
    {
        let requirements = term["matchExpressions"].as_array_mut().into_iter().flatten();
        for (requirement, new) in requirements.zip(new["matchExpressions"].as_array().into_iter().flatten()) {
            let renamed =
                RENAMED.iter().any(|(older, newer)| requirement["key"] == *older && new["key"] == *newer);
            if renamed {
                requirement["key"] = new["key"].clone();
            }
        }
    }
    affinity
}

fn mount_options(errors: &mut Errors, volume: &Value) {
    let spec = at(volume, "spec");
    let has_options = part(at(at(volume, "metadata"), "annotations"), OPTIONS).is_some();
    if has_options && MOUNTED.iter().all(|source| part(spec, source).is_none()) {
        let root = Path::root("metadata");
        let root = root.child("annotations");
        errors.forbidden(&root.child(OPTIONS), "may not specify mount options for this volume type");
    }
}

fn spec(errors: &mut Errors, volume: &Value) {
    let spec = at(volume, "spec");
    access(errors, spec);
    capacity(errors, spec);
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    let place = SPEC.child("persistentVolumeReclaimPolicy");
    if !["", "Delete", "Recycle", "Retain"].contains(&policy) {
        errors.not_supported(&place, policy, &["Delete", "Recycle", "Retain"]);
    }
    if let Some(affinity) = part(spec, "nodeAffinity") {
        let path = SPEC.child("nodeAffinity.required");
        match part(affinity, "required") {
            Some(required) => node_selector(errors, &path, required),
            None => errors.required(&path, "must specify required node constraints"),
        }
    }
    let mut found = false;
    for (field, second, shown) in SOURCES {
        let Some(given) = part(spec, field) else { continue };
        if std::mem::replace(&mut found, true) && !second.is_empty() {
            errors.forbidden(&SPEC.child(second), "may not specify more than 1 volume type");
            continue;
        }
        source(errors, &SPEC.child(shown), (field, given), volume);
    }
    if !found {
        errors.required(&SPEC, "must specify a volume type");
    }
    let folder = at(spec, "hostPath").get("path").and_then(Value::as_str);
    if policy == "Recycle" && folder.is_some_and(paths::is_root) {
        errors.forbidden(&place, "may not be 'recycle' for a hostPath mount of '/'");
    }
    class(errors, spec, "storageClassName");
    if let Some(mode) = part(spec, "volumeMode")
        && !["Block", "Filesystem"].contains(&text(spec, "volumeMode"))
    {
        errors.not_supported(&SPEC.child("volumeMode"), mode, &["Block", "Filesystem"]);
    }
    if part(spec, "volumeAttributesClassName").is_some() {
        if text(spec, "volumeAttributesClassName").is_empty() {
            errors.required(&SPEC.child("volumeAttributesClassName"), "an empty string is disallowed");
        }
        class(errors, spec, "volumeAttributesClassName");
        if part(spec, "csi").is_none() {
            let detail = "has to be specified when using volumeAttributesClassName";
            errors.required(&SPEC.child("csi"), detail);
        }
    }
}

fn class(errors: &mut Errors, spec: &Value, field: &str) {
    let class = text(spec, field);
    if !class.is_empty() {
        errors.all_invalid(&SPEC.child(field), class, &names::dns_subdomain(class));
    }
}

fn access(errors: &mut Errors, spec: &Value) {
    let place = SPEC.child("accessModes");
    if count(spec, "accessModes") == 0 {
        errors.required(&place, "");
    }
    access_modes(errors, &place, spec);
}

fn capacity(errors: &mut Errors, spec: &Value) {
    let place = SPEC.child("capacity");
    if count(spec, "capacity") == 0 {
        errors.required(&place, "");
    }
    let has_size = part(at(spec, "capacity"), "storage").is_some();
    if !has_size || count(spec, "capacity") > 1 {
        errors.not_supported(&place, at(spec, "capacity"), &["storage"]);
    }
    for (name, given) in entries(spec, "capacity") {
        let given = given.as_str().unwrap_or_default();
        let amount = quantity::amount(given);
        let whole = amount.div_euclid(1_000_000_000) + i128::from(amount.rem_euclid(1_000_000_000) > 0);
        if whole < 0 {
            let whole = i64::try_from(whole).unwrap_or(i64::MIN);
            errors.invalid(&place.key(name), whole, "must be a valid resource quantity");
        }
        if amount <= 0 {
            errors.invalid(&place.key(name), given, "must be greater than zero");
        }
    }
}

fn source(errors: &mut Errors, path: &Path<'_>, (field, given): (&str, &Value), volume: &Value) {
    let missing = |errors: &mut Errors, fields: &[&str]| {
        for field in fields.iter().filter(|field| text(given, field).is_empty()) {
            errors.required(&path.child(field), "");
        }
    };
    match field {
        "hostPath" => host_path(errors, path, given),
        "local" => match text(given, "path") {
            "" => errors.required(&path.child("path"), ""),
            folder => paths::no_steps_back(errors, &path.child("path"), folder),
        },
        "glusterfs" => {
            missing(errors, &["endpoints", "path"]);
            let place = path.child("endpointsNamespace");
            match at(given, "endpointsNamespace").as_str() {
                None => {}
                Some("") => {
                    errors.invalid(
                        &place,
                        "",
                        "if the endpointnamespace is set, it must be a valid namespace name",
                    );
                }
                Some(namespace) => errors.all_invalid(&place, namespace, &names::dns_label(namespace)),
            }
        }
        "azureFile" => {
            missing(errors, &["secretName", "shareName"]);
            if at(given, "secretNamespace") == "" {
                errors.required(&path.child("secretNamespace"), "");
            }
        }
        "cinder" => {
            missing(errors, &["volumeID"]);
            named(errors, path, given);
        }
        "storageos" => {
            storage_os_volume(errors, path, given);
            named(errors, path, given);
        }
        "csi" => csi(errors, path, given),
        _ => older_volume(errors, path, field, given),
    }
    if field == "local" && part(at(volume, "spec"), "nodeAffinity").is_none() {
        errors.required(&SPEC.child("nodeAffinity"), "Local volume requires node affinity");
    }
    if field == "iscsi" {
        if part(given, "secretRef").is_some_and(|secret| text(secret, "name").is_empty()) {
            errors.required(&path.child("secretRef.name"), "");
        }
        let (name, portal) = (text(at(volume, "metadata"), "name"), text(given, "targetPortal"));
        if part(given, "initiatorName").is_some() && name.len() + 1 + portal.len() > 64 {
            let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                          iscsi.initiatorName is specified.";
            errors.invalid(&path.child("targetportal"), portal, detail);
        }
    }
}

/// A secret has a name and a namespace.
fn named(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let Some(secret) = part(source, "secretRef") else { return };
    for field in ["name", "namespace"] {
        if text(secret, field).is_empty() {
            errors.required(&path.child("secretRef").child(field), "");
        }
    }
}

fn csi(errors: &mut Errors, path: &Path<'_>, source: &Value) {
    let (place, driver) = (path.child("driver"), text(source, "driver"));
    if driver.is_empty() {
        errors.required(&place, "");
    } else {
        if driver.len() > 63 {
            errors.too_long(&place, 63);
        }
        errors.all_invalid(&place, driver, &names::dns_subdomain(&driver.to_lowercase()));
    }
    if text(source, "volumeHandle").is_empty() {
        errors.required(&path.child("volumeHandle"), "");
    }
    for field in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let Some(secret) = part(source, field) else { continue };
        let path = path.child(field);
        for (field, wrong) in
            [("name", names::dns_subdomain as fn(&str) -> Vec<String>), ("namespace", names::dns_label)]
        {
            match text(secret, field) {
                "" => errors.required(&path.child(field), ""),
                text => errors.all_invalid(&path.child(field), text, &wrong(text)),
            }
        }
    }
}
