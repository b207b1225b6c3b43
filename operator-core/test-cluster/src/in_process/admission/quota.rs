//! ResourceQuotas: how much a namespace may have of each resource.
//!
//! ```text
//!  quota changes, an object ends ─▶ count ─▶ status: hard, used        (a controller's work)
//!  new object ─▶ used + its own ≤ hard? ─▶ used                        (the server's)
//! ```
//!
//! As on the real server, a quota holds once the controller has written its status.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    amount::{nanos, sum},
    limits::{containers, total},
    resource,
};
use crate::in_process::{
    controllers::MANAGER,
    failure::Failure,
    fields::Endpoint,
    kinds::Kind,
    state::State,
    store::{Path, Resource},
};

/// Amounts by the names that quotas give them.
type Usage = BTreeMap<String, String>;

impl State {
    /// Whether the quotas of a namespace leave enough for a new object.
    pub(super) fn within_quotas(&self, kind: &Kind, path: &Path, object: &Value) -> Result<(), String> {
        let quotas = resource("", "resourcequotas");
        let mut quotas = self.store.list(&quotas, path.namespace()).peekable();
        if path.namespace().is_none() || quotas.peek().is_none() {
            return Ok(());
        }
        let asked = usage(&kind.resource(), object);
        for (of, quota) in quotas.filter(|(_, quota)| concerns(quota, &kind.resource(), object)) {
            let status = &quota["status"];
            let hard = status["hard"].as_object();
            let names = || hard.into_iter().flatten().map(|(name, _)| name.as_str());
            if kind.kind == "Pod" && kind.group.is_empty() {
                unspecified(names(), object).map_or(Ok(()), |missing| {
                    Err(format!("failed quota: {}: must specify {missing}", of.name()))
                })?;
            }
            let text = |field: &str, name: &str| status[field][name].as_str().unwrap_or("0").to_owned();
            let too_many = names().filter(|name| {
                let more = asked.get(*name).map_or(0, |amount| nanos(amount));
                more > 0 && nanos(&text("used", name)) + more > nanos(&text("hard", name))
            });
            let too_many: Vec<&str> = too_many.collect();
            if too_many.is_empty() {
                continue;
            }
            let list = |of: &dyn Fn(&str) -> String| {
                let each = too_many.iter().map(|name| format!("{name}={}", of(name)));
                each.collect::<Vec<_>>().join(",")
            };
            return Err(format!(
                "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                of.name(),
                list(&|name| asked[name].clone()),
                list(&|name| text("used", name)),
                list(&|name| text("hard", name)),
            ));
        }
        Ok(())
    }

    /// Counts a new object.
    pub(in crate::in_process) fn use_quotas(&mut self, kind: &Kind, path: &Path, object: &Value) {
        let of = resource("", "resourcequotas");
        let quotas =
            self.store.list(&of, path.namespace()).map(|(path, quota)| (path.clone(), quota.clone()));
        let Some(namespace) = path.namespace() else { return };
        let quotas: Vec<_> = quotas.filter(|(path, _)| path.namespace() == Some(namespace)).collect();
        for (path, quota) in quotas {
            if !concerns(&quota, &kind.resource(), object) {
                continue;
            }
            let mut changed = Value::clone(&quota);
            for (name, amount) in usage(&kind.resource(), object) {
                if let Some(used) = quota["status"]["used"].get(&name).and_then(Value::as_str) {
                    changed["status"]["used"][name] = sum(used, &amount).into();
                }
            }
            if changed != *quota
                && let Some(kind) = self.kinds.of_resource(&of).cloned()
            {
                self.write_own(&kind, &path, Endpoint::Status, "kube-apiserver", changed).ok();
            }
        }
    }

    /// The controller's work after a change of an object.
    pub(in crate::in_process) fn sync_quotas(&mut self, changed: &Resource, path: &Path, ends: bool) {
        let of = resource("", "resourcequotas");
        let Some(namespace) = path.namespace() else { return };
        let quotas = self.store.list(&of, Some(namespace));
        let is_meant = |quota: &Path| *changed != of || quota == path;
        // Pods stop counting when they are done.
        if *changed != of && !ends && changed.plural != "pods" {
            return;
        }
        let quotas: Vec<Path> = quotas.map(|(path, _)| path.clone()).filter(is_meant).collect();
        for path in quotas {
            self.count(&of, &path);
        }
    }

    fn count(&mut self, of: &Resource, path: &Path) {
        let Some(quota) = self.store.get(of, path).cloned() else { return };
        let hard = &quota["spec"]["hard"];
        let mut used = json!({});
        for (name, _) in hard.as_object().into_iter().flatten() {
            used[name] = "0".into();
        }
        for resource in self.store.resources() {
            for (_, object) in self.store.list(resource, path.namespace()) {
                if !concerns(&quota, resource, object) {
                    continue;
                }
                for (name, amount) in usage(resource, object) {
                    if let Some(known) = used.get(&name).and_then(Value::as_str) {
                        used[&name] = sum(known, &amount).into();
                    }
                }
            }
        }
        let mut changed = Value::clone(&quota);
        changed["status"] = json!({ "hard": hard, "used": used });
        if changed != *quota
            && let Some(kind) = self.kinds.of_resource(of).cloned()
        {
            self.write_own(&kind, path, Endpoint::Status, MANAGER, changed).ok();
        }
    }
}

/// Refuses a quota of a scope that isn't known here.
pub(super) fn is_known(quota: &Value) -> Result<(), Failure> {
    const KNOWN: [&str; 4] = ["BestEffort", "NotBestEffort", "NotTerminating", "Terminating"];
    let scopes = quota["spec"]["scopes"].as_array();
    let other = scopes.into_iter().flatten().any(|scope| !KNOWN.iter().any(|known| scope == known));
    if other || !quota["spec"]["scopeSelector"].is_null() {
        return Err(Failure::not_modelled("scopes of quotas by priority classes and other terms"));
    }
    Ok(())
}

/// What an object uses.
fn usage(resource: &Resource, object: &Value) -> Usage {
    let mut usage = Usage::new();
    let mut count = |name: &str| drop(usage.insert(name.to_owned(), "1".to_owned()));
    let qualified = match resource.group.as_str() {
        "" => resource.plural.clone(),
        group => format!("{}.{group}", resource.plural),
    };
    let phase = object["status"]["phase"].as_str().unwrap_or_default();
    let is_pod = resource.group.is_empty() && resource.plural == "pods";
    count(&format!("count/{qualified}"));
    if is_pod && matches!(phase, "Succeeded" | "Failed") {
        return usage;
    }
    const COUNTED: [&str; 7] = [
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
    ];
    if resource.group.is_empty() && COUNTED.contains(&resource.plural.as_str()) {
        count(&resource.plural);
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "services") => {
            let kind = object["spec"]["type"].as_str().unwrap_or_default();
            let ports = object["spec"]["ports"].as_array().map_or(0, Vec::len);
            if matches!(kind, "NodePort" | "LoadBalancer") && ports > 0 {
                usage.insert("services.nodeports".to_owned(), ports.to_string());
            }
            if kind == "LoadBalancer" {
                usage.insert("services.loadbalancers".to_owned(), "1".to_owned());
            }
        }
        ("", "persistentvolumeclaims") => {
            if let Some(storage) = object["spec"]["resources"]["requests"]["storage"].as_str() {
                usage.insert("requests.storage".to_owned(), storage.to_owned());
            }
        }
        ("", "pods") => usage.extend(computed(&total(object))),
        _ => {}
    }
    usage
}

/// What a pod or container asks of a node.
fn computed(resources: &Value) -> Usage {
    let mut usage = Usage::new();
    for (field, names) in [("requests", ["requests.", ""].as_slice()), ("limits", &["limits."])] {
        for (name, amount) in resources[field].as_object().into_iter().flatten() {
            for prefix in names {
                usage.insert(format!("{prefix}{name}"), amount.as_str().unwrap_or("0").to_owned());
            }
        }
    }
    usage
}

/// What a quota limits and a container doesn't say, and which containers.
fn unspecified<'n>(names: impl Iterator<Item = &'n str>, pod: &Value) -> Option<String> {
    const COMPUTED: [&str; 6] =
        ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];
    let missing = names.filter(|name| COMPUTED.contains(name)).filter_map(|name| {
        let lacks = |container: &&Value| !computed(&container["resources"]).contains_key(name);
        let of = containers(pod).filter(lacks).filter_map(|container| container["name"].as_str());
        let of: Vec<&str> = of.collect();
        (!of.is_empty()).then(|| format!("{name} for: {}", of.join(",")))
    });
    let missing: Vec<String> = missing.collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// Whether a quota is about an object, by its scopes.
fn concerns(quota: &Value, resource: &Resource, object: &Value) -> bool {
    let scopes = quota["spec"]["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let is_pod = resource.group.is_empty() && resource.plural == "pods";
    scopes.fold(true, |matches, scope| {
        let deadline = !object["spec"]["activeDeadlineSeconds"].is_null();
        let best_effort = object["status"]["qosClass"] == "BestEffort";
        matches
            && is_pod
            && match scope {
                "Terminating" => deadline,
                "NotTerminating" => !deadline,
                "BestEffort" => best_effort,
                "NotBestEffort" => !best_effort,
                _ => false,
            }
    })
}
