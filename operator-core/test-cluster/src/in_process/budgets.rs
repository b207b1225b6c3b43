//! PodDisruptionBudgets: the controller that says in their status how many pods may be evicted.
//!
//! ```text
//!  a pod or a budget changes ─▶ healthy pods, wanted pods ─▶ disruptionsAllowed
//! ```
//!
//! It acts at once, whatever the pace of the other controllers is, but not if these are off.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    api::ApiServer,
    controllers::MANAGER,
    discovery::Discovery,
    fields::Endpoint,
    store::{Path, Resource, Store},
    write::{is_deleting, metadata::time, subresources::selects, write_own},
};

/// For how long an eviction counts whose pod is still there.
const DELETION: jiff::SignedDuration = jiff::SignedDuration::from_mins(2);

/// Brings the status of the budgets up to date that a change is about.
pub(super) fn sync_budgets(api: &mut ApiServer, changed: &Resource, path: &Path, gone: Option<&Value>) {
    let budgets = Resource::new("policy", "poddisruptionbudgets");
    let (is_budget, is_pod) = (*changed == budgets, *changed == Resource::new("", "pods"));
    if !is_budget && !is_pod {
        return;
    }
    let object = gone.or_else(|| api.store.get(changed, path).map(|object| &**object));
    let labels = object.map(|object| object["metadata"]["labels"].clone()).unwrap_or_default();
    let concerned = api.store.list(&budgets, path.namespace()).filter(|(of, budget)| {
        if is_budget { *of == path } else { selects(&budget["spec"]["selector"], &labels) }
    });
    for path in concerned.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
        sync_budget(api, &budgets, &path);
    }
}

fn sync_budget(api: &mut ApiServer, of: &Resource, path: &Path) {
    let Some(budget) = api.store.get(of, path).cloned() else { return };
    let mut changed = Value::clone(&budget);
    changed["status"] = status_of(&api.store, &api.discovery, api.now, path, &budget);
    if changed != *budget
        && let Some(kind) = api.discovery.of_resource(of).cloned()
    {
        write_own(api, &kind, path, Endpoint::Status, MANAGER, changed).ok();
    }
}

fn status_of(store: &Store, discovery: &Discovery, now: Timestamp, path: &Path, budget: &Value) -> Value {
    let pods = store.list(&Resource::new("", "pods"), path.namespace());
    let pods: Vec<(&Path, &Value)> = pods
        .filter(|(_, pod)| selects(&budget["spec"]["selector"], &pod["metadata"]["labels"]))
        .map(|(path, pod)| (path, &**pod))
        .collect();
    let mut disrupted = json!({});
    for (name, since) in budget["status"]["disruptedPods"].as_object().into_iter().flatten() {
        let lives = pods.iter().any(|(path, pod)| path.name() == name && !is_deleting(pod));
        if lives && is_recent(since, now) {
            disrupted[name] = since.clone();
        }
    }
    let is_healthy =
        |path: &Path, pod: &Value| !is_deleting(pod) && disrupted.get(path.name()).is_none() && is_ready(pod);
    let healthy = pods.iter().filter(|(path, pod)| is_healthy(path, pod)).count();
    let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
    let (expected, desired) = wanted(store, discovery, budget, &pods);
    let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
    let mut status = json!({
        "observedGeneration": budget["metadata"]["generation"],
        "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": desired,
        "expectedPods": expected, "conditions": conditions_of(now, budget, allowed),
    });
    if disrupted.as_object().is_some_and(|disrupted| !disrupted.is_empty()) {
        status["disruptedPods"] = disrupted;
    }
    status
}

/// How many pods there should be, and how many of them must be healthy.
fn wanted(store: &Store, discovery: &Discovery, budget: &Value, pods: &[(&Path, &Value)]) -> (i64, i64) {
    let spec = &budget["spec"];
    let count = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    match (&spec["maxUnavailable"], &spec["minAvailable"]) {
        (Value::Null, Value::Number(least)) => (count, least.as_i64().unwrap_or_default()),
        (Value::Null, least) => {
            let expected = scale_of_owners(store, discovery, pods);
            (expected, share(least, expected))
        }
        (most, _) => {
            let expected = scale_of_owners(store, discovery, pods);
            (expected, (expected - share(most, expected)).max(0))
        }
    }
}

/// The replicas of all that the pods belong to.
fn scale_of_owners(store: &Store, discovery: &Discovery, pods: &[(&Path, &Value)]) -> i64 {
    let mut owners: Vec<(Resource, Path)> = Vec::new();
    for (path, pod) in pods {
        let owner = controller_of(discovery, path, pod).map(|owner| match store.get(&owner.0, &owner.1) {
            Some(set) => controller_of(discovery, path, set).unwrap_or(owner),
            None => owner,
        });
        owners.extend(owner.filter(|owner| !owners.contains(owner)));
    }
    let replicas = |(resource, path): &(Resource, Path)| {
        store.get(resource, path).map_or(0, |object| object["spec"]["replicas"].as_i64().unwrap_or(1))
    };
    owners.iter().map(replicas).sum()
}

/// The controller of an object in the same namespace.
fn controller_of(discovery: &Discovery, path: &Path, object: &Value) -> Option<(Resource, Path)> {
    let mut owners = object["metadata"]["ownerReferences"].as_array()?.iter();
    let owner = owners.find(|owner| owner["controller"] == true)?;
    let kind = discovery.of_object(owner["apiVersion"].as_str()?, owner["kind"].as_str()?)?;
    Some((kind.resource(), Path::new(path.namespace(), owner["name"].as_str()?)))
}

fn conditions_of(now: Timestamp, budget: &Value, allowed: i64) -> Value {
    const KIND: &str = "DisruptionAllowed";
    let (status, reason) =
        if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let known = budget["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let before = known.iter().find(|known| known["type"] == KIND && known["status"] == status);
    let since = before.map_or_else(|| time(now).into(), |before| before["lastTransitionTime"].clone());
    let mut conditions: Vec<Value> = known.iter().filter(|known| known["type"] != KIND).cloned().collect();
    conditions.push(json!({
        "type": KIND, "status": status, "reason": reason, "message": "", "lastTransitionTime": since,
        "observedGeneration": budget["metadata"]["generation"],
    }));
    conditions.into()
}

/// A number, or a part of `all` that is rounded up.
fn share(value: &Value, all: i64) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    match percent {
        Some(percent) => (all * percent + 99) / 100,
        None => value.as_i64().unwrap_or_default(),
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

fn is_recent(since: &Value, now: Timestamp) -> bool {
    let since = since.as_str().and_then(|since| since.parse::<Timestamp>().ok());
    since.is_some_and(|since| since.saturating_add(DELETION).is_ok_and(|until| until > now))
}
