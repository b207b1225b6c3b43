//! The cells of storage, rights, events and the rest.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    super::kinds::storage::class,
    cells::{condition, entries, is_deleting, list, number, or, plain, row, text, text_or},
    duration::since,
};

pub(super) fn cells(kind: &str, object: &Value, name: &Value, age: &Value, now: Timestamp) -> Vec<Value> {
    match kind {
        "Namespace" => row![name, text(object, "/status/phase"), age],
        "ConfigMap" => {
            row![name, entries(object, "/data").len() + entries(object, "/binaryData").len(), age]
        }
        "Secret" => row![name, text(object, "/type"), entries(object, "/data").len(), age],
        "Lease" => row![name, text(object, "/spec/holderIdentity"), age],
        "Node" => node(object, name, age),
        "Event" => event(object, name, now),
        "PersistentVolume" => volume(object, name, age),
        "PersistentVolumeClaim" => claim(object, name, age),
        "ResourceQuota" => quota(object, name, age),
        "RoleBinding" | "ClusterRoleBinding" => {
            let role = &object["roleRef"];
            let role = format!("{}/{}", text(role, "/kind"), text(role, "/name"));
            let of = |kind: &str| {
                let subjects = list(object, "/subjects").iter().filter(|subject| subject["kind"] == kind);
                let names = subjects.map(|subject| match text(subject, "/namespace") {
                    namespace if kind == "ServiceAccount" => {
                        format!("{namespace}/{}", text(subject, "/name"))
                    }
                    _ => text(subject, "/name").to_owned(),
                });
                names.collect::<Vec<_>>().join(", ")
            };
            row![name, role, age, of("User"), of("Group"), of("ServiceAccount")]
        }
        "StorageClass" => {
            let annotations = object["metadata"]["annotations"].as_object();
            let is_default = |prefix: &str| {
                let key = format!("storageclass.{prefix}kubernetes.io/is-default-class");
                annotations.is_some_and(|all| all.get(&key).is_some_and(|value| value == "true"))
            };
            let mark = if is_default("") || is_default("beta.") { " (default)" } else { "" };
            row![
                format!("{}{mark}", plain(name)),
                text(object, "/provisioner"),
                text_or(object, "/reclaimPolicy", "Delete"),
                text_or(object, "/volumeBindingMode", "Immediate"),
                object["allowVolumeExpansion"] == true,
                age,
            ]
        }
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            row![name, list(object, "/webhooks").len(), age]
        }
        "RuntimeClass" => row![name, text(object, "/handler"), age],
        "APIService" => {
            let service = &object["spec"]["service"];
            let server = match service.is_null() {
                true => "Local".to_owned(),
                false => format!("{}/{}", text(service, "/namespace"), text(service, "/name")),
            };
            let available = condition(object, "Available").map(|condition| {
                let (status, reason) = (text(condition, "/status"), text(condition, "/reason"));
                let is_plain = status == "True" || reason.is_empty();
                if is_plain { status.to_owned() } else { format!("{status} ({reason})") }
            });
            row![name, server, available.unwrap_or_else(|| "Unknown".to_owned()), age]
        }
        "PriorityClass" => {
            let is_default = object["globalDefault"] == true;
            row![name, number(object, "/value"), is_default, age, text(object, "/preemptionPolicy")]
        }
        // A ServiceAccount has no more than this.
        _ => row![name, age],
    }
}

fn node(object: &Value, name: &Value, age: &Value) -> Vec<Value> {
    let mut status = match condition(object, "Ready").map(|condition| condition["status"] == "True") {
        Some(true) => "Ready".to_owned(),
        Some(false) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if object["spec"]["unschedulable"] == true {
        status.push_str(",SchedulingDisabled");
    }
    let mut roles = BTreeSet::new();
    for (key, value) in entries(object, "/metadata/labels") {
        match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => roles.insert(role.to_owned()),
            None if key == "kubernetes.io/role" => roles.insert(plain(value)),
            None => false,
        };
    }
    roles.remove("");
    let info = |field: &str, none: &str| text_or(object, &format!("/status/nodeInfo/{field}"), none);
    let mut kernel = info("kernelVersion", "<unknown>");
    let architecture = info("architecture", "");
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    let address = |kind: &str| {
        let mut all = list(object, "/status/addresses").iter();
        all.find(|address| address["type"] == kind)
            .map_or_else(|| "<none>".to_owned(), |address| text(address, "/address").to_owned())
    };
    row![
        name,
        status,
        or(roles.into_iter().collect::<Vec<_>>().join(","), "<none>"),
        age,
        info("kubeletVersion", ""),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage", "<unknown>"),
        kernel,
        info("containerRuntimeVersion", "<unknown>"),
    ]
}

/// An event of either group: they name the same fields differently.
fn event(object: &Value, name: &Value, now: Timestamp) -> Vec<Value> {
    let either = |one: &str, two: &str| {
        let found = |field: &str| object.pointer(field).filter(|value| !value.is_null()).cloned();
        found(one).or_else(|| found(two)).unwrap_or_default()
    };
    let string = |one: &str, two: &str| either(one, two).as_str().unwrap_or_default().to_owned();
    let seen = |time: Value, none: &str| if time.is_null() { none.to_owned() } else { since(&time, now) };
    let event_time = since(&object["eventTime"], now);
    let first = seen(either("/firstTimestamp", "/deprecatedFirstTimestamp"), &event_time);
    let mut last = seen(either("/lastTimestamp", "/deprecatedLastTimestamp"), &first);
    let mut count = either("/count", "/deprecatedCount").as_i64().unwrap_or_default().max(0);
    match &object["series"] {
        Value::Null => count = if count == 0 { 1 } else { count },
        series => {
            last = since(&series["lastObservedTime"], now);
            count = number(series, "/count");
        }
    }
    let about = either("/involvedObject", "/regarding");
    let mut target = text(&about, "/kind").to_lowercase();
    if !text(&about, "/name").is_empty() {
        target = format!("{target}/{}", text(&about, "/name"));
    }
    let source = either("/source", "/deprecatedSource");
    let component =
        or(text(&source, "/component").to_owned(), &string("/reportingComponent", "/reportingController"));
    let host = or(text(&source, "/host").to_owned(), text(object, "/reportingInstance"));
    let from = if host.is_empty() { component } else { format!("{component}, {host}") };
    row![
        last,
        text(object, "/type"),
        text(object, "/reason"),
        target,
        text(&about, "/fieldPath"),
        from,
        string("/message", "/note").trim(),
        first,
        count,
        name,
    ]
}

fn modes(object: &Value, pointer: &str) -> String {
    let has = |mode: &str| list(object, pointer).iter().any(|one| one == mode);
    let all = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    all.into_iter().filter(|(mode, _)| has(mode)).map(|(_, short)| short).collect::<Vec<_>>().join(",")
}

fn phase(object: &Value) -> &str {
    if is_deleting(object) { "Terminating" } else { text(object, "/status/phase") }
}

fn volume(object: &Value, name: &Value, age: &Value) -> Vec<Value> {
    let claim = match &object["spec"]["claimRef"] {
        Value::Null => String::new(),
        claim => format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")),
    };
    row![
        name,
        text_or(object, "/spec/capacity/storage", "0"),
        modes(object, "/spec/accessModes"),
        text(object, "/spec/persistentVolumeReclaimPolicy"),
        phase(object),
        claim,
        class(object),
        text_or(object, "/spec/volumeAttributesClassName", "<unset>"),
        text(object, "/status/reason"),
        age,
        text_or(object, "/spec/volumeMode", "<unset>"),
    ]
}

fn claim(object: &Value, name: &Value, age: &Value) -> Vec<Value> {
    let volume = text(object, "/spec/volumeName");
    let (capacity, modes) = match volume {
        "" => (String::new(), String::new()),
        _ => (text_or(object, "/status/capacity/storage", "0"), modes(object, "/status/accessModes")),
    };
    row![
        name,
        phase(object),
        volume,
        capacity,
        modes,
        class(object),
        text_or(object, "/spec/volumeAttributesClassName", "<unset>"),
        age,
        text_or(object, "/spec/volumeMode", "<unset>"),
    ]
}

fn quota(object: &Value, name: &Value, age: &Value) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in entries(object, "/status/hard") {
        let used = object["status"]["used"].get(resource).map_or_else(|| "0".to_owned(), plain);
        let shown = format!("{resource}: {used}/{}", plain(hard));
        if resource.starts_with("limits.") { limits.push(shown) } else { requests.push(shown) }
    }
    row![name, requests.join(", "), limits.join(", "), age]
}
