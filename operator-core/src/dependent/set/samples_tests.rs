//! Sets of objects for the tests of their order.

use kube::core::DynamicObject;
use proptest::prelude::*;
use serde_json::json;

use super::{
    kinds::Ordered,
    policies::{DeletePolicy, Policies},
};

/// Version, kind, and whether such objects live in a namespace. `Page` is defined by the CustomResourceDefinition, all of
/// `metrics.io/v1` by the APIService, and `Role` of `shop.io` only has a familiar name.
pub(super) const KINDS: [(&str, &str, bool); 25] = [
    ("v1", "Namespace", false),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", false),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", false),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", false),
    ("networking.k8s.io/v1", "IngressClass", false),
    ("node.k8s.io/v1", "RuntimeClass", false),
    ("scheduling.k8s.io/v1", "PriorityClass", false),
    ("storage.k8s.io/v1", "StorageClass", false),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", false),
    ("rbac.authorization.k8s.io/v1", "Role", true),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", false),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", true),
    ("v1", "ConfigMap", true),
    ("v1", "Secret", true),
    ("v1", "Service", true),
    ("v1", "ServiceAccount", true),
    ("v1", "PersistentVolumeClaim", true),
    ("apps/v1", "Deployment", true),
    ("batch/v1", "Job", true),
    ("apiregistration.k8s.io/v1", "APIService", false),
    ("shop.io/v1", "Page", true),
    ("shop.io/v2", "Page", true),
    ("shop.io/v1", "Role", true),
    ("metrics.io/v1", "Metric", false),
    ("metrics.io/v2", "Metric", false),
];

/// An object of that kind. A definition defines what [`KINDS`] says.
pub(super) fn object(version: &str, kind: &str, namespace: Option<&str>, name: &str) -> DynamicObject {
    let spec = match kind {
        "CustomResourceDefinition" => json!({ "group": "shop.io", "names": { "kind": "Page" } }),
        "APIService" => json!({ "group": "metrics.io", "version": "v1" }),
        _ => json!({}),
    };
    let metadata = json!({ "name": name, "namespace": namespace });
    let value = json!({ "apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec });
    serde_json::from_value(value).expect("it is an object")
}

/// Whether it is an instance of what the definitions among the kinds define, and of which.
pub(super) fn definer(version: &str, kind: &str) -> Option<&'static str> {
    match (version, kind) {
        ("shop.io/v1" | "shop.io/v2", "Page") => Some("CustomResourceDefinition"),
        ("metrics.io/v1", "Metric") => Some("APIService"),
        _ => None,
    }
}

/// A set of objects with policies: kinds by their index, two namespaces, few orders.
pub(super) fn any_set() -> impl Strategy<Value = Vec<(DynamicObject, Policies)>> {
    let policies = (-2..3_i16, -2..3_i16, prop::option::weighted(0.3, -3..4_i16), any_delete()).prop_map(
        |(apply_order, delete_order, purge_order, delete)| Policies {
            apply_order,
            delete_order,
            purge_order,
            delete,
            ..Policies::default()
        },
    );
    let one = (prop::sample::select(&KINDS[..]), prop::sample::select(&["n0", "n1"][..]), policies);
    prop::collection::vec(one, 0..16).prop_map(|all| {
        let all = all.into_iter().enumerate();
        all.map(|(at, ((version, kind, namespaced), namespace, policies))| {
            let name = if kind == "Namespace" { namespace.to_owned() } else { format!("o{at}") };
            (object(version, kind, Some(namespace).filter(|_| namespaced), &name), policies)
        })
        .collect()
    })
}

pub(super) fn any_delete() -> impl Strategy<Value = DeletePolicy> {
    let all = [
        DeletePolicy::Delete,
        DeletePolicy::Orphan,
        DeletePolicy::OrphanOnApply,
        DeletePolicy::OrphanOnDelete,
    ];
    prop::sample::select(all.to_vec())
}

pub(super) fn ordered(set: &[(DynamicObject, Policies)]) -> Vec<Ordered<'_>> {
    set.iter().map(|(object, policies)| Ordered::new(object, policies)).collect()
}

/// Version and kind, as the object has them.
pub(super) fn types(object: &DynamicObject) -> (&str, &str) {
    let types = object.types.as_ref().expect("it has types");
    (&types.api_version, &types.kind)
}
