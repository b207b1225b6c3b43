//! What becomes of a volume.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{PROVISIONED_BY, VOLUME_IN_USE, claims, unprotected, volumes, write};
use crate::in_process::{
    fields::Endpoint,
    steps::{
        Act, Next,
        view::{View, stays, text},
    },
    store::Path,
    write::{How, metadata::time},
};

/// What a volume needs next.
pub(in crate::in_process::steps) fn next(view: &View<'_>, path: &Path, volume: &Arc<Value>) -> Next {
    let claim = &volume["spec"]["claimRef"];
    let phase = text(&volume["status"]["phase"]);
    let becomes = |phase: &str| {
        let mut object = Value::clone(volume);
        object["status"] = json!({ "phase": phase, "lastPhaseTransitionTime": time(view.now) });
        write(&volumes(), path, Endpoint::Status, object)
    };
    let is_owned = || {
        let path = Path::new(claim["namespace"].as_str(), text(&claim["name"]));
        let owner = view.store.get(&claims(), &path);
        owner.is_some_and(|owner| owner["metadata"]["uid"] == claim["uid"])
    };
    if claim["uid"].is_null() {
        if stays(volume) && phase != "Available" {
            return Next::act(becomes("Available"));
        }
        return unprotected(&volumes(), path, volume, VOLUME_IN_USE);
    }
    if is_owned() {
        return Next::nothing();
    }
    if phase != "Released" {
        return Next::first(vec![becomes("Released")]);
    }
    let is_made = volume["metadata"]["annotations"].get(PROVISIONED_BY).is_some();
    if stays(volume) && is_made && volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete" {
        let how = How::Background;
        return Next::first(vec![Act::Delete { resource: volumes(), path: path.clone(), how }]);
    }
    unprotected(&volumes(), path, volume, VOLUME_IN_USE)
}
