//! The cells of pods: what their containers are doing, in one word.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    cells::{condition, is_deleting, is_true, list, number, row, text, text_or},
    duration::since,
};

/// What a table says of a pod that has ended.
pub(super) fn conditions(kind: &str, object: &Value) -> Option<Value> {
    let message = match (kind, text(object, "/status/phase")) {
        ("Pod", "Succeeded") => "The pod has completed successfully.",
        ("Pod", "Failed") => "The pod failed.",
        _ => return None,
    };
    let phase = text(object, "/status/phase");
    Some(json!([{ "type": "Completed", "status": "True", "reason": phase, "message": message }]))
}

/// What is found out about the containers, one after the other.
#[derive(Default)]
struct Seen {
    restarts: i64,
    /// The newest end of a container that was started again.
    ended: Option<Value>,
    ready: usize,
    reason: String,
}

impl Seen {
    fn restarted(&mut self, status: &Value) {
        self.restarts += number(status, "/restartCount");
        let end = &status["lastState"]["terminated"]["finishedAt"];
        // Times of one form: the later one is greater as a text, too.
        if end.is_string() && self.ended.as_ref().is_none_or(|ended| ended.as_str() < end.as_str()) {
            self.ended = Some(end.clone());
        }
    }
}

pub(super) fn cells(pod: &Value, name: &Value, age: &Value, now: Timestamp) -> Vec<Value> {
    let phase = text(pod, "/status/phase");
    let mut reason = text_or(pod, "/status/reason", phase);
    if condition(pod, "PodScheduled").is_some_and(|found| found["reason"] == "SchedulingGated") {
        "SchedulingGated".clone_into(&mut reason);
    }
    let sidecars = list(pod, "/spec/initContainers").iter().filter(|one| one["restartPolicy"] == "Always");
    let total = list(pod, "/spec/containers").len() + sidecars.count();
    let mut seen = Seen { reason, ..Seen::default() };
    if containers(pod, &mut seen) {
        after_start(pod, &mut seen);
    }
    if is_deleting(pod) && text(pod, "/status/reason") == "NodeLost" {
        "Unknown".clone_into(&mut seen.reason);
    } else if is_deleting(pod) && !matches!(phase, "Succeeded" | "Failed") {
        "Terminating".clone_into(&mut seen.reason);
    }
    let restarts = match &seen.ended {
        Some(ended) if seen.restarts != 0 => format!("{} ({} ago)", seen.restarts, since(ended, now)),
        _ => seen.restarts.to_string(),
    };
    row![
        name,
        format!("{}/{total}", seen.ready),
        seen.reason,
        restarts,
        age,
        text_or(pod, "/status/podIPs/0/ip", "<none>"),
        text_or(pod, "/spec/nodeName", "<none>"),
        text_or(pod, "/status/nominatedNodeName", "<none>"),
        gates(pod),
    ]
}

/// Looks at the containers of the start; returns whether the others count.
fn containers(pod: &Value, seen: &mut Seen) -> bool {
    let all = list(pod, "/spec/initContainers");
    let is_sidecar = |name: &Value| {
        all.iter().any(|container| container["name"] == *name && container["restartPolicy"] == "Always")
    };
    let mut sidecars = Seen::default();
    let mut starting = false;
    for (at, status) in list(pod, "/status/initContainerStatuses").iter().enumerate() {
        seen.restarted(status);
        let sidecar = is_sidecar(&status["name"]);
        if sidecar {
            sidecars.restarted(status);
        }
        let terminated = &status["state"]["terminated"];
        if terminated.is_object() && number(terminated, "/exitCode") == 0 {
            continue;
        }
        if sidecar && status["started"] == true {
            seen.ready += usize::from(status["ready"] == true);
            continue;
        }
        let waiting = text(status, "/state/waiting/reason");
        seen.reason = if terminated.is_object() {
            format!("Init:{}", end(terminated))
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{at}/{}", all.len())
        };
        starting = true;
        break;
    }
    let goes_on = !starting || is_true(pod, "Initialized");
    if goes_on {
        (seen.restarts, seen.ended) = (sidecars.restarts, sidecars.ended);
    }
    goes_on
}

/// Why a container has ended.
fn end(terminated: &Value) -> String {
    let (signal, code) = (number(terminated, "/signal"), number(terminated, "/exitCode"));
    match text(terminated, "/reason") {
        "" if signal != 0 => format!("Signal:{signal}"),
        "" => format!("ExitCode:{code}"),
        reason => reason.to_owned(),
    }
}

/// Looks at the containers that run for as long as the pod does, the last one first.
fn after_start(pod: &Value, seen: &mut Seen) {
    let (mut running, mut error) = (false, String::new());
    for status in list(pod, "/status/containerStatuses").iter().rev() {
        seen.restarted(status);
        let (waiting, terminated) = (text(status, "/state/waiting/reason"), &status["state"]["terminated"]);
        if !waiting.is_empty() {
            waiting.clone_into(&mut seen.reason);
        } else if terminated.is_object() {
            seen.reason = end(terminated);
            if number(terminated, "/exitCode") != 0 {
                seen.reason.clone_into(&mut error);
            }
        } else if status["ready"] == true && status["state"]["running"].is_object() {
            running = true;
            seen.ready += 1;
        }
    }
    if seen.reason == "Completed" {
        if running && is_true(pod, "Ready") {
            "Running".clone_into(&mut seen.reason);
        } else if !error.is_empty() {
            seen.reason = error;
        } else if running {
            "NotReady".clone_into(&mut seen.reason);
        }
    }
}

fn gates(pod: &Value) -> String {
    let gates = list(pod, "/spec/readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates.iter().filter(|gate| is_true(pod, text(gate, "/conditionType"))).count();
    format!("{open}/{}", gates.len())
}
