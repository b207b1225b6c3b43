//! Pods and their templates. Pure.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Found, ip, ports::ports, resources::fraction, volumes};
use crate::in_process::values::{
    names,
    path::Path,
    read::{at, entries, int, items, part, text},
};

const OLD_LABELS: [(&str, &str); 8] = [
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
];
const OLD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];
const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";
const SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
const APP_ARMOR: &str = "deprecated since v1.30; use the \"appArmorProfile\" field instead";

/// What is said of an old label of nodes.
pub(super) fn old_label(key: &str) -> Option<&'static str> {
    OLD_LABELS.iter().find(|(known, _)| *known == key).map(|(_, words)| *words)
}

/// Old labels of nodes in a term of a selector; values as well, if they are wishes only.
pub(super) fn old_labels(found: &mut Found, path: &Path<'_>, term: &Value, values: bool) {
    for (index, expression) in items(term, "matchExpressions") {
        let path = path.child("matchExpressions");
        let path = path.index(index);
        let key = text(expression, "key");
        if let Some(words) = old_label(key) {
            found.add(path.child("key"), format_args!("{key} is {words}"));
        }
        for (at, value) in items(expression, "values").filter(|_| values) {
            let value = value.as_str().unwrap_or_default();
            for wrong in names::label_value(value) {
                found.add(path.child("values").index(at), format_args!("{value} is invalid, {wrong}"));
            }
        }
    }
}

pub(super) fn pod(found: &mut Found, pod: &Value) {
    let windows = text(at(at(pod, "spec"), "os"), "name") == "windows";
    if !windows {
        app_armor(found, &Path::root("metadata"), pod);
    }
    all(found, &Path::root("metadata"), &Path::root("spec"), pod, false);
}

pub(super) fn template(found: &mut Found, path: &Path<'_>, template: &Value) {
    if template.is_object() {
        all(found, &path.child("metadata"), &path.child("spec"), template, true);
    }
}

/// Each container, with its path.
pub(super) fn containers<'p>(path: &Path<'_>, spec: &'p Value, look: &mut dyn FnMut(&'p Value, &Path<'_>)) {
    for field in ["initContainers", "containers", "ephemeralContainers"] {
        for (index, container) in items(spec, field) {
            look(container, &path.child(field).index(index));
        }
    }
}

fn all(found: &mut Found, meta: &Path<'_>, path: &Path<'_>, pod: &Value, is_template: bool) {
    let (spec, annotations) = (at(pod, "spec"), at(at(pod, "metadata"), "annotations"));
    let (affinity, notes) = (at(spec, "affinity"), meta.child("annotations"));
    for (key, _) in entries(spec, "nodeSelector") {
        if let Some(words) = old_label(key) {
            found.add(path.child("nodeSelector").key(key), words);
        }
    }
    nodes(found, &path.child("affinity.nodeAffinity"), at(affinity, "nodeAffinity"));
    for (index, constraint) in items(spec, "topologySpreadConstraints") {
        let path = path.child("topologySpreadConstraints");
        let (path, key) = (path.index(index), text(constraint, "topologyKey"));
        if let Some(words) = old_label(key) {
            found.add(path.child("topologyKey"), format_args!("{key} is {words}"));
        }
        if part(constraint, "labelSelector").is_none() {
            found.add(path.child("labelSelector"), NO_SELECTOR);
        }
    }
    for (key, words) in OLD_ANNOTATIONS {
        if part(annotations, key).is_some() {
            found.add(notes.key(key), words);
        }
    }
    volumes::sorts(found, path, spec);
    volumes::hidden(found, spec);
    for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        twice(found, &path.child(list), spec, list, field);
    }
    for (index, secret) in items(spec, "imagePullSecrets") {
        if text(secret, "name").is_empty() {
            found.add(path.child("imagePullSecrets").index(index).child("name"), "invalid empty name \"\"");
        }
    }
    for name in ["memory", "ephemeral-storage"] {
        fraction(found, &path.child("overhead"), at(spec, "overhead"), name);
    }
    const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
    let security = at(spec, "securityContext");
    if part(security, "seccompProfile").is_none() && part(annotations, SECCOMP_OF_POD).is_some() {
        found.add(notes.key(SECCOMP_OF_POD), SECCOMP);
    }
    containers(path, spec, &mut |container, path| {
        let (name, context) = (text(container, "name"), at(container, "securityContext"));
        let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
        if part(context, "seccompProfile").is_none() && part(annotations, &key).is_some() {
            found.add(notes.key(&key), SECCOMP);
        }
        let key = format!("{APP_ARMOR_KEY}{name}");
        if is_template
            && part(context, "appArmorProfile").is_none()
            && let Some(annotation) = part(annotations, &key)
            && (part(security, "appArmorProfile").is_none()
                || profile(annotation).as_ref() != part(security, "appArmorProfile"))
        {
            found.add(notes.key(&key), APP_ARMOR);
        }
        let resources = at(container, "resources");
        for name in ["memory", "ephemeral-storage"] {
            for field in ["limits", "requests"] {
                fraction(found, &path.child("resources").child(field), at(resources, field), name);
            }
        }
        variables(found, path, container);
    });
    ports(found, path, spec);
    // Of a Pod itself, that has become 1 before.
    if is_template && int(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        let words = "must be >= 0; negative values are invalid and will be treated as 1";
        found.add(path.child("terminationGracePeriodSeconds"), words);
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        neighbours(found, &path.child("affinity").child(field), at(affinity, field));
    }
    for (index, server) in items(at(spec, "dnsConfig"), "nameservers") {
        ip(found, &path.child("dnsConfig.nameservers").index(index), server);
    }
    for (index, alias) in items(spec, "hostAliases") {
        ip(found, &path.child("hostAliases").index(index).child("ip"), at(alias, "ip"));
    }
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn nodes(found: &mut Found, path: &Path<'_>, affinity: &Value) {
    for (index, term) in items(at(affinity, REQUIRED), "nodeSelectorTerms") {
        old_labels(found, &path.child(REQUIRED).child("nodeSelectorTerms").index(index), term, false);
    }
    for (index, term) in items(affinity, PREFERRED) {
        old_labels(
            found,
            &path.child(PREFERRED).index(index).child("preference"),
            at(term, "preference"),
            true,
        );
    }
}

fn neighbours(found: &mut Found, path: &Path<'_>, affinity: &Value) {
    for (index, term) in items(affinity, REQUIRED) {
        if part(term, "labelSelector").is_none() {
            found.add(path.child(REQUIRED).index(index).child("labelSelector"), NO_SELECTOR);
        }
    }
    for (index, term) in items(affinity, PREFERRED) {
        if part(at(term, "podAffinityTerm"), "labelSelector").is_none() {
            found.add(path.child(PREFERRED).index(index).child("podAffinityTerm.labelSelector"), NO_SELECTOR);
        }
    }
}

fn twice(found: &mut Found, path: &Path<'_>, spec: &Value, list: &str, field: &str) {
    let mut known = BTreeSet::new();
    for (index, item) in items(spec, list) {
        let value = text(item, field);
        if !known.insert(value) {
            found.add(path.index(index).child(field), format_args!("duplicate {field} {value:?}"));
        }
    }
}

/// Variables that hide earlier ones, unless they contain them.
fn variables(found: &mut Found, path: &Path<'_>, container: &Value) {
    let mut known = BTreeSet::new();
    for (index, variable) in items(container, "env") {
        let (name, value) = (text(variable, "name"), text(variable, "value"));
        if known.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        if part(variable, "valueFrom").is_some() || value == reference || !value.contains(&reference) {
            let words =
                format!("hides previous definition of {name:?}, which may be dropped when using apply");
            found.add(path.child("env").index(index), words);
        }
    }
}

const APP_ARMOR_KEY: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The profile that an annotation stands for.
fn profile(annotation: &Value) -> Option<Value> {
    match annotation.as_str()? {
        "unconfined" => Some(json!({ "type": "Unconfined" })),
        "runtime/default" => Some(json!({ "type": "RuntimeDefault" })),
        other => {
            let name = other.strip_prefix("localhost/").filter(|name| !name.is_empty())?;
            Some(json!({ "type": "Localhost", "localhostProfile": name }))
        }
    }
}

fn app_armor(found: &mut Found, meta: &Path<'_>, pod: &Value) {
    let (spec, annotations) = (at(pod, "spec"), at(at(pod, "metadata"), "annotations"));
    if annotations.is_null() {
        return;
    }
    let of_pod = part(at(spec, "securityContext"), "appArmorProfile");
    containers(&Path::root("spec"), spec, &mut |container, _| {
        let key = format!("{APP_ARMOR_KEY}{}", text(container, "name"));
        let field = part(at(container, "securityContext"), "appArmorProfile");
        let Some(annotation) = part(annotations, &key).filter(|_| field.is_none()) else { return };
        let profile = profile(annotation);
        if profile.is_none() || profile.as_ref() != of_pod {
            found.add(meta.child("annotations").key(&key), APP_ARMOR);
        }
    });
}
