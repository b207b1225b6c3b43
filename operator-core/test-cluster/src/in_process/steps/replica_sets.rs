//! ReplicaSets: as many Pods as they say.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Act, MANAGER, Next, claims,
    pods::{
        create, delete, is_active, is_available, is_over, is_ready, least_useful_first, of_template,
        until_available,
    },
    times::{condition, new_condition, remove_condition, set_condition},
    view::{Found, View, counts, number, pods, replica_sets, selects, stays},
};
use crate::in_process::{fields::Endpoint, store::Path, write::is_deleting};

/// How many Pods are created or deleted in one step.
const BURST: usize = 500;

/// What a ReplicaSet needs next.
pub(super) fn next(view: &View<'_>, path: &Path, set: &Arc<Value>) -> Next {
    let all = match claims::claim(view, &pods(), path, set) {
        Ok(all) => all,
        Err(acts) => return Next::first(acts),
    };
    let active: Vec<Found<'_>> = all.iter().copied().filter(|(_, pod)| is_active(pod)).collect();
    if stays(set) && view.failed.is_none() {
        let acts = changes(path, set, &active);
        if !acts.is_empty() {
            return Next::acts(acts);
        }
    }
    let status = status(view, set, &all, &active);
    let wait = number(&set["spec"]["minReadySeconds"]);
    let again = active.iter().filter(|(_, pod)| is_ready(pod));
    let again = again.filter_map(|(_, pod)| until_available(pod, wait, view.now)).min();
    if status == set["status"] {
        return Next { acts: Vec::new(), again };
    }
    let mut object = Value::clone(set);
    object["status"] = status;
    let (resource, path, endpoint) = (replica_sets(), path.clone(), Endpoint::Status);
    Next { acts: vec![Act::Write { resource, path, endpoint, manager: MANAGER, object }], again }
}

/// The Pods that are missing, or too many.
fn changes(path: &Path, set: &Value, active: &[Found<'_>]) -> Vec<Act> {
    let wanted = usize::try_from(number(&set["spec"]["replicas"])).unwrap_or_default();
    if active.len() < wanted {
        let mut pod = of_template(&set["spec"]["template"], set, path.namespace().unwrap_or_default());
        pod["metadata"]["generateName"] = format!("{}-", path.name()).into();
        return (active.len()..wanted).take(BURST).map(|_| create(pod.clone())).collect();
    }
    let mut surplus = active.to_vec();
    least_useful_first(&mut surplus);
    surplus.truncate((active.len() - wanted).min(BURST));
    surplus.into_iter().map(|(path, _)| delete(path)).collect()
}

fn status(view: &View<'_>, set: &Value, all: &[Found<'_>], active: &[Found<'_>]) -> Value {
    let wait = number(&set["spec"]["minReadySeconds"]);
    let labels = json!({ "matchLabels": set["spec"]["template"]["metadata"]["labels"] });
    let count = |is: &dyn Fn(&Value) -> bool| {
        i64::try_from(active.iter().filter(|(_, pod)| is(pod)).count()).unwrap_or_default()
    };
    let mut status = counts(&[
        ("availableReplicas", count(&|pod| is_available(pod, wait, view.now))),
        ("fullyLabeledReplicas", count(&|pod| selects(&labels, &pod["metadata"]["labels"]))),
        ("readyReplicas", count(&is_ready)),
    ]);
    status["replicas"] = count(&|_| true).into();
    let ending = all.iter().filter(|(_, pod)| is_deleting(pod) && !is_over(pod)).count();
    status["terminatingReplicas"] = ending.into();
    status["observedGeneration"] = set["metadata"]["generation"].clone();
    let known = &set["status"]["conditions"];
    if !known.is_null() {
        status["conditions"] = known.clone();
    }
    match view.failed {
        Some(why) if condition(&status, "ReplicaFailure").is_none() => {
            let wanted = number(&set["spec"]["replicas"]);
            let reason = if count(&|_| true) < wanted { "FailedCreate" } else { "FailedDelete" };
            set_condition(&mut status, new_condition(view.now, "ReplicaFailure", "True", reason, why));
        }
        Some(_) => {}
        None => remove_condition(&mut status, "ReplicaFailure"),
    }
    status
}

/// The number that a ReplicaSet's spec asks for.
pub(super) fn wanted(set: &Value) -> i64 {
    set["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// Whether something still belongs to a ReplicaSet, or is to.
pub(super) fn is_in_use(set: &Value) -> bool {
    number(&set["status"]["replicas"]) != 0 || wanted(set) != 0
}
