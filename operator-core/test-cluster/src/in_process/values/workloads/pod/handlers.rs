//! How the node asks whether a container is well, and what it does at its beginning and end.

use serde_json::Value;

use super::spec::Context;
use crate::in_process::values::{
    common::not_negative,
    errors::Errors,
    names,
    path::Path,
    read::{at, count, int, items, part, text},
};

/// The probes and hooks of a container.
pub(super) fn of_container(errors: &mut Errors, path: &Path<'_>, container: &Value, context: &Context<'_>) {
    if let Some(lifecycle) = part(container, "lifecycle") {
        self::lifecycle(errors, &path.child("lifecycle"), lifecycle, context);
    }
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = part(container, field) else { continue };
        let path = path.child(field);
        self::probe(errors, &path, probe, context.grace);
        if field == "readinessProbe" {
            if let Some(grace) = int(probe, "terminationGracePeriodSeconds") {
                let path = path.child("terminationGracePeriodSeconds");
                errors.invalid(&path, grace, "must not be set for readinessProbes");
            }
        } else {
            let threshold = int(probe, "successThreshold").unwrap_or_default();
            if threshold != 1 {
                errors.invalid(&path.child("successThreshold"), threshold, "must be 1");
            }
        }
    }
}

fn probe(errors: &mut Errors, path: &Path<'_>, probe: &Value, grace: Option<i64>) {
    handler(errors, path, probe, &["exec", "httpGet", "tcpSocket", "grpc"], grace);
    for field in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        not_negative(errors, &path.child(field), at(probe, field));
    }
    if let Some(grace) = int(probe, "terminationGracePeriodSeconds").filter(|grace| *grace <= 0) {
        errors.invalid(&path.child("terminationGracePeriodSeconds"), grace, "must be greater than 0");
    }
}

fn lifecycle(errors: &mut Errors, path: &Path<'_>, lifecycle: &Value, context: &Context<'_>) {
    for hook in ["postStart", "preStop"] {
        if let Some(given) = part(lifecycle, hook) {
            let known = ["exec", "httpGet", "tcpSocket", "sleep"];
            handler(errors, &path.child(hook), given, &known, context.grace);
        }
    }
}

fn handler(errors: &mut Errors, path: &Path<'_>, handler: &Value, known: &[&str], grace: Option<i64>) {
    let mut found = false;
    for field in known {
        let Some(action) = part(handler, field) else { continue };
        let path = path.child(field);
        if std::mem::replace(&mut found, true) {
            errors.forbidden(&path, "may not specify more than 1 handler type");
            continue;
        }
        match *field {
            "exec" if count(action, "command") == 0 => errors.required(&path.child("command"), ""),
            "httpGet" => get(errors, &path, action),
            "tcpSocket" | "grpc" => port(errors, &path.child("port"), at(action, "port")),
            "sleep" => {
                let seconds = int(action, "seconds").unwrap_or_default();
                if let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) {
                    let detail =
                        format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                    errors.invalid(&path, seconds, &detail);
                }
            }
            _ => {}
        }
    }
    if !found {
        errors.required(path, "must specify a handler type");
    }
}

fn get(errors: &mut Errors, path: &Path<'_>, get: &Value) {
    if text(get, "path").is_empty() {
        errors.required(&path.child("path"), "");
    }
    port(errors, &path.child("port"), at(get, "port"));
    let scheme = text(get, "scheme");
    if !matches!(scheme, "HTTP" | "HTTPS") {
        errors.not_supported(&path.child("scheme"), scheme, &["HTTP", "HTTPS"]);
    }
    for (_, header) in items(get, "httpHeaders") {
        let name = text(header, "name");
        errors.all_invalid(&path.child("httpHeaders"), name, &names::http_header(name));
    }
}

/// A port by its number or its name.
fn port(errors: &mut Errors, path: &Path<'_>, port: &Value) {
    match port {
        Value::String(name) => errors.all_invalid(path, name, &names::port_name(name)),
        number => {
            let number = number.as_i64().unwrap_or_default();
            names::port_number(number).iter().for_each(|why| errors.invalid(path, number, why));
        }
    }
}
