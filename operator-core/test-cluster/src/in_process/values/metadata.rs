//! Names, labels, annotations, owners and finalizers: what every object has. Pure.
//!
//! The real server checks a new object's metadata once. Those of a changed one it checks in general, and some of them again
//! with the kind's own values, so that a cause is there several times:
//!
//! ```text
//!  all of it ─▶ what may not change, and most of it ─▶ the kind: the same once more, or all once more, or both
//! ```

use serde_json::Value;

use super::{
    common::{annotations, labels, not_negative},
    errors::{Errors, Verbatim, json},
    names,
    path::Path,
    read::{at, flag, items, text},
};
use crate::in_process::{failure::Cause, kinds::Kind};

const METADATA: Path<'static> = Path::root("metadata");

/// What a kind's own checks look at when an object is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    /// Nothing of its metadata.
    Nothing,
    /// What may not change, and most of the rest.
    Change,
    /// All of it like that of a new object.
    Whole,
    /// Both.
    Both,
    /// All of it like that of a new object, two times.
    Twice,
}

fn again(kind: &Kind) -> Again {
    match (kind.group.as_str(), kind.kind.as_str()) {
        _ if kind.is_custom() => Again::Change,
        ("", "Event") | ("policy", _) => Again::Nothing,
        ("discovery.k8s.io", "EndpointSlice") | ("admissionregistration.k8s.io", _) => Again::Whole,
        ("", "PersistentVolume") => Again::Twice,
        ("", "Pod" | "ConfigMap" | "Secret" | "PersistentVolumeClaim" | "ServiceAccount" | "Namespace")
        | ("apps", "ControllerRevision")
        | ("batch", "Job")
        | ("networking.k8s.io", "Ingress" | "IngressClass")
        | ("storage.k8s.io", "StorageClass")
        | ("apiregistration.k8s.io" | "node.k8s.io", _)
        | ("rbac.authorization.k8s.io", _) => Again::Both,
        _ => Again::Change,
    }
}

/// Whether names of finalizers without a prefix must be among the known ones.
fn knows_finalizers(kind: &Kind) -> bool {
    !kind.is_custom()
        && !matches!(
            (kind.group.as_str(), kind.kind.as_str()),
            ("", "Event")
                | (
                    "coordination.k8s.io"
                        | "policy"
                        | "apiextensions.k8s.io"
                        | "admissionregistration.k8s.io"
                        | "apiregistration.k8s.io"
                        | "node.k8s.io",
                    _
                )
        )
}

/// The metadata of a new object.
pub(in crate::in_process) fn of_new(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut errors = Errors::default();
    let metadata = at(object, "metadata");
    let prefix = text(metadata, "generateName");
    if !prefix.is_empty() {
        errors.all_invalid(&METADATA.child("generateName"), prefix, &wrong_name(kind, prefix, true));
    }
    match text(metadata, "name") {
        "" => errors.required(&METADATA.child("name"), "name or generateName is required"),
        name => errors.all_invalid(&METADATA.child("name"), name, &wrong_name(kind, name, false)),
    }
    all(metadata, &METADATA, &mut errors);
    if knows_finalizers(kind) {
        known_finalizers(metadata, &mut errors);
    }
    errors.into_causes()
}

/// The metadata of a changed object, whose `fixed` fields the change has touched.
pub(in crate::in_process) fn of_changed(kind: &Kind, object: &Value, fixed: &[Cause]) -> Vec<Cause> {
    let mut errors = Errors::default();
    let metadata = at(object, "metadata");
    let change = |errors: &mut Errors| {
        fixed.iter().for_each(|cause| errors.push(cause.clone()));
        most(metadata, &METADATA, errors);
    };
    let known = |errors: &mut Errors| {
        if knows_finalizers(kind) {
            known_finalizers(metadata, errors);
        }
    };
    let prefix = text(metadata, "generateName");
    let prefixed = |errors: &mut Errors, wrong: &[String]| {
        errors.all_invalid(&METADATA.child("generateName"), prefix, wrong);
    };
    prefixed(&mut errors, &path_prefix(prefix));
    all(metadata, &METADATA, &mut errors);
    change(&mut errors);
    let again = again(kind);
    if matches!(again, Again::Change | Again::Both) {
        change(&mut errors);
        known(&mut errors);
    }
    let times = match again {
        Again::Nothing | Again::Change => 0,
        Again::Whole | Again::Both => 1,
        Again::Twice => 2,
    };
    for _ in 0..times {
        if !prefix.is_empty() {
            prefixed(&mut errors, &wrong_name(kind, prefix, true));
        }
        all(metadata, &METADATA, &mut errors);
        known(&mut errors);
    }
    errors.into_causes()
}

/// The metadata of an object that is a part of another one. It needs no name, and may say which namespace it is in.
pub(in crate::in_process) fn of_embedded(metadata: &Value, path: &str) -> Vec<Cause> {
    let (mut errors, path) = (Errors::default(), Path::root(path));
    let prefix = text(metadata, "generateName");
    errors.all_invalid(&path.child("generateName"), prefix, &path_prefix(prefix));
    let name = text(metadata, "name");
    errors.all_invalid(&path.child("name"), name, &names::path_segment(name));
    let namespace = text(metadata, "namespace");
    if !namespace.is_empty() {
        errors.all_invalid(&path.child("namespace"), namespace, &names::dns_label(namespace));
    }
    not_negative(&mut errors, &path.child("generation"), at(metadata, "generation"));
    all(metadata, &path, &mut errors);
    for (index, entry) in items(metadata, "managedFields") {
        let all = path.child("managedFields");
        let path = all.index(index);
        if !["Apply", "Update"].contains(&text(entry, "operation")) {
            errors.invalid(&path.child("operation"), text(entry, "operation"), "must be `Apply` or `Update`");
        }
        if !["", "FieldsV1"].contains(&text(entry, "fieldsType")) {
            errors.invalid(&path.child("fieldsType"), text(entry, "fieldsType"), "must be `FieldsV1`");
        }
        for (field, limit) in [("manager", 128), ("subresource", 256)] {
            if text(entry, field).len() > limit {
                errors.too_long(&path.child(field), limit);
            }
        }
    }
    errors.into_causes()
}

fn all(metadata: &Value, of: &Path<'_>, errors: &mut Errors) {
    most(metadata, of, errors);
    let path = of.child("finalizers");
    let (mut orphan, mut foreground) = (false, false);
    for (_, finalizer) in items(metadata, "finalizers") {
        let finalizer = finalizer.as_str().unwrap_or_default();
        errors.all_invalid(&path, finalizer, &names::qualified(finalizer));
        orphan |= finalizer == "orphan";
        foreground |= finalizer == "foregroundDeletion";
    }
    if orphan && foreground {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid(&path, at(metadata, "finalizers"), detail);
    }
}

fn most(metadata: &Value, path: &Path<'_>, errors: &mut Errors) {
    labels(errors, &path.child("labels"), at(metadata, "labels"));
    annotations(errors, &path.child("annotations"), at(metadata, "annotations"));
    owners(at(metadata, "ownerReferences"), &path.child("ownerReferences"), errors);
}

fn known_finalizers(metadata: &Value, errors: &mut Errors) {
    for (index, finalizer) in items(metadata, "finalizers") {
        let path = METADATA.child("finalizers");
        known_finalizer(finalizer.as_str().unwrap_or_default(), &path.index(index), errors);
    }
}

/// A finalizer has a prefix or is one of Kubernetes' own.
pub(super) fn known_finalizer(finalizer: &str, path: &Path<'_>, errors: &mut Errors) {
    const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
    if !finalizer.contains('/') && !STANDARD.contains(&finalizer) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.invalid(path, finalizer, detail);
    }
}

fn owners(references: &Value, path: &Path<'_>, errors: &mut Errors) {
    const FIRST: [&str; 4] = ["apiVersion", "kind", "name", "uid"];
    let mut controller: Option<String> = None;
    for reference in references.as_array().into_iter().flatten() {
        let (api_version, kind, name) =
            (text(reference, "apiVersion"), text(reference, "kind"), text(reference, "name"));
        let version = match api_version.split('/').collect::<Vec<_>>()[..] {
            [version] | [_, version] => version,
            _ => "",
        };
        if version.is_empty() {
            errors.invalid(&path.child("apiVersion"), api_version, "version must not be empty");
        }
        for (field, value) in [("kind", kind), ("name", name), ("uid", text(reference, "uid"))] {
            if value.is_empty() {
                errors.invalid(&path.child(field), value, "must not be empty");
            }
        }
        if (api_version, kind) == ("v1", "Event") {
            let shown = Verbatim(json(reference, &FIRST));
            errors.invalid(path, shown, "/v1, Kind=Event is disallowed from being an owner");
        }
        if flag(reference, "controller") {
            match &controller {
                None => controller = Some(format!("{kind}/{name}")),
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} \
                         and {kind}/{name}"
                    );
                    let shown = json(references, &["apiVersion", "kind", "name", "uid", "controller"]);
                    errors.invalid(path, Verbatim(shown), &detail);
                }
            }
        }
    }
}

/// What is wrong with the beginning of a name that can stand in a path.
fn path_prefix(prefix: &str) -> Vec<String> {
    names::path_segment(prefix).into_iter().filter(|why| !why.starts_with("may not be")).collect()
}

/// What is wrong with the name of an object, or with what its name begins with.
fn wrong_name(kind: &Kind, name: &str, is_prefix: bool) -> Vec<String> {
    let masked = match name.strip_suffix('-') {
        // What is generated goes on behind the dash.
        Some(begin) if is_prefix && !begin.is_empty() => {
            let mut chars = begin.chars();
            chars.next_back();
            format!("{}a", chars.as_str())
        }
        _ => name.to_owned(),
    };
    match (kind.group.as_str(), kind.kind.as_str()) {
        // Names of rights are anything that can stand in a path.
        ("rbac.authorization.k8s.io" | "apiregistration.k8s.io", _) => names::path_segment(name),
        ("", "Event") | ("policy", _) if is_prefix => path_prefix(name),
        ("", "Event") | ("policy", _) => names::path_segment(name),
        ("", "Namespace" | "Service") | ("apps", "StatefulSet") => names::dns_label(&masked),
        _ => names::dns_subdomain(&masked),
    }
}
