//! Converts a desired object to the API server's notation, where both notations mean the same.
//!
//! JOSDK's sanitizers change a copy of the actual object, on each match. These change a copy of the desired one, and
//! only once the plain comparison has failed. What is known about the kinds that come with Kubernetes is in a table of
//! rules: `spec/containers|initContainers/[name]/resources/limits/*` is a place in an object. A segment is a field or
//! several to choose from, `[]` for the items of lists by position, or `[name]` for items by the fields named. `*` at
//! the end is any field.

use k8s_openapi::ByteString;
use serde_json::{Map, Value};

use super::{quantity::same_quantity, values::present};

/// `desired` in the server's notation, or `None` if it already is.
///
/// JOSDK: `PodTemplateSpecSanitizer`, `ResourceRequirementsSanitizer`, and the part about claim templates of
/// `SSABasedGenericKubernetesResourceMatcher`.
pub(super) fn sanitized(desired: &Value, actual: &Value) -> Option<Value> {
    let kind = kind_of(desired).or_else(|| kind_of(actual))?;
    let mut adapted = desired.clone();
    let mut changed = apply_rules(kind, &mut adapted, actual);
    changed |= kind == ("", "Secret") && encode(&mut adapted, actual);
    changed.then_some(adapted)
}

/// Group and kind of an object.
type Kind<'a> = (&'a str, &'a str);

fn kind_of(object: &Value) -> Option<Kind<'_>> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Some((group, object.get("kind")?.as_str()?))
}

/// Removes those texts from `stringData` that are in the actual `data` already. The server never shows `stringData`, so
/// it would differ forever.
///
/// A text that is no longer desired is not detected, and can't be: applying doesn't remove it either, because only
/// writing it is owned. To remove keys, write `data`.
fn encode(desired: &mut Value, actual: &Value) -> bool {
    let Some(texts) = desired.get_mut("stringData").and_then(Value::as_object_mut) else { return false };
    let before = texts.len();
    texts.retain(|key, text| {
        let stored = actual.get("data").and_then(|data| data.get(key)).and_then(Value::as_str);
        let is_stored = match (text.as_str(), stored) {
            (Some(text), Some(stored)) => is_encoded(text, stored),
            _ => false,
        };
        !is_stored
    });
    let changed = texts.len() != before;
    if texts.is_empty()
        && let Some(fields) = desired.as_object_mut()
    {
        fields.remove("stringData");
    }
    changed
}

/// Whether `stored` is the base64 of `text`.
fn is_encoded(text: &str, stored: &str) -> bool {
    let encoded = serde_json::to_value(ByteString(text.as_bytes().to_vec()));
    encoded.is_ok_and(|encoded| encoded == stored)
}

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
fn apply_rules(kind: Kind<'_>, desired: &mut Value, actual: &Value) -> bool {
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

type Fields = Map<String, Value>;

/// What is done at a place: with the desired and the actual object that hold a field, and the field's name. Returns
/// whether it has changed something.
type Visit<'v> = dyn FnMut(&mut Fields, &Fields, &str) -> bool + 'v;

/// Visits all places of a pattern that exist in both objects, except for the last segment's field, which may be
/// missing. Returns whether anything has been changed.
fn each(desired: &mut Value, actual: &Value, pattern: &str, visit: &mut Visit<'_>) -> bool {
    let (segment, rest) = match pattern.split_once('/') {
        Some((segment, rest)) => (segment, Some(rest)),
        None => (pattern, None),
    };
    let mut changed = false;
    match (desired, actual, rest) {
        (Value::Array(desired), Value::Array(actual), Some(rest)) => {
            let keys = segment.trim_matches(['[', ']']);
            for (position, item) in desired.iter_mut().enumerate() {
                if let Some(other) = counterpart(item, position, actual, keys) {
                    changed |= each(item, other, rest, visit);
                }
            }
        }
        (Value::Object(desired), Value::Object(actual), Some(rest)) => {
            for name in segment.split('|') {
                if let (Some(desired), Some(actual)) = (desired.get_mut(name), actual.get(name)) {
                    changed |= each(desired, actual, rest, visit);
                }
            }
        }
        (Value::Object(desired), Value::Object(actual), None) if segment == "*" => {
            for name in actual.keys() {
                changed |= visit(desired, actual, name);
            }
        }
        (Value::Object(desired), Value::Object(actual), None) => {
            for name in segment.split('|') {
                changed |= visit(desired, actual, name);
            }
        }
        _ => {}
    }
    changed
}

/// The item of `actual` that corresponds to a desired one: the only one with the same keys.
fn counterpart<'a>(item: &Value, position: usize, actual: &'a [Value], keys: &str) -> Option<&'a Value> {
    if keys.is_empty() {
        return actual.get(position);
    }
    let is_same = |other: &&Value| {
        let mut keys = keys.split(',');
        keys.all(|key| item.get(key).is_none_or(|wanted| other.get(key) == Some(wanted)))
    };
    // One key is unique, and most often nobody has changed the order.
    if !keys.contains(',')
        && let Some(other) = actual.get(position).filter(is_same)
    {
        return Some(other);
    }
    let mut found = actual.iter().filter(is_same);
    found.next().filter(|_| found.next().is_none())
}
