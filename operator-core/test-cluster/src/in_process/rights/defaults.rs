//! The roles and bindings that every cluster has from its start.
//!
//! `roles.json` has a line for each, recorded from a real API server: `v`, `g`, `r`, `n`, `u` are a rule's verbs, groups,
//! resources, names and paths; `to` and `from` are what a role is aggregated to and from.
//!
//! # Assumptions
//! - Servers start often and at few different times (a simulation's are all the same), so the last ones are kept.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{RBAC, aggregate::aggregated, path_of};
use crate::in_process::{
    access::rbac,
    store::{Path, Resource},
    write::metadata::time,
};

/// The objects of each resource.
pub(in crate::in_process) type Objects = Vec<(Resource, BTreeMap<Path, Arc<Value>>)>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    rules: Option<Vec<BTreeMap<String, String>>>,
    to: Option<String>,
    from: Option<String>,
    role: Option<String>,
    subjects: Vec<String>,
}

type Recorded = BTreeMap<String, BTreeMap<String, Entry>>;

/// A broken recording is an empty one; a test fails then.
static RECORDED: LazyLock<Recorded> =
    LazyLock::new(|| serde_json::from_str(include_str!("roles.json")).unwrap_or_default());

/// The objects of the last start, and when it was, and whether roles were aggregated.
static LAST: Mutex<Option<(String, bool, Arc<Objects>)>> = Mutex::new(None);

/// The group of priorities.
const SCHEDULING: &str = "scheduling.k8s.io";
const BOOTSTRAPPING: &str = "kubernetes.io/bootstrapping";
const AGGREGATE: &str = "rbac.authorization.k8s.io/aggregate-to-";
const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";

/// The roles and bindings that every cluster has at its start; `aggregates` says that roles consist of others already.
pub(in crate::in_process) fn first(now: Timestamp, aggregates: bool) -> Arc<Objects> {
    let now = time(now);
    let mut last = LAST.lock();
    match &*last {
        Some((then, aggregated, objects)) if *then == now && *aggregated == aggregates => Arc::clone(objects),
        _ => {
            let objects = Arc::new(make(&now, aggregates));
            *last = Some((now, aggregates, Arc::clone(&objects)));
            objects
        }
    }
}

fn make(now: &str, aggregates: bool) -> Objects {
    let mut number = 0;
    let mut objects: Objects = Vec::new();
    for (plural, entries) in &*RECORDED {
        let of_resource = entries.iter().map(|(name, entry)| {
            number += 1;
            let path = path_of(name);
            let object = Arc::new(object(plural, &path, entry, number, now, aggregates));
            (path, object)
        });
        let of_resource: BTreeMap<_, _> = of_resource.collect();
        objects.push((rbac(plural), of_resource));
    }
    if aggregates {
        for (resource, roles) in &mut objects {
            if *resource == rbac("clusterroles") {
                aggregate_all(roles);
            }
        }
    }
    objects.push((Resource::new(SCHEDULING, "priorityclasses"), classes(now)));
    objects
}

/// The priorities of the cluster's own pods.
fn classes(now: &str) -> BTreeMap<Path, Arc<Value>> {
    const CLASSES: [(&str, u64, &str); 2] = [
        (
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
        ),
        (
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
    ];
    let class = |(number, (name, value, description)): (u64, &(&str, u64, &str))| {
        let owned = json!({
            "manager": "kube-apiserver", "operation": "Update", "apiVersion": format!("{SCHEDULING}/v1"), "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": { "f:description": {}, "f:preemptionPolicy": {}, "f:value": {} },
        });
        let class = json!({
            "apiVersion": format!("{SCHEDULING}/v1"), "kind": "PriorityClass",
            "metadata": {
                "name": name, "uid": format!("00000000-0000-4000-a000-{number:012x}"), "generation": 1,
                "creationTimestamp": now, "resourceVersion": "1", "managedFields": [owned],
            },
            "value": value, "description": description, "preemptionPolicy": "PreemptLowerPriority",
        });
        (Path::new(None, name), Arc::new(class))
    };
    (1..).zip(&CLASSES).map(class).collect()
}

/// Lets roles aggregate others that aggregate, too, until nothing changes.
fn aggregate_all(roles: &mut BTreeMap<Path, Arc<Value>>) {
    loop {
        let changes = roles.iter().filter_map(|(path, role)| {
            let rules = aggregated(role, &roles.values())?;
            let mut role = Value::clone(role);
            role["rules"] = rules.into();
            Some((path.clone(), Arc::new(role)))
        });
        let changes: Vec<_> = changes.collect();
        if changes.is_empty() {
            return;
        }
        roles.extend(changes);
    }
}

fn object(plural: &str, path: &Path, entry: &Entry, number: u64, now: &str, aggregates: bool) -> Value {
    let kind = match plural {
        "clusterroles" => "ClusterRole",
        "clusterrolebindings" => "ClusterRoleBinding",
        "roles" => "Role",
        _ => "RoleBinding",
    };
    let mut labels = json!({ BOOTSTRAPPING: "rbac-defaults" });
    for to in entry.to.iter().flat_map(|to| to.split(',')) {
        labels[format!("{AGGREGATE}{to}")] = "true".into();
    }
    let mut owned_labels = json!({ ".": {} });
    for name in labels.as_object().into_iter().flat_map(|labels| labels.keys()) {
        owned_labels[format!("f:{name}")] = json!({});
    }
    let owned = json!({
        "f:annotations": { ".": {}, format!("f:{AUTOUPDATE}"): {} },
        "f:labels": owned_labels,
    });
    let mut object = json!({
        "apiVersion": format!("{RBAC}/v1"),
        "kind": kind,
        "metadata": {
            "name": path.name(),
            "uid": format!("00000000-0000-4000-9000-{number:012x}"),
            "creationTimestamp": now,
            "resourceVersion": "1",
            "labels": labels,
            "annotations": { AUTOUPDATE: "true" },
        },
    });
    if let Some(namespace) = path.namespace() {
        object["metadata"]["namespace"] = namespace.into();
    }
    let mut owned = json!({ "f:metadata": owned });
    let mut entries = Vec::new();
    if let Some(from) = &entry.from {
        let selector = json!({ "matchLabels": { format!("{AGGREGATE}{from}"): "true" } });
        object["aggregationRule"] = json!({ "clusterRoleSelectors": [selector] });
        object["rules"] = Value::Null;
        owned["f:aggregationRule"] = json!({ ".": {}, "f:clusterRoleSelectors": {} });
        if aggregates {
            let owned = json!({ "f:rules": {} });
            entries.push(managed("clusterrole-aggregation-controller", "Apply", now, &owned));
        }
    } else if let Some(rules) = &entry.rules {
        object["rules"] = rules.iter().map(rule).collect::<Vec<_>>().into();
        owned["f:rules"] = json!({});
    }
    if let Some((kind, name)) = entry.role.as_deref().and_then(|role| role.split_once(' ')) {
        object["roleRef"] = json!({ "apiGroup": RBAC, "kind": kind, "name": name });
        owned["f:roleRef"] = json!({});
        if !entry.subjects.is_empty() {
            object["subjects"] = entry.subjects.iter().map(|text| subject(text)).collect::<Vec<_>>().into();
            owned["f:subjects"] = json!({});
        }
    }
    entries.push(managed("kube-apiserver", "Update", now, &owned));
    object["metadata"]["managedFields"] = entries.into();
    object
}

fn managed(manager: &str, operation: &str, now: &str, owned: &Value) -> Value {
    json!({
        "manager": manager, "operation": operation, "apiVersion": format!("{RBAC}/v1"), "time": now,
        "fieldsType": "FieldsV1", "fieldsV1": owned,
    })
}

fn rule(recorded: &BTreeMap<String, String>) -> Value {
    const FIELDS: [(&str, &str); 5] = [
        ("v", "verbs"),
        ("g", "apiGroups"),
        ("r", "resources"),
        ("n", "resourceNames"),
        ("u", "nonResourceURLs"),
    ];
    let mut rule = json!({});
    for (short, field) in FIELDS {
        if let Some(values) = recorded.get(short) {
            rule[field] = values.split(',').collect::<Vec<_>>().into();
        }
    }
    rule
}

fn subject(text: &str) -> Value {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        [kind, namespace, name] => json!({ "kind": kind, "namespace": namespace, "name": name }),
        _ => {
            let (kind, name) = text.split_once(' ').unwrap_or((text, ""));
            json!({ "apiGroup": RBAC, "kind": kind, "name": name })
        }
    }
}
