//! Services, Ingresses and policies.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{super::recorded::at, Object, each, made, missing, part, text};

pub(super) fn service(service: &mut Object) {
    let Some(spec) = made(service, "spec") else { return };
    missing(spec, "sessionAffinity", "None");
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP"
            if spec
                .get("sessionAffinityConfig")
                .is_none_or(|config| at(at(config, "clientIP"), "timeoutSeconds").is_null()) =>
        {
            spec.insert("sessionAffinityConfig".to_owned(), json!({"clientIP": {"timeoutSeconds": 10800}}));
        }
        _ => {}
    }
    missing(spec, "type", "ClusterIP");
    for port in each(spec, "ports") {
        missing(port, "protocol", "TCP");
        if port.get("targetPort").is_none_or(|target| {
            matches!(target.as_str(), Some("")) || target == &json!(0) || target.is_null()
        }) {
            port.insert("targetPort".to_owned(), port.get("port").cloned().unwrap_or_default());
        }
    }
    let kind = text(spec, "type").to_owned();
    let external = spec.get("externalIPs").and_then(Value::as_array).is_some_and(|ips| !ips.is_empty());
    if kind == "NodePort" || kind == "LoadBalancer" || kind == "ClusterIP" && external {
        missing(spec, "externalTrafficPolicy", "Cluster");
    }
    if kind != "ExternalName" {
        missing(spec, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        missing(spec, "allocateLoadBalancerNodePorts", true);
        if let Some(balancer) = part(service, "status").and_then(|status| part(status, "loadBalancer")) {
            each(balancer, "ingress")
                .filter(|ingress| !text(ingress, "ip").is_empty())
                .for_each(|ingress| missing(ingress, "ipMode", "VIP"));
        }
    }
}

/// The families of a Service's addresses. The addresses themselves are allocated by the server.
pub(super) fn families(service: &mut Value) {
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if text(spec, "type") == "ExternalName" {
        return singular(spec);
    }
    let selects =
        spec.get("selector").and_then(Value::as_object).is_some_and(|selector| !selector.is_empty());
    let address = text(spec, "clusterIP");
    let headless = address == "None" && !selects;
    let addresses = spec.get("clusterIPs").and_then(Value::as_array).into_iter().flatten();
    let is_v6 = addresses.filter_map(Value::as_str).chain([address]).any(|address| address.contains(':'));
    missing(spec, "ipFamilyPolicy", if headless { "RequireDualStack" } else { "SingleStack" });
    // Only one family is there to be allocated; without an address, it is no matter.
    let single = text(spec, "ipFamilyPolicy") == "SingleStack";
    let families = spec.get("ipFamilies").and_then(Value::as_array).cloned().unwrap_or_default();
    match &families[..] {
        [] if headless && !single => {
            spec.insert("ipFamilies".to_owned(), json!(["IPv4", "IPv6"]));
        }
        [] if !is_v6 => {
            spec.insert("ipFamilies".to_owned(), json!(["IPv4"]));
        }
        [one] if headless && !single => {
            let other = if one == "IPv4" { "IPv6" } else { "IPv4" };
            spec.insert("ipFamilies".to_owned(), json!([one, other]));
        }
        _ => {}
    }
    singular(spec);
}

/// `clusterIP` is the first of `clusterIPs`.
fn singular(spec: &mut Object) {
    let one = spec
        .get("clusterIP")
        .filter(|address| address.as_str().is_some_and(|text| !text.is_empty()))
        .cloned();
    if let Some(address) = one {
        missing(spec, "clusterIPs", json!([address]));
    }
}

/// What was allocated for a Service stays, unless the update names something else.
pub(super) fn allocated(live: &Value, service: &mut Value) {
    let old = at(live, "spec").clone();
    // A write to the status itself is checked later.
    if at(at(service, "spec"), "type") != "LoadBalancer"
        && at(service, "status") == at(live, "status")
        && let Some(status) = service.get_mut("status")
    {
        status["loadBalancer"] = json!({});
    }
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let addressed = |kind: &str| matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer");
    let (was, is) = (at(&old, "type").as_str().unwrap_or("").to_owned(), text(spec, "type").to_owned());
    if addressed(&was) && addressed(&is) {
        let empty = |value: Option<&Value>| match value {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            Some(_) => false,
        };
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            // The families follow from an address of another family.
            let follows = field == "ipFamilies" && text(spec, "clusterIP").contains(':');
            if !at(&old, field).is_null() && empty(spec.get(field)) && !follows {
                spec.insert(field.to_owned(), at(&old, field).clone());
            }
        }
    }
    // Who changes the one and not the others means both.
    let one = text(spec, "clusterIP").to_owned();
    if !one.is_empty()
        && at(&old, "clusterIP") != &json!(one)
        && spec.get("clusterIPs") == old.get("clusterIPs")
    {
        spec.insert("clusterIPs".to_owned(), json!([one]));
    }
    if !addressed(&is) && addressed(&was) {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if spec.get(field) == Some(at(&old, field)) {
                spec.remove(field);
            }
        }
    }
    node_ports(&old, spec, &was, &is);
    health_port(&old, spec);
    let is_reached = |kind: &str, spec: &Value| {
        let has_addresses = at(spec, "externalIPs").as_array().is_some_and(|ips| !ips.is_empty());
        matches!(kind, "NodePort" | "LoadBalancer") || kind == "ClusterIP" && has_addresses
    };
    let addresses = json!({"externalIPs": spec.get("externalIPs")});
    let dropped = [
        ("allocateLoadBalancerNodePorts", is != "LoadBalancer"),
        ("loadBalancerClass", is != "LoadBalancer"),
        ("externalTrafficPolicy", is_reached(&was, &old) && !is_reached(&is, &addresses)),
    ];
    for (field, drop) in dropped {
        if drop && spec.get(field) == Some(at(&old, field)) {
            spec.remove(field);
        }
    }
    if addressed(&is) && !addressed(&was) {
        families(service);
    }
}

/// The port for questions about health stays, or goes when nobody asks any more.
fn health_port(old: &Value, spec: &mut Object) {
    const FIELD: &str = "healthCheckNodePort";
    let needs = |kind: &str, policy: &str| kind == "LoadBalancer" && policy == "Local";
    let of_old = |field| at(old, field).as_str().unwrap_or("");
    if !needs(of_old("type"), of_old("externalTrafficPolicy")) {
        return;
    }
    if needs(text(spec, "type"), text(spec, "externalTrafficPolicy")) {
        missing(spec, FIELD, at(old, FIELD).clone());
    } else if spec.get(FIELD) == Some(at(old, FIELD)) {
        spec.remove(FIELD);
    }
}

/// Ports of the nodes stay with the names of their ports, or are removed with the type that needs them.
fn node_ports(old: &Value, spec: &mut Object, was: &str, is: &str) {
    let needs = |kind: &str| matches!(kind, "NodePort" | "LoadBalancer");
    if !needs(was) {
        return;
    }
    let ports = at(old, "ports").as_array().cloned().unwrap_or_default();
    if !needs(is) {
        // Their order is no matter.
        let number = |port: Option<&Value>| port.and_then(Value::as_i64).filter(|number| *number != 0);
        let used: BTreeSet<_> = ports.iter().filter_map(|port| number(port.get("nodePort"))).collect();
        let kept: BTreeSet<_> = each(spec, "ports").filter_map(|port| number(port.get("nodePort"))).collect();
        if kept.is_subset(&used) {
            each(spec, "ports").for_each(|port| {
                port.remove("nodePort");
            });
        }
        return;
    }
    // A balancer that wants no ports of the nodes is given none, and keeps none.
    let keeps = |kind: &str, all: Option<&Value>| kind == "NodePort" || all != Some(&json!(false));
    let all = "allocateLoadBalancerNodePorts";
    if !keeps(was, old.get(all)) || !keeps(is, spec.get(all)) {
        return;
    }
    let taken: Vec<_> = each(spec, "ports").filter_map(|port| port.get("nodePort").cloned()).collect();
    for port in each(spec, "ports") {
        let name = text(port, "name");
        let same = ports.iter().find(|old| at(old, "name").as_str().unwrap_or("") == name);
        if let Some(number) =
            same.map(|old| at(old, "nodePort")).filter(|number| !number.is_null() && !taken.contains(number))
        {
            missing(port, "nodePort", number.clone());
        }
    }
}

pub(super) fn ingress_class(class: &mut Object) {
    if let Some(parameters) = part(class, "spec").and_then(|spec| part(spec, "parameters")) {
        missing(parameters, "scope", "Cluster");
    }
}

pub(super) fn policy(policy: &mut Object) {
    let Some(spec) = made(policy, "spec") else { return };
    for direction in ["ingress", "egress"] {
        for rule in each(spec, direction) {
            each(rule, "ports").for_each(|port| missing(port, "protocol", "TCP"));
        }
    }
    let filled = |spec: &Object, field: &str| {
        spec.get(field).and_then(Value::as_array).is_some_and(|list| !list.is_empty())
    };
    if !filled(spec, "policyTypes") {
        let types = if filled(spec, "egress") { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        spec.insert("policyTypes".to_owned(), types);
    }
}

pub(super) fn endpoint_slice(slice: &mut Object) {
    for port in each(slice, "ports") {
        missing(port, "name", "");
        missing(port, "protocol", "TCP");
    }
}

pub(super) fn endpoints(endpoints: &mut Object) {
    for subset in each(endpoints, "subsets") {
        for port in each(subset, "ports") {
            missing(port, "protocol", "TCP");
        }
    }
}
