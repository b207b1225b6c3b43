//! What is known about the kinds that come with Kubernetes.

use serde_json::Value;

use super::{
    Kind,
    pattern::{Fields, each},
    quantity::same_quantity,
};
use crate::operations::matcher::value::present;

/// Differences at a place that have no meaning.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// It is a quantity, which the server writes in its own way.
    Quantity,
    /// If it is left out, it is this text. Leaving it out requests nothing else, even if something else was requested
    /// before.
    Default(&'static str),
    /// The same for a number.
    DefaultNumber(u32),
    /// Only the server sets it, although it is in the middle of what is applied.
    OfTheServer,
    /// Zero is stored as nothing.
    Dropped,
    /// Zero lets the server choose, and keeps what it has chosen.
    Chosen,
}

use Rule::{Chosen, Default, DefaultNumber, Dropped, OfTheServer, Quantity};

type Rules = [(&'static str, Rule)];

/// Pods and pod templates. Atomic values (references to fields, items of volumes, projected sources) are owned as a
/// whole, so their defaults have to be known; the defaults of everything else have no owner.
const POD: &Rules = &[
    ("spec/containers|initContainers/[name]/resources/requests|limits/*", Quantity),
    ("spec/containers|initContainers/[name]/env/[name]/value", Dropped),
    ("spec/containers|initContainers/[name]/env/[name]/valueFrom/fieldRef/apiVersion", Default("v1")),
    ("spec/containers|initContainers/[name]/env/[name]/valueFrom/resourceFieldRef/divisor", Default("0")),
    ("spec/containers|initContainers/[name]/env/[name]/valueFrom/resourceFieldRef/divisor", Quantity),
    ("spec/containers|initContainers/[name]/tty|stdin|stdinOnce", Dropped),
    ("spec/containers|initContainers/[name]/volumeMounts/[mountPath]/readOnly", Dropped),
    ("spec/resources/requests|limits/*", Quantity),
    ("spec/overhead/*", Quantity),
    ("spec/hostNetwork|hostPID|hostIPC", Dropped),
    ("spec/volumes/[name]/emptyDir/sizeLimit", Quantity),
    ("spec/volumes/[name]/ephemeral/volumeClaimTemplate/spec/resources/requests|limits/*", Quantity),
    ("spec/volumes/[name]/downwardAPI/items/[]/fieldRef/apiVersion", Default("v1")),
    ("spec/volumes/[name]/downwardAPI/items/[]/resourceFieldRef/divisor", Default("0")),
    ("spec/volumes/[name]/downwardAPI/items/[]/resourceFieldRef/divisor", Quantity),
    ("spec/volumes/[name]/projected/sources/[]/downwardAPI/items/[]/fieldRef/apiVersion", Default("v1")),
    ("spec/volumes/[name]/projected/sources/[]/downwardAPI/items/[]/resourceFieldRef/divisor", Default("0")),
    ("spec/volumes/[name]/projected/sources/[]/downwardAPI/items/[]/resourceFieldRef/divisor", Quantity),
    ("spec/volumes/[name]/projected/sources/[]/serviceAccountToken/expirationSeconds", DefaultNumber(3600)),
];

/// The path of the pod template.
const TEMPLATES: &[(Kind<'static>, &str)] = &[
    (("", "Pod"), ""),
    (("", "PodTemplate"), "template"),
    (("", "ReplicationController"), "spec/template"),
    (("apps", "DaemonSet"), "spec/template"),
    (("apps", "Deployment"), "spec/template"),
    (("apps", "ReplicaSet"), "spec/template"),
    (("apps", "StatefulSet"), "spec/template"),
    (("batch", "CronJob"), "spec/jobTemplate/spec/template"),
    (("batch", "Job"), "spec/template"),
];

const WORKLOAD: &Rules = &[("spec/paused|minReadySeconds", Dropped)];

const STATEFUL_SET: &Rules = &[
    ("spec/minReadySeconds", Dropped),
    ("spec/volumeClaimTemplates/[]/apiVersion", Default("v1")),
    ("spec/volumeClaimTemplates/[]/kind", Default("PersistentVolumeClaim")),
    ("spec/volumeClaimTemplates/[]/status", OfTheServer),
    ("spec/volumeClaimTemplates/[]/spec/volumeMode", Default("Filesystem")),
    ("spec/volumeClaimTemplates/[]/spec/resources/requests|limits/*", Quantity),
];

const SERVICE: &Rules = &[
    ("spec/clusterIP|healthCheckNodePort", Chosen),
    ("spec/ports/[port,protocol]/nodePort", Chosen),
    ("spec/ports/[port,protocol]/nodePort", Dropped),
    ("spec/publishNotReadyAddresses", Dropped),
];

const NETWORK_POLICY: &Rules = &[("spec/ingress|egress/[]/ports/[]/protocol", Default("TCP"))];

const ROLE_BINDING: &Rules = &[
    ("roleRef/apiGroup", Default("rbac.authorization.k8s.io")),
    ("subjects/[]/apiGroup", Default("rbac.authorization.k8s.io")),
];

const AUTOSCALER: &Rules = &[
    ("spec/metrics/[]/resource|containerResource|pods|object|external/target/averageValue|value", Quantity),
    ("spec/behavior/scaleUp|scaleDown/tolerance", Quantity),
];

const CLAIM: &Rules = &[("spec/resources/requests|limits/*", Quantity)];
const VOLUME: &Rules = &[("spec/capacity/*", Quantity)];
const QUOTA: &Rules = &[("spec/hard/*", Quantity)];
const LIMIT_RANGE: &Rules =
    &[("spec/limits/[]/max|min|default|defaultRequest|maxLimitRequestRatio/*", Quantity)];

/// Rules that start at the object itself.
const KINDS: &[(Kind<'static>, &Rules)] = &[
    (("", "LimitRange"), LIMIT_RANGE),
    (("", "PersistentVolume"), VOLUME),
    (("", "PersistentVolumeClaim"), CLAIM),
    (("", "ResourceQuota"), QUOTA),
    (("", "Service"), SERVICE),
    (("apps", "DaemonSet"), WORKLOAD),
    (("apps", "Deployment"), WORKLOAD),
    (("apps", "ReplicaSet"), WORKLOAD),
    (("apps", "StatefulSet"), STATEFUL_SET),
    (("autoscaling", "HorizontalPodAutoscaler"), AUTOSCALER),
    (("networking.k8s.io", "NetworkPolicy"), NETWORK_POLICY),
    (("rbac.authorization.k8s.io", "ClusterRoleBinding"), ROLE_BINDING),
    (("rbac.authorization.k8s.io", "RoleBinding"), ROLE_BINDING),
];

/// Applies the rules of a kind to `desired`. Returns whether anything has been changed.
pub(super) fn apply(kind: Kind<'_>, desired: &mut Value, actual: &Value) -> bool {
    let mut changed = false;
    for (_, rules) in KINDS.iter().filter(|(of, _)| *of == kind) {
        changed |= apply_all(rules, desired, actual);
    }
    for (_, path) in TEMPLATES.iter().filter(|(of, _)| *of == kind) {
        let pointer = if path.is_empty() { String::new() } else { format!("/{path}") };
        if let (Some(desired), Some(actual)) = (desired.pointer_mut(&pointer), actual.pointer(&pointer)) {
            changed |= apply_all(POD, desired, actual);
        }
    }
    changed
}

fn apply_all(rules: &Rules, desired: &mut Value, actual: &Value) -> bool {
    rules.iter().fold(false, |changed, (pattern, rule)| {
        each(desired, actual, pattern, &mut |desired, actual, name| rule.fix(desired, actual, name)) | changed
    })
}

impl Rule {
    /// Converts the field to the notation of `actual`, if they differ only in that.
    fn fix(self, desired: &mut Fields, actual: &Fields, name: &str) -> bool {
        let (wanted, found) = (present(desired.get(name)), present(actual.get(name)));
        let means_the_same = match (self, wanted, found) {
            (Quantity, Some(wanted), Some(found)) => wanted != found && same_quantity(wanted, found),
            (Default(default), None, Some(found)) => found == default,
            (DefaultNumber(default), None, Some(found)) => *found == default,
            (OfTheServer, None, Some(_)) => true,
            (Dropped, Some(wanted), None) => is_zero(wanted),
            (Chosen, Some(wanted), Some(found)) => wanted != found && is_zero(wanted),
            _ => false,
        };
        if means_the_same {
            match found.cloned() {
                Some(found) => drop(desired.insert(name.to_owned(), found)),
                None => drop(desired.remove(name)),
            }
        }
        means_the_same
    }
}

/// Whether a scalar means the same as its absence: many fields of Kubernetes' own types are written without it.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}
