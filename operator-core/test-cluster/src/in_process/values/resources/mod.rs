//! The kinds beside workloads: what they need to be reached, to be configured and to be allowed.

mod claim;
mod classes;
mod config;
mod event;
mod ingress;
mod ip;
mod limits;
mod network_policy;
mod quota;
mod rbac;
mod registered;
mod service;
mod service_addresses;
mod slice;
mod small;
mod volume;
mod webhooks;

pub(in crate::in_process) use self::{
    service::needs_health_port,
    service_addresses::{allocated, initial},
};
use super::{Checks, OfChanged, OfNew, anything};

/// The checks of a kind, if it is one of these.
pub(super) fn checks(group: &str, kind: &str) -> Option<Checks> {
    let (create, update): (OfNew, OfChanged) = match (group, kind) {
        ("", "ConfigMap") => (config::map, config::changed_map),
        ("", "Secret") => (config::secret, config::changed_secret),
        ("", "PersistentVolumeClaim") => (claim::claim, claim::changed),
        ("", "PersistentVolume") => (volume::volume, volume::changed),
        ("", "Service") => (service::service, service::changed),
        ("", "Namespace") => (small::namespace, anything),
        ("", "LimitRange") => (limits::range, limits::changed),
        ("", "Event") => (event::core, event::changed_core),
        ("events.k8s.io", "Event") => (event::new, event::changed),
        ("", "ResourceQuota") => (quota::quota, quota::changed),
        ("scheduling.k8s.io", "PriorityClass") => (classes::priority, classes::changed_priority),
        ("storage.k8s.io", "StorageClass") => (classes::storage, classes::changed_storage),
        ("networking.k8s.io", "IngressClass") => (classes::ingress, classes::changed_ingress),
        ("discovery.k8s.io", "EndpointSlice") => (slice::slice, slice::changed),
        ("networking.k8s.io", "Ingress") => (ingress::ingress, ingress::changed),
        ("networking.k8s.io", "NetworkPolicy") => (network_policy::policy, network_policy::changed),
        ("coordination.k8s.io", "Lease") => (small::lease, small::changed_lease),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => {
            (webhooks::changing, webhooks::changed_changing)
        }
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => {
            (webhooks::denying, webhooks::changed_denying)
        }
        ("apiregistration.k8s.io", "APIService") => {
            (registered::api_service, registered::changed_api_service)
        }
        ("node.k8s.io", "RuntimeClass") => (registered::runtime_class, registered::changed_runtime_class),
        ("rbac.authorization.k8s.io", "Role") => (rbac::role, rbac::changed_role),
        ("rbac.authorization.k8s.io", "ClusterRole") => (rbac::cluster_role, rbac::changed_cluster_role),
        ("rbac.authorization.k8s.io", "RoleBinding") => (rbac::binding, rbac::changed_binding),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => {
            (rbac::cluster_binding, rbac::changed_cluster_binding)
        }
        _ => return None,
    };
    let status: OfChanged = match (group, kind) {
        ("", "Service") => service::status,
        ("", "PersistentVolumeClaim") => claim::status,
        ("", "ResourceQuota") => quota::status,
        ("", "Namespace") => small::namespace_status,
        ("apiregistration.k8s.io", "APIService") => registered::api_service_status,
        ("networking.k8s.io", "Ingress") => ingress::status,
        _ => anything,
    };
    Some(Checks { create, update, status })
}
