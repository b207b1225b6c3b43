//! Pods, and the pod templates of other kinds.

use serde_json::{Value, json};

use super::{super::quantity, Object, each, made, missing, part, text};

/// A Pod. What admission adds (service account token, tolerations) is not added.
pub(super) fn pod(pod: &mut Object) {
    if let Some(status) = part(pod, "status") {
        addresses(status);
    }
    let Some(spec) = made(pod, "spec") else { return };
    pod_spec(spec);
    for list in ["containers", "initContainers"] {
        each(spec, list).for_each(requests_of_limits);
    }
    missing(spec, "enableServiceLinks", true);
    if spec.get("hostNetwork") == Some(&json!(true)) {
        for list in ["containers", "initContainers"] {
            for container in each(spec, list) {
                for port in each(container, "ports") {
                    let number = port.get("containerPort").cloned().unwrap_or_default();
                    missing(port, "hostPort", number);
                }
            }
        }
    }
}

/// A change may leave out the priority that the pod has got from its class.
pub(super) fn priority(live: &Value, pod: &mut Value) {
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        for field in ["priority", "preemptionPolicy"] {
            if let Some(value) = live["spec"].get(field).filter(|value| !value.is_null()) {
                missing(spec, field, value.clone());
            }
        }
    }
}

/// The address of a pod is the first of its addresses, which may be given as just that one.
fn addresses(status: &mut Object) {
    let first = text(status, "podIP").to_owned();
    let listed = |address: &Value| address["ip"] == first.as_str();
    if !first.is_empty() && !status.get("podIPs").and_then(|all| all.get(0)).is_some_and(listed) {
        status.insert("podIPs".to_owned(), json!([{ "ip": first }]));
    }
}

/// A limit without a request is also the request.
fn requests_of_limits(container: &mut Object) {
    let Some(resources) = part(container, "resources") else { return };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let Some(requests) = made(resources, "requests") else { return };
    for (resource, limit) in limits {
        missing(requests, &resource, limit);
    }
}

/// The quality of service of a new Pod.
pub(in crate::in_process) fn quality(pod: &Value) -> &'static str {
    let containers = |list: &str| pod["spec"][list].as_array().cloned().unwrap_or_default();
    let all: Vec<_> = containers("containers").into_iter().chain(containers("initContainers")).collect();
    let amount = |container: &Value, kind: &str, resource: &str| {
        container["resources"][kind][resource].as_str().filter(|text| *text != "0").map(str::to_owned)
    };
    let (mut any, mut guaranteed) = (false, true);
    for container in &all {
        for resource in ["cpu", "memory"] {
            let (request, limit) =
                (amount(container, "requests", resource), amount(container, "limits", resource));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request == limit;
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// The `template` of an object.
pub(super) fn template(owner: &mut Object) {
    if let Some(spec) = part(owner, "template").and_then(|template| made(template, "spec")) {
        pod_spec(spec);
    }
}

fn pod_spec(spec: &mut Object) {
    missing(spec, "dnsPolicy", "ClusterFirst");
    missing(spec, "restartPolicy", "Always");
    missing(spec, "securityContext", json!({}));
    missing(spec, "terminationGracePeriodSeconds", 30);
    missing(spec, "schedulerName", "default-scheduler");
    // Two names for one field; the newer one wins.
    let account = match text(spec, "serviceAccountName") {
        "" => text(spec, "serviceAccount").to_owned(),
        name => name.to_owned(),
    };
    if !account.is_empty() {
        spec.insert("serviceAccountName".to_owned(), json!(account));
        spec.insert("serviceAccount".to_owned(), json!(account));
    }
    each(spec, "volumes").for_each(volume);
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        each(spec, list).for_each(container);
    }
    if let Some(overhead) = part(spec, "overhead") {
        round(overhead);
    }
    round_resources(spec);
}

/// The same for what somebody asks for and gets at most.
pub(super) fn round_resources(owner: &mut Object) {
    let Some(resources) = part(owner, "resources") else { return };
    for kind in ["limits", "requests"] {
        if let Some(list) = part(resources, kind) {
            round(list);
        }
    }
}

/// Amounts of resources are whole thousandths.
pub(super) fn round(resources: &mut Object) {
    for value in resources.values_mut() {
        if let Some(Ok(rounded)) = value.as_str().map(quantity::in_thousandths) {
            *value = json!(rounded);
        }
    }
}

fn container(container: &mut Object) {
    let image = text(container, "image");
    let policy = if is_latest(image) { "Always" } else { "IfNotPresent" };
    missing(container, "imagePullPolicy", policy);
    missing(container, "terminationMessagePath", "/dev/termination-log");
    missing(container, "terminationMessagePolicy", "File");
    each(container, "ports").for_each(|port| missing(port, "protocol", "TCP"));
    for variable in each(container, "env") {
        let Some(from) = part(variable, "valueFrom") else { continue };
        if let Some(field) = part(from, "fieldRef") {
            missing(field, "apiVersion", "v1");
        }
        if let Some(file) = part(from, "fileKeyRef") {
            missing(file, "optional", false);
        }
    }
    round_resources(container);
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = part(container, name) {
            missing(probe, "timeoutSeconds", 1);
            missing(probe, "periodSeconds", 10);
            missing(probe, "successThreshold", 1);
            missing(probe, "failureThreshold", 3);
            action(probe);
        }
    }
    if let Some(lifecycle) = part(container, "lifecycle") {
        for hook in ["postStart", "preStop"] {
            if let Some(hook) = part(lifecycle, hook) {
                action(hook);
            }
        }
    }
}

fn action(handler: &mut Object) {
    if let Some(get) = part(handler, "httpGet") {
        missing(get, "path", "/");
        missing(get, "scheme", "HTTP");
    }
    if let Some(grpc) = part(handler, "grpc") {
        missing(grpc, "service", "");
    }
}

/// Whether an image is named without a version. A name that can't be parsed counts as versioned.
fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or(image);
    let readable = !image.is_empty()
        && image.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-/:@".contains(letter))
        && !image
            .split_once([':', '@'])
            .map_or(image, |(name, _)| name)
            .chars()
            .any(|letter| letter.is_ascii_uppercase());
    readable && !image.contains('@') && name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn volume(volume: &mut Object) {
    if volume.iter().all(|(field, value)| field == "name" || value.is_null()) {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = part(volume, source) {
            missing(source, "defaultMode", 0o644);
        }
    }
    older_sources(volume);
    if let Some(source) = part(volume, "downwardAPI") {
        each(source, "items").for_each(downward_item);
    }
    if let Some(projected) = part(volume, "projected") {
        for source in each(projected, "sources") {
            if let Some(token) = part(source, "serviceAccountToken") {
                missing(token, "expirationSeconds", 3600);
            }
            if let Some(source) = part(source, "downwardAPI") {
                each(source, "items").for_each(downward_item);
            }
        }
    }
    if let Some(image) = part(volume, "image") {
        let policy = if is_latest(text(image, "reference")) { "Always" } else { "IfNotPresent" };
        missing(image, "pullPolicy", policy);
    }
    if let Some(claim) = part(volume, "ephemeral").and_then(|source| part(source, "volumeClaimTemplate"))
        && let Some(spec) = part(claim, "spec")
    {
        missing(spec, "volumeMode", "Filesystem");
        round_resources(spec);
    }
}

/// The sources that volumes of Pods and volumes by themselves have.
pub(super) fn older_sources(volume: &mut Object) {
    const SOURCES: [(&str, &[(&str, &str)]); 4] = [
        ("azureDisk", &[("cachingMode", "ReadWrite"), ("fsType", "ext4"), ("kind", "Shared")]),
        ("iscsi", &[("iscsiInterface", "default")]),
        ("rbd", &[("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")]),
        ("scaleIO", &[("storageMode", "ThinProvisioned"), ("fsType", "xfs")]),
    ];
    for (source, values) in SOURCES {
        if let Some(source) = part(volume, source) {
            values.iter().for_each(|(field, value)| missing(source, field, *value));
        }
    }
    if let Some(disk) = part(volume, "azureDisk") {
        missing(disk, "readOnly", false);
    }
    if let Some(path) = part(volume, "hostPath") {
        missing(path, "type", "");
    }
}

fn downward_item(item: &mut Object) {
    if let Some(field) = part(item, "fieldRef") {
        missing(field, "apiVersion", "v1");
    }
}
