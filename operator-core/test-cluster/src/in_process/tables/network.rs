//! The cells of services and what leads to them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cells::{first, labels, list, number, or, plain, row, selector, text, text_or};

pub(super) fn cells(kind: &str, object: &Value, name: &Value, age: &Value) -> Vec<Value> {
    match kind {
        "Service" => {
            let address = list(object, "/spec/clusterIPs").first().and_then(Value::as_str);
            let address = address.unwrap_or("<none>").to_owned();
            let ports = list(object, "/spec/ports").iter().map(port).collect::<Vec<_>>().join(",");
            row![
                name,
                text(object, "/spec/type"),
                address,
                external(object),
                or(ports, "<none>"),
                age,
                labels(object, "/spec/selector"),
            ]
        }
        "Endpoints" => row![name, endpoints(object), age],
        "EndpointSlice" => {
            let ports = list(object, "/ports").iter().map(|port| match &port["port"] {
                Value::Null => text_or(port, "/name", "*"),
                number => number.to_string(),
            });
            let addresses = list(object, "/endpoints").iter().flat_map(|one| list(one, "/addresses"));
            let addresses = addresses.filter_map(Value::as_str).map(str::to_owned);
            row![
                name,
                text(object, "/addressType"),
                first(ports.collect(), 3, ",", "<unset>"),
                first(addresses.collect(), 3, ",", "<unset>"),
                age,
            ]
        }
        "Ingress" => {
            let ports = if list(object, "/spec/tls").is_empty() { "80" } else { "80, 443" };
            let class = text_or(object, "/spec/ingressClassName", "<none>");
            row![name, class, hosts(object), balancers(object), ports, age]
        }
        "IngressClass" => {
            let parameters = match &object["spec"]["parameters"] {
                Value::Null => "<none>".to_owned(),
                to => {
                    let group = text(to, "/apiGroup");
                    let dot = if group.is_empty() { "" } else { "." };
                    format!("{}{dot}{group}/{}", text(to, "/kind"), text(to, "/name"))
                }
            };
            let annotation =
                &object["metadata"]["annotations"]["ingressclass.kubernetes.io/is-default-class"];
            let mark = if annotation == "true" { " (default)" } else { "" };
            row![format!("{}{mark}", plain(name)), text(object, "/spec/controller"), parameters, age]
        }
        // A NetworkPolicy.
        _ => row![name, or(selector(object, "/spec/podSelector"), "<none>"), age],
    }
}

fn port(port: &Value) -> String {
    let (number, protocol) = (number(port, "/port"), text(port, "/protocol"));
    match port["nodePort"].as_i64() {
        Some(of_node) if of_node > 0 => format!("{number}:{of_node}/{protocol}"),
        _ => format!("{number}/{protocol}"),
    }
}

fn external(service: &Value) -> String {
    let given = list(service, "/spec/externalIPs").iter().filter_map(Value::as_str).collect::<Vec<_>>();
    match text(service, "/spec/type") {
        "ClusterIP" | "NodePort" => or(given.join(","), "<none>"),
        "LoadBalancer" => {
            let balancers = balancers(service);
            let all = [balancers.as_str()].into_iter().filter(|one| !one.is_empty()).chain(given);
            or(all.collect::<Vec<_>>().join(","), "<pending>")
        }
        "ExternalName" => text(service, "/spec/externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// The addresses that a load balancer has given.
fn balancers(object: &Value) -> String {
    let all: BTreeSet<&str> = list(object, "/status/loadBalancer/ingress")
        .iter()
        .map(|one| if text(one, "/ip").is_empty() { text(one, "/hostname") } else { text(one, "/ip") })
        .filter(|address| !address.is_empty())
        .collect();
    all.into_iter().collect::<Vec<_>>().join(",")
}

fn hosts(ingress: &Value) -> String {
    let rules = list(ingress, "/spec/rules");
    let (mut shown, mut more) = (Vec::new(), false);
    for host in rules.iter().map(|rule| text(rule, "/host")) {
        more |= shown.len() == 3;
        if !more && !host.is_empty() {
            shown.push(host);
        }
    }
    match shown.join(",") {
        shown if more => format!("{shown} + {} more...", rules.len() - 3),
        shown => or(shown, "*"),
    }
}

fn endpoints(object: &Value) -> String {
    let subsets = list(object, "/subsets");
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let mut all = Vec::new();
    for subset in subsets {
        let addresses = || list(subset, "/addresses").iter().map(|address| text(address, "/ip"));
        let ports = list(subset, "/ports");
        if ports.is_empty() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            let number = number(port, "/port");
            all.extend(addresses().map(|ip| match ip.contains(':') {
                true => format!("[{ip}]:{number}"),
                false => format!("{ip}:{number}"),
            }));
        }
    }
    first(all, 3, ",", "")
}
