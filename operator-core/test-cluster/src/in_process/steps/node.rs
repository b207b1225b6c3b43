//! The scheduler, and the node on which all Pods run.
//!
//! ```text
//!  Pending ─▶ has a node ─▶ Running ─▶ Ready        a Job's Pod: ─▶ Succeeded
//!     │ no place                │ crashes
//!     ▼                         ▼
//!  Unschedulable             waits, then Running again
//! ```

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    Act, Next,
    fates::Fate,
    pods::{is_over, is_ready, phase},
    times::{condition, left, parse, set_condition},
    view::{View, controller, items, number, pods, text},
    volumes::{self, Missing},
};
use crate::in_process::{
    api::ApiServer,
    fields::Endpoint,
    store::{Path, Resource},
    write::{How, finalizers, is_deleting, metadata::time, put},
};

/// The node that exists from the start.
pub(super) const NODE: &str = "node-0";

const KUBELET: &str = "kubelet";

/// The longest time between two attempts to start a container.
const LONGEST_BACKOFF: u64 = 300;

/// Creates the node.
pub(in crate::in_process) fn make_node(api: &mut ApiServer) {
    let Some(kind) = api.discovery.of_object("v1", "Node").cloned() else { return };
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": time(api.now), "lastTransitionTime": time(api.now),
        })
    };
    let capacity = json!({ "cpu": "1k", "memory": "1Ti", "pods": "10k" });
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": NODE,
            "uid": api.counters.uid(),
            "creationTimestamp": time(api.now),
            "labels": {
                "kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            },
        },
        "spec": {},
        "status": {
            "phase": "Running",
            "capacity": capacity, "allocatable": capacity,
            "addresses": [
                { "type": "InternalIP", "address": "10.0.0.1" }, { "type": "Hostname", "address": NODE },
            ],
            "conditions": [condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")],
            "daemonEndpoints": { "kubeletEndpoint": { "Port": 0 } },
            "nodeInfo": {
                "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
                "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "", "operatingSystem": "linux",
                "osImage": "", "systemUUID": "",
            },
        },
    });
    put(api, &kind, &Path::new(None, NODE), node);
}

/// What a Pod without a node needs next.
pub(super) fn schedule(view: &View<'_>, path: &Path, pod: &Arc<Value>) -> Next {
    let is_ours = matches!(text(&pod["spec"]["schedulerName"]), "" | "default-scheduler");
    let is_gated = !items(&pod["spec"]["schedulingGates"]).is_empty();
    if !text(&pod["spec"]["nodeName"]).is_empty() || is_deleting(pod) || is_over(pod) || is_gated || !is_ours
    {
        return Next::nothing();
    }
    let mut object = Value::clone(pod);
    let scheduled = |status: &str| json!({ "type": "PodScheduled", "status": status, "lastTransitionTime": time(view.now) });
    let place = match volumes::missing(view, path, pod) {
        None => place(view, pod),
        Some(Missing::Soon) => return Next::nothing(),
        Some(Missing::Unschedulable(why)) => Err(nowhere(view, &why)),
    };
    match place {
        Ok(node) => {
            object["spec"]["nodeName"] = node.into();
            super::times::remove_condition(&mut object["status"], "PodScheduled");
            let mut placed = scheduled("True");
            placed["observedGeneration"] = pod["metadata"]["generation"].clone();
            set_condition(&mut object["status"], placed);
            Next::act(Act::Bind { path: path.clone(), object })
        }
        Err(why) => {
            let mut waits = scheduled("False");
            waits["reason"] = "Unschedulable".into();
            waits["message"] = why.into();
            waits["observedGeneration"] = pod["metadata"]["generation"].clone();
            set_condition(&mut object["status"], waits);
            written(path, pod, object, "kube-scheduler")
        }
    }
}

/// No node will do, because of the Pod itself.
fn nowhere(view: &View<'_>, why: &str) -> String {
    let all = view.store.list(&Resource::new("", "nodes"), None).count();
    let of = format!("0/{all} nodes are available");
    format!("{of}: {why}. not found")
}

/// The node for a Pod, or why there is none.
fn place(view: &View<'_>, pod: &Value) -> Result<String, String> {
    let nodes: Vec<_> = view.store.list(&Resource::new("", "nodes"), None).collect();
    let none = |why: &str| {
        let (of, all) = (format!("0/{} nodes are available", nodes.len()), nodes.len());
        format!(
            "{of}: {all} {why}. no new claims to deallocate, preemption: {of}: {all} Preemption is not helpful for scheduling."
        )
    };
    if nodes.is_empty() {
        return Err("no nodes available to schedule pods".to_owned());
    }
    if view.fates.is_full {
        let (of, all) = (format!("0/{} nodes are available", nodes.len()), nodes.len());
        return Err(format!(
            "{of}: {all} Too many pods. no new claims to deallocate, preemption: {of}: {all} No preemption victims found for incoming pod."
        ));
    }
    let wanted = pod["spec"]["nodeSelector"].as_object();
    // The Pods of DaemonSets, which also tolerate that a node takes no others.
    let named = super::daemon_sets::node_of(pod);
    let fits = |node: &Value| {
        let labels = &node["metadata"]["labels"];
        (named.is_empty() || node["metadata"]["name"] == named)
            && wanted.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
    };
    let free = |node: &Value| node["spec"]["unschedulable"] != true || !named.is_empty();
    let mut fitting = nodes.iter().filter(|(_, node)| free(node)).peekable();
    if fitting.peek().is_none() {
        return Err(none("node(s) were unschedulable"));
    }
    match fitting.find(|(_, node)| fits(node)) {
        Some((path, _)) => Ok(path.name().to_owned()),
        None => Err(none("node(s) didn't match Pod's node affinity/selector")),
    }
}

/// What the node does next with a Pod.
pub(super) fn next(view: &View<'_>, path: &Path, pod: &Arc<Value>) -> Next {
    let has = |fate| view.fates.has(pod, fate);
    if text(&pod["spec"]["nodeName"]).is_empty() || has(Fate::Held) {
        return Next::nothing();
    }
    if is_deleting(pod) {
        if !finalizers(pod).is_empty() && number(&pod["metadata"]["deletionGracePeriodSeconds"]) == 0 {
            return Next::nothing();
        }
        let how = How::Within(0);
        return Next::act(Act::Delete { resource: pods(), path: path.clone(), how });
    }
    if is_over(pod) {
        return Next::nothing();
    }
    let object = match phase(pod) {
        "Running" if has(Fate::Crash) => return crash(view, path, pod),
        "Running" if is_waiting(pod) => return restart(view, path, pod),
        "Running" if is_of_job(pod) && is_ready(pod) => {
            Some(ended(view, pod, "Succeeded", &terminated(view, 0, "Completed")))
        }
        "Running" => readiness(view, pod),
        _ if broken_image(pod).is_some() => Some(unpulled(view, pod)),
        _ => Some(started(view, pod)),
    };
    object.map_or_else(Next::nothing, |object| written(path, pod, object, KUBELET))
}

fn written(path: &Path, pod: &Value, object: Value, manager: &'static str) -> Next {
    if object["status"] == pod["status"] {
        return Next::nothing();
    }
    let (resource, path, endpoint) = (pods(), path.clone(), Endpoint::Status);
    Next::act(Act::Write { resource, path, endpoint, manager, object })
}

fn is_of_job(pod: &Value) -> bool {
    controller(pod).is_some_and(|owner| owner["kind"] == "Job")
}

/// A condition as the node writes it.
fn of_node(view: &View<'_>, kind: &str, is_true: bool, reason: &str, message: &str) -> Value {
    let status = if is_true { "True" } else { "False" };
    let mut condition = json!({ "type": kind, "status": status, "lastTransitionTime": time(view.now) });
    if !reason.is_empty() {
        condition["reason"] = reason.into();
        condition["message"] = message.into();
    }
    condition
}

/// Sets the two conditions about readiness.
fn set_ready(view: &View<'_>, status: &mut Value, pod: &Value, is_ready: bool) {
    let names: Vec<&str> =
        items(&pod["spec"]["containers"]).iter().map(|container| text(&container["name"])).collect();
    let message = format!("containers with unready status: [{}]", names.join(" "));
    let reason = if is_ready { "" } else { "ContainersNotReady" };
    for kind in ["ContainersReady", "Ready"] {
        set_condition(status, of_node(view, kind, is_ready, reason, &message));
    }
    for container in status["containerStatuses"].as_array_mut().into_iter().flatten() {
        container["ready"] = is_ready.into();
    }
}

/// The tag of images that can't be pulled, so that a rollout can be seen to fail.
const BROKEN: &str = "broken";

fn broken_image(pod: &Value) -> Option<&str> {
    let images = items(&pod["spec"]["containers"]).iter().map(|container| text(&container["image"]));
    images.into_iter().find(|image| image.rsplit_once(':').is_some_and(|(_, tag)| tag == BROKEN))
}

/// The Pod while one of its images can't be pulled.
fn unpulled(view: &View<'_>, pod: &Value) -> Value {
    let mut object = pod.clone();
    let status = &mut object["status"];
    status["phase"] = "Pending".into();
    if status["startTime"].is_null() {
        status["startTime"] = time(view.now).into();
    }
    let waiting = |container: &Value| {
        let image = text(&container["image"]);
        let message = format!("Back-off pulling image \"{image}\"");
        json!({
            "name": container["name"], "image": image, "imageID": "", "ready": false, "started": false,
            "restartCount": 0, "state": { "waiting": { "reason": "ImagePullBackOff", "message": message } },
        })
    };
    status["containerStatuses"] = items(&pod["spec"]["containers"]).iter().map(waiting).collect();
    set_condition(status, of_node(view, "Initialized", true, "", ""));
    set_ready(view, status, pod, false);
    object
}

/// The Pod once its containers have been started.
fn started(view: &View<'_>, pod: &Value) -> Value {
    let (now, mut object) = (time(view.now), pod.clone());
    let status = &mut object["status"];
    let address = address(pod);
    status["phase"] = "Running".into();
    status["startTime"] = now.clone().into();
    status["hostIP"] = "10.0.0.1".into();
    status["hostIPs"] = json!([{ "ip": "10.0.0.1" }]);
    status["podIP"] = address.clone().into();
    status["podIPs"] = json!([{ "ip": address }]);
    let running = json!({ "running": { "startedAt": now } });
    let containers = |list: &str, state: &dyn Fn(&Value) -> Value| -> Value {
        items(&pod["spec"][list])
            .iter()
            .map(|container| {
                let mut status = state(container);
                status["name"] = container["name"].clone();
                status["image"] = container["image"].clone();
                status["imageID"] = "".into();
                status["restartCount"] = 0.into();
                status
            })
            .collect()
    };
    status["containerStatuses"] =
        containers("containers", &|_| json!({ "ready": false, "started": true, "state": running }));
    if !items(&pod["spec"]["initContainers"]).is_empty() {
        let done = terminated(view, 0, "Completed");
        status["initContainerStatuses"] = containers("initContainers", &|container| {
            if container["restartPolicy"] == "Always" {
                return json!({ "ready": true, "started": true, "state": running });
            }
            json!({ "ready": true, "state": done })
        });
    }
    set_condition(status, of_node(view, "Initialized", true, "", ""));
    set_ready(view, status, pod, false);
    object
}

/// An address that follows from the Pod's uid.
fn address(pod: &Value) -> String {
    let uid = text(&pod["metadata"]["uid"]);
    let count = u32::from_str_radix(uid.rsplit('-').next().unwrap_or_default(), 16).unwrap_or_default();
    let [_, a, b, c] = count.saturating_add(2).to_be_bytes();
    format!("10.{}.{b}.{c}", 128_u8.saturating_add(a))
}

/// The Pod as ready as it is to be.
fn readiness(view: &View<'_>, pod: &Value) -> Option<Value> {
    let has = |fate| view.fates.has(pod, fate);
    let wanted = !has(Fate::Unready) && (is_ready(pod) || !has(Fate::NeverReady));
    if wanted == is_ready(pod) && condition(&pod["status"], "Ready").is_some() {
        return None;
    }
    let mut object = pod.clone();
    let status = &mut object["status"];
    set_ready(view, status, pod, wanted);
    for gate in items(&pod["spec"]["readinessGates"]) {
        let kind = text(&gate["conditionType"]);
        if condition(status, kind).is_none() {
            set_condition(status, of_node(view, kind, true, "", ""));
        }
    }
    Some(object)
}

fn terminated(view: &View<'_>, code: i64, reason: &str) -> Value {
    let now = time(view.now);
    json!({ "terminated": { "exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now } })
}

/// The Pod after the end of all its containers.
fn ended(view: &View<'_>, pod: &Value, phase: &str, state: &Value) -> Value {
    let mut object = pod.clone();
    let status = &mut object["status"];
    let reason = if phase == "Succeeded" { "PodCompleted" } else { "PodFailed" };
    for kind in ["ContainersReady", "Ready"] {
        let mut condition = of_node(view, kind, false, "", "");
        condition["reason"] = reason.into();
        set_condition(status, condition);
    }
    for container in status["containerStatuses"].as_array_mut().into_iter().flatten() {
        container["ready"] = false.into();
        container["started"] = false.into();
        container["state"] = state.clone();
    }
    status["phase"] = phase.into();
    object
}

/// Whether the containers of a running Pod wait for their next start.
fn is_waiting(pod: &Value) -> bool {
    items(&pod["status"]["containerStatuses"]).iter().any(|status| status["state"]["waiting"].is_object())
}

/// Its containers end, if they run; if they wait, they start again when it is time.
fn crash(view: &View<'_>, path: &Path, pod: &Value) -> Next {
    if is_waiting(pod) {
        return restart(view, path, pod);
    }
    let end = terminated(view, 1, "Error");
    if pod["spec"]["restartPolicy"] == "Never" {
        return written(path, pod, ended(view, pod, "Failed", &end), KUBELET);
    }
    let mut object = pod.clone();
    let status = &mut object["status"];
    set_ready(view, status, pod, false);
    let mut after = Duration::ZERO;
    for container in status["containerStatuses"].as_array_mut().into_iter().flatten() {
        after = backoff(number(&container["restartCount"]));
        let message = format!(
            "back-off {} restarting failed container={} pod={}_{}({})",
            shown(after),
            text(&container["name"]),
            path.name(),
            path.namespace().unwrap_or_default(),
            text(&pod["metadata"]["uid"])
        );
        container["started"] = false.into();
        container["lastState"] = end.clone();
        container["state"] = json!({ "waiting": { "reason": "CrashLoopBackOff", "message": message } });
    }
    Next { again: Some(after), ..written(path, pod, object, KUBELET) }
}

/// How long a container waits that was restarted so often.
fn backoff(restarts: i64) -> Duration {
    let factor = 1_u64 << restarts.clamp(0, 10);
    Duration::from_secs((10 * factor).min(LONGEST_BACKOFF))
}

/// A time as Go shows it.
fn shown(time: Duration) -> String {
    match (time.as_secs() / 60, time.as_secs() % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

/// Containers that wait start again when they have waited for long enough, or when nothing is wrong any more.
fn restart(view: &View<'_>, path: &Path, pod: &Value) -> Next {
    if view.fates.has(pod, Fate::Crash) {
        let waits = |status: &Value| {
            let since = parse(&status["lastState"]["terminated"]["finishedAt"])?;
            let seconds = backoff(number(&status["restartCount"])).as_secs();
            Some(left(view.now, since, i64::try_from(seconds).ok()?))
        };
        let left = items(&pod["status"]["containerStatuses"]).iter().filter_map(waits).max();
        if let Some(left) = left.filter(|left| !left.is_zero()) {
            return Next { acts: Vec::new(), again: Some(left) };
        }
    }
    let mut object = pod.clone();
    for container in object["status"]["containerStatuses"].as_array_mut().into_iter().flatten() {
        container["restartCount"] = (number(&container["restartCount"]) + 1).into();
        container["started"] = true.into();
        container["state"] = json!({ "running": { "startedAt": time(view.now) } });
    }
    written(path, pod, object, KUBELET)
}
