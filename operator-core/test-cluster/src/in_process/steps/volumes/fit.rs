//! Which volume fits a claim, and the one that is made for it. Pure.

use serde_json::{Value, json};

use super::{PROVISIONED_BY, class, text, volumes};
use crate::in_process::{
    steps::view::{Found, View, items, selects},
    store::Path,
    values::amount,
    write::is_deleting,
};

/// Whether nobody else has a volume, or waits for it.
pub(super) fn is_free_for(volume: &Value, claim: &Value) -> bool {
    let (of, metadata) = (&volume["spec"]["claimRef"], &claim["metadata"]);
    let is_named = of["namespace"] == metadata["namespace"] && of["name"] == metadata["name"];
    of.is_null() || is_named && (of["uid"].is_null() || of["uid"] == metadata["uid"])
}

/// The smallest volume that fits a claim. One that was made for the claim comes first.
pub(super) fn best<'s>(view: &View<'s>, claim: &Value) -> Option<Found<'s>> {
    let wanted = &claim["spec"];
    let fits = |(_, volume): &Found<'_>| {
        let (offered, selector) = (&volume["spec"], &wanted["selector"]);
        let mode = |spec: &Value| spec["volumeMode"].as_str().unwrap_or("Filesystem").to_owned();
        is_free_for(volume, claim)
            && !is_deleting(volume)
            && class(volume) == class(claim)
            && mode(offered) == mode(wanted)
            && size(&offered["capacity"]) >= size(&wanted["resources"]["requests"])
            && items(&wanted["accessModes"]).iter().all(|mode| items(&offered["accessModes"]).contains(mode))
            && (selector.is_null() || selects(selector, &volume["metadata"]["labels"]))
            && (!offered["claimRef"].is_null() || volume["status"]["phase"] == "Available")
    };
    let fitting = view.store.list(&volumes(), None).filter(fits);
    fitting.min_by_key(|(path, volume)| {
        (volume["spec"]["claimRef"].is_null(), size(&volume["spec"]["capacity"]), (*path).clone())
    })
}

fn size(of: &Value) -> i128 {
    amount(text(&of["storage"]))
}

/// The name of the volume that is made for a claim.
pub(super) fn name_for(claim: &Value) -> String {
    format!("pvc-{}", text(&claim["metadata"]["uid"]))
}

/// How a volume names its claim.
pub(super) fn reference(path: &Path, claim: &Value) -> Value {
    let metadata = &claim["metadata"];
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": path.namespace(), "name": path.name(),
        "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
    })
}

/// The volume that is made for a claim.
pub(super) fn made(path: &Path, claim: &Value, class: Option<&Value>, provisioner: &str) -> Value {
    let (spec, name) = (&claim["spec"], name_for(claim));
    let mut volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": { "name": name, "annotations": { PROVISIONED_BY: provisioner } },
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": { "storage": spec["resources"]["requests"]["storage"] },
            "claimRef": reference(path, claim),
            // The name of a driver has no slash.
            "csi": { "driver": provisioner.replace('/', "."), "volumeHandle": name },
            "persistentVolumeReclaimPolicy": "Delete",
        },
    });
    if !spec["volumeMode"].is_null() {
        volume["spec"]["volumeMode"] = spec["volumeMode"].clone();
    }
    if let Some(class) = class {
        volume["spec"]["storageClassName"] = class["metadata"]["name"].clone();
        for (of_class, of_volume) in
            [("reclaimPolicy", "persistentVolumeReclaimPolicy"), ("mountOptions", "mountOptions")]
        {
            if !class[of_class].is_null() {
                volume["spec"][of_volume] = class[of_class].clone();
            }
        }
    }
    volume
}
