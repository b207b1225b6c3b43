//! Rights of pods and containers on the node.

use serde_json::Value;

use super::{spec::one_of, windows};
use crate::in_process::values::{
    errors::{Errors, Verbatim, json},
    internal,
    names::outside,
    path::Path,
    paths,
    read::{at, flag, items, part, text},
};

const MOST: i64 = i32::MAX as i64;

/// A user or a group of the node.
fn id(errors: &mut Errors, path: &Path<'_>, id: &Value) {
    if let Some(id) = id.as_i64().filter(|id| !(0..=MOST).contains(id)) {
        errors.invalid(path, id, &outside(0, MOST));
    }
}

/// The rights of a pod.
pub(super) fn of_pod(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let Some(context) = part(spec, "securityContext") else { return };
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(errors, &path.child(field), at(context, field));
    }
    let groups = path.child("supplementalGroups");
    for (index, group) in items(context, "supplementalGroups") {
        id(errors, &groups.index(index), group);
    }
    if flag(spec, "shareProcessNamespace") && flag(spec, "hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(&path.child("shareProcessNamespace"), true, detail);
    }
    kernel_settings(errors, &path.child("sysctls"), spec, context);
    known(errors, path, context, "fsGroupChangePolicy", &["Always", "OnRootMismatch"]);
    seccomp(errors, &path.child("seccompProfile"), context);
    windows::options(errors, &path.child("windowsOptions"), at(context, "windowsOptions"));
    app_armor(errors, &path.child("appArmorProfile"), context);
    known(errors, path, context, "supplementalGroupsPolicy", &["Merge", "Strict"]);
    known(errors, path, context, "seLinuxChangePolicy", &["Recursive"]);
}

/// A text that is one of a few, if it is there.
fn known(errors: &mut Errors, path: &Path<'_>, context: &Value, field: &str, known: &[&str]) {
    if part(context, field).is_some() && !known.contains(&text(context, field)) {
        errors.not_supported(&path.child(field), text(context, field), known);
    }
}

fn kernel_settings(errors: &mut Errors, list: &Path<'_>, spec: &Value, context: &Value) {
    let mut names = Vec::new();
    for (index, setting) in items(context, "sysctls") {
        let (path, name) = (list.index(index), text(setting, "name"));
        let path = path.child("name");
        if name.is_empty() {
            errors.required(&path, "");
        } else if !is_setting(name) {
            let detail = "must have at most 253 characters and match regex \
                          ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            errors.invalid(&path, name, detail);
        } else if names.contains(&name) {
            errors.duplicate(&path, name);
        }
        // The first separator says which one separates.
        let slashes = name.find(['.', '/']).is_some_and(|at| name.as_bytes()[at] == b'/');
        let dotted = if slashes { name.replace('/', ".") } else { name.to_owned() };
        let of_net = dotted.starts_with("net.");
        let of_ipc = ["kernel.sem", "kernel.shm", "kernel.msg", "fs.mqueue."];
        if flag(spec, "hostNetwork") && of_net {
            errors.invalid(&path, name, "may not be specified when 'hostNetwork' is true");
        } else if flag(spec, "hostIPC") && of_ipc.iter().any(|prefix| dotted.starts_with(prefix)) {
            errors.invalid(&path, name, "may not be specified when 'hostIPC' is true");
        }
        names.push(name);
    }
}

fn is_setting(name: &str) -> bool {
    let end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let part =
        |part: &str| part.bytes().all(inner) && end(part.bytes().next()) && end(part.bytes().next_back());
    name.len() <= 253 && name.split(['.', '/']).all(part)
}

/// The rights of a container.
pub(super) fn of_container(errors: &mut Errors, path: &Path<'_>, container: &Value, host_users: bool) {
    let Some(context) = part(container, "securityContext") else { return };
    for field in ["runAsUser", "runAsGroup"] {
        id(errors, &path.child(field), at(context, field));
    }
    if part(context, "procMount").is_some() {
        let (path, mount) = (path.child("procMount"), text(context, "procMount"));
        if !matches!(mount, "Default" | "Unmasked") {
            errors.not_supported(&path, mount, &["Default", "Unmasked"]);
        }
        if host_users && mount == "Unmasked" {
            errors.invalid(&path, mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    seccomp(errors, &path.child("seccompProfile"), context);
    if at(context, "allowPrivilegeEscalation").as_bool() == Some(false) {
        let shown = || Verbatim(internal::security_context(context));
        if flag(context, "privileged") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.invalid(path, shown(), detail);
        }
        let added = items(at(context, "capabilities"), "add");
        for _ in added.filter(|(_, capability)| *capability == "CAP_SYS_ADMIN") {
            let detail =
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.invalid(path, shown(), detail);
        }
    }
    windows::options(errors, &path.child("windowsOptions"), at(context, "windowsOptions"));
    app_armor(errors, &path.child("appArmorProfile"), context);
}

fn seccomp(errors: &mut Errors, path: &Path<'_>, context: &Value) {
    let Some(profile) = part(context, "seccompProfile") else { return };
    let (of, file) = (text(profile, "type"), part(profile, "localhostProfile"));
    let place = path.child("localhostProfile");
    match of {
        "" => errors.required(&path.child("type"), "type is required when seccompProfile is set"),
        of => one_of(errors, &path.child("type"), of, &["Localhost", "RuntimeDefault", "Unconfined"]),
    }
    match (of, file) {
        ("Localhost", None) => errors.required(&place, "must be set when seccomp type is Localhost"),
        ("Localhost", Some(file)) => paths::descending(errors, &place, file.as_str().unwrap_or_default()),
        (of, Some(file)) => {
            let shown =
                format!("{{\"Type\":{},\"LocalhostProfile\":{}}}", json(&of.into(), &[]), json(file, &[]));
            errors.invalid(&place, Verbatim(shown), "can only be set when seccomp type is Localhost");
        }
        _ => {}
    }
}

fn app_armor(errors: &mut Errors, path: &Path<'_>, context: &Value) {
    let Some(profile) = part(context, "appArmorProfile") else { return };
    let file = at(profile, "localhostProfile").as_str();
    let place = path.child("localhostProfile");
    match (text(profile, "type"), file) {
        ("Localhost", None) => errors.required(&place, "must be set when AppArmor type is Localhost"),
        ("Localhost", Some(file)) => {
            if file.trim() != file {
                errors.invalid(&place, file, "must not be padded with whitespace");
            } else if file.is_empty() {
                errors.required(&place, "must be set when AppArmor type is Localhost");
            }
            if file.len() > 4095 {
                errors.too_long(&place, 4095);
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(file)) => {
            errors.invalid(&place, file, "can only be set when AppArmor type is Localhost");
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => errors.required(&path.child("type"), "type is required when appArmorProfile is set"),
        (other, _) => {
            let known = ["Localhost", "RuntimeDefault", "Unconfined"];
            errors.not_supported(&path.child("type"), other, &known);
        }
    }
}
