//! What a pod asks for: the sum of its containers, or more where one that runs before them needs more. Pure.

use serde_json::{Map, Value, json};

use super::amount::{nanos, sum};

/// Amounts by the names of resources.
type Amounts = Map<String, Value>;

/// All containers of a pod.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    list(pod, "containers").chain(list(pod, "initContainers"))
}

fn list<'p>(pod: &'p Value, name: &str) -> impl Iterator<Item = &'p Value> + use<'p> {
    pod["spec"].get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Whether a pod as a whole may set a resource.
fn is_of_whole(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

fn set_as_whole<'p>(pod: &'p Value, field: &str) -> impl Iterator<Item = (&'p String, &'p Value)> + use<'p> {
    let amounts = pod["spec"]["resources"][field].as_object().into_iter().flatten();
    amounts.filter(|(name, _)| is_of_whole(name))
}

/// Whether resources are set for a pod as a whole.
pub(super) fn is_set_as_whole(pod: &Value) -> bool {
    ["requests", "limits"].iter().any(|field| set_as_whole(pod, field).next().is_some())
}

/// What a pod asks for in its spec.
pub(super) fn total(pod: &Value) -> Value {
    let of = |container: &Value, field: &str| container["resources"][field].as_object().cloned();
    json!({ "requests": all(pod, "requests", &of), "limits": all(pod, "limits", &of) })
}

/// What a pod uses of a quota: what it asks for or has, and what the node needs for it.
pub(super) fn total_for_quotas(pod: &Value) -> Value {
    let statuses = |name: &str| pod["status"].get(name).and_then(Value::as_array).into_iter().flatten();
    let infeasible = pod["status"]["conditions"].as_array().is_some_and(|conditions| {
        conditions.iter().any(|one| one["type"] == "PodResizePending" && one["reason"] == "Infeasible")
    });
    // What a container has counts where the node has said it.
    let of = |container: &Value, field: &str| {
        let asked = container["resources"][field].as_object().cloned();
        let mut all = statuses("containerStatuses").chain(statuses("initContainerStatuses"));
        let known = all.find(|status| status["name"] == container["name"] && status["resources"].is_object());
        let Some(status) = known else { return asked };
        let mut most = if infeasible { Map::new() } else { asked.unwrap_or_default() };
        raise(&mut most, status["resources"][field].as_object());
        if field == "requests" {
            raise(&mut most, status["allocatedResources"].as_object());
        }
        Some(most)
    };
    let (mut requests, mut limits) = (all(pod, "requests", &of), all(pod, "limits", &of));
    for (name, amount) in pod["spec"]["overhead"].as_object().into_iter().flatten() {
        add(&mut requests, name, amount);
        if limits.get(name).and_then(Value::as_str).is_some_and(|limit| nanos(limit) != 0) {
            add(&mut limits, name, amount);
        }
    }
    json!({ "requests": requests, "limits": limits })
}

fn all(pod: &Value, field: &str, of: &dyn Fn(&Value, &str) -> Option<Amounts>) -> Amounts {
    let (mut total, mut along, mut first) = (Map::new(), Map::new(), Map::new());
    for container in list(pod, "containers") {
        add_all(&mut total, of(container, field));
    }
    for container in list(pod, "initContainers") {
        if container["restartPolicy"] == "Always" {
            add_all(&mut total, of(container, field));
            add_all(&mut along, of(container, field));
            raise(&mut first, Some(&along));
        } else {
            let mut alone = container["resources"][field].as_object().cloned().unwrap_or_default();
            add_all(&mut alone, Some(along.clone()));
            raise(&mut first, Some(&alone));
        }
    }
    raise(&mut total, Some(&first));
    for (name, amount) in set_as_whole(pod, field) {
        total.insert(name.clone(), amount.clone());
    }
    total
}

fn add_all(total: &mut Amounts, more: Option<Amounts>) {
    for (name, amount) in more.into_iter().flatten() {
        add(total, &name, &amount);
    }
}

fn add(total: &mut Amounts, name: &str, amount: &Value) {
    let known = total.get(name).and_then(Value::as_str).unwrap_or("0");
    let all = sum(known, amount.as_str().unwrap_or("0"));
    total.insert(name.to_owned(), all.into());
}

/// Sets what is less to what the other says.
fn raise(most: &mut Amounts, other: Option<&Amounts>) {
    for (name, amount) in other.into_iter().flatten() {
        let known = most.get(name).and_then(Value::as_str).map(nanos);
        if known.is_none_or(|known| nanos(amount.as_str().unwrap_or("0")) > known) {
            most.insert(name.clone(), amount.clone());
        }
    }
}
