//! What the status of a pod says about claims of devices and about its containers.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::in_process::values::{
    common::number,
    errors::Errors,
    names::{self, outside},
    path::Path,
    read::{at, count, items, part, text},
};

const STATUS: Path<'static> = Path::root("status");
const MOST: i64 = i32::MAX as i64;

/// The claims of devices.
pub(super) fn claims(errors: &mut Errors, spec: &Value, status: &Value) {
    let list = STATUS.child("resourceClaimStatuses");
    let mut known = BTreeSet::new();
    for (index, claim) in items(status, "resourceClaimStatuses") {
        let (path, name) = (list.index(index), text(claim, "name"));
        if !items(spec, "resourceClaims").any(|(_, claim)| text(claim, "name") == name) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            errors.invalid(&path.child("name"), name, detail);
        }
        if !known.insert(name) {
            errors.duplicate(&path.child("name"), name);
        }
        if part(claim, "resourceClaimName").is_some() {
            let name = text(claim, "resourceClaimName");
            errors.all_invalid(&path.child("resourceClaimName"), name, &names::dns_subdomain(name));
        }
    }
    extended(errors, spec, at(status, "extendedResourceClaimStatus"));
}

fn extended(errors: &mut Errors, spec: &Value, status: &Value) {
    if status.is_null() {
        return;
    }
    let path = STATUS.child("extendedResourceClaimStatus");
    let list = path.child("requestMappings");
    if count(status, "requestMappings") == 0 {
        errors.required(&list, "at least one request mapping is required");
    }
    let mut seen = BTreeSet::new();
    for (index, mapping) in items(status, "requestMappings") {
        let place = list.index(index);
        let field = |name: &str| text(mapping, name);
        let (name, resource, request) = (field("containerName"), field("resourceName"), field("requestName"));
        let mut all = items(spec, "initContainers").chain(items(spec, "containers"));
        match all.find(|(_, container)| text(container, "name") == name) {
            Some((_, container)) if at(at(at(container, "resources"), "requests"), resource).is_null() => {
                let detail = "must match the extended resource name of an entry in \
                              spec.initContainers.resources.requests or spec.containers.resources.requests";
                errors.invalid(&place.child("resourceName"), resource, detail);
            }
            Some(_) => {}
            None => {
                let detail =
                    "must match the name of an entry in spec.initContainers.name or spec.containers.name";
                errors.invalid(&place.child("containerName"), name, detail);
            }
        }
        errors.all_invalid(&path.child("requestName"), request, &names::dns_label(request));
        if !seen.insert((name, resource, request)) {
            for field in ["containerName", "resourceName", "requestName"] {
                errors.duplicate(&place.child(field), text(mapping, field));
            }
        }
    }
    match text(status, "resourceClaimName") {
        "" => errors.required(&path.child("resourceClaimName"), ""),
        name => errors.all_invalid(&path.child("resourceClaimName"), name, &names::dns_subdomain(name)),
    }
}

const LISTS: [(&str, &str); 3] = [
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", ""),
];

/// The containers: their users, and how their devices are.
pub(super) fn containers(errors: &mut Errors, spec: &Value, status: &Value) {
    let windows = text(at(spec, "os"), "name") == "windows";
    for (list, _) in LISTS {
        for (index, container) in items(status, list) {
            let Some(user) = part(at(container, "user"), "linux") else { continue };
            let path = STATUS.child(list);
            let path = path.index(index);
            let path = path.child("user.linux");
            if windows {
                errors.forbidden(&path, "cannot be set for a windows pod");
                continue;
            }
            for field in ["uid", "gid"] {
                id(errors, &path.child(field), number(user, field));
            }
            let groups = path.child("supplementalGroups");
            for (index, group) in items(user, "supplementalGroups") {
                id(errors, &groups.index(index), group.as_i64().unwrap_or_default());
            }
        }
    }
    for (list, containers) in LISTS {
        for (index, container) in
            items(status, list).filter(|(_, it)| count(it, "allocatedResourcesStatus") > 0)
        {
            let path = STATUS.child(list);
            let path = path.index(index);
            let path = path.child("allocatedResourcesStatus");
            if containers.is_empty() {
                errors.forbidden(&path, "must not be specified in container status");
                continue;
            }
            let name = text(container, "name");
            let own = items(spec, containers).find(|(_, own)| text(own, "name") == name);
            for (index, devices) in items(container, "allocatedResourcesStatus") {
                health(errors, &path.index(index), devices, own.map(|(_, own)| own));
            }
        }
    }
}

fn id(errors: &mut Errors, path: &Path<'_>, id: i64) {
    if !(0..=MOST).contains(&id) {
        errors.invalid(path, id, &outside(0, MOST));
    }
}

fn health(errors: &mut Errors, path: &Path<'_>, devices: &Value, container: Option<&Value>) {
    let name = text(devices, "name");
    if let Some(resources) = container.map(|container| at(container, "resources")) {
        let claim = |claim: &Value| match text(claim, "request") {
            "" => format!("claim:{}", text(claim, "name")),
            request => format!("claim:{}/{request}", text(claim, "name")),
        };
        let (found, detail) = if name.starts_with("claim:") {
            let detail = "must match one of the container's resource claims in a format \
                          'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
            (items(resources, "claims").any(|(_, given)| claim(given) == name), detail)
        } else {
            let detail = "must match one of the container's resource requests";
            (!at(at(resources, "requests"), name).is_null(), detail)
        };
        if !found {
            errors.invalid(&path.child("name"), name, detail);
        }
    }
    let list = path.child("resources");
    let mut known = BTreeSet::new();
    for (index, device) in items(devices, "resources") {
        let path = list.index(index);
        let (health, id) = (text(device, "health"), text(device, "resourceID"));
        if !matches!(health, "Healthy" | "Unhealthy" | "Unknown") {
            errors.not_supported(&path.child("health"), health, &["Healthy", "Unhealthy", "Unknown"]);
        }
        if let Some(message) = at(device, "message").as_str() {
            if message.is_empty() {
                errors.required(&path.child("message"), "must be non-empty if specified");
            } else if message.len() > MESSAGE {
                errors.too_long(&path.child("message"), MESSAGE);
            }
        }
        if !known.insert(id) {
            errors.duplicate(&path.child("resourceID"), id);
        }
    }
}

/// How long the message about a device may be.
const MESSAGE: usize = 1024;
