//! Services: what their types allow. Pure.

use serde_json::Value;

use super::{
    super::{
        common::labels,
        errors::{Errors, Verbatim, quoted},
        names,
        path::Path,
        read::{at, count, int, items, part, text},
    },
    ip, service_addresses as addresses,
};

pub(super) const SPEC: Path<'static> = Path::root("spec");

pub(super) fn service(service: &Value, errors: &mut Errors) {
    values(service, &Value::Null, errors);
}

pub(super) fn changed(new: &Value, old: &Value, errors: &mut Errors) {
    addresses::kept(at(new, "spec"), at(old, "spec"), errors);
    let (spec, before) = (at(new, "spec"), at(old, "spec"));
    if [spec, before].iter().all(|spec| text(spec, "type") == "LoadBalancer") {
        let class = at(spec, "loadBalancerClass");
        if class != at(before, "loadBalancerClass") {
            errors.invalid(&SPEC.child("loadBalancerClass"), class, "may not change once set");
        }
    }
    class(spec, errors);
    let port = |spec: &Value| int(spec, "healthCheckNodePort").unwrap_or_default();
    if needs_health_port(spec) && needs_health_port(before) && port(spec) != port(before) {
        errors.forbidden(&SPEC.child("healthCheckNodePort"), "field is immutable");
    }
    values(new, old, errors);
}

/// Whether a balancer asks nodes for their health.
pub(in crate::in_process) fn needs_health_port(spec: &Value) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}

fn values(service: &Value, old: &Value, errors: &mut Errors) {
    let (spec, before) = (at(service, "spec"), at(old, "spec"));
    let kind = text(spec, "type");
    let headless = addresses::is_headless(spec);
    if count(spec, "ports") == 0 && !headless && kind != "ExternalName" {
        errors.required(&SPEC.child("ports"), "");
    }
    match kind {
        "LoadBalancer" | "NodePort" if headless => {
            let path = SPEC.child("clusterIPs");
            errors.invalid(&path.index(0), "None", &format!("may not be set to 'None' for {kind} services"));
        }
        "ExternalName" => external_name(spec, errors),
        _ => {}
    }
    ports(spec, errors);
    labels(errors, &SPEC.child("selector"), at(spec, "selector"));
    affinity(spec, errors);
    addresses::related(spec, before, errors);
    external_addresses(spec, before, errors);
    if !["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"].contains(&kind) {
        let known = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
        errors.not_supported(&SPEC.child("type"), kind, &known);
    }
    unique_ports(spec, kind, errors);
    source_ranges(service, old, errors);
    let allocate = part(spec, "allocateLoadBalancerNodePorts");
    if allocate.is_some() && kind != "LoadBalancer" {
        let path = SPEC.child("allocateLoadBalancerNodePorts");
        errors.forbidden(&path, "may only be used when `type` is 'LoadBalancer'");
    }
    class(spec, errors);
    traffic(spec, kind, errors);
}

fn external_name(spec: &Value, errors: &mut Errors) {
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        let is_set = at(spec, field).is_string() || count(spec, field) > 0;
        if is_set {
            errors.forbidden(&SPEC.child(field), "may not be set for ExternalName services");
        }
    }
    let (path, name) = (SPEC.child("externalName"), text(spec, "externalName"));
    match name.strip_suffix('.').unwrap_or(name) {
        "" => errors.required(&path, ""),
        name => errors.all_invalid(&path, name, &names::dns_subdomain(name)),
    }
}

fn ports(spec: &Value, errors: &mut Errors) {
    let mut seen = Vec::new();
    for (index, port) in items(spec, "ports") {
        let all = SPEC.child("ports");
        let path = all.index(index);
        let name = text(port, "name");
        let field = path.child("name");
        if !name.is_empty() {
            errors.all_invalid(&field, name, &names::dns_label(name));
            if seen.contains(&name) {
                errors.duplicate(&field, name);
            }
            seen.push(name);
        } else if count(spec, "ports") > 1 {
            errors.required(&field, "");
        }
        let number = int(port, "port").unwrap_or_default();
        for why in names::port_number(number) {
            errors.invalid(&path.child("port"), number, &why);
        }
        let (field, protocol) = (path.child("protocol"), text(port, "protocol"));
        if protocol.is_empty() {
            errors.required(&field, "");
        } else if !["SCTP", "TCP", "UDP"].contains(&protocol) {
            errors.not_supported(&field, protocol, &["SCTP", "TCP", "UDP"]);
        }
        let field = path.child("targetPort");
        match at(port, "targetPort") {
            Value::String(name) => errors.all_invalid(&field, name, &names::port_name(name)),
            number => {
                let number = number.as_i64().unwrap_or_default();
                names::port_number(number).iter().for_each(|why| errors.invalid(&field, number, why));
            }
        }
        if let Some(protocol) = at(port, "appProtocol").as_str() {
            errors.all_invalid(&path.child("appProtocol"), protocol, &names::qualified(protocol));
        }
    }
}

fn affinity(spec: &Value, errors: &mut Errors) {
    let (path, affinity) = (SPEC.child("sessionAffinity"), text(spec, "sessionAffinity"));
    if !["ClientIP", "None"].contains(&affinity) {
        errors.not_supported(&path, affinity, &["ClientIP", "None"]);
    }
    let path = SPEC.child("sessionAffinityConfig");
    let config = part(spec, "sessionAffinityConfig");
    match (affinity, config) {
        ("None", Some(_)) => errors.forbidden(&path, "must not be set when session affinity is None"),
        ("ClientIP", None) => errors.required(&path, "when session affinity type is ClientIP"),
        ("ClientIP", Some(config)) => {
            let path = path.child("clientIP");
            let path = path.child("timeoutSeconds");
            let timeout = int(at(config, "clientIP"), "timeoutSeconds").unwrap_or_default();
            if !(1..=86_400).contains(&timeout) {
                errors.invalid(&path, timeout, "must be greater than 0 and less than 86400");
            }
        }
        _ => {}
    }
}

fn external_addresses(spec: &Value, before: &Value, errors: &mut Errors) {
    let known: Vec<&str> = items(before, "externalIPs").filter_map(|(_, ip)| ip.as_str()).collect();
    for (index, address) in items(spec, "externalIPs") {
        let all = SPEC.child("externalIPs");
        let (path, address) = (all.index(index), address.as_str().unwrap_or_default());
        if ip::address(errors, &path, address, &known) {
            ip::ordinary(errors, &path, address);
        }
    }
}

fn unique_ports(spec: &Value, kind: &str, errors: &mut Errors) {
    let all = SPEC.child("ports");
    let node = |port: &Value| int(port, "nodePort").unwrap_or_default();
    if kind == "ClusterIP" {
        for (index, _) in items(spec, "ports").filter(|(_, port)| node(port) != 0) {
            let path = all.index(index);
            errors.forbidden(&path.child("nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
    }
    let mut seen = Vec::new();
    for (index, port) in items(spec, "ports").filter(|(_, port)| node(port) != 0) {
        let key = (text(port, "protocol"), node(port));
        if seen.contains(&key) {
            errors.duplicate(&all.index(index).child("nodePort"), node(port));
        }
        seen.push(key);
    }
    let mut seen = Vec::new();
    for (index, port) in items(spec, "ports") {
        let key = (text(port, "protocol"), int(port, "port").unwrap_or_default());
        if seen.contains(&key) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                quoted(key.0),
                key.1
            );
            errors.duplicate(&all.index(index), Verbatim(shown));
        }
        seen.push(key);
    }
}

fn source_ranges(service: &Value, old: &Value, errors: &mut Errors) {
    const ANNOTATION: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
    const DETAIL: &str = "may only be used when `type` is 'LoadBalancer'";
    let (spec, before) = (at(service, "spec"), at(old, "spec"));
    let balanced = text(spec, "type") == "LoadBalancer";
    if count(spec, "loadBalancerSourceRanges") > 0 {
        let path = SPEC.child("LoadBalancerSourceRanges");
        if !balanced {
            errors.forbidden(&path, DETAIL);
        }
        let known: Vec<&str> = items(before, "loadBalancerSourceRanges")
            .filter_map(|(_, one)| Some(one.as_str()?.trim()))
            .collect();
        for (index, one) in items(spec, "loadBalancerSourceRanges") {
            ip::range(errors, &path.index(index), one.as_str().unwrap_or_default().trim(), &known);
        }
        return;
    }
    let annotated =
        |service| at(at(at(service, "metadata"), "annotations"), ANNOTATION).as_str().map(str::to_owned);
    let Some(ranges) = annotated(service) else { return };
    let root = Path::root("metadata");
    let root = root.child("annotations");
    let path = root.key(ANNOTATION);
    if !balanced {
        errors.forbidden(&path, DETAIL);
    }
    if annotated(old).as_ref() != Some(&ranges) && !ranges.trim().is_empty() {
        for one in ranges.trim().split(',') {
            ip::range(errors, &path, one.trim(), &[]);
        }
    }
}

fn class(spec: &Value, errors: &mut Errors) {
    let Some(class) = at(spec, "loadBalancerClass").as_str() else { return };
    let path = SPEC.child("loadBalancerClass");
    if text(spec, "type") == "LoadBalancer" {
        errors.all_invalid(&path, class, &names::qualified(class));
    } else {
        errors.forbidden(&path, "may only be used when `type` is 'LoadBalancer'");
    }
}

fn traffic(spec: &Value, kind: &str, errors: &mut Errors) {
    let reached =
        matches!(kind, "LoadBalancer" | "NodePort") || kind == "ClusterIP" && count(spec, "externalIPs") > 0;
    let (path, policy) = (SPEC.child("externalTrafficPolicy"), text(spec, "externalTrafficPolicy"));
    match (reached, policy) {
        (false, "") | (true, "Cluster" | "Local") => {}
        (false, policy) => {
            errors.invalid(&path, policy, "may only be set for externally-accessible services");
        }
        (true, "") => errors.required(&path, ""),
        (true, policy) => errors.not_supported(&path, policy, &["Cluster", "Local"]),
    }
    let path = SPEC.child("healthCheckNodePort");
    match (needs_health_port(spec), int(spec, "healthCheckNodePort").unwrap_or_default()) {
        (false, 0) => {}
        (false, port) => {
            let detail =
                "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            errors.invalid(&path, port, detail);
        }
        (true, 0) => errors.required(&path, ""),
        (true, port) => names::port_number(port).iter().for_each(|why| errors.invalid(&path, port, why)),
    }
    let path = SPEC.child("internalTrafficPolicy");
    match at(spec, "internalTrafficPolicy").as_str() {
        None if matches!(kind, "NodePort" | "LoadBalancer" | "ClusterIP") => errors.required(&path, ""),
        None | Some("Cluster" | "Local") => {}
        Some(policy) => errors.not_supported(&path, policy, &["Cluster", "Local"]),
    }
    const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if let Some(distribution) = at(spec, "trafficDistribution").as_str()
        && !DISTRIBUTIONS.contains(&distribution)
    {
        errors.not_supported(&SPEC.child("trafficDistribution"), distribution, &DISTRIBUTIONS);
    }
}

pub(super) fn status(new: &Value, old: &Value, errors: &mut Errors) {
    let balancer = |service| at(at(service, "status"), "loadBalancer");
    let root = Path::root("status");
    let root = root.child("loadBalancer");
    let path = root.child("ingress");
    if text(at(new, "spec"), "type") != "LoadBalancer" && count(balancer(new), "ingress") > 0 {
        return errors.forbidden(&path, "may only be used when `spec.type` is 'LoadBalancer'");
    }
    let known: Vec<&str> = items(balancer(old), "ingress").map(|(_, one)| text(one, "ip")).collect();
    for (index, one) in items(balancer(new), "ingress") {
        let path = path.index(index);
        let (address, host) = (text(one, "ip"), text(one, "hostname"));
        if !address.is_empty() {
            ip::address(errors, &path.child("ip"), address, &known);
        }
        let field = path.child("ipMode");
        match (at(one, "ipMode").as_str(), address) {
            (None, "") => {}
            (None, _) => errors.required(&field, "must be specified when `ip` is set"),
            (Some(_), "") => errors.forbidden(&field, "may not be specified when `ip` is not set"),
            (Some("VIP" | "Proxy"), _) => {}
            (Some(mode), _) => errors.not_supported(&field, mode, &["Proxy", "VIP"]),
        }
        if !host.is_empty() {
            ip::host(errors, &path.child("hostname"), host);
        }
    }
}
