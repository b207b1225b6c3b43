//! The annotations of pods that mean something.

use serde_json::Value;

use super::{all_containers, tolerations};
use crate::in_process::values::{
    errors::Errors,
    path::Path,
    paths,
    read::{at, entries, part, text},
};

const MIRROR: &str = "kubernetes.io/config.mirror";
const COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_OF: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The annotations of a pod or a template.
pub(in super::super) fn check(errors: &mut Errors, path: &Path<'_>, metadata: &Value, spec: &Value) {
    let annotations = at(metadata, "annotations");
    if annotations.is_null() {
        return;
    }
    if let Some(value) = annotations.get(MIRROR).and_then(Value::as_str)
        && text(spec, "nodeName").is_empty()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.invalid(&path.key(MIRROR), value, detail);
    }
    if !text(annotations, TOLERATIONS).is_empty()
        && let Ok(list) = serde_json::from_str::<Value>(text(annotations, TOLERATIONS))
    {
        tolerations::check(errors, &path.child(TOLERATIONS), &list);
    }
    if let Some(cost) = annotations.get(COST).and_then(Value::as_str)
        && !is_cost(cost)
    {
        errors.invalid(&path.key(COST), cost, "must be a 32bit integer");
    }
    for (key, value) in entries(metadata, "annotations") {
        let value = value.as_str().unwrap_or_default();
        if key == SECCOMP || key.starts_with(SECCOMP_OF) {
            match value.strip_prefix("localhost/") {
                Some(file) => paths::descending(errors, &path.child(key), file),
                None if matches!(value, "runtime/default" | "docker/default" | "unconfined") => {}
                None => errors.invalid(&path.child(key), value, "must be a valid seccomp profile"),
            }
        }
        if let Some(name) = key.strip_prefix(APP_ARMOR_OF) {
            if !all_containers(spec).any(|(_, _, container)| text(container, "name") == name) {
                errors.invalid(&path.key(key), name, "container not found");
            }
            let known =
                matches!(value, "" | "runtime/default" | "unconfined") || value.starts_with("localhost/");
            if !known {
                errors.invalid(&path.key(key), value, &format!("invalid AppArmor profile name: {value:?}"));
            }
        }
    }
}

/// A whole number, without a plus or zeros in front of it.
fn is_cost(text: &str) -> bool {
    let first = text.bytes().next().unwrap_or_default();
    let canonical = text == "0" || first == b'-' || (b'1'..=b'9').contains(&first);
    canonical && text.parse::<i32>().is_ok()
}

/// What an annotation and a field say about the same thing.
pub(super) fn agree(errors: &mut Errors, metadata: &Value, path: &Path<'_>, spec: &Value) {
    let annotations = at(metadata, "annotations");
    if annotations.is_null() {
        return;
    }
    let of_pod = at(spec, "securityContext");
    if let Some(profile) = part(of_pod, "seccompProfile")
        && let Some(said) = annotations.get(SECCOMP).and_then(Value::as_str)
    {
        one(errors, &path.child("securityContext.seccompProfile"), "seccomp", said, profile);
    }
    for (list, index, container) in all_containers(spec) {
        let context = at(container, "securityContext");
        let key = format!("{SECCOMP_OF}{}", text(container, "name"));
        let said = annotations.get(&key).and_then(Value::as_str);
        if let (Some(profile), Some(said)) = (part(context, "seccompProfile"), said) {
            let list = path.child(list);
            let path = list.index(index);
            one(errors, &path.child("securityContext.seccompProfile"), "seccomp", said, profile);
        }
    }
    if text(at(spec, "os"), "name") == "windows" {
        return;
    }
    for (list, index, container) in all_containers(spec) {
        let own = part(at(container, "securityContext"), "appArmorProfile");
        let profile = own.or_else(|| part(of_pod, "appArmorProfile"));
        let key = format!("{APP_ARMOR_OF}{}", text(container, "name"));
        let said = annotations.get(&key).and_then(Value::as_str);
        if let (Some(profile), Some(said)) = (profile, said) {
            let list = path.child(list);
            let path = list.index(index);
            one(errors, &path.child("securityContext.appArmorProfile"), "apparmor", said, profile);
        }
    }
}

fn one(errors: &mut Errors, path: &Path<'_>, what: &str, said: &str, profile: &Value) {
    let same = match text(profile, "type") {
        "Unconfined" => said == "unconfined",
        "RuntimeDefault" => said == "runtime/default" || what == "seccomp" && said == "docker/default",
        "Localhost" => match said.strip_prefix("localhost/") {
            Some(file) if Some(file) != at(profile, "localhostProfile").as_str() => {
                let detail = format!("{what} profile in annotation and field must match");
                return errors.forbidden(&path.child("localhostProfile"), &detail);
            }
            found => found.is_some(),
        },
        _ => true,
    };
    if !same {
        let detail = format!("{what} type in annotation and field must match");
        errors.forbidden(&path.child("type"), &detail);
    }
}

/// Annotations that stay as they are once the pod exists.
pub(super) fn kept(errors: &mut Errors, path: &Path<'_>, new: &Value, old: &Value) {
    let (of_new, of_old) = (at(new, "annotations"), at(old, "annotations"));
    let changed = [("remove or update", old, of_new), ("add", new, of_old)];
    for (verb, side, other) in changed {
        for (key, value) in entries(side, "annotations") {
            let kept = if verb == "add" { other.get(key).is_some() } else { other.get(key) == Some(value) };
            if kept {
                continue;
            }
            if key.starts_with(APP_ARMOR_OF) {
                errors.forbidden(&path.key(key), &format!("may not {verb} AppArmor annotations"));
            }
            if key == MIRROR {
                errors.forbidden(&path.key(key), &format!("may not {verb} mirror pod annotation"));
            }
        }
    }
}
