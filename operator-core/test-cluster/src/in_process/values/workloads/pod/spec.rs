//! The spec of a pod, part by part in the order of the real server.

use serde_json::Value;

use super::{
    affinity, all_containers, containers, dns, pod_resources, resources, security, spread, tolerations,
    volumes, windows,
};
use crate::in_process::values::{
    common::labels,
    errors::Errors,
    names::{self, outside},
    path::Path,
    read::{at, flag, int, items, part, text},
};

/// What the parts of a spec ask about it as a whole.
pub(super) struct Context<'v> {
    pub(super) spec: &'v Value,
    /// The names and kinds of the volumes that are right.
    pub(super) volumes: Vec<(&'v str, &'v Value)>,
    pub(super) grace: Option<i64>,
    /// Whether the containers have the users of the node.
    pub(super) host_users: bool,
}

/// A spec; with the metadata if it is one of a pod, and not of a template.
pub(super) fn check(errors: &mut Errors, path: &Path<'_>, spec: &Value, pod: Option<&Value>) {
    let grace = int(spec, "terminationGracePeriodSeconds");
    if grace.is_none() {
        errors.required(&path.child("terminationGracePeriodSeconds"), "");
    }
    let volumes = volumes::check(errors, &path.child("volumes"), spec, pod);
    let host_users = at(spec, "hostUsers").as_bool().unwrap_or(true);
    let context = Context { spec, volumes, grace, host_users };
    resources::pod_claims(errors, &path.child("resourceClaims"), spec, pod);
    containers::regular(errors, &path.child("containers"), &context);
    containers::init(errors, &path.child("initContainers"), &context);
    containers::ephemeral(errors, &path.child("ephemeralContainers"), &context);
    pod_resources::check(errors, path, spec);
    host_ports(errors, path, spec, pod.is_some());
    one_of(
        errors,
        &path.child("restartPolicy"),
        text(spec, "restartPolicy"),
        &["Always", "OnFailure", "Never"],
    );
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of(errors, &path.child("dnsPolicy"), text(spec, "dnsPolicy"), &policies);
    labels(errors, &path.child("nodeSelector"), at(spec, "nodeSelector"));
    security::of_pod(errors, &path.child("securityContext"), spec);
    affinity::check(errors, &path.child("affinity"), at(spec, "affinity"));
    dns::config(errors, &path.child("dnsConfig"), spec);
    gates(errors, path, spec);
    spread::check(errors, &path.child("topologySpreadConstraints"), spec);
    windows::host_processes(errors, path, spec);
    own_users(errors, path, spec);
    dns::hostname(errors, path, spec);
    names_in(errors, path, spec);
    tolerations::check(errors, &path.child("tolerations"), at(spec, "tolerations"));
    dns::aliases(errors, &path.child("hostAliases"), spec);
    rest(errors, path, spec);
    files_of_variables(errors, path, spec);
}

/// A text that must be one of a few.
pub(super) fn one_of(errors: &mut Errors, path: &Path<'_>, value: &str, known: &[&str]) {
    if value.is_empty() {
        errors.required(path, "");
    } else if !known.contains(&value) {
        errors.not_supported(path, value, known);
    }
}

fn host_ports(errors: &mut Errors, path: &Path<'_>, spec: &Value, is_pod: bool) {
    if !flag(spec, "hostNetwork") {
        return;
    }
    let list = path.child("containers");
    for (index, container) in items(spec, "containers") {
        let path = list.index(index);
        let list = path.child("ports");
        for (index, port) in items(container, "ports") {
            let number = |field: &str| int(port, field).unwrap_or_default();
            let (host, own) = (number("hostPort"), number("containerPort"));
            if (is_pod || host != 0) && host != own {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.invalid(&list.index(index).child("hostPort"), host, detail);
            }
        }
    }
}

fn gates(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let list = path.child("readinessGates");
    for (index, gate) in items(spec, "readinessGates") {
        let of = text(gate, "conditionType");
        errors.all_invalid(&list.index(index).child("conditionType"), of, &names::qualified(of));
    }
    let list = path.child("schedulingGates");
    let mut seen = Vec::new();
    for (index, gate) in items(spec, "schedulingGates") {
        let (path, name) = (list.index(index), text(gate, "name"));
        errors.all_invalid(&path, name, &names::qualified(name));
        if seen.contains(&name) {
            errors.duplicate(&path, name);
        }
        seen.push(name);
    }
}

/// Pods that have their own users share nothing else with the node.
fn own_users(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    if at(spec, "hostUsers").as_bool() != Some(false) {
        return;
    }
    for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if flag(spec, field) {
            errors.forbidden(&path.child(shown), "when `hostUsers` is false");
        }
    }
    for (list, index, container) in all_containers(spec) {
        if items(container, "volumeDevices").next().is_some() {
            let list = path.child(list);
            errors.forbidden(&list.index(index).child("volumeDevices"), "when `hostUsers` is false");
        }
    }
}

fn names_in(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    for field in ["serviceAccountName", "nodeName"] {
        let name = text(spec, field);
        if !name.is_empty() {
            errors.all_invalid(&path.child(field), name, &names::dns_subdomain(name));
        }
    }
    const MOST: i64 = i32::MAX as i64;
    if let Some(deadline) =
        int(spec, "activeDeadlineSeconds").filter(|deadline| !(1..=MOST).contains(deadline))
    {
        errors.invalid(&path.child("activeDeadlineSeconds"), deadline, &outside(1, MOST));
    }
    for field in ["hostname", "subdomain"] {
        let name = text(spec, field);
        if !name.is_empty() {
            errors.all_invalid(&path.child(field), name, &names::dns_label(name));
        }
    }
}

fn rest(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let class = text(spec, "priorityClassName");
    if !class.is_empty() {
        errors.all_invalid(&path.child("priorityClassName"), class, &names::dns_subdomain(class));
    }
    if part(spec, "runtimeClassName").is_some() {
        let class = text(spec, "runtimeClassName");
        errors.all_invalid(&path.child("runtimeClassName"), class, &names::dns_subdomain(class));
    }
    if part(spec, "preemptionPolicy").is_some() {
        let known = ["PreemptLowerPriority", "Never"];
        one_of(errors, &path.child("preemptionPolicy"), text(spec, "preemptionPolicy"), &known);
    }
    resources::overhead(errors, &path.child("overhead"), at(spec, "overhead"));
    if let Some(os) = part(spec, "os") {
        let place = path.child("os");
        match text(os, "name") {
            "" => errors.required(&place.child("name"), ""),
            "linux" => windows::of_linux(errors, path, spec),
            "windows" => windows::of_windows(errors, path, spec),
            other => errors.not_supported(&place, other, &["linux", "windows"]),
        }
    }
}

/// Variables may come from files in volumes that are emptied with the pod.
fn files_of_variables(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    for (list, index, container) in all_containers(spec) {
        for (at_variable, variable) in items(container, "env") {
            let Some(key) = part(at(variable, "valueFrom"), "fileKeyRef") else { continue };
            let name = text(key, "volumeName");
            let list = path.child(list);
            let container = list.index(index);
            let list = container.child("env");
            let variable = list.index(at_variable);
            let place = variable.child("valueFrom.fileKeyRef.volumeName");
            match items(spec, "volumes").find(|(_, volume)| text(volume, "name") == name) {
                None => errors.not_found(&place, name),
                Some((_, volume)) if part(volume, "emptyDir").is_none() => {
                    errors.invalid(&place, name, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    }
}
