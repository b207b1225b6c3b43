//! Services: their ports of the nodes, their addresses, and what is shown of them.

use serde_json::{Value, json};

use super::Both;

/// A Service with ports of the nodes.
fn service(name: &str, kind: &str, ports: &[u16], address: &str) -> Value {
    let ports = ports.iter().enumerate();
    let ports: Value = ports
        .map(|(at, node)| json!({"name": format!("p{at}"), "port": 80 + at, "nodePort": node}))
        .collect();
    let mut spec = json!({"type": kind, "ports": ports});
    if !address.is_empty() {
        spec["clusterIP"] = address.into();
    }
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn a_port_of_the_nodes_has_one_service() {
    let mut both = Both::new("field-ports").await;
    let path = "/api/v1/namespaces/field-ports/services";
    let ask = async |both: &mut Both, method: &str, name: &str, body: &Value| {
        let path = if method == "POST" { path.to_owned() } else { format!("{path}/{name}") };
        both.ask_code(method, &path, body).await;
    };
    let one = service("one", "NodePort", &[30_040], "");
    ask(&mut both, "POST", "one", &one).await;
    for (name, kind, ports) in [
        ("two", "NodePort", vec![30_040]),
        ("two", "LoadBalancer", vec![30_041, 30_040]),
        ("two", "NodePort", vec![29_999]),
        ("two", "NodePort", vec![30_041, 30_041]),
        ("two", "NodePort", vec![0, 30_041]),
    ] {
        ask(&mut both, "POST", name, &service(name, kind, &ports, "")).await;
        let dry = format!("{path}?dryRun=All");
        both.ask_code("POST", &dry, &service("dry", kind, &ports, "")).await;
    }
    // A change of the type frees the port, and so does a deletion.
    ask(&mut both, "MERGE", "one", &json!({"spec": {"type": "ClusterIP"}})).await;
    ask(&mut both, "POST", "three", &service("three", "NodePort", &[30_040], "")).await;
    ask(&mut both, "DELETE", "three", &Value::Null).await;
    ask(
        &mut both,
        "MERGE",
        "one",
        &json!({"spec": {"type": "NodePort", "ports": [{"name": "p0", "port": 80, "nodePort": 30_040}]}}),
    )
    .await;
    ask(
        &mut both,
        "MERGE",
        "two",
        &json!({"spec": {"ports": [{"name": "p1", "port": 81, "nodePort": 30_040}]}}),
    )
    .await;
    let mut health = service("health", "LoadBalancer", &[30_043], "");
    health["spec"]["externalTrafficPolicy"] = json!("Local");
    health["spec"]["healthCheckNodePort"] = json!(30_040);
    ask(&mut both, "POST", "health", &health).await;
    for name in ["one", "two"] {
        ask(&mut both, "DELETE", name, &Value::Null).await;
    }
    both.end();
}

#[tokio::test]
async fn an_address_has_one_service() {
    let mut both = Both::new("field-addresses").await;
    let path = "/api/v1/namespaces/field-addresses/services";
    for (name, address) in [
        ("a", "10.96.77.1"),
        ("b", "10.96.77.1"),
        ("b", "10.96.0.1"),
        ("b", "1.2.3.4"),
        ("b", "10.96.0.0"),
        ("b", "10.96.255.255"),
        ("b", "fd00::1"),
        ("b", "x"),
        ("c", "None"),
        ("d", "None"),
    ] {
        for query in ["?dryRun=All", ""] {
            let body = service(name, "ClusterIP", &[0], address);
            both.ask_code("POST", &format!("{path}{query}"), &body).await;
        }
    }
    let external = json!({"spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": null, "clusterIPs": null}});
    both.ask_code("MERGE", &format!("{path}/a"), &external).await;
    both.ask_until(201, "POST", path, &service("b", "ClusterIP", &[0], "10.96.77.1")).await;
    both.ask_code(
        "MERGE",
        &format!("{path}/a"),
        &json!({"spec": {"type": "ClusterIP", "clusterIP": "10.96.77.1"}}),
    )
    .await;
    both.ask_code("DELETE", &format!("{path}/b"), &Value::Null).await;
    both.ask_until(201, "POST", path, &service("e", "ClusterIP", &[0], "10.96.77.1")).await;
    for name in ["a", "c", "d", "e"] {
        both.ask_code("DELETE", &format!("{path}/{name}"), &Value::Null).await;
    }
    both.end();
}

#[tokio::test]
async fn a_service_without_an_address_shows_no_policy_for_traffic() {
    let mut both = Both::new("field-external").await;
    let path = "/api/v1/namespaces/field-external/services";
    let mut local = service("a", "ClusterIP", &[0], "10.96.0.91");
    local["spec"]["internalTrafficPolicy"] = json!("Local");
    both.ask("POST", &format!("{path}?fieldManager=t"), &local).await;
    let one = format!("{path}/a");
    let external = json!({"spec": {"type": "ExternalName", "externalName": "example.com"}});
    both.ask("MERGE", &format!("{one}?fieldManager=m&dryRun=All"), &external).await;
    both.ask("MERGE", &format!("{one}?fieldManager=m"), &external).await;
    both.ask("GET", &one, &Value::Null).await;
    both.ask("GET", path, &Value::Null).await;
    both.ask("MERGE", &format!("{one}?fieldManager=m"), &json!({"metadata": {"labels": {"a": "b"}}})).await;
    let back = json!({"spec": {"type": "ClusterIP", "externalName": null, "clusterIP": "10.96.0.91"}});
    both.ask_until(200, "MERGE", &format!("{one}?fieldManager=m"), &back).await;
    both.ask("GET", &one, &Value::Null).await;
    both.ask("DELETE", &one, &Value::Null).await;
    both.end();
}

#[tokio::test]
async fn a_service_has_its_own_ports_only_once() {
    let mut both = Both::new("field-own").await;
    let path = "/api/v1/namespaces/field-own/services";
    let one = format!("{path}/one");
    let mut balancer = service("one", "LoadBalancer", &[30_076], "");
    balancer["spec"]["externalTrafficPolicy"] = json!("Local");
    balancer["spec"]["healthCheckNodePort"] = json!(30_077);
    both.ask_code("POST", path, &balancer).await;
    // The name is taken, but the ports are looked at first.
    both.ask_code("POST", path, &balancer).await;
    let ports = |node: u16| json!({"spec": {"ports": [{"name": "p0", "port": 80, "nodePort": node}]}});
    both.ask_code("MERGE", &one, &ports(30_077)).await;
    both.ask_code("MERGE", &one, &ports(30_076)).await;
    both.ask_code("MERGE", &one, &json!({"spec": {"externalTrafficPolicy": "Cluster"}})).await;
    let local = json!({"spec": {"externalTrafficPolicy": "Local", "healthCheckNodePort": 30_076}});
    both.ask_code("MERGE", &one, &local).await;
    let families = json!({"spec": {"ipFamilies": ["IPv4", "IPv6"]}});
    both.ask_code("MERGE", &one, &families).await;
    let headless = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "bare"}, "spec": {"clusterIP": "None"}});
    both.ask_code("POST", path, &headless).await;
    let one_family = json!({"spec": {"clusterIP": "", "ipFamilies": ["IPv4"]}});
    both.ask_code("MERGE", &format!("{path}/bare"), &one_family).await;
    both.ask_code("DELETE", &format!("{path}/bare"), &Value::Null).await;
    // An address of another family, with the families of before or without.
    for families in [json!(["IPv4"]), Value::Null] {
        let other = json!({"spec": {"clusterIP": "2001:db8::1", "clusterIPs": ["2001:db8::1"], "ipFamilies": families}});
        both.ask_code("MERGE", &one, &other).await;
    }
    // A new Service by a dry run of an apply.
    let other = service("other", "NodePort", &[30_076], "");
    both.ask_code("APPLY", &format!("{path}/other?fieldManager=a&dryRun=All"), &other).await;
    let other = service("other", "ClusterIP", &[0], "10.96.0.92");
    both.ask_code("POST", path, &other).await;
    let third = service("third", "ClusterIP", &[0], "10.96.0.92");
    both.ask_code("APPLY", &format!("{path}/third?fieldManager=a&dryRun=All"), &third).await;
    // Without ports of the nodes none are kept.
    let none = json!({"spec": {"allocateLoadBalancerNodePorts": false, "ports": [{"name": "p0", "port": 80, "nodePort": null}]}});
    both.ask_code("MERGE", &one, &none).await;
    both.ask_code("DELETE", &one, &Value::Null).await;
    both.ask_code("DELETE", &format!("{path}/other"), &Value::Null).await;
    both.end();
}
