//! The templates of pods.

use serde_json::Value;

use super::{annotations, spec};
use crate::in_process::values::{
    common,
    errors::Errors,
    path::Path,
    read::{at, count},
};

/// A template. The paths of its labels and annotations leave out `metadata`, as on the real server.
pub(in super::super) fn check(errors: &mut Errors, path: &Path<'_>, template: &Value) {
    let (metadata, pods) = (at(template, "metadata"), at(template, "spec"));
    common::labels(errors, &path.child("labels"), at(metadata, "labels"));
    common::annotations(errors, &path.child("annotations"), at(metadata, "annotations"));
    annotations::check(errors, &path.child("annotations"), metadata, pods);
    spec::check(errors, &path.child("spec"), pods, None);
    annotations::agree(errors, metadata, &path.child("spec"), pods);
    if count(pods, "ephemeralContainers") > 0 {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(&path.child("spec.ephemeralContainers"), detail);
    }
}
