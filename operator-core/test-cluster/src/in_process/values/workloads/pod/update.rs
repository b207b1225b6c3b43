//! Changes of pods: images, tolerations, the deadline and the gates, nothing else.

use serde_json::{Value, json};

use super::{SPEC, annotations, tolerations, whole};
use crate::in_process::values::{
    errors::{Errors, Verbatim},
    internal,
    names::outside,
    path::Path,
    read::{at, count, entries, int, items, part, same, text},
};

/// A changed pod.
pub(in super::super) fn main(new: &Value, old: &Value, errors: &mut Errors) {
    whole(errors, new);
    let (metadata, before) = (at(new, "metadata"), at(old, "metadata"));
    let place = Path::root("metadata");
    annotations::kept(errors, &place.child("annotations"), metadata, before);
    annotations::check(errors, &place.child("annotations"), metadata, at(new, "spec"));
    let (new, old) = (at(new, "spec"), at(old, "spec"));
    for list in ["containers", "initContainers"] {
        if !images(errors, list, new, old) {
            return;
        }
    }
    if !deadline(errors, new, old) {
        return;
    }
    tolerations::only_added(errors, &SPEC.child("tolerations"), new, old);
    let list = SPEC.child("schedulingGates");
    for (index, gate) in items(new, "schedulingGates") {
        let name = text(gate, "name");
        if !items(old, "schedulingGates").any(|(_, old)| text(old, "name") == name) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.forbidden(&list.index(index).child("name"), &detail);
        }
    }
    if same(new, old) {
        return;
    }
    let mut rest = without_changes(new, old);
    if count(old, "schedulingGates") > 0 {
        held(errors, &mut rest, old);
    }
    if !same(&rest, old) {
        let detail = format!("{FREE}\n{}", internal::difference(old, &rest));
        errors.forbidden(&SPEC, &detail);
    }
}

const FREE: &str = "pod updates may not change fields other than \
`spec.containers[*].image`,\
`spec.initContainers[*].image`,\
`spec.activeDeadlineSeconds`,\
`spec.tolerations` (only additions to existing tolerations),\
`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

fn images(errors: &mut Errors, list: &str, new: &Value, old: &Value) -> bool {
    let path = SPEC.child(list);
    if count(new, list) != count(old, list) {
        errors.forbidden(&path, "pod updates may not add or remove containers");
        return false;
    }
    for (index, container) in items(new, list) {
        let path = path.index(index);
        if text(container, "image").is_empty() {
            errors.required(&path.child("image"), "");
        }
        super::containers::image_of_pod(errors, &path, container);
    }
    true
}

/// A deadline comes nearer only.
fn deadline(errors: &mut Errors, new: &Value, old: &Value) -> bool {
    const MOST: i64 = i32::MAX as i64;
    let path = SPEC.child("activeDeadlineSeconds");
    match (int(new, "activeDeadlineSeconds"), int(old, "activeDeadlineSeconds")) {
        (Some(new), _) if !(0..=MOST).contains(&new) => {
            errors.invalid(&path, new, &outside(0, MOST));
            return false;
        }
        (Some(new), Some(old)) if old < new => {
            errors.invalid(&path, new, "must be less than or equal to previous value");
            return false;
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.invalid(&path, Verbatim("null".to_owned()), detail);
        }
        _ => {}
    }
    true
}

/// The new spec with everything that may change as it was.
fn without_changes(new: &Value, old: &Value) -> Value {
    let mut rest = new.clone();
    for list in ["containers", "initContainers"] {
        let containers = rest.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for (container, (_, old)) in containers.zip(items(old, list)) {
            container["image"] = at(old, "image").clone();
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        put(&mut rest, field, at(old, field));
    }
    let grace = |spec: &Value| int(spec, "terminationGracePeriodSeconds");
    if grace(old).is_some_and(|grace| grace < 0) && grace(&rest) == Some(1) {
        put(&mut rest, "terminationGracePeriodSeconds", at(old, "terminationGracePeriodSeconds"));
    }
    rest
}

fn put(spec: &mut Value, field: &str, value: &Value) {
    if let Some(spec) = spec.as_object_mut() {
        match value {
            Value::Null => spec.remove(field),
            value => spec.insert(field.to_owned(), value.clone()),
        };
    }
}

const NODES: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const AFFINITY: Path<'static> = Path::root("spec.affinity.nodeAffinity");

/// A pod that is held back may ask for more of its nodes.
fn held(errors: &mut Errors, rest: &mut Value, old: &Value) {
    let wanted = at(rest, "nodeSelector").clone();
    let given = |key: &str| wanted.get(key).cloned().unwrap_or_default();
    if !same(&wanted, at(old, "nodeSelector")) {
        if entries(old, "nodeSelector").any(|(key, value)| given(key) != *value) {
            let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            errors.invalid(&SPEC.child("nodeSelector"), &wanted, detail);
        }
        put(rest, "nodeSelector", at(old, "nodeSelector"));
    }
    let nodes = |spec: &Value| at(at(spec, "affinity"), "nodeAffinity").clone();
    let (new, before) = (nodes(rest), nodes(old));
    if same(&new, &before) {
        return;
    }
    let terms =
        |nodes: &Value| at(at(nodes, NODES), "nodeSelectorTerms").as_array().cloned().unwrap_or_default();
    let (of_new, of_old) = (terms(&new), terms(&before));
    let path = AFFINITY.child(NODES);
    let list = path.child("nodeSelectorTerms");
    if !of_old.is_empty() && of_old.len() != of_new.len() {
        let shown = internal::node_terms(&of_new);
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.invalid(&list, Verbatim(shown), detail);
    } else {
        for (index, (new, old)) in of_new.iter().zip(&of_old).enumerate() {
            if !only_grows(new, old) {
                let shown = internal::node_term(new);
                let detail = "only additions are allowed (no mutations or deletions)";
                errors.invalid(&list.index(index), Verbatim(shown), detail);
            }
        }
    }
    let others = ["podAffinity", "podAntiAffinity"];
    let affinity = at(rest, "affinity").clone();
    if part(old, "affinity").is_none() && others.iter().all(|field| part(&affinity, field).is_none()) {
        put(rest, "affinity", &Value::Null);
    } else {
        let mut affinity = if affinity.is_null() { json!({}) } else { affinity };
        put(&mut affinity, "nodeAffinity", &before);
        put(rest, "affinity", &affinity);
    }
}

fn only_grows(new: &Value, old: &Value) -> bool {
    let lists = ["matchExpressions", "matchFields"];
    if lists.iter().all(|list| count(old, list) == 0) && lists.iter().any(|list| count(new, list) > 0) {
        return false;
    }
    lists.iter().all(|list| {
        items(old, list).all(|(index, old)| at(new, list).get(index).is_some_and(|new| same(new, old)))
    })
}
