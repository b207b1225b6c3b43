//! What is different on nodes with Windows.

use serde_json::Value;

use super::all_containers;
use crate::in_process::values::{
    errors::Errors,
    names,
    path::Path,
    read::{at, flag, part},
};

const NOT_OF_WINDOWS: &str = "cannot be set for a windows pod";

/// The options of a pod or a container.
pub(super) fn options(errors: &mut Errors, path: &Path<'_>, options: &Value) {
    if let Some(name) = at(options, "gmsaCredentialSpecName").as_str() {
        errors.all_invalid(&path.child("gmsaCredentialSpecName"), name, &names::dns_subdomain(name));
    }
    if let Some(spec) = at(options, "gmsaCredentialSpec").as_str() {
        let place = path.child("gmsaCredentialSpec");
        if spec.is_empty() {
            errors.invalid(&place, spec, "gmsaCredentialSpec cannot be an empty string");
        } else if spec.len() > 64 * 1024 {
            errors.invalid(&place, spec, "gmsaCredentialSpec size must be under 64 KiB");
        }
    }
    if let Some(user) = at(options, "runAsUserName").as_str() {
        for why in wrong_user(user) {
            errors.invalid(&path.child("runAsUserName"), user, why);
        }
    }
}

fn wrong_user(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string"];
    }
    if name.chars().any(|letter| letter.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters"];
    }
    let (domain, user) = match name.split('\\').collect::<Vec<_>>()[..] {
        [user] => (None, user),
        [domain, user] => (Some(domain), user),
        _ => return vec!["runAsUserName cannot contain more than one backslash"],
    };
    let mut wrong = Vec::new();
    if let Some(domain) = domain {
        if domain.len() >= 256 {
            wrong.push("runAsUserName's Domain length must be under 256 characters");
        }
        if !is_netbios(domain) && !is_domain(domain) {
            wrong.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
        }
    }
    if user.is_empty() {
        wrong.push("runAsUserName's User cannot be empty");
    } else if user.len() > 104 {
        wrong.push("runAsUserName's User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.chars().all(|letter| letter == '.' || letter == ' ') {
        wrong.push("runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        wrong.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    wrong
}

fn is_netbios(domain: &str) -> bool {
    let length = domain.chars().count();
    (1..=15).contains(&length)
        && !domain.starts_with('.')
        && !domain.contains(['\\', '/', ':', '*', '?', '"', '<', '>', '|'])
}

fn is_domain(domain: &str) -> bool {
    let end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let part = |part: &str| {
        part.len() <= 63
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && end(part.bytes().next())
            && end(part.bytes().next_back())
    };
    domain.split('.').all(part)
}

/// Containers that are processes of the node.
pub(super) fn host_processes(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let asked =
        |holder: &Value| at(at(at(holder, "securityContext"), "windowsOptions"), "hostProcess").as_bool();
    let of_pod = asked(spec);
    let (mut all, mut processes) = (0, 0);
    for (list, index, container) in all_containers(spec) {
        all += 1;
        let own = asked(container);
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let list = path.child(list);
            let path = list.index(index);
            let path = path.child("securityContext.windowsOptions.hostProcess");
            let detail =
                format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            errors.invalid(&path, own, &detail);
        }
        if own.or(of_pod) == Some(true) {
            processes += 1;
        }
    }
    if processes == 0 {
        return;
    }
    if processes != all {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid(path, "", detail);
    }
    if !flag(spec, "hostNetwork") {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid(&path.child("hostNetwork"), false, detail);
    }
}

/// A pod that says that it runs on Linux.
pub(super) fn of_linux(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let detail = "windows options cannot be set for a linux pod";
    if part(at(spec, "securityContext"), "windowsOptions").is_some() {
        errors.forbidden(&path.child("securityContext.windowsOptions"), detail);
    }
    for (list, index, container) in all_containers(spec) {
        if part(at(container, "securityContext"), "windowsOptions").is_some() {
            let list = path.child(list);
            errors.forbidden(&list.index(index).child("securityContext.windowsOptions"), detail);
        }
    }
}

/// A pod that says that it runs on Windows.
pub(super) fn of_windows(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let context = at(spec, "securityContext");
    let place = path.child("securityContext");
    let set = |holder: &Value, field: &str| match at(holder, field) {
        Value::Null | Value::Bool(false) if field != "hostUsers" && field != "shareProcessNamespace" => false,
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    for (of_context, field) in [
        (true, "appArmorProfile"),
        (true, "seLinuxOptions"),
        (false, "hostUsers"),
        (false, "hostPID"),
        (false, "hostIPC"),
        (true, "seccompProfile"),
        (true, "fsGroup"),
        (true, "fsGroupChangePolicy"),
        (true, "sysctls"),
        (false, "shareProcessNamespace"),
        (true, "runAsUser"),
        (true, "runAsGroup"),
        (true, "supplementalGroups"),
        (true, "supplementalGroupsPolicy"),
        (true, "seLinuxChangePolicy"),
    ] {
        let (holder, path) = if of_context { (context, &place) } else { (spec, path) };
        if set(holder, field) {
            errors.forbidden(&path.child(field), NOT_OF_WINDOWS);
        }
    }
    for (list, index, container) in all_containers(spec) {
        let context = at(container, "securityContext");
        let list = path.child(list);
        let container = list.index(index);
        let place = container.child("securityContext");
        for field in [
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup",
        ] {
            if part(context, field).is_some() {
                errors.forbidden(&place.child(field), NOT_OF_WINDOWS);
            }
        }
    }
}
