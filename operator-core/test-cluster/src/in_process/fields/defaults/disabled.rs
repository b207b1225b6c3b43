//! Fields of features that are off by default, or that are no longer written: they are taken out of each object before it is
//! stored.

use serde_json::Value;

/// Takes out what the server has no feature for.
pub(super) fn drop(kind: &str, object: &mut Value) {
    if kind == "Lease" {
        remove(object.get_mut("spec"), "strategy");
        remove(object.get_mut("spec"), "preferredHolder");
    }
    if kind == "EndpointSlice" {
        // An older version of the kind had it, and what is written in this one is dropped.
        items(object.get_mut("endpoints")).for_each(|one| remove(Some(one), "deprecatedTopology"));
    }
    let pods = match kind {
        "Pod" => object.get_mut("spec"),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" => {
            object.pointer_mut("/spec/template/spec")
        }
        "CronJob" => object.pointer_mut("/spec/jobTemplate/spec/template/spec"),
        _ => return,
    };
    if let Some(pods) = pods {
        of_pods(pods);
    }
    if kind == "Pod" {
        remove(object.get_mut("status"), "nodeAllocatableResourceClaimStatuses");
    }
    if kind == "StatefulSet" {
        remove(object.pointer_mut("/spec/updateStrategy/rollingUpdate"), "maxUnavailable");
    }
}

fn of_pods(spec: &mut Value) {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in items(spec.get_mut(list)) {
            let Some(lifecycle) = container.get_mut("lifecycle").and_then(Value::as_object_mut) else {
                continue;
            };
            let had_signal = lifecycle.remove("stopSignal").is_some();
            if had_signal && lifecycle.is_empty() {
                remove(Some(container), "lifecycle");
            }
        }
    }
    for volume in items(spec.get_mut("volumes")) {
        for source in items(volume.pointer_mut("/projected/sources")) {
            remove(Some(&mut *source), "clusterTrustBundle");
            remove(Some(source), "podCertificate");
        }
    }
    remove(Some(spec), "schedulingGroup");
}

fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

fn remove(part: Option<&mut Value>, field: &str) {
    if let Some(part) = part.and_then(Value::as_object_mut) {
        part.remove(field);
    }
}
