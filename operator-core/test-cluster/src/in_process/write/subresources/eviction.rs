//! Evictions: deletions of pods that PodDisruptionBudgets allow.
//!
//! ```text
//!  eviction ─▶ pod at its end or not yet running? ──yes─────────────────────┐
//!                   │ no                                                    ▼
//!                   └─▶ its budget ─▶ a disruption left? ─▶ one less ─▶ condition, deletion
//!                                         └─ no: 429
//! ```

use std::sync::{Arc, LazyLock};

use http::Method;
use serde_json::{Value, json};

use super::{done, selector, set_condition, virtual_kind};
use crate::in_process::{
    api::{ApiServer, Reply},
    failure::Failure,
    fields::Endpoint,
    kinds::Kind,
    read,
    request::Request,
    store::{Path, Resource},
    write::{
        Options, body,
        delete::{DeleteOptions, delete_object},
        is_deleting, meta,
        metadata::{self, time},
        put, write_own,
    },
};

static EVICTION: LazyLock<Arc<Kind>> =
    LazyLock::new(|| virtual_kind("policy", "v1", "evictions", "Eviction"));

pub(super) fn evict(
    api: &mut ApiServer,
    request: &Request,
    pods: &Arc<Kind>,
    path: &Path,
) -> Result<Reply, Failure> {
    if request.method != Method::POST {
        return Err(Failure::method());
    }
    let options = Options::new(request, "CreateOptions")?;
    let mut eviction = body(request, &EVICTION)?;
    metadata::place(&mut eviction, path.namespace())?;
    if meta(&eviction, "name") != path.name() {
        return Err(Failure::bad_request("name in URL does not match name in Eviction object"));
    }
    let mut deletion = DeleteOptions::of(&eviction["deleteOptions"])?;
    deletion.dry_run |= options.dry_run;
    let pod = read::live(&api.store, pods, path)?;
    if !is_free(&pod) {
        use_budget(api, path, &pod, deletion.dry_run)?;
    }
    end_pod(api, pods, path, &pod, deletion)?;
    Ok(done())
}

/// Says in the pod's status why it ends, and deletes it.
fn end_pod(
    api: &mut ApiServer,
    pods: &Arc<Kind>,
    path: &Path,
    pod: &Arc<Value>,
    mut deletion: DeleteOptions,
) -> Result<(), Failure> {
    deletion.check(pods, pod)?;
    let mut live = Arc::clone(pod);
    if !deletion.dry_run {
        let mut marked = Value::clone(pod);
        let condition = json!({
            "type": "DisruptionTarget", "status": "True",
            "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
        });
        set_condition(&mut marked, condition, api.now);
        if marked != **pod {
            live = put(api, pods, path, marked);
            // The caller knew the pod before this.
            deletion.version = deletion.version.map(|_| meta(&live, "resourceVersion").to_owned());
        }
    }
    delete_object(api, pods, path, &live, &deletion).map(drop)
}

/// Takes one disruption from the pod's budget, if it has one.
fn use_budget(api: &mut ApiServer, path: &Path, pod: &Value, dry_run: bool) -> Result<(), Failure> {
    let resource = Resource::new("policy", "poddisruptionbudgets");
    let budgets = api.store.list(&resource, path.namespace());
    let labels = &pod["metadata"]["labels"];
    let mut budgets = budgets.filter(|(_, budget)| selector::matches(&budget["spec"]["selector"], labels));
    let Some((of, budget)) = budgets.next().map(|(path, budget)| (path.clone(), Value::clone(budget))) else {
        return Ok(());
    };
    if budgets.next().is_some() {
        let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        return Err(Failure::internal(message));
    }
    drop(budgets);
    let status = &budget["status"];
    let count = |field: &str| status[field].as_i64().unwrap_or_default();
    if !is_ready(pod) {
        let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
        let healthy = count("currentHealthy") >= count("desiredHealthy") && count("desiredHealthy") > 0;
        if always || healthy {
            return Ok(());
        }
    }
    let generation = budget["metadata"]["generation"].as_i64().unwrap_or_default();
    if count("observedGeneration") < generation {
        let why = format!("The disruption budget {} is still being processed by the server.", of.name());
        return Err(too_many(&why, Some(10)));
    }
    if count("disruptionsAllowed") == 0 {
        return Err(too_many(&exhausted(of.name(), status), None));
    }
    if dry_run {
        return Ok(());
    }
    let mut changed = budget.clone();
    let left = count("disruptionsAllowed") - 1;
    changed["status"]["disruptionsAllowed"] = left.into();
    if left == 0 {
        let condition = json!({
            "type": "DisruptionAllowed", "status": "False", "observedGeneration": generation,
            "reason": "InsufficientPods", "message": "", "lastTransitionTime": time(api.now),
        });
        replace_condition(&mut changed, condition);
    }
    changed["status"]["disruptedPods"][path.name()] = time(api.now).into();
    if let Some(kind) = api.discovery.of_resource(&resource).cloned() {
        write_own(api, &kind, &of, Endpoint::Status, "kube-apiserver", changed)?;
    }
    Ok(())
}

/// Whether the end of a pod disrupts nothing.
fn is_free(pod: &Value) -> bool {
    matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed" | "Pending")) || is_deleting(pod)
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// Why a budget allows no disruption.
fn exhausted(name: &str, status: &Value) -> String {
    let count = |field: &str| status[field].as_i64().unwrap_or_default();
    let conditions = status["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let said = conditions.find(|one| {
        let message = one["message"].as_str().unwrap_or_default();
        one["type"] == "DisruptionAllowed" && one["status"] == "False" && !message.is_empty()
    });
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let (desired, current) = (count("desiredHealthy"), count("currentHealthy"));
    match said {
        Some(said) if said["reason"] == "SyncFailed" => format!(
            "The disruption budget {name} does not allow evicting pods currently because it failed sync: {}",
            text(said, "message")
        ),
        _ if current <= desired => {
            format!("The disruption budget {name} needs {desired} healthy pods and has {current} currently")
        }
        Some(said) => format!(
            "The disruption budget {name} does not allow evicting pods currently ({}): {}",
            text(said, "reason"),
            text(said, "message")
        ),
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

fn replace_condition(object: &mut Value, condition: Value) {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let is_other = |other: &Value| other["type"] != condition["type"];
    let mut conditions: Vec<Value> = conditions.into_iter().filter(is_other).collect();
    conditions.push(condition);
    object["status"]["conditions"] = conditions.into();
}

/// 429: the pod may be evicted later.
fn too_many(why: &str, seconds: Option<u32>) -> Failure {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    let mut details = json!({ "causes": [{ "reason": "DisruptionBudget", "message": why }] });
    if let Some(seconds) = seconds {
        details["retryAfterSeconds"] = seconds.into();
    }
    Failure::new(429, "TooManyRequests", message).with(details)
}
