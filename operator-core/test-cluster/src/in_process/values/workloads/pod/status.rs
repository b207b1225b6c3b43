//! The status of pods.

use std::net::IpAddr;

use serde_json::Value;

use super::{annotations, status_details};
use crate::in_process::values::{
    addresses,
    common::number,
    errors::Errors,
    names,
    path::Path,
    read::{at, items, part, text},
};

const STATUS: Path<'static> = Path::root("status");

/// A changed status.
pub(in super::super) fn check(new: &Value, old: &Value, errors: &mut Errors) {
    let (metadata, spec) = (at(new, "metadata"), at(new, "spec"));
    let place = Path::root("metadata");
    annotations::kept(errors, &place.child("annotations"), metadata, at(old, "metadata"));
    annotations::check(errors, &place.child("annotations"), metadata, spec);
    let (status, before) = (at(new, "status"), at(old, "status"));
    conditions(errors, status);
    let (node, was) = (text(status, "nominatedNodeName"), text(before, "nominatedNodeName"));
    if node != was && !node.is_empty() {
        let path = STATUS.child("nominatedNodeName");
        errors.all_invalid(&path, node, &names::dns_subdomain(node));
        if !text(spec, "nodeName").is_empty() {
            errors.forbidden(&path, "may not be set on pods that are already bound to a node");
        }
    }
    let generation = number(status, "observedGeneration");
    if generation < 0 {
        errors.invalid(&STATUS.child("observedGeneration"), generation, "must be a non-negative integer");
    }
    let (class, was) = (text(status, "qosClass"), text(before, "qosClass"));
    if class != was {
        errors.invalid(&STATUS.child("qosClass"), class, "field is immutable");
    }
    status_details::claims(errors, spec, status);
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        no_way_back(errors, list, spec, status, before);
    }
    addresses_of(errors, "podIPs", status, before);
    status_details::containers(errors, spec, status);
    if let Some((_, first)) = items(status, "hostIPs").next() {
        let first = text(first, "ip");
        if first != text(status, "hostIP") {
            let list = STATUS.child("hostIPs");
            errors.invalid(&list.index(0).child("ip"), first, "must be equal to `hostIP`");
        }
        addresses_of(errors, "hostIPs", status, before);
    }
}

fn conditions(errors: &mut Errors, status: &Value) {
    let list = STATUS.child("conditions");
    for (index, condition) in items(status, "conditions") {
        let (path, of) = (list.index(index), text(condition, "type"));
        let generation = number(condition, "observedGeneration");
        if generation < 0 {
            errors.invalid(&path.child("observedGeneration"), generation, "must be a non-negative integer");
        }
        if !matches!(of, "PodScheduled" | "Ready" | "Initialized") {
            errors.all_invalid(&path.child("Type"), of, &names::qualified(of));
        }
    }
}

/// A container that has ended stays so, unless it is started again.
fn no_way_back(errors: &mut Errors, list: &str, spec: &Value, status: &Value, before: &Value) {
    let containers = if list == "initContainerStatuses" { "initContainers" } else { "containers" };
    let ephemeral = list == "ephemeralContainerStatuses";
    let rules = |(_, container): (usize, &Value)| {
        items(container, "restartPolicyRules").any(|(_, rule)| text(rule, "action") == "RestartAllContainers")
    };
    let all = items(spec, "containers").chain(items(spec, "initContainers")).any(rules);
    if all && !ephemeral {
        return;
    }
    let path = STATUS.child(list);
    for (index, old) in items(before, list) {
        let Some(ended) = part(at(old, "state"), "terminated") else { continue };
        let name = text(old, "name");
        let code = number(ended, "exitCode");
        for (_, new) in items(status, list) {
            if text(new, "name") != name || part(at(new, "state"), "terminated").is_some() {
                continue;
            }
            let container = items(spec, containers).find(|(_, container)| text(container, "name") == name);
            let allowed =
                !ephemeral && container.is_some_and(|(_, container)| starts_again(spec, container, code));
            if !allowed {
                let path = path.index(index);
                errors.forbidden(&path.child("state"), "may not be transitioned to non-terminated state");
            }
            break;
        }
    }
}

fn starts_again(spec: &Value, container: &Value, code: i64) -> bool {
    if part(container, "restartPolicy").is_some() {
        for (_, rule) in items(container, "restartPolicyRules") {
            let codes = at(rule, "exitCodes");
            let listed = items(codes, "values").any(|(_, value)| value.as_i64() == Some(code));
            if listed == (text(codes, "operator") == "In") && text(rule, "action") == "Restart" {
                return true;
            }
        }
    }
    let policy = match text(container, "restartPolicy") {
        "" => text(spec, "restartPolicy"),
        own => own,
    };
    match policy {
        "Always" => true,
        "OnFailure" => code != 0,
        _ => false,
    }
}

fn addresses_of(errors: &mut Errors, field: &str, status: &Value, before: &Value) {
    let path = STATUS.child(field);
    let all: Vec<&str> = items(status, field).map(|(_, address)| text(address, "ip")).collect();
    for (index, address) in all.iter().enumerate() {
        if !items(before, field).any(|(_, old)| text(old, "ip") == *address) {
            addresses::address(errors, &path.index(index), address);
        }
    }
    if all.len() < 2 {
        return;
    }
    let families: Vec<bool> = all
        .iter()
        .filter_map(|address| address.parse().ok())
        .map(|address: IpAddr| address.is_ipv6())
        .collect();
    let both = families.contains(&true) && families.contains(&false);
    if families.len() == all.len() && (!both || all.len() > 2) {
        let shown: Vec<String> = all.iter().map(|address| format!("{{\"IP\":{address:?}}}")).collect();
        let shown = crate::in_process::values::errors::Verbatim(format!("[{}]", shown.join(",")));
        errors.invalid(&path, shown, "may specify no more than one IP for each IP family");
    }
}
