//! The defaults of Kubernetes' own kinds, ported by hand: they are not in the recorded types.
//!
//! | when | what |
//! |---|---|
//! | [`fill`] | a body is read: everything that depends on the body alone |
//! | [`create`] | a new object: its first status |
//! | [`update`] | an update: what was allocated before, and may be left out |

mod definition;
mod disabled;
mod limits;
mod network;
mod others;
mod pods;
mod workloads;

pub(in crate::in_process) use pods::quality;
use serde_json::{Map, Value, json};

/// Fills in what a request may omit.
pub(super) fn fill(kind: &str, object: &mut Value) {
    let Some(object) = object.as_object_mut() else { return };
    match kind {
        "CustomResourceDefinition" => definition::fill(object),
        "Secret" => others::secret(object),
        "LimitRange" => limits::fill(object),
        "Namespace" => others::namespace(object),
        "RoleBinding" | "ClusterRoleBinding" => others::binding(object),
        "PersistentVolumeClaim" => others::volume_claim(object),
        "PersistentVolume" => others::volume(object),
        "ResourceQuota" => others::quota(object),
        "Node" => others::node(object),
        "HorizontalPodAutoscaler" => others::autoscaler(object),
        "PriorityClass" => missing(object, "preemptionPolicy", "PreemptLowerPriority"),
        "StorageClass" => {
            missing(object, "reclaimPolicy", "Delete");
            missing(object, "volumeBindingMode", "Immediate");
        }
        "Service" => network::service(object),
        "Ingress" | "IngressClass" => network::ingress_class(object),
        "NetworkPolicy" => network::policy(object),
        "EndpointSlice" => network::endpoint_slice(object),
        "Endpoints" => network::endpoints(object),
        "Pod" => pods::pod(object),
        "Deployment" => workloads::deployment(object),
        "StatefulSet" => workloads::stateful_set(object),
        "DaemonSet" => workloads::daemon_set(object),
        "ReplicaSet" => workloads::replica_set(object),
        "Job" => workloads::job(object),
        "CronJob" => workloads::cron_job(object),
        "PodTemplate" => pods::template(object),
        "MutatingWebhookConfiguration" => others::webhooks(object, true),
        "ValidatingWebhookConfiguration" => others::webhooks(object, false),
        "APIService" => others::api_service(object),
        _ => {}
    }
}

/// Fills in the first status of a kind, and what only a new object gets.
pub(super) fn create(kind: &str, object: &mut Value) {
    disabled::drop(kind, object);
    let phase = match kind {
        "Namespace" => "Active",
        "Pod" | "PersistentVolumeClaim" | "PersistentVolume" => "Pending",
        "ServiceAccount" => return others::service_account(object),
        "Service" => return network::families(object),
        "DaemonSet" => return workloads::template_generation(None, object),
        _ => return,
    };
    object["status"] = json!({ "phase": phase });
    match kind {
        "Pod" => object["status"]["qosClass"] = json!(pods::quality(object)),
        "Namespace" => others::namespace_finalizer(object),
        "PersistentVolumeClaim" => {
            others::protected(object, "kubernetes.io/pvc-protection");
            others::data_sources(None, object);
        }
        "PersistentVolume" => others::protected(object, "kubernetes.io/pv-protection"),
        _ => {}
    }
}

/// Fills in what depends on the identity of a new object.
pub(super) fn identified(kind: &str, object: &mut Value) {
    if let ("Job", Some(job)) = (kind, object.as_object_mut()) {
        workloads::job_selector(job);
    }
}

/// Fills in what was taken away by a write that left the rest as it was: whoever reads the object sees it again.
pub(super) fn stored(kind: &str, object: &mut Value) {
    if let ("Job", Some(job)) = (kind, object.as_object_mut()) {
        workloads::job_labels(job);
    }
}

/// Carries over what an update may omit.
pub(super) fn update(kind: &str, live: &Value, object: &mut Value) {
    disabled::drop(kind, object);
    match kind {
        "Service" => network::allocated(live, object),
        "Pod" => pods::priority(live, object),
        "ServiceAccount" => others::service_account(object),
        "PersistentVolumeClaim" => others::data_sources(Some(live), object),
        "DaemonSet" => workloads::template_generation(Some(live), object),
        _ => {}
    }
}

type Object = Map<String, Value>;

/// Sets a missing field.
fn missing(object: &mut Object, field: &str, value: impl Into<Value>) {
    let place = object.entry(field).or_insert(Value::Null);
    if place.is_null() {
        *place = value.into();
    }
}

/// A part of an object, if it exists.
fn part<'a>(object: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    object.get_mut(field).and_then(Value::as_object_mut)
}

/// A part of an object, created if it doesn't exist.
fn made<'a>(object: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    missing(object, field, json!({}));
    part(object, field)
}

/// The items of a list of objects.
fn each<'a>(object: &'a mut Object, field: &str) -> impl Iterator<Item = &'a mut Object> + use<'a> {
    let items = object.get_mut(field).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// A text, empty where it is absent.
fn text<'a>(object: &'a Object, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or("")
}
