//! What an object uses, by the names that quotas give it. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{
    amount::{nanos, whole},
    total::{containers, is_set_as_whole, total_for_quotas},
};
use crate::in_process::{kinds::storage::class, store::Resource};

/// Amounts by their names in quotas.
pub(super) type Usage = BTreeMap<String, String>;

const COMPUTED: [&str; 9] = [
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
/// What each container must name once a quota limits it.
const DEMANDED: [&str; 6] =
    ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];
const OF_SERVICES: [&str; 3] = ["services", "services.loadbalancers", "services.nodeports"];
const OF_CLAIMS: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
/// Kinds of which a quota can name the number without `count/`.
const COUNTED: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];
/// The same of one class of storage: `gold.storageclass.storage.k8s.io/requests.storage`.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

/// The number of all objects of a kind, as quotas name it.
fn counted(resource: &Resource) -> String {
    match resource.group.as_str() {
        "" => format!("count/{}", resource.plural),
        group => format!("count/{}.{group}", resource.plural),
    }
}

/// Whether a name in a quota is about a kind.
pub(super) fn is_about(resource: &Resource, name: &str) -> bool {
    if name == counted(resource) {
        return true;
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => name == "pods" || COMPUTED.contains(&name) || is_of_nodes(name),
        ("", "services") => OF_SERVICES.contains(&name),
        ("", "persistentvolumeclaims") => {
            let of_class =
                |known: &&str| name.strip_suffix(*known).is_some_and(|rest| rest.ends_with(OF_CLASS));
            OF_CLAIMS.contains(&name) || OF_CLAIMS.iter().any(of_class)
        }
        ("", plural) => COUNTED.contains(&plural) && name == plural,
        _ => false,
    }
}

/// Huge pages, and what device plugins add to nodes.
fn is_of_nodes(name: &str) -> bool {
    let foreign = name.contains('/') && !name.contains("kubernetes.io/");
    name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
        || name.starts_with("requests.") && foreign
        || name.starts_with("requests.deviceclass.resource.kubernetes.io/")
}

/// What an object uses. `now` is the time, as the server writes it.
pub(super) fn usage(resource: &Resource, object: &Value, now: jiff::Timestamp) -> Usage {
    let mut usage = Usage::new();
    let mut uses = |name: &str, amount: &str| drop(usage.insert(name.to_owned(), amount.to_owned()));
    uses(&counted(resource), "1");
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") if is_over(object, now) => {}
        ("", "pods") => {
            uses("pods", "1");
            usage.extend(computed(&total_for_quotas(object)));
        }
        ("", "services") => {
            let spec = &object["spec"];
            let (ports, balanced) = (spec["ports"].as_array(), spec["type"] == "LoadBalancer");
            let needs = |port: &&Value| {
                spec["allocateLoadBalancerNodePorts"] != false
                    || port["nodePort"].as_i64().unwrap_or_default() != 0
            };
            let ports = match spec["type"].as_str() {
                Some("NodePort") => ports.map_or(0, Vec::len),
                Some("LoadBalancer") => ports.map_or(0, |ports| ports.iter().filter(needs).count()),
                _ => 0,
            };
            uses("services", "1");
            uses("services.loadbalancers", if balanced { "1" } else { "0" });
            uses("services.nodeports", &ports.to_string());
        }
        ("", "persistentvolumeclaims") => {
            uses("persistentvolumeclaims", "1");
            let class = class(object);
            if !class.is_empty() {
                uses(&format!("{class}{OF_CLASS}persistentvolumeclaims"), "1");
            }
            if let Some(storage) = storage(object) {
                uses("requests.storage", &storage);
                if !class.is_empty() {
                    uses(&format!("{class}{OF_CLASS}requests.storage"), &storage);
                }
            }
        }
        ("", plural) if COUNTED.contains(&plural) => uses(plural, "1"),
        _ => {}
    }
    usage
}

/// Whether a pod is done, or should have ended.
fn is_over(pod: &Value, now: jiff::Timestamp) -> bool {
    let metadata = &pod["metadata"];
    let late = || {
        let end: jiff::Timestamp = metadata["deletionTimestamp"].as_str()?.parse().ok()?;
        let grace = metadata["deletionGracePeriodSeconds"].as_i64()?;
        Some(now > end.checked_add(jiff::SignedDuration::from_secs(grace)).ok()?)
    };
    matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) || late().unwrap_or_default()
}

/// The storage that a claim asks for, or has got already.
fn storage(claim: &Value) -> Option<String> {
    let asked = claim["spec"]["resources"]["requests"]["storage"].as_str()?;
    let given = claim["status"]["allocatedResources"]["storage"].as_str();
    Some(whole(given.filter(|given| nanos(given) > nanos(asked)).unwrap_or(asked)))
}

/// What a pod or container asks of a node.
fn computed(resources: &Value) -> Usage {
    let mut usage = Usage::new();
    let amounts = |field: &str| {
        let amounts = resources[field].as_object().cloned().into_iter().flatten();
        amounts.map(|(name, amount)| (name, amount.as_str().unwrap_or("0").to_owned()))
    };
    for (name, amount) in amounts("requests") {
        let plain = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        if plain || name.starts_with("hugepages-") {
            usage.insert(name.clone(), amount.clone());
        }
        if plain || name.starts_with("hugepages-") || is_of_nodes(&format!("requests.{name}")) {
            usage.insert(format!("requests.{name}"), amount);
        }
    }
    for (name, amount) in amounts("limits") {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            usage.insert(format!("limits.{name}"), amount);
        }
    }
    usage
}

/// What a quota limits and a container doesn't say, and which containers.
pub(super) fn unspecified<'n>(names: impl Iterator<Item = &'n str>, pod: &Value) -> Option<String> {
    if is_set_as_whole(pod) {
        return None;
    }
    let mut names: Vec<&str> = names.filter(|name| DEMANDED.contains(name)).collect();
    names.sort_unstable();
    let missing = names.into_iter().filter_map(|name| {
        let lacks = |container: &&Value| !computed(&container["resources"]).contains_key(name);
        let of = containers(pod).filter(lacks).filter_map(|container| container["name"].as_str());
        let mut of: Vec<&str> = of.collect();
        of.sort_unstable();
        (!of.is_empty()).then(|| format!("{name} for: {}", of.join(",")))
    });
    let missing: Vec<String> = missing.collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}
