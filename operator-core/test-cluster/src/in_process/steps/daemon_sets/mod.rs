//! DaemonSets: a Pod on each node.

mod surge;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Act, MANAGER, Next, claims,
    events::Said,
    pods::{create, delete, is_available, is_over, is_ready, of_template, phase, until_available},
    revisions,
    view::{Found, View, by_age, number, pods, share, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::is_deleting,
};

const HASH: &str = "controller-revision-hash";

/// What the Pods of all DaemonSets put up with: the taint, and whether it is about running Pods as well.
const TOLERATED: [(&str, &str); 6] = [
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
];

/// What a DaemonSet needs next.
pub(super) fn next(view: &View<'_>, path: &Path, set: &Arc<Value>) -> Next {
    let mut found = match claims::claim(view, &pods(), path, set) {
        Ok(found) => found,
        Err(acts) => return Next::first(acts),
    };
    by_age(&mut found);
    let revisions = match revisions::of(view, path, set, HASH) {
        Ok(revisions) => revisions,
        Err(acts) if stays(set) => return Next::first(acts),
        Err(_) => return Next::nothing(),
    };
    let hash = revisions::hash_of(revisions.update.1, HASH);
    let nodes = view.store.list(&Resource::new("", "nodes"), None).filter(|(_, node)| runs_on(set, node));
    let nodes: Vec<&str> = nodes.map(|(path, _)| path.name()).collect();
    let mut acts = Vec::new();
    if stays(set) && view.failed.is_none() {
        acts = match surge::most(set, nodes.len()) {
            0 => changes(view, path, set, &found, &nodes, hash),
            most => surge::changes(view, path, set, &found, &nodes, hash, most),
        };
        if acts.is_empty() {
            let used = |old: &Value| {
                let hash = revisions::hash_of(old, HASH);
                found.iter().any(|(_, pod)| text(&pod["metadata"]["labels"][HASH]) == hash)
            };
            acts = revisions.clean_up(set, used);
        }
    }
    let status = status(view, set, &found, &nodes, hash);
    if status != set["status"] {
        let mut object = Value::clone(set);
        object["status"] = status;
        let (resource, path, endpoint) =
            (Resource::new("apps", "daemonsets"), path.clone(), Endpoint::Status);
        acts.push(Act::Write { resource, path, endpoint, manager: MANAGER, object });
    }
    let again = found.iter().filter(|(_, pod)| is_ready(pod));
    let again = again.filter_map(|(_, pod)| until_available(pod, wait(set), view.now)).min();
    Next { acts, again }
}

fn wait(set: &Value) -> i64 {
    number(&set["spec"]["minReadySeconds"])
}

fn runs_on(set: &Value, node: &Value) -> bool {
    let wanted = set["spec"]["template"]["spec"]["nodeSelector"].as_object();
    let labels = &node["metadata"]["labels"];
    wanted.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
}

/// The node for which a Pod was made, or on which it is.
pub(super) fn node_of(pod: &Value) -> &str {
    let affinity = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let wanted = &affinity["nodeSelectorTerms"][0]["matchFields"][0]["values"][0];
    let given = text(&pod["spec"]["nodeName"]);
    if given.is_empty() { text(wanted) } else { given }
}

/// The Pods that are missing, too many or outdated.
fn changes(
    view: &View<'_>,
    path: &Path,
    set: &Value,
    found: &[Found<'_>],
    nodes: &[&str],
    hash: &str,
) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut on_their_node = Vec::new();
    for node in nodes {
        let mut of_node = found.iter().filter(|(_, pod)| node_of(pod) == *node);
        let Some(first) = of_node.next() else {
            acts.push(create(made(path, set, node, hash)));
            continue;
        };
        acts.extend(ended(first));
        on_their_node.push(*first);
        acts.extend(of_node.filter(|(_, pod)| !is_deleting(pod)).map(|(path, _)| delete(path)));
    }
    let misplaced = found.iter().filter(|(_, pod)| !nodes.contains(&node_of(pod)) && !is_deleting(pod));
    acts.extend(misplaced.map(|(path, _)| delete(path)));
    let strategy = &set["spec"]["updateStrategy"];
    if !acts.is_empty() || strategy["type"] == "OnDelete" {
        return acts;
    }
    let of_all = i64::try_from(nodes.len()).unwrap_or_default();
    let most = share(&strategy["rollingUpdate"]["maxUnavailable"], of_all, true).max(1);
    let well = |pod: &Value| is_available(pod, wait(set), view.now) && !is_deleting(pod);
    let missing = on_their_node.iter().filter(|(_, pod)| !well(pod)).count();
    let mut room = most - i64::try_from(missing).unwrap_or_default();
    for (path, pod) in on_their_node {
        if text(&pod["metadata"]["labels"][HASH]) == hash || is_deleting(pod) {
            continue;
        }
        if !well(pod) {
            acts.push(delete(path));
        } else if room > 0 {
            room -= 1;
            acts.push(delete(path));
        }
    }
    acts
}

/// A Pod that has ended by itself makes way for another one.
fn ended((path, pod): &Found<'_>) -> Vec<Act> {
    if !is_over(pod) || is_deleting(pod) {
        return Vec::new();
    }
    let (namespace, node) = (path.namespace().unwrap_or_default(), node_of(pod));
    let said = match phase(pod) {
        "Failed" => {
            let why = format!(
                "Found failed daemon pod {namespace}/{} on node {node}, will try to kill it",
                path.name()
            );
            Said::warning("FailedDaemonPod", why)
        }
        _ => {
            let why = format!(
                "Found succeeded daemon pod {namespace}/{} on node {node}, will try to delete it",
                path.name()
            );
            Said::normal("SucceededDaemonPod", why)
        }
    };
    vec![Act::Say(said), delete(path)]
}

/// A Pod for a node.
fn made(path: &Path, set: &Value, node: &str, hash: &str) -> Value {
    let mut pod = of_template(&set["spec"]["template"], set, path.namespace().unwrap_or_default());
    pod["metadata"]["generateName"] = format!("{}-", path.name()).into();
    pod["metadata"]["labels"][HASH] = hash.into();
    let generation = &set["metadata"]["annotations"]["deprecated.daemonset.template.generation"];
    if !generation.is_null() {
        pod["metadata"]["labels"]["pod-template-generation"] = generation.clone();
    }
    let term = json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] });
    pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({ "nodeSelectorTerms": [term] });
    let mut tolerations = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    let mut tolerates = |taint: &str, effect: &str| {
        let key = format!("node.kubernetes.io/{taint}");
        tolerations.push(json!({ "key": key, "operator": "Exists", "effect": effect }));
    };
    TOLERATED.iter().for_each(|(taint, effect)| tolerates(taint, effect));
    if pod["spec"]["hostNetwork"] == true {
        tolerates("network-unavailable", "NoSchedule");
    }
    pod["spec"]["tolerations"] = tolerations.into();
    pod
}

fn status(view: &View<'_>, set: &Value, found: &[Found<'_>], nodes: &[&str], hash: &str) -> Value {
    let first = |node: &&str| found.iter().find(|(_, pod)| node_of(pod) == *node).map(|(_, pod)| *pod);
    let placed: Vec<_> = nodes.iter().filter_map(first).collect();
    let count = |is: &dyn Fn(&Value) -> bool| {
        i64::try_from(placed.iter().filter(|pod| is(pod)).count()).unwrap_or_default()
    };
    let desired = i64::try_from(nodes.len()).unwrap_or_default();
    let available = count(&|pod| is_available(pod, wait(set), view.now));
    let misplaced = found.iter().filter(|(_, pod)| !nodes.contains(&node_of(pod))).count();
    let mut status = super::view::counts(&[
        ("updatedNumberScheduled", count(&|pod| text(&pod["metadata"]["labels"][HASH]) == hash)),
        ("numberAvailable", available),
        ("numberUnavailable", desired - available),
    ]);
    status["currentNumberScheduled"] = count(&|_| true).into();
    status["desiredNumberScheduled"] = desired.into();
    status["numberMisscheduled"] = misplaced.into();
    status["numberReady"] = count(&is_ready).into();
    status["observedGeneration"] = set["metadata"]["generation"].clone();
    for field in ["collisionCount", "conditions"] {
        if !set["status"][field].is_null() {
            status[field] = set["status"][field].clone();
        }
    }
    status
}
