//! Containers of the three sorts: regular ones, those that run before, and those that are added for a look.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    env, handlers, mounts, resources, security,
    spec::{Context, one_of},
};
use crate::in_process::values::{
    errors::Errors,
    names,
    path::Path,
    read::{at, count, int, items, part, text},
};

/// The containers that a pod is there for.
pub(super) fn regular(errors: &mut Errors, path: &Path<'_>, context: &Context<'_>) {
    if count(context.spec, "containers") == 0 {
        return errors.required(path, "");
    }
    let mut known = BTreeSet::new();
    for (index, container) in items(context.spec, "containers") {
        let path = path.index(index);
        common(errors, &path, container, context);
        let name = text(container, "name");
        if !known.insert(name) {
            errors.duplicate(&path.child("name"), name);
        }
        handlers::of_container(errors, &path, container, context);
        restarts(errors, &path, container);
    }
    host_ports(errors, path, items(context.spec, "containers"));
}

/// The containers that run before.
pub(super) fn init(errors: &mut Errors, path: &Path<'_>, context: &Context<'_>) {
    let mut known: BTreeSet<&str> =
        items(context.spec, "containers").map(|(_, container)| text(container, "name")).collect();
    for (index, container) in items(context.spec, "initContainers") {
        let list = path;
        let path = list.index(index);
        common(errors, &path, container, context);
        let (name, policy) = (text(container, "name"), text(container, "restartPolicy"));
        if part(container, "restartPolicy").is_some() {
            restarts(errors, &path, container);
        } else if count(container, "restartPolicyRules") > 0 {
            let detail = "must specify restartPolicy when restart rules are used";
            errors.required(&path.child("restartPolicy"), detail);
        }
        if known.contains(name) {
            errors.duplicate(&path.child("name"), name);
        } else if !name.is_empty() {
            known.insert(name);
        }
        host_ports(errors, list, std::iter::once((0, container)));
        let stays = policy == "Always";
        if stays {
            handlers::of_container(errors, &path, container, context);
        } else {
            for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if part(container, field).is_some() {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    errors.forbidden(&path.child(field), detail);
                }
            }
        }
        for (index, rule) in items(container, "resizePolicy").filter(|_| !stays) {
            if text(rule, "restartPolicy") == "RestartContainer" {
                let list = path.child("resizePolicy");
                let path = list.index(index);
                let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                errors.invalid(&path.child("restartPolicy"), "RestartContainer", detail);
            }
        }
    }
}

/// The containers that are added for a look.
pub(super) fn ephemeral(errors: &mut Errors, path: &Path<'_>, context: &Context<'_>) {
    let spec = context.spec;
    let others = items(spec, "containers").chain(items(spec, "initContainers"));
    let others: BTreeSet<&str> = others.map(|(_, container)| text(container, "name")).collect();
    let mut known = others.clone();
    for (index, container) in items(spec, "ephemeralContainers") {
        let path = path.index(index);
        common(errors, &path, container, context);
        image_of_pod(errors, &path, container);
        let (name, target) = (text(container, "name"), text(container, "targetContainerName"));
        if !known.insert(name) {
            errors.duplicate(&path.child("name"), name);
        }
        if !target.is_empty() && !others.contains(target) {
            errors.not_found(&path.child("targetContainerName"), target);
        }
        for field in [
            "ports",
            "resources",
            "resizePolicy",
            "restartPolicy",
            "restartPolicyRules",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ] {
            let empty = match at(container, field) {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                Value::Object(fields) => field == "resources" && fields.is_empty(),
                _ => false,
            };
            if !empty {
                errors.forbidden(&path.child(field), "cannot be set for an Ephemeral Container");
            }
        }
        let list = path.child("volumeMounts");
        for (index, mount) in items(container, "volumeMounts") {
            for field in ["subPath", "subPathExpr"] {
                if !text(mount, field).is_empty() {
                    let detail = "cannot be set for an Ephemeral Container";
                    errors.forbidden(&list.index(index).child(field), detail);
                }
            }
        }
    }
}

/// The name of an image, in a pod; a template may have blanks around it.
pub(super) fn image_of_pod(errors: &mut Errors, path: &Path<'_>, container: &Value) {
    let image = text(container, "image");
    if image.trim().len() != image.len() {
        errors.invalid(&path.child("image"), image, "must not have leading or trailing whitespace");
    }
}

/// What containers of all sorts have.
fn common(errors: &mut Errors, path: &Path<'_>, container: &Value, context: &Context<'_>) {
    match text(container, "name") {
        "" => errors.required(&path.child("name"), ""),
        name => errors.all_invalid(&path.child("name"), name, &names::dns_label(name)),
    }
    if text(container, "image").is_empty() {
        errors.required(&path.child("image"), "");
    }
    let place = path.child("terminationMessagePolicy");
    one_of(errors, &place, text(container, "terminationMessagePolicy"), &["File", "FallbackToLogsOnError"]);
    ports(errors, &path.child("ports"), container);
    env::variables(errors, &path.child("env"), container);
    env::sources(errors, &path.child("envFrom"), container);
    mounts::mounts(errors, &path.child("volumeMounts"), container, context);
    mounts::devices(errors, &path.child("volumeDevices"), container, context);
    let pull = text(container, "imagePullPolicy");
    one_of(errors, &path.child("imagePullPolicy"), pull, &["Always", "IfNotPresent", "Never"]);
    let claims = resources::claim_names(context.spec);
    resources::of_container(errors, &path.child("resources"), at(container, "resources"), &claims);
    resizes(errors, &path.child("resizePolicy"), container, text(context.spec, "restartPolicy"));
    security::of_container(errors, &path.child("securityContext"), container, context.host_users);
}

fn ports(errors: &mut Errors, path: &Path<'_>, container: &Value) {
    let mut known = BTreeSet::new();
    for (index, port) in items(container, "ports") {
        let path = path.index(index);
        let (name, protocol) = (text(port, "name"), text(port, "protocol"));
        if !name.is_empty() {
            let wrong = names::port_name(name);
            errors.all_invalid(&path.child("name"), name, &wrong);
            if wrong.is_empty() && !known.insert(name) {
                errors.duplicate(&path.child("name"), name);
            }
        }
        for field in ["containerPort", "hostPort"] {
            let number = int(port, field).unwrap_or_default();
            let place = path.child(field);
            if number == 0 {
                if field == "containerPort" {
                    errors.required(&place, "");
                }
                continue;
            }
            names::port_number(number).iter().for_each(|why| errors.invalid(&place, number, why));
        }
        one_of(errors, &path.child("protocol"), protocol, &["SCTP", "TCP", "UDP"]);
    }
}

/// Two ports of a pod can't be the same port of the node.
fn host_ports<'v>(
    errors: &mut Errors,
    path: &Path<'_>,
    containers: impl Iterator<Item = (usize, &'v Value)>,
) {
    let mut known = BTreeSet::new();
    for (index, container) in containers {
        let path = path.index(index);
        let list = path.child("ports");
        for (index, port) in items(container, "ports") {
            let number = int(port, "hostPort").unwrap_or_default();
            if number == 0 {
                continue;
            }
            let key = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if known.contains(&key) {
                errors.duplicate(&list.index(index).child("hostPort"), &key);
            }
            known.insert(key);
        }
    }
}

fn resizes(errors: &mut Errors, path: &Path<'_>, container: &Value, restart: &str) {
    let mut known = BTreeSet::new();
    for (index, rule) in items(container, "resizePolicy") {
        let (resource, policy) = (text(rule, "resourceName"), text(rule, "restartPolicy"));
        if !known.insert(resource) {
            errors.duplicate(&path.index(index), resource);
        }
        one_of(errors, path, resource, &["cpu", "memory"]);
        one_of(errors, path, policy, &["NotRequired", "RestartContainer"]);
        if restart == "Never" && policy != "NotRequired" {
            errors.invalid(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
        }
    }
}

/// When a container is started again by itself.
fn restarts(errors: &mut Errors, path: &Path<'_>, container: &Value) {
    let (place, rules) = (path.child("restartPolicy"), count(container, "restartPolicyRules"));
    let policy = text(container, "restartPolicy");
    if part(container, "restartPolicy").is_none() {
        if rules > 0 {
            errors.required(&place, "must specify restartPolicy when restart rules are used");
        }
    } else if !matches!(policy, "Always" | "Never" | "OnFailure") {
        errors.not_supported(&place, policy, &["Always", "Never", "OnFailure"]);
    }
    let list = path.child("restartPolicyRules");
    if rules > 20 {
        errors.too_many(&list, rules, 20);
    }
    for (index, rule) in items(container, "restartPolicyRules") {
        let path = list.index(index);
        let action = text(rule, "action");
        if !matches!(action, "Restart" | "RestartAllContainers") {
            errors.not_supported(&path.child("action"), action, &["Restart", "RestartAllContainers"]);
        }
        let place = path.child("exitCodes");
        let Some(codes) = part(rule, "exitCodes") else {
            errors.required(&place, "must be specified");
            continue;
        };
        let operator = text(codes, "operator");
        if !matches!(operator, "In" | "NotIn") {
            errors.not_supported(&place.child("operator"), operator, &["In", "NotIn"]);
        }
        let values = count(codes, "values");
        if values > 255 {
            errors.too_many(&place.child("values"), values, 255);
        }
    }
}
