//! StatefulSets.

use serde_json::{Value, json};

use super::{
    SPEC,
    deployment::{amount, matching},
    pod, selection,
    status::{at_most, collisions, counts},
};
use crate::in_process::values::{
    common::{annotations, at_most_all, count_or_share, labels, not_negative},
    errors::{Errors, Verbatim, json as shown},
    names,
    read::{at, int, items, part, same, text},
};

/// A new StatefulSet.
pub(super) fn create(set: &Value, errors: &mut Errors) {
    check(at(set, "spec"), true, errors);
}

/// A changed StatefulSet: a few fields only.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Errors) {
    let (new, old) = (at(new, "spec"), at(old, "spec"));
    check(new, false, errors);
    const FREE: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ];
    let fields =
        |spec: &Value| spec.as_object().map(|spec| spec.keys().cloned().collect()).unwrap_or_default();
    let (of_new, of_old): (Vec<String>, Vec<String>) = (fields(new), fields(old));
    let mut bound = of_new.iter().chain(&of_old).filter(|field| !FREE.contains(&field.as_str()));
    if bound.any(|field| !same(&untyped(at(new, field)), &untyped(at(old, field)))) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                      'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                      'minReadySeconds' are forbidden";
        errors.forbidden(&SPEC, detail);
    }
}

/// A value without the types of objects in it: claims have one, and may have another.
fn untyped(value: &Value) -> Value {
    let mut value = value.clone();
    for item in value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        item.remove("apiVersion");
        item.remove("kind");
    }
    value
}

/// The status of a StatefulSet.
pub(super) fn status(new: &Value, old: &Value, errors: &mut Errors) {
    let (new, old) = (at(new, "status"), at(old, "status"));
    counts(
        errors,
        new,
        &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
    );
    let limited = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    at_most(errors, new, &limited, "replicas", "cannot be greater than status.replicas");
    let detail = "cannot be greater than status.readyReplicas";
    at_most(errors, new, &["availableReplicas"], "readyReplicas", detail);
    collisions(errors, new, old);
}

fn check(spec: &Value, is_new: bool, errors: &mut Errors) {
    match text(spec, "podManagementPolicy") {
        "OrderedReady" | "Parallel" => {}
        other => {
            errors.invalid(&SPEC.child("podManagementPolicy"), other, "must be 'OrderedReady' or 'Parallel'")
        }
    }
    strategy(errors, at(spec, "updateStrategy"));
    let policy = SPEC.child("persistentVolumeClaimRetentionPolicy");
    for field in ["whenDeleted", "whenScaled"] {
        let value = text(at(spec, "persistentVolumeClaimRetentionPolicy"), field);
        if !matches!(value, "Retain" | "Delete") {
            errors.not_supported(&policy.child(field), value, &["Retain", "Delete"]);
        }
    }
    if is_new {
        for (index, claim) in items(spec, "volumeClaimTemplates") {
            let list = SPEC.child("volumeClaimTemplates");
            let path = list.index(index);
            pod::claim::spec(errors, &path.child("spec"), at(claim, "spec"));
        }
    }
    not_negative(errors, &SPEC.child("replicas"), at(spec, "replicas"));
    not_negative(errors, &SPEC.child("minReadySeconds"), at(spec, "minReadySeconds"));
    not_negative(errors, &SPEC.child("ordinals.start"), at(at(spec, "ordinals"), "start"));
    let service = text(spec, "serviceName");
    if is_new && !service.is_empty() {
        errors.all_invalid(&SPEC.child("serviceName"), service, &names::dns_label(service));
    }
    template(errors, spec);
    let template = SPEC.child("template");
    let pods = at(at(spec, "template"), "spec");
    let restart = text(pods, "restartPolicy");
    if restart != "Always" {
        errors.not_supported(&template.child("spec.restartPolicy"), restart, &["Always"]);
    }
    if int(pods, "activeDeadlineSeconds").is_some() {
        let detail = "activeDeadlineSeconds in StatefulSet is not Supported";
        errors.forbidden(&template.child("spec.activeDeadlineSeconds"), detail);
    }
}

fn template(errors: &mut Errors, spec: &Value) {
    let Some(selector) = selection(errors, spec, "statefulset", "") else { return };
    let (path, template) = (SPEC.child("template"), at(spec, "template"));
    matching(errors, &path, template, selector);
    let template = as_its_pods(spec, template);
    pod::template::check(errors, &path, &template);
    let metadata = at(&template, "metadata");
    labels(errors, &path.child("labels"), at(metadata, "labels"));
    annotations(errors, &path.child("annotations"), at(metadata, "annotations"));
    pod::annotations::check(errors, &path.child("annotations"), metadata, at(&template, "spec"));
}

/// The template as its pods have it: the controller sets their names, and mounts a claim of each template.
fn as_its_pods<'v>(spec: &Value, template: &'v Value) -> std::borrow::Cow<'v, Value> {
    let claims = at(spec, "volumeClaimTemplates").as_array().filter(|claims| !claims.is_empty());
    let pods = at(template, "spec");
    let named = ["hostname", "subdomain"].iter().any(|field| !text(pods, field).is_empty());
    if claims.is_none() && !named {
        return std::borrow::Cow::Borrowed(template);
    }
    let mut template = template.clone();
    if let Some(pods) = template.get_mut("spec").and_then(Value::as_object_mut) {
        pods.remove("hostname");
        pods.remove("subdomain");
        let names = claims.into_iter().flatten().map(|claim| text(at(claim, "metadata"), "name"));
        let mut volumes: Vec<Value> = Vec::new();
        for name in names {
            if !volumes.iter().any(|volume| text(volume, "name") == name) {
                volumes.push(json!({ "name": name, "persistentVolumeClaim": { "claimName": name } }));
            }
        }
        let own = pods.get("volumes").and_then(Value::as_array).cloned().unwrap_or_default();
        let claimed = volumes.clone();
        let is_claimed =
            |volume: &Value| claimed.iter().any(|claim| text(claim, "name") == text(volume, "name"));
        volumes.extend(own.into_iter().filter(|volume| !is_claimed(volume)));
        pods.insert("volumes".to_owned(), volumes.into());
    }
    std::borrow::Cow::Owned(template)
}

fn strategy(errors: &mut Errors, strategy: &Value) {
    let path = SPEC.child("updateStrategy");
    let place = path.child("rollingUpdate");
    let as_go = |rolling: &Value| {
        let unavailable = shown(at(rolling, "maxUnavailable"), &[]);
        let partition = int(rolling, "partition").unwrap_or_default();
        format!("{{\"Partition\":{partition},\"MaxUnavailable\":{unavailable}}}")
    };
    match (text(strategy, "type"), part(strategy, "rollingUpdate")) {
        ("OnDelete" | "RollingUpdate", None) => {}
        ("OnDelete", Some(rolling)) => {
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            errors.invalid(&place, Verbatim(as_go(rolling)), detail);
        }
        ("RollingUpdate", Some(rolling)) => {
            not_negative(errors, &place.child("partition"), at(rolling, "partition"));
            if let Some(unavailable) = part(rolling, "maxUnavailable") {
                let path = place.child("maxUnavailable");
                count_or_share(errors, &path, unavailable);
                if amount(unavailable) == 0 {
                    errors.invalid(&path, unavailable, "cannot be 0");
                }
                at_most_all(errors, &path, unavailable);
            }
        }
        (other, rolling) => {
            let rolling = rolling.map_or("null".to_owned(), as_go);
            let shown = format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", shown(&other.into(), &[]));
            errors.invalid(&path, Verbatim(shown), "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}
