//! LimitRanges: defaults for containers, and the least and most that they may ask for.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use super::{
    amount::nanos,
    total::{containers, total},
};
use crate::in_process::{
    fields::quality,
    kinds::Kind,
    store::{Path, Resource, Store},
};

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

fn limits<'s>(store: &'s Store, path: &'s Path) -> Vec<&'s Arc<Value>> {
    store.list(&Resource::new("", "limitranges"), path.namespace()).map(|(_, range)| range).collect()
}

/// Gives containers the limits that they don't set.
pub(super) fn default_limits(store: &Store, path: &Path, pod: &mut Value) {
    for range in limits(store, path) {
        let mut defaults =
            [("requests", "defaultRequest", "request", json!({})), ("limits", "default", "limit", json!({}))];
        for limit in each(range).filter(|limit| limit["type"] == "Container") {
            for (_, field, _, of) in &mut defaults {
                for (name, amount) in limit[*field].as_object().into_iter().flatten() {
                    of[name] = amount.clone();
                }
            }
        }
        let mut said = Vec::new();
        for (list, what) in [("containers", "container"), ("initContainers", "init container")] {
            for container in pod["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                let name = container["name"].as_str().unwrap_or_default().to_owned();
                for (field, _, word, of) in &defaults {
                    let set = fill(&mut container["resources"], field, of);
                    if !set.is_empty() {
                        said.push(format!("{} {word} for {what} {name}", set.join(", ")));
                    }
                }
            }
        }
        if !said.is_empty() {
            let said = format!("LimitRanger plugin set: {}", said.join("; "));
            pod["metadata"]["annotations"][ANNOTATION] = said.into();
            pod["status"]["qosClass"] = quality(pod).into();
        }
    }
}

/// Whether a pod or claim asks for no less and no more than is allowed.
pub(super) fn within_limits(store: &Store, kind: &Kind, path: &Path, object: &Value) -> Result<(), String> {
    limits(store, path).into_iter().try_for_each(|range| {
        let mut wrong = Vec::new();
        for limit in each(range) {
            let of_kind = limit["type"].as_str().unwrap_or_default();
            match (kind.kind.as_str(), of_kind) {
                ("Pod", "Container") => {
                    for container in containers(object) {
                        check(limit, &container["resources"], &mut wrong);
                    }
                }
                ("Pod", "Pod") => check(limit, &total(object), &mut wrong),
                ("PersistentVolumeClaim", "PersistentVolumeClaim") => {
                    check_claim(limit, &object["spec"]["resources"]["requests"], &mut wrong);
                }
                _ => {}
            }
        }
        // What is said twice is shown once.
        let mut known = BTreeSet::new();
        wrong.retain(|said: &String| known.insert(said.clone()));
        match wrong.len() {
            0 => Ok(()),
            1 => Err(wrong.remove(0)),
            _ => Err(format!("[{}]", wrong.join(", "))),
        }
    })
}

fn each(range: &Value) -> impl Iterator<Item = &Value> {
    range["spec"]["limits"].as_array().into_iter().flatten()
}

/// Sets what is missing; returns its names.
fn fill(resources: &mut Value, field: &str, defaults: &Value) -> Vec<String> {
    let mut set = Vec::new();
    for (name, amount) in defaults.as_object().into_iter().flatten() {
        if resources[field].get(name).is_none() {
            resources[field][name] = amount.clone();
            set.push(name.clone());
        }
    }
    set.sort_unstable();
    set
}

/// A claim has no limits: its request must be neither too little nor too much.
fn check_claim(limit: &Value, asked: &Value, wrong: &mut Vec<String>) {
    check(&json!({ "type": limit["type"], "min": limit["min"] }), &json!({ "requests": asked }), wrong);
    for (name, most) in limit["max"].as_object().into_iter().flatten() {
        let most = most.as_str().unwrap_or("0");
        let of = limit["type"].as_str().unwrap_or_default();
        let said = format!("maximum {name} usage per {of} is {most}");
        match asked.get(name).and_then(Value::as_str) {
            None => wrong.push(format!("{said}.  No request is specified")),
            Some(request) if nanos(request) > nanos(most) => {
                wrong.push(format!("{said}, but request is {request}"))
            }
            Some(_) => {}
        }
    }
}

fn check(limit: &Value, resources: &Value, wrong: &mut Vec<String>) {
    let of = limit["type"].as_str().unwrap_or_default();
    let amount = |field: &str, name: &str| resources[field].get(name).and_then(Value::as_str);
    let each = |field: &str| limit[field].as_object().cloned().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or("0").to_owned();
    for (name, least) in each("min") {
        let least = text(&least);
        let said = format!("minimum {name} usage per {of} is {least}");
        match (amount("requests", &name), amount("limits", &name)) {
            (None, _) => wrong.push(format!("{said}.  No request is specified")),
            (Some(request), _) if nanos(request) < nanos(&least) => {
                wrong.push(format!("{said}, but request is {request}"));
            }
            (_, Some(limit)) if nanos(limit) < nanos(&least) => {
                wrong.push(format!("{said}, but limit is {limit}"));
            }
            _ => {}
        }
    }
    for (name, most) in each("max") {
        let most = text(&most);
        let said = format!("maximum {name} usage per {of} is {most}");
        match (amount("requests", &name), amount("limits", &name)) {
            (_, None) => wrong.push(format!("{said}.  No limit is specified")),
            (_, Some(limit)) if nanos(limit) > nanos(&most) => {
                wrong.push(format!("{said}, but limit is {limit}"));
            }
            (Some(request), _) if nanos(request) > nanos(&most) => {
                wrong.push(format!("{said}, but request is {request}"));
            }
            _ => {}
        }
    }
    for (name, most) in each("maxLimitRequestRatio") {
        let most = text(&most);
        let said = format!("{name} max limit to request ratio per {of} is {most}");
        let given = |field: &str| amount(field, &name).map(nanos).filter(|amount| *amount != 0);
        match (given("requests"), given("limits")) {
            (None, _) => wrong.push(format!("{said}, but no request is specified or request is 0")),
            (_, None) => wrong.push(format!("{said}, but no limit is specified or limit is 0")),
            (Some(request), Some(limit)) if limit * 1_000_000_000 > request * nanos(&most) => {
                let millionths = limit * 1_000_000 / request;
                let (whole, rest) = (millionths / 1_000_000, millionths % 1_000_000);
                wrong.push(format!("{said}, but provided ratio is {whole}.{rest:06}"));
            }
            _ => {}
        }
    }
}
