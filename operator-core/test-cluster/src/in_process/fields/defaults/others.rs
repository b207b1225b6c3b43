//! Kinds with one or two defaults.

use serde_json::{Value, json};

use super::{super::recorded::at, Object, each, made, missing, part, pods, text};

const RBAC: &str = "rbac.authorization.k8s.io";

/// `stringData` is only another way to write `data`.
pub(super) fn secret(secret: &mut Object) {
    missing(secret, "type", "Opaque");
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    if let Some(data) = made(secret, "data") {
        for (key, text) in texts {
            data.insert(key, json!(base64(text.as_str().unwrap_or_default().as_bytes())));
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for index in 0..4 {
            let digit = (group >> (18 - 6 * index)) & 63;
            text.push(if index > chunk.len() { '=' } else { char::from(ALPHABET[digit as usize]) });
        }
    }
    text
}

/// The calls of admission webhooks.
pub(super) fn webhooks(configuration: &mut Object, change: bool) {
    for webhook in each(configuration, "webhooks") {
        missing(webhook, "failurePolicy", "Fail");
        missing(webhook, "matchPolicy", "Equivalent");
        missing(webhook, "namespaceSelector", json!({}));
        missing(webhook, "objectSelector", json!({}));
        missing(webhook, "timeoutSeconds", 10);
        if change {
            missing(webhook, "reinvocationPolicy", "Never");
        }
        for rule in each(webhook, "rules") {
            missing(rule, "scope", "*");
        }
        if let Some(service) = part(webhook, "clientConfig").and_then(|config| part(config, "service")) {
            missing(service, "port", 443);
        }
    }
}

pub(super) fn api_service(api_service: &mut Object) {
    if let Some(service) = part(api_service, "spec").and_then(|spec| part(spec, "service")) {
        missing(service, "port", 443);
    }
}

/// Every Namespace has its name as a label.
pub(super) fn namespace(namespace: &mut Object) {
    if let Some(status) = part(namespace, "status")
        && text(status, "phase").is_empty()
    {
        status.insert("phase".to_owned(), json!("Active"));
    }
    if let Some(metadata) = part(namespace, "metadata") {
        let name = text(metadata, "name").to_owned();
        if !name.is_empty()
            && let Some(labels) = made(metadata, "labels")
        {
            labels.insert("kubernetes.io/metadata.name".to_owned(), json!(name));
        }
    }
}

/// A new Namespace is finalized by Kubernetes.
pub(super) fn namespace_finalizer(namespace: &mut Value) {
    let finalizers = &mut namespace["spec"]["finalizers"];
    let list = finalizers.as_array().cloned().unwrap_or_default();
    if !list.contains(&json!("kubernetes")) {
        *finalizers = list.into_iter().chain([json!("kubernetes")]).collect();
    }
}

/// The amounts of a quota are whole thousandths.
pub(super) fn quota(quota: &mut Object) {
    for (part_of, amounts) in [("spec", "hard"), ("status", "hard"), ("status", "used")] {
        if let Some(amounts) = part(quota, part_of).and_then(|part_of| part(part_of, amounts)) {
            pods::round(amounts);
        }
    }
}

/// A Node gives to Pods what it has, if nothing else is said.
pub(super) fn node(node: &mut Object) {
    let Some(status) = part(node, "status") else { return };
    if let Some(capacity) = status.get("capacity").filter(|capacity| !capacity.is_null()).cloned() {
        missing(status, "allocatable", capacity);
    }
    for amounts in ["capacity", "allocatable"] {
        if let Some(amounts) = part(status, amounts) {
            pods::round(amounts);
        }
    }
}

/// What a PersistentVolume may omit.
pub(super) fn volume(volume: &mut Object) {
    let Some(spec) = part(volume, "spec") else { return };
    missing(spec, "persistentVolumeReclaimPolicy", "Retain");
    missing(spec, "volumeMode", "Filesystem");
    if let Some(capacity) = part(spec, "capacity") {
        pods::round(capacity);
    }
    pods::older_sources(spec);
}

/// A volume is not deleted while it is used.
pub(super) fn protected(object: &mut Value, finalizer: &str) {
    let finalizers = &mut object["metadata"]["finalizers"];
    let list = finalizers.as_array().cloned().unwrap_or_default();
    if !list.contains(&json!(finalizer)) {
        *finalizers = list.into_iter().chain([json!(finalizer)]).collect();
    }
}

/// What a volume is filled from is written in two fields. What can't be a source is dropped from the older one, and
/// sources in other namespaces need a feature that clusters don't have by default.
pub(super) fn data_sources(live: Option<&Value>, claim: &mut Value) {
    let was_used = |field: &str| live.is_some_and(|live| !at(at(live, "spec"), field).is_null());
    let (used, reference_used) = (was_used("dataSource"), was_used("dataSourceRef"));
    let Some(spec) = claim.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let named = |value: &Value, field: &str| at(value, field).as_str().unwrap_or("").to_owned();
    if !reference_used && spec.get("dataSourceRef").is_some_and(|one| !named(one, "namespace").is_empty()) {
        spec.remove("dataSourceRef");
    }
    let is_source = |source: &Value| {
        let (group, kind) = (named(source, "apiGroup"), named(source, "kind"));
        matches!(
            (group.as_str(), kind.as_str()),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        )
    };
    if !used && !reference_used && spec.get("dataSource").is_some_and(|source| !is_source(source)) {
        spec.remove("dataSource");
    }
    let (source, reference) = (spec.get("dataSource").cloned(), spec.get("dataSourceRef").cloned());
    match (source, reference) {
        (Some(source), None) if !source.is_null() => {
            spec.insert("dataSourceRef".to_owned(), source);
        }
        (None, Some(reference)) if !reference.is_null() => {
            spec.insert("dataSource".to_owned(), reference);
        }
        _ => {}
    }
}

/// A reference to a Secret is its name.
pub(super) fn service_account(account: &mut Value) {
    for secret in account.get_mut("secrets").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(secret) = secret.as_object_mut() {
            secret.retain(|field, _| field == "name");
        }
    }
}

pub(super) fn binding(binding: &mut Object) {
    if let Some(role) = part(binding, "roleRef")
        && text(role, "apiGroup").is_empty()
    {
        role.insert("apiGroup".to_owned(), json!(RBAC));
    }
    for subject in each(binding, "subjects") {
        if matches!(text(subject, "kind"), "User" | "Group") {
            missing(subject, "apiGroup", RBAC);
        }
    }
}

/// A claim, or the template of one.
pub(super) fn volume_claim(claim: &mut Object) {
    if let Some(spec) = made(claim, "spec") {
        missing(spec, "volumeMode", "Filesystem");
        pods::round_resources(spec);
    }
    if let Some(status) = made(claim, "status") {
        missing(status, "phase", "Pending");
        for amounts in ["capacity", "allocatedResources"] {
            if let Some(amounts) = part(status, amounts) {
                pods::round(amounts);
            }
        }
    }
}

pub(super) fn autoscaler(autoscaler: &mut Object) {
    let Some(spec) = made(autoscaler, "spec") else { return };
    missing(spec, "minReplicas", 1);
    let target = json!({"type": "Utilization", "averageUtilization": 80});
    if spec.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let metric = json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
        spec.insert("metrics".to_owned(), metric);
    }
    let Some(behavior) = part(spec, "behavior") else { return };
    let pods = |number| json!({"type": "Pods", "value": number, "periodSeconds": 15});
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    if let Some(up) = made(behavior, "scaleUp") {
        missing(up, "stabilizationWindowSeconds", 0);
        missing(up, "selectPolicy", "Max");
        missing(up, "policies", json!([pods(4), percent]));
    }
    if let Some(down) = made(behavior, "scaleDown") {
        missing(down, "selectPolicy", "Max");
        missing(down, "policies", json!([percent]));
    }
}
