//! The kinds of the fuzz, and random objects of them.
//!
//! An object is made from a template, in which `{"?": [..]}` is one of several values, `{"~": [..]}` some of them in any
//! order, and a field whose name ends in `?` may be absent.

use serde_json::{Map, Value, json};

use integration_tests::Random;

use crate::{NAMESPACE, small::*, templates::*};

/// A kind, and where it is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) api_version: &'static str,
    pub(crate) name: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) namespaced: bool,
    pub(crate) has_status: bool,
    template: fn() -> Value,
}

/// The group of the custom kind.
pub(crate) const GROUP: &str = "fuzz.example.com";

const fn kind(
    api_version: &'static str,
    name: &'static str,
    plural: &'static str,
    has_status: bool,
    template: fn() -> Value,
) -> Kind {
    Kind { api_version, name, plural, namespaced: true, has_status, template }
}

/// All kinds whose answers must not differ, the simplest first.
///
/// PersistentVolumeClaims are not among them: with the real server the first write after their creation moves the version
/// even if it changes nothing. PersistentVolumes and Nodes aren't, either: the real server gives them more than this one.
pub(crate) const KINDS: &[Kind] = &[
    kind("v1", "ConfigMap", "configmaps", false, config_map),
    kind("v1", "Secret", "secrets", false, secret),
    kind("fuzz.example.com/v1", "Sample", "samples", true, sample),
    kind("v1", "Service", "services", true, service),
    kind("apps/v1", "Deployment", "deployments", true, deployment),
    kind("apps/v1", "StatefulSet", "statefulsets", true, stateful_set),
    kind("v1", "ServiceAccount", "serviceaccounts", false, service_account),
    kind("rbac.authorization.k8s.io/v1", "Role", "roles", false, role),
    kind("coordination.k8s.io/v1", "Lease", "leases", false, lease),
    kind("networking.k8s.io/v1", "Ingress", "ingresses", true, ingress),
    kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", false, network_policy),
    kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true, disruption_budget),
    kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, autoscaler),
    kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", false, role_binding),
    kind("apps/v1", "DaemonSet", "daemonsets", true, daemon_set),
    kind("apps/v1", "ReplicaSet", "replicasets", true, replica_set),
    kind("batch/v1", "CronJob", "cronjobs", true, cron_job),
    kind("batch/v1", "Job", "jobs", true, job),
    kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", false, endpoint_slice),
    kind("v1", "Event", "events", false, event),
    kind("v1", "Endpoints", "endpoints", false, endpoints),
    kind("v1", "LimitRange", "limitranges", false, limit_range),
    kind("v1", "ResourceQuota", "resourcequotas", true, resource_quota),
    Kind {
        namespaced: false,
        ..kind("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false, cluster_role)
    },
    Kind {
        namespaced: false,
        ..kind(
            "rbac.authorization.k8s.io/v1",
            "ClusterRoleBinding",
            "clusterrolebindings",
            false,
            role_binding,
        )
    },
    Kind {
        namespaced: false,
        ..kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false, priority_class)
    },
    Kind {
        namespaced: false,
        ..kind("storage.k8s.io/v1", "StorageClass", "storageclasses", false, storage_class)
    },
    kind("v1", "Pod", "pods", true, pod),
    kind("events.k8s.io/v1", "Event", "events", false, new_event),
    kind("apps/v1", "ControllerRevision", "controllerrevisions", false, controller_revision),
    // Without a status of its own, and in no namespace.
    Kind { namespaced: false, ..kind("fuzz.example.com/v1", "Plain", "plains", false, sample) },
    Kind {
        namespaced: false,
        ..kind("networking.k8s.io/v1", "IngressClass", "ingressclasses", false, ingress_class)
    },
];

/// Fewer would leave out whole groups of Kubernetes' API.
const _: () = assert!(KINDS.len() >= 30, "fewer kinds than the fuzz is about");

/// It is about an object of its own namespace, or the real server refuses it.
fn new_event() -> Value {
    json!({
        "regarding": {"kind": "Pod", "name": {"?": ["a", "b"]}, "namespace": NAMESPACE, "uid?": "u", "apiVersion?": "v1"},
        "eventTime": {"?": ["2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00.123456Z"]},
        "action": {"?": ["Do", "Undo"]},
        "reason": {"?": ["Created", "Changed"]},
        "note?": {"?": ["a", "b", ""]},
        "type": {"?": ["Normal", "Warning"]},
        "reportingController": "example.com/web",
        "reportingInstance": {"?": ["i", "j"]},
        "series?": {"count": {"?": [2, 3]}, "lastObservedTime": "2024-01-01T00:00:00.123456Z"},
        "related?": {"kind": "Pod", "name?": "c"},
        "deprecatedCount?": {"?": [0, 1]},
        "deprecatedSource?": {"component?": "web"},
    })
}

/// It is about an object of its own namespace, or the real server refuses it.
fn event() -> Value {
    json!({
        "involvedObject": {"kind": "Pod", "name": {"?": ["a", "b"]}, "namespace": NAMESPACE, "uid?": "u", "apiVersion?": "v1"},
        "reason?": {"?": ["Created", "Changed"]},
        "message?": {"?": ["a", "b", ""]},
        "type?": {"?": ["Normal", "Warning"]},
        "count?": {"?": [0, 1, 2]},
        "firstTimestamp?": {"?": ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z"]},
        "lastTimestamp?": {"?": [null, "2024-01-01T01:00:00+01:00"]},
        "source?": {"component?": {"?": ["web", "other"]}, "host?": "h"},
        "reportingComponent?": {"?": ["web", ""]},
        "reportingInstance?": "i",
        "series?": {"count?": 2, "lastObservedTime?": "2024-01-01T00:00:00.123456Z"},
        "related?": {"kind": "Pod", "name?": "c"},
    })
}

impl Kind {
    /// A random object, without a name. Its status is part of it.
    pub(crate) fn object(&self, random: &mut Random) -> Value {
        let mut object = fill(&(self.template)(), random);
        object["metadata"] = fill(&metadata(), random);
        if let (GROUP, Some(metadata)) = (self.group(), object["metadata"].as_object_mut()) {
            // The real server stores an empty list of a custom object as it came, and reads none: its second write differs
            // from its first, which is not modelled.
            metadata.retain(|_, value| value.as_array().is_none_or(|items| !items.is_empty()));
            metadata.retain(|_, value| value.as_object().is_none_or(|fields| !fields.is_empty()));
        }
        object
    }

    /// The path of all its objects.
    pub(crate) fn path(&self, namespace: &str) -> String {
        let base = if self.group().is_empty() { "api" } else { "apis" };
        let place = if self.namespaced { format!("/namespaces/{namespace}") } else { String::new() };
        format!("/{base}/{}{place}/{}", self.api_version, self.plural)
    }

    /// Empty for the core.
    pub(crate) fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// A template with all choices made.
pub(crate) fn fill(template: &Value, random: &mut Random) -> Value {
    match template {
        Value::Object(map) => {
            if let Some(options) = map.get("?").and_then(Value::as_array) {
                return fill(&random.pick(options), random);
            }
            if let Some(options) = map.get("~").and_then(Value::as_array) {
                let mut some: Vec<_> = options.iter().filter(|_| random.chance(50)).cloned().collect();
                if random.chance(30) {
                    some.reverse();
                }
                return Value::Array(some.iter().map(|item| fill(item, random)).collect());
            }
            let mut filled = Map::new();
            for (name, value) in map {
                match name.strip_suffix('?') {
                    Some(_) if random.chance(60) => {}
                    Some(name) => {
                        filled.insert(name.to_owned(), fill(value, random));
                    }
                    None => {
                        filled.insert(name.clone(), fill(value, random));
                    }
                }
            }
            Value::Object(filled)
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, random)).collect()),
        other => other.clone(),
    }
}
