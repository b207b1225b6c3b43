//! Pods, and the templates of pods.
//!
//! ```text
//!  create ─┐                 ┌─ volumes ── projected, claim
//!  update ─┼─▶ spec ─────────┼─ containers ── env, probes, mounts, security, resources
//!  template┘                 └─ affinity, spread, tolerations, dns
//! ```

mod affinity;
pub(super) mod annotations;
mod containers;
mod dns;
mod env;
mod handlers;
mod mounts;
mod older_volumes;
mod pod_resources;
mod projected;
mod resources;
mod security;
mod spec;
mod spread;
pub(super) mod status;
mod status_details;
pub(super) mod template;
mod tolerations;
pub(super) mod update;
mod volumes;
mod windows;

use serde_json::Value;

use super::SPEC;
pub(super) use crate::in_process::values::claim;
use crate::in_process::values::{
    errors::Errors,
    path::Path,
    read::{at, count, items, part, text},
};
pub(in crate::in_process::values) use affinity::node_selector;
pub(in crate::in_process::values) use older_volumes::{check as older_volume, storage_os_volume};
pub(in crate::in_process::values) use volumes::host_path;

/// A new pod.
pub(super) fn create(pod: &Value, errors: &mut Errors) {
    whole(errors, pod);
    let spec = at(pod, "spec");
    if count(spec, "ephemeralContainers") > 0 {
        errors.forbidden(&SPEC.child("ephemeralContainers"), "cannot be set on create");
    }
    if !text(spec, "nodeName").is_empty() && count(spec, "schedulingGates") > 0 {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.forbidden(&SPEC.child("nodeName"), detail);
    }
    annotations::agree(errors, at(pod, "metadata"), &SPEC, spec);
}

/// What is asked of a new pod and of a changed one.
fn whole(errors: &mut Errors, pod: &Value) {
    let (metadata, spec) = (at(pod, "metadata"), at(pod, "spec"));
    annotations::check(errors, &Path::root("metadata").child("annotations"), metadata, spec);
    spec::check(errors, &SPEC, spec, Some(metadata));
    if text(spec, "serviceAccountName").is_empty() {
        let list = SPEC.child("volumes");
        for (index, volume) in items(spec, "volumes") {
            let path = list.index(index);
            let path = path.child("projected.sources");
            for (index, source) in items(at(volume, "projected"), "sources") {
                if part(source, "serviceAccountToken").is_some() {
                    let detail = "must not be specified when serviceAccountName is not set";
                    errors.forbidden(&path.index(index).child("serviceAccountToken"), detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        let path = SPEC.child(list);
        for (index, container) in items(spec, list) {
            containers::image_of_pod(errors, &path.index(index), container);
        }
    }
}

/// All containers with their places, in the order in which the real server visits them.
fn all_containers<'v>(spec: &'v Value) -> impl Iterator<Item = (&'static str, usize, &'v Value)> + use<'v> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|list| items(spec, list).map(move |(index, container)| (list, index, container)))
}
