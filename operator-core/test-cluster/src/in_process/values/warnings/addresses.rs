//! Addresses in unusual forms, and fields of Services that have no effect. Pure.

use std::net::{IpAddr, Ipv6Addr};

use serde_json::Value;

use super::{Found, SPEC, annotation};
use crate::in_process::{
    go::address::{masked, sloppy_cidr, sloppy_ip},
    kinds::Kind,
    values::{
        path::Path,
        read::{at, count, items, part, text},
    },
};

/// An address as Go writes it.
fn shown(address: IpAddr) -> String {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or_else(|| v6.to_string(), |v4| v4.to_string()),
        IpAddr::V4(v4) => v4.to_string(),
    }
}

fn is_mapped(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some())
}

/// An address in an unusual form.
pub(super) fn ip(found: &mut Found, path: &Path<'_>, value: &Value) {
    let value = value.as_str().unwrap_or_default();
    let Some(address) = sloppy_ip(value) else { return };
    match value.parse::<IpAddr>() {
        Ok(IpAddr::V6(v6)) if !is_mapped(&IpAddr::V6(v6)) => {
            if v6.to_string() != value {
                let words =
                    format!("IPv6 address {value:?} should be in RFC 5952 canonical format (\"{v6}\")");
                found.add(path, words);
            }
        }
        Ok(IpAddr::V4(_)) => {}
        _ => {
            found.add(
                path,
                format_args!("non-standard IP address {value:?} is invalid: use {:?}", shown(address)),
            );
        }
    }
}

/// A range of addresses in an unusual form.
pub(super) fn range(found: &mut Found, path: &Path<'_>, value: &Value) {
    let value = value.as_str().unwrap_or_default();
    let Some((address, length)) = sloppy_cidr(value) else { return };
    // A mapped address is an old one.
    let plain = match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    let most: u8 = if address.is_ipv4() { 32 } else { 128 };
    let network = format!("{}/{length}", shown(masked(address, length)));
    let mut usual = true;
    if masked(address, length) != address {
        let single = format!("{}/{most}", shown(plain));
        let words = format!(
            "CIDR value {value:?} is ambiguous in this context (should be {network:?} or {single:?}?)"
        );
        found.add(path, words);
        usual = false;
    }
    let (given, digits) = value.split_once('/').unwrap_or_default();
    let is_plain = given.parse::<IpAddr>().is_ok() && (digits == "0" || !digits.starts_with('0'));
    if !is_plain || is_mapped(&address) {
        found.add(path, format_args!("non-standard CIDR value {value:?} is invalid: use {network:?}"));
        usual = false;
    }
    if usual
        && let Ok(v6) = given.parse::<Ipv6Addr>()
        && v6.to_string() != given
    {
        let words =
            format!("IPv6 CIDR value {value:?} should be in RFC 5952 canonical format (\"{v6}/{length}\")");
        found.add(path, words);
    }
}

pub(super) fn service(found: &mut Found, service: &Value) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let spec = at(service, "spec");
    if annotation(service, HINTS).is_some() {
        found.say(format!(
            "annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let each = |found: &mut Found, field: &str, look: fn(&mut Found, &Path<'_>, &Value)| {
        for (index, value) in items(spec, field) {
            look(found, &SPEC.child(field).index(index), value);
        }
    };
    let (kind, address) = (text(spec, "type"), text(spec, "clusterIP"));
    if !matches!(address, "" | "None") {
        each(found, "clusterIPs", ip);
    }
    let is_headless = kind == "ClusterIP" && address == "None";
    let outside = count(spec, "externalIPs") > 0;
    if is_headless {
        if !text(spec, "loadBalancerIP").is_empty() {
            found.say("spec.loadBalancerIP is ignored for headless services");
        }
        if outside {
            found.say("spec.externalIPs is ignored for headless services");
        }
        if text(spec, "sessionAffinity") != "None" {
            found.say("spec.SessionAffinity is ignored for headless services");
        }
    }
    each(found, "externalIPs", ip);
    if outside && !is_headless && kind != "ExternalName" {
        found.say("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if !text(spec, "loadBalancerIP").is_empty() {
        ip(found, &SPEC.child("loadBalancerIP"), at(spec, "loadBalancerIP"));
    }
    each(found, "loadBalancerSourceRanges", range);
    if kind == "ExternalName" && outside {
        found.say("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if kind != "ExternalName" && !text(spec, "externalName").is_empty() {
        found.say("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if text(spec, "trafficDistribution") == "PreferClose" {
        found.say("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}

/// Whether a controller of the cluster has made an object.
fn is_of(object: &Value, label: &str, controllers: &[&str]) -> bool {
    controllers.contains(&text(at(at(object, "metadata"), "labels"), label))
}

pub(super) fn endpoints(found: &mut Found, endpoints: &Value) {
    if is_of(endpoints, "endpoints.kubernetes.io/managed-by", &["endpoint-controller"]) {
        return;
    }
    for (index, subset) in items(endpoints, "subsets") {
        for field in ["addresses", "notReadyAddresses"] {
            for (at, address) in items(subset, field) {
                let path = Path::root("subsets");
                let path = path.index(index);
                ip(found, &path.child(field).index(at).child("ip"), super::at(address, "ip"));
            }
        }
    }
}

pub(super) fn slice(found: &mut Found, slice: &Value) {
    let controllers = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];
    if is_of(slice, "endpointslice.kubernetes.io/managed-by", &controllers) {
        return;
    }
    for (index, endpoint) in items(slice, "endpoints") {
        for (at, address) in items(endpoint, "addresses") {
            let path = Path::root("endpoints");
            ip(found, &path.index(index).child("addresses").index(at), address);
        }
    }
}

pub(super) fn policy(found: &mut Found, spec: &Value) {
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in items(spec, direction) {
            for (peer, value) in items(rule, peers) {
                let Some(block) = part(value, "ipBlock") else { continue };
                let path = SPEC.child(direction);
                let path = path.index(index);
                let path = path.child(peers);
                let path = path.index(peer);
                let path = path.child("ipBlock");
                range(found, &path.child("cidr"), at(block, "cidr"));
                for (at, except) in items(block, "except") {
                    range(found, &path.child("except").index(at), except);
                }
            }
        }
    }
}

/// Addresses in a status.
pub(super) fn of_status(found: &mut Found, kind: &Kind, status: &Value) {
    let root = Path::root("status");
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => {
            for field in ["podIPs", "hostIPs"] {
                for (index, value) in items(status, field) {
                    ip(found, &root.child(field).index(index).child("ip"), at(value, "ip"));
                }
            }
        }
        ("", "Service") | ("networking.k8s.io", "Ingress") => {
            for (index, value) in items(at(status, "loadBalancer"), "ingress") {
                if !text(value, "ip").is_empty() {
                    ip(found, &root.child("loadBalancer.ingress").index(index), at(value, "ip"));
                }
            }
        }
        _ => {}
    }
}
