//! ResourceQuotas: how much a namespace may have of each resource.
//!
//! ```text
//!  quota changes, an object ends or shrinks ─▶ count ─▶ status: hard, used     (a controller's work)
//!  new object ─────▶ used + its own ≤ hard? ─▶ used                            (the server's)
//!  changed object ─▶ used + what it has more ≤ hard? ─▶ used
//! ```
//!
//! As on the real server, a quota holds once the controller has written its status, and what a change gives back is
//! counted by the controller alone.

mod scopes;
mod usage;

use jiff::Timestamp;
use serde_json::{Value, json};

use self::{
    scopes::{concerns, ends},
    usage::{Usage, is_about, unspecified, usage},
};
use super::amount::{minus, nanos, sum};
use crate::in_process::{
    api::ApiServer,
    controllers::MANAGER,
    fields::Endpoint,
    kinds::Kind,
    store::{Path, Resource, Store},
    write::write_own,
};

/// A quota with what is used after a write.
type Used = (Path, Value);

/// Whether the quotas of a namespace leave enough for a write; what is used after it. `old` is what is changed.
pub(super) fn within_quotas(
    store: &Store,
    now: Timestamp,
    kind: &Kind,
    path: &Path,
    object: &Value,
    old: Option<(&Value, Endpoint)>,
) -> Result<Vec<Used>, String> {
    let of = kind.resource();
    let is_status = match old {
        None if of.group.is_empty() && of.plural == "events" => return Ok(Vec::new()),
        None => false,
        Some((old, endpoint)) if counts_change(&of, old, object, endpoint) => endpoint == Endpoint::Status,
        Some(_) => return Ok(Vec::new()),
    };
    let quotas = Resource::new("", "resourcequotas");
    let mut quotas = store.list(&quotas, path.namespace()).peekable();
    if path.namespace().is_none() || quotas.peek().is_none() {
        return Ok(Vec::new());
    }
    let asked = usage(&of, object, now);
    let before = old.map(|(old, _)| (old, usage(&of, old, now)));
    let mut concerned = Vec::new();
    for (at, quota) in quotas.filter(|(_, quota)| concerns(quota, &of, object)) {
        let status = &quota["status"];
        let hard = status["hard"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let mut names: Vec<&str> = hard.filter(|name| is_about(&of, name)).collect();
        names.sort_unstable();
        if names.is_empty() {
            continue;
        }
        if of.group.is_empty()
            && of.plural == "pods"
            && let Some(missing) = unspecified(names.iter().copied(), object)
        {
            return Err(format!("failed quota: {}: must specify {missing}", at.name()));
        }
        if names.iter().any(|name| status["used"].get(*name).is_none()) {
            let names = names.join(",");
            return Err(format!("status unknown for quota: {}, resources: {names}", at.name()));
        }
        let more = match &before {
            Some((old, before)) if concerns(quota, &of, old) => grown(&asked, before),
            _ => asked.clone(),
        };
        concerned.push((at, quota, names, more));
    }
    let mut after = Vec::new();
    for (at, quota, names, more) in concerned {
        let status = &quota["status"];
        let text = |field: &str, name: &str| status[field][name].as_str().unwrap_or("0").to_owned();
        let more: Usage = more
            .into_iter()
            .filter(|(name, amount)| names.contains(&name.as_str()) && nanos(amount) != 0)
            .collect();
        let exceeds = |(name, amount): &(&String, &String)| {
            nanos(&text("used", name)) + nanos(amount) > nanos(&text("hard", name))
        };
        let too_many: Vec<_> = more.iter().filter(exceeds).collect();
        if !too_many.is_empty() && !is_status {
            let list = |of: &dyn Fn(&str, &str) -> String| {
                let each = too_many.iter().map(|(name, amount)| format!("{name}={}", of(name, amount)));
                each.collect::<Vec<_>>().join(",")
            };
            return Err(format!(
                "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                at.name(),
                list(&|_, amount| amount.to_owned()),
                list(&|name, _| text("used", name)),
                list(&|name, _| text("hard", name)),
            ));
        }
        if !more.is_empty() {
            let mut changed = Value::clone(quota);
            for (name, amount) in &more {
                changed["status"]["used"][name] = sum(&text("used", name), amount).into();
            }
            after.push((at.clone(), changed));
        }
    }
    Ok(after)
}

/// Writes what is used after a write.
pub(super) fn use_quotas(api: &mut ApiServer, used: Vec<Used>) {
    let Some(kind) = api.discovery.of_resource(&Resource::new("", "resourcequotas")).cloned() else { return };
    for (path, quota) in used {
        write_own(api, &kind, &path, Endpoint::Status, "kube-apiserver", quota).ok();
    }
}

/// The controller's work after a change of an object.
pub(in crate::in_process) fn sync_quotas(api: &mut ApiServer, changed: &Resource, path: &Path, ends: bool) {
    let of = Resource::new("", "resourcequotas");
    let Some(namespace) = path.namespace() else { return };
    let quotas = api.store.list(&of, Some(namespace));
    let is_meant = |quota: &Path| *changed != of || quota == path;
    // Of these, a change can use less: a pod that is done, a Service of another type, a claim that has got its size.
    let shrinks = matches!(changed.plural.as_str(), "pods" | "services" | "persistentvolumeclaims");
    if *changed != of && !ends && !shrinks {
        return;
    }
    let quotas: Vec<Path> = quotas.map(|(path, _)| path.clone()).filter(is_meant).collect();
    for path in quotas {
        count(api, &of, &path);
    }
}

fn count(api: &mut ApiServer, of: &Resource, path: &Path) {
    let Some(quota) = api.store.get(of, path).cloned() else { return };
    let hard = &quota["spec"]["hard"];
    let mut used = json!({});
    // What no kind is about isn't counted.
    let known =
        |name: &String| api.discovery.iter().any(|kind| kind.namespaced && is_about(&kind.resource(), name));
    for (name, _) in hard.as_object().into_iter().flatten().filter(|(name, _)| known(name)) {
        used[name] = "0".into();
    }
    for resource in api.store.resources() {
        for (_, object) in api.store.list(resource, path.namespace()) {
            if !concerns(&quota, resource, object) {
                continue;
            }
            for (name, amount) in usage(resource, object, api.now) {
                if let Some(known) = used.get(&name).and_then(Value::as_str) {
                    used[&name] = sum(known, &amount).into();
                }
            }
        }
    }
    let mut changed = Value::clone(&quota);
    changed["status"] = json!({ "hard": hard, "used": used });
    if changed != *quota
        && let Some(kind) = api.discovery.of_resource(of).cloned()
    {
        write_own(api, &kind, path, Endpoint::Status, MANAGER, changed).ok();
    }
}

/// Whether quotas look at a change of an object: only where it can use more.
fn counts_change(of: &Resource, old: &Value, new: &Value, endpoint: Endpoint) -> bool {
    match (of.group.as_str(), of.plural.as_str(), endpoint) {
        ("", "services" | "persistentvolumeclaims", Endpoint::Main) => true,
        ("", "pods", Endpoint::Main) => ends(old) != ends(new),
        ("", "persistentvolumeclaims", Endpoint::Status) => {
            old["status"]["allocatedResources"] != new["status"]["allocatedResources"]
        }
        _ => false,
    }
}

/// What is used more than before.
fn grown(now: &Usage, before: &Usage) -> Usage {
    let none = "0".to_owned();
    let more =
        now.iter().map(|(name, amount)| (name.clone(), minus(amount, before.get(name).unwrap_or(&none))));
    more.filter(|(_, amount)| nanos(amount) > 0).collect()
}
