//! LimitRanges: defaults for containers, and the least and most that they may ask for.

use serde_json::{Value, json};

use super::{
    amount::{nanos, sum},
    resource,
};
use crate::in_process::{fields::quality, kinds::Kind, state::State, store::Path};

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

impl State {
    fn limits(&self, path: &Path) -> Vec<Value> {
        let ranges = resource("", "limitranges");
        let ranges = self.store.list(&ranges, path.namespace());
        let limits = ranges.flat_map(|(_, range)| range["spec"]["limits"].as_array().into_iter().flatten());
        limits.cloned().collect()
    }

    /// Gives containers the limits that they don't set.
    pub(super) fn default_limits(&self, path: &Path, pod: &mut Value) {
        let mut said = Vec::new();
        for limit in self.limits(path).iter().filter(|limit| limit["type"] == "Container") {
            for (list, what) in [("containers", "container"), ("initContainers", "init container")] {
                for container in pod["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
                {
                    let name = container["name"].as_str().unwrap_or_default().to_owned();
                    for (default, field, word) in
                        [("defaultRequest", "requests", "request"), ("default", "limits", "limit")]
                    {
                        let set = fill(&mut container["resources"], field, &limit[default]);
                        if !set.is_empty() {
                            said.push(format!("{} {word} for {what} {name}", set.join(", ")));
                        }
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

    /// Whether a pod or claim asks for no less and no more than is allowed.
    pub(super) fn within_limits(&self, kind: &Kind, path: &Path, object: &Value) -> Result<(), String> {
        let mut wrong = Vec::new();
        for limit in self.limits(path) {
            let of_kind = limit["type"].as_str().unwrap_or_default();
            match (kind.kind.as_str(), of_kind) {
                ("Pod", "Container") => {
                    for container in containers(object) {
                        check(&limit, &container["resources"], &mut wrong);
                    }
                }
                ("Pod", "Pod") => check(&limit, &total(object), &mut wrong),
                ("PersistentVolumeClaim", "PersistentVolumeClaim") => {
                    // A claim has no limits: its request must not be too much.
                    let asked = &object["spec"]["resources"]["requests"];
                    check(&limit, &json!({ "requests": asked, "limits": asked }), &mut wrong);
                    for said in &mut wrong {
                        *said = said.replace("but limit is", "but request is");
                    }
                    wrong.dedup();
                }
                _ => {}
            }
        }
        match wrong.len() {
            0 => Ok(()),
            1 => Err(wrong.remove(0)),
            _ => Err(format!("[{}]", wrong.join(", "))),
        }
    }
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
    set
}

/// All containers of a pod.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let list = |name: &str| pod["spec"].get(name).and_then(Value::as_array).into_iter().flatten();
    list("containers").chain(list("initContainers"))
}

/// What a pod asks for: the sum of its containers, or more where a container that runs before them needs more.
pub(super) fn total(pod: &Value) -> Value {
    let mut total = json!({ "requests": {}, "limits": {} });
    let list = |name: &str| pod["spec"].get(name).and_then(Value::as_array).into_iter().flatten();
    let amounts = |container: &Value, field: &str| container["resources"][field].as_object().cloned();
    for field in ["requests", "limits"] {
        let runs_along = |container: &&Value| container["restartPolicy"] == "Always";
        for container in list("containers").chain(list("initContainers").filter(runs_along)) {
            for (name, amount) in amounts(container, field).into_iter().flatten() {
                let known = total[field][&name].as_str().unwrap_or("0").to_owned();
                total[field][&name] = sum(&known, amount.as_str().unwrap_or("0")).into();
            }
        }
        for container in list("initContainers").filter(|container| !runs_along(container)) {
            for (name, amount) in amounts(container, field).into_iter().flatten() {
                let known = total[field][&name].as_str().unwrap_or("0").to_owned();
                if nanos(amount.as_str().unwrap_or("0")) > nanos(&known) {
                    total[field][&name] = amount;
                }
            }
        }
    }
    total
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
