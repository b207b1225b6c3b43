//! EndpointSlices. Pure.

use std::net::IpAddr;

use serde_json::Value;

use super::{
    super::{
        errors::Errors,
        names,
        path::Path,
        read::{at, count, items, part, same, text},
    },
    ip,
};

const MOST_ENDPOINTS: usize = 1_000;
const MOST_ADDRESSES: usize = 100;
const MOST_PORTS: usize = 20_000;
const MOST_HINTS: usize = 8;

pub(super) fn slice(slice: &Value, errors: &mut Errors) {
    check(slice, None, errors);
}

pub(super) fn changed(new: &Value, old: &Value, errors: &mut Errors) {
    check(new, Some(old), errors);
    let of = "addressType";
    if text(new, of) != text(old, of) {
        errors.invalid(&Path::root(of), text(new, of), "field is immutable");
    }
}

fn check(slice: &Value, old: Option<&Value>, errors: &mut Errors) {
    let of = text(slice, "addressType");
    match of {
        "" => errors.required(&Path::root("addressType"), ""),
        "FQDN" | "IPv4" | "IPv6" => {}
        other => errors.not_supported(&Path::root("addressType"), other, &["FQDN", "IPv4", "IPv6"]),
    }
    ports(slice, errors);
    // What was there before rules became stricter may stay.
    if old.is_none_or(|old| !same(at(old, "endpoints"), at(slice, "endpoints"))) {
        endpoints(slice, of, errors);
    }
}

fn ports(slice: &Value, errors: &mut Errors) {
    let root = Path::root("ports");
    if count(slice, "ports") > MOST_PORTS {
        return errors.too_many(&root, count(slice, "ports"), MOST_PORTS);
    }
    let mut names = Vec::new();
    for (index, port) in items(slice, "ports") {
        let (path, name) = (root.index(index), text(port, "name"));
        if !name.is_empty() {
            errors.all_invalid(&path.child("name"), name, &names::dns_label(name));
        }
        if names.contains(&name) {
            errors.duplicate(&path.child("name"), name);
        } else {
            names.push(name);
        }
        match port.get("protocol").and_then(Value::as_str) {
            None => errors.required(&path.child("protocol"), ""),
            Some("SCTP" | "TCP" | "UDP") => {}
            Some(other) => errors.not_supported(&path.child("protocol"), other, &["SCTP", "TCP", "UDP"]),
        }
        if let Some(protocol) = port.get("appProtocol").and_then(Value::as_str) {
            errors.all_invalid(&path.child("appProtocol"), protocol, &names::qualified(protocol));
        }
    }
}

fn endpoints(slice: &Value, of: &str, errors: &mut Errors) {
    let root = Path::root("endpoints");
    if count(slice, "endpoints") > MOST_ENDPOINTS {
        return errors.too_many(&root, count(slice, "endpoints"), MOST_ENDPOINTS);
    }
    for (index, endpoint) in items(slice, "endpoints") {
        let path = root.index(index);
        let addresses = path.child("addresses");
        match count(endpoint, "addresses") {
            0 => errors.required(&addresses, "must contain at least 1 address"),
            many if many > MOST_ADDRESSES => errors.too_many(&addresses, many, MOST_ADDRESSES),
            _ => {}
        }
        for (index, address) in items(endpoint, "addresses") {
            self::address(of, address.as_str().unwrap_or_default(), &addresses, index, errors);
        }
        if let Some(node) = endpoint.get("nodeName").and_then(Value::as_str) {
            errors.all_invalid(&path.child("nodeName"), node, &names::dns_subdomain(node));
        }
        if let Some(name) = endpoint.get("hostname").and_then(Value::as_str) {
            errors.all_invalid(&path.child("hostname"), name, &names::dns_label(name));
        }
        if let Some(hints) = part(endpoint, "hints") {
            let path = path.child("hints");
            self::hints(hints, "forZones", &path, names::label_value, errors);
            self::hints(hints, "forNodes", &path, names::dns_subdomain, errors);
        }
    }
}

fn address(of: &str, address: &str, all: &Path<'_>, index: usize, errors: &mut Errors) {
    let path = all.index(index);
    match of {
        "IPv4" if ip::address(errors, &path, address, &[]) => {
            if !ip::lenient(address).is_some_and(|address: IpAddr| address.is_ipv4()) {
                errors.invalid(all, address, "must be an IPv4 address");
            }
            ip::ordinary(errors, &path, address);
        }
        "IPv6" => {
            let before = errors.len();
            super::super::addresses::address(errors, &path, address);
            if errors.len() > before {
                return;
            }
            if !address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6()) {
                errors.invalid(all, address, "must be an IPv6 address");
            }
            ip::ordinary(errors, &path, address);
        }
        "FQDN" => domain(errors, &path, address),
        _ => {}
    }
}

fn domain(errors: &mut Errors, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let wrong = names::dns_subdomain(name);
    if !wrong.is_empty() {
        return errors.invalid(path, name, &wrong.join(","));
    }
    if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        return errors.invalid(path, name, detail);
    }
    let labels = name.split('.').map(|label| (label, names::dns_label(label)));
    if let Some((label, wrong)) = labels.into_iter().find(|(_, wrong)| !wrong.is_empty()) {
        errors.invalid(path, label, &wrong.join(","));
    }
}

fn hints(hints: &Value, field: &str, path: &Path<'_>, wrong: fn(&str) -> Vec<String>, errors: &mut Errors) {
    let path = path.child(field);
    if count(hints, field) > MOST_HINTS {
        return errors.too_many(&path, count(hints, field), MOST_HINTS);
    }
    let mut known = Vec::new();
    for (index, hint) in items(hints, field) {
        let (item, name) = (path.index(index), text(hint, "name"));
        let place = item.child("name");
        if known.contains(&name) {
            errors.duplicate(&place, name);
        } else {
            known.push(name);
        }
        errors.all_invalid(&place, name, &wrong(name));
    }
}
