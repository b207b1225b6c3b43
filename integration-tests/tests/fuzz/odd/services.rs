//! Ports of nodes and addresses of Services: asked for, taken, freed, changed with the type.

use integration_tests::prelude::*;

use super::{Ask, NAMESPACE, Story};

/// Each story asks for ports and addresses of its own, which no other story takes: there are more pools than stories that are
/// told at the same time.
const POOLS: u64 = 28;
/// A pool has so many of both: the first ones of all, of which the servers draw none.
const SIZE: u64 = 3;
const REQUESTS: usize = 24;

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let pool = seed.parse::<u64>().unwrap_or_default() % POOLS;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/services");
    let mut asks = Vec::new();
    for _ in 0..REQUESTS {
        let name = format!("s{pool}-{}", random.below(4));
        let one = format!("{path}/{name}?fieldManager=m");
        let dry = random.pick(&["", "", "", "&dryRun=All"]);
        asks.push(match random.below(10) {
            0..5 => {
                let body = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec(random, pool)});
                Ask::new("POST", format!("{path}?fieldManager=t{dry}"), &body)
            }
            5 => Ask::raw("DELETE", format!("{path}/{name}"), ""),
            6 => {
                let body = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec(random, pool)});
                Ask::new("APPLY", format!("{one}&force=true{dry}"), &body)
            }
            7 => Ask::new("MERGE", format!("{one}{dry}"), &json!({"spec": {"type": kind(random)}})),
            8 if random.chance(30) => {
                let ports = ports(random, pool, "ExternalName");
                Ask::new("MERGE", format!("{one}{dry}"), &json!({"spec": {"ports": ports}}))
            }
            8 => {
                let kind = random.pick(&["ClusterIP", "NodePort", "LoadBalancer"]);
                let spec = json!({"type": kind, "ports": ports(random, pool, kind)});
                Ask::new("MERGE", format!("{one}{dry}"), &json!({"spec": spec}))
            }
            _ => Ask::new("MERGE", format!("{one}{dry}"), &json!({"spec": spec(random, pool)})),
        });
    }
    for number in 0..4 {
        asks.push(Ask::raw("DELETE", format!("{path}/s{pool}-{number}"), ""));
    }
    Story { asks, ..Story::default() }
}

fn kind(random: &mut Random) -> &'static str {
    random.pick(&["ClusterIP", "NodePort", "NodePort", "LoadBalancer", "ExternalName"])
}

fn spec(random: &mut Random, pool: u64) -> Value {
    let kind = kind(random);
    let mut spec = json!({"type": kind, "ports": ports(random, pool, kind)});
    if random.chance(35) {
        let address = match random.below(10) {
            0..5 => format!("10.96.0.{}", 2 + pool * SIZE + random.below(3) as u64),
            5 => "None".to_owned(),
            6 => String::new(),
            7 => random.pick(&["10.96.0.0", "10.96.255.255", "10.96.0.1", "1.2.3.4", "10.97.0.1"]).to_owned(),
            8 => random.pick(&["2001:db8::1", "fd00::1", "::ffff:10.96.1.1"]).to_owned(),
            _ => random.pick(&["x", "10.96.1", "010.096.001.001"]).to_owned(),
        };
        spec["clusterIP"] = address.into();
    }
    if random.chance(15) {
        spec["selector"] = json!({"a": "b"});
    }
    if kind == "ExternalName" && random.chance(80) {
        spec["externalName"] = json!("example.com");
    }
    if kind == "LoadBalancer" {
        if random.chance(40) {
            spec["externalTrafficPolicy"] = json!("Local");
            if random.chance(60) {
                let own = port(random, pool);
                spec["healthCheckNodePort"] = json!(random.pick(&[own, 5, 0]));
            }
        }
        if random.chance(40) {
            spec["allocateLoadBalancerNodePorts"] = json!(random.chance(50));
        }
    }
    if random.chance(8) {
        spec["ipFamilies"] = random.pick(&[json!(["IPv6"]), json!(["IPv4"]), json!(["IPv4", "IPv6"])]);
    }
    if random.chance(8) {
        spec["ipFamilyPolicy"] = json!(random.pick(&["SingleStack", "PreferDualStack", "RequireDualStack"]));
    }
    spec
}

/// One of the ports of a pool.
fn port(random: &mut Random, pool: u64) -> u64 {
    30_000 + pool * SIZE + random.below(3) as u64
}

/// Ports for a type. With an external name there are none of the nodes: the real server doesn't note that such a Service has
/// them, and gives them to others when it goes.
fn ports(random: &mut Random, pool: u64, kind: &str) -> Value {
    let mut ports = Vec::new();
    for number in 0..=random.below(3) {
        let protocol = random.pick(&["TCP", "TCP", "UDP"]);
        let mut one =
            json!({"name": format!("p{number}"), "port": random.pick(&[80, 81, 53]), "protocol": protocol});
        if kind != "ExternalName" && random.chance(55) {
            one["nodePort"] = json!(match random.below(8) {
                0 => random.pick(&[5, 29_999, 32_768, 70_000]),
                1 => 0,
                _ => port(random, pool),
            });
        }
        ports.push(one);
    }
    ports.into()
}

/// The ports and addresses that were asked for, not those that a server has drawn.
pub(super) fn given(service: &Value) -> String {
    let spec = &service["spec"];
    let shown = |port: &Value| match port["nodePort"].as_u64() {
        Some(port) if !(30_000 + POOLS * SIZE..32_768).contains(&port) => port.to_string(),
        Some(_) => "drawn".to_owned(),
        None => "none".to_owned(),
    };
    let ports: Vec<String> = spec["ports"].as_array().into_iter().flatten().map(shown).collect();
    let address = spec["clusterIP"].as_str().unwrap_or_default();
    let is_drawn = address.starts_with("10.96.") && !address.starts_with("10.96.0.");
    let health = shown(&json!({"nodePort": spec["healthCheckNodePort"]}));
    format!("ports {ports:?}, health {health}, address {}", if is_drawn { "drawn" } else { address })
}
