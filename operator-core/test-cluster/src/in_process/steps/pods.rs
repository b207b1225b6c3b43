//! What the controllers of Pods have in common.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Act, MANAGER,
    times::{condition, is_true, left, parse},
    view::{Found, number, pods, reference, text},
};
use crate::in_process::{
    store::Path,
    write::{How, is_deleting},
};

/// The phase of a Pod.
pub(super) fn phase(pod: &Value) -> &str {
    text(&pod["status"]["phase"])
}

/// Whether a Pod has ended by itself.
pub(super) fn is_over(pod: &Value) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Whether a Pod counts as one of those that are wanted.
pub(super) fn is_active(pod: &Value) -> bool {
    !is_over(pod) && !is_deleting(pod)
}

/// Whether a Pod is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    is_true(&pod["status"], "Ready")
}

/// Whether a Pod has been ready for long enough.
pub(super) fn is_available(pod: &Value, seconds: i64, now: Timestamp) -> bool {
    is_ready(pod) && until_available(pod, seconds, now).is_none()
}

/// How long it takes until a Pod that is ready counts as available.
pub(super) fn until_available(pod: &Value, seconds: i64, now: Timestamp) -> Option<Duration> {
    if seconds <= 0 {
        return None;
    }
    let since = condition(&pod["status"], "Ready").and_then(|ready| parse(&ready["lastTransitionTime"]))?;
    Some(left(now, since, seconds)).filter(|left| !left.is_zero())
}

/// A Pod by a template, without a name.
pub(super) fn of_template(template: &Value, owner: &Value, namespace: &str) -> Value {
    let mut metadata = json!({ "namespace": namespace, "ownerReferences": [reference(owner)] });
    for field in ["labels", "annotations", "finalizers"] {
        let given = &template["metadata"][field];
        if !given.is_null() {
            metadata[field] = given.clone();
        }
    }
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"] })
}

/// Creates a Pod.
pub(super) fn create(pod: Value) -> Act {
    Act::Create { resource: pods(), manager: MANAGER, object: pod }
}

/// Deletes a Pod.
pub(super) fn delete(path: &Path) -> Act {
    Act::Delete { resource: pods(), path: path.clone(), how: How::Background }
}

/// In the order in which Pods are given up: those that do least come first.
pub(super) fn least_useful_first(pods: &mut [Found<'_>]) {
    pods.sort_by_key(|(path, pod)| {
        let is_placed = !text(&pod["spec"]["nodeName"]).is_empty();
        let phase = match phase(pod) {
            "Pending" => 0,
            "Running" => 2,
            _ => 1,
        };
        let cost = text(&pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"]);
        let restarts = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let restarts: i64 = restarts.map(|status| number(&status["restartCount"])).max().unwrap_or_default();
        let youngest = std::cmp::Reverse(text(&pod["metadata"]["creationTimestamp"]).to_owned());
        let cost = cost.parse::<i64>().unwrap_or_default();
        (is_placed, phase, is_ready(pod), cost, -restarts, youngest, (*path).clone())
    });
}
