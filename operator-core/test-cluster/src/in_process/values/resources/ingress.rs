//! Ingresses. Pure.

use serde_json::Value;

use super::{
    super::{
        errors::{Errors, Verbatim},
        names,
        path::Path,
        read::{at, count, int, items, part, text},
    },
    ip,
};

const SPEC: Path<'static> = Path::root("spec");

pub(super) fn ingress(ingress: &Value, errors: &mut Errors) {
    const CLASS: &str = "kubernetes.io/ingress.class";
    values(ingress, errors);
    let class = at(at(ingress, "spec"), "ingressClassName").as_str();
    let annotated = at(at(ingress, "metadata"), "annotations").get(CLASS).and_then(Value::as_str);
    if let (Some(class), Some(annotated)) = (class, annotated)
        && class != annotated
    {
        let path = Path::root("annotations");
        errors.invalid(
            &path.child(CLASS),
            annotated,
            "must match `ingressClassName` when both are specified",
        );
    }
}

pub(super) fn changed(new: &Value, _old: &Value, errors: &mut Errors) {
    values(new, errors);
}

fn values(ingress: &Value, errors: &mut Errors) {
    let spec = at(ingress, "spec");
    let default = part(spec, "defaultBackend");
    if count(spec, "rules") == 0 && default.is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        let none = if at(spec, "rules").is_array() { "[]" } else { "null" };
        errors.invalid(&SPEC, Verbatim(none.to_owned()), detail);
    }
    if let Some(default) = default {
        backend(default, &SPEC.child("defaultBackend"), errors);
    }
    for (index, rule) in items(spec, "rules") {
        let rules = SPEC.child("rules");
        let path = rules.index(index);
        let host = text(rule, "host");
        if !host.is_empty() {
            if ip::lenient(host).is_some() {
                errors.invalid(&path.child("host"), host, "must be a DNS name, not an IP address");
            }
            errors.all_invalid(&path.child("host"), host, &wrong_host(host));
        }
        if let Some(http) = part(rule, "http") {
            let path = path.child("http");
            if count(http, "paths") == 0 {
                errors.required(&path.child("paths"), "");
            }
            for (index, one) in items(http, "paths") {
                http_path(one, &path.child("paths").index(index), errors);
            }
        }
    }
    for (index, tls) in items(spec, "tls") {
        let all = SPEC.child("tls");
        let path = all.index(index);
        for (at, host) in items(tls, "hosts") {
            let host = host.as_str().unwrap_or_default();
            errors.all_invalid(&path.child("hosts").index(at), host, &wrong_host(host));
        }
        let secret = text(tls, "secretName");
        if !secret.is_empty() {
            errors.all_invalid(&path.child("secretName"), secret, &names::dns_subdomain(secret));
        }
    }
    if let Some(class) = at(spec, "ingressClassName").as_str() {
        errors.all_invalid(&SPEC.child("ingressClassName"), class, &names::dns_subdomain(class));
    }
}

/// A host, or all hosts of a domain.
fn wrong_host(host: &str) -> Vec<String> {
    if !host.contains('*') {
        return names::dns_subdomain(host);
    }
    let too_long = (host.len() > 253).then(|| "must be no more than 253 characters".to_owned());
    let right = host.strip_prefix("*.").is_some_and(|rest| names::dns_subdomain(rest).is_empty());
    let rule = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of \
                lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
    let pattern = "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
    let form = (!right).then(|| names::mismatch(rule, pattern, &["*.example.com"]));
    too_long.into_iter().chain(form).collect()
}

fn http_path(one: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (field, value) = (path.child("path"), text(one, "path"));
    match at(one, "pathType").as_str() {
        None => return errors.required(&path.child("pathType"), "pathType must be specified"),
        Some("Exact" | "Prefix") => {
            if !value.starts_with('/') {
                errors.invalid(&field, value, "must be an absolute path");
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"].into_iter().filter(|part| value.contains(part)) {
                errors.invalid(&field, value, &format!("must not contain '{part}'"));
            }
            for end in ["/..", "/."].into_iter().filter(|end| value.ends_with(end)) {
                errors.invalid(&field, value, &format!("cannot end with '{end}'"));
            }
        }
        Some("ImplementationSpecific") => {
            if !value.is_empty() && !value.starts_with('/') {
                errors.invalid(&field, value, "must be an absolute path");
            }
        }
        Some(other) => {
            errors.not_supported(
                &path.child("pathType"),
                other,
                &["Exact", "ImplementationSpecific", "Prefix"],
            );
        }
    }
    backend(at(one, "backend"), &path.child("backend"), errors);
}

fn backend(backend: &Value, path: &Path<'_>, errors: &mut Errors) {
    match (part(backend, "resource"), part(backend, "service")) {
        (Some(_), Some(_)) => errors.invalid(path, "", "cannot set both resource and service backends"),
        (Some(resource), None) => object(resource, &path.child("resource"), errors),
        (None, Some(service)) => {
            let field = path.child("service");
            match text(service, "name") {
                "" => errors.required(&field.child("name"), ""),
                name => errors.all_invalid(&field.child("name"), name, &names::dns_label(name)),
            }
            let port = at(service, "port");
            let field = field.child("port");
            match (text(port, "name"), int(port, "number").unwrap_or_default()) {
                ("", 0) => errors.required(path, "port name or number is required"),
                ("", number) => {
                    for why in names::port_number(number) {
                        errors.invalid(&field.child("number"), number, &why);
                    }
                }
                (name, 0) => errors.all_invalid(&field.child("name"), name, &names::port_name(name)),
                _ => errors.invalid(path, "", "cannot set both port name & port number"),
            }
        }
        (None, None) => errors.invalid(path, "", "resource or service backend is required"),
    }
}

/// A reference to an object of any kind.
fn object(reference: &Value, path: &Path<'_>, errors: &mut Errors) {
    if let Some(group) = at(reference, "apiGroup").as_str() {
        errors.all_invalid(&path.child("apiGroup"), group, &names::dns_subdomain(group));
    }
    for field in ["kind", "name"] {
        match text(reference, field) {
            "" => errors.required(&path.child(field), ""),
            value => errors.all_invalid(&path.child(field), value, &names::path_segment(value)),
        }
    }
}

pub(super) fn status(new: &Value, old: &Value, errors: &mut Errors) {
    let balancer = |ingress| at(at(ingress, "status"), "loadBalancer");
    let before: Vec<&str> = items(balancer(old), "ingress").map(|(_, one)| text(one, "ip")).collect();
    let root = Path::root("status");
    let root = root.child("loadBalancer");
    let root = root.child("ingress");
    for (index, one) in items(balancer(new), "ingress") {
        let (path, address, host) = (root.index(index), text(one, "ip"), text(one, "hostname"));
        if !address.is_empty() {
            ip::address(errors, &path.child("ip"), address, &before);
        }
        if !host.is_empty() {
            ip::host(errors, &path.child("hostname"), host);
        }
    }
}
