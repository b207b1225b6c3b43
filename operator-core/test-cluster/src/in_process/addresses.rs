//! Addresses and ports of Services: counted up, while the real server draws them at random.
//!
//! # Guarantees
//! - No two Services have one address, or one port of the nodes: what has one is found in the store, so that whatever
//!   deletes a Service or changes its type frees what it had.
//! - What is drawn is of the upper part of its range as long as there is any, as on the real server: who asks for an address
//!   or a port of the lower part doesn't collide with it.
//! - A dry run takes nothing. It gives what the real server gives then: the address of the network, and ports that no node
//!   has.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
};

use serde_json::{Value, json};

use super::{
    failure::{Cause, Failure},
    go::address::sloppy_ip,
    kinds::Kind,
    store::{Resource, Store},
    values,
};

/// The number of addresses: those of 10.96.0.0/16 except for its ends.
const ADDRESSES: u32 = 65_534;
/// The address of the server itself, which nobody can ask for.
const OWN: u32 = 1;
/// So many addresses at the beginning are given away only if there are no others.
const LOWER_ADDRESSES: u32 = 256;
/// The ports of nodes.
const PORTS: std::ops::Range<i64> = 30_000..32_768;
/// So many ports at the beginning are given away only if there are no others.
const LOWER_PORTS: i64 = 86;

/// How many addresses and ports have been drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Addresses {
    addresses: u32,
    ports: i64,
}

impl Addresses {
    /// Gives a Service what it needs and doesn't have yet. `old` is what there was before a change.
    pub(super) fn allocate(
        &mut self,
        store: &Store,
        kind_of: &Kind,
        service: &mut Value,
        old: Option<&Value>,
        dry_run: bool,
    ) -> Result<(), Failure> {
        let name = service["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let before = old.map_or(Value::Null, |old| old["spec"].clone());
        let invalid = |causes: &[Cause]| Err(Failure::invalid(kind_of, &name, causes));
        let causes = values::addresses_of_new(&service["spec"], &before);
        if !causes.is_empty() {
            return invalid(&causes);
        }
        let kind = service["spec"]["type"].as_str().unwrap_or("ClusterIP").to_owned();
        if kind == "ExternalName" {
            return Ok(());
        }
        let is_servers = service["metadata"]["namespace"] == "default" && name == "kubernetes";
        let mut taken = Taken::of(store, dry_run);
        // An address stays, and so does having none on purpose.
        if old.is_none() || before["type"] == "ExternalName" {
            let address = service["spec"]["clusterIP"].as_str().unwrap_or_default().to_owned();
            match address.as_str() {
                "None" => {}
                "" => {
                    let address = match is_servers {
                        true => self::address(OWN).to_string(),
                        false => self.next_address(&taken, &name)?,
                    };
                    service["spec"]["clusterIPs"] = json!([address]);
                    service["spec"]["clusterIP"] = address.into();
                }
                address => {
                    let wanted = sloppy_ip(address);
                    let is_taken = wanted == Some(self::address(OWN)) && !is_servers
                        || wanted.is_some_and(|wanted| taken.addresses.contains(&wanted));
                    let wrong = values::wrong_address(&service["spec"], address, is_taken, dry_run);
                    if let Some(cause) = wrong {
                        return invalid(&[cause]);
                    }
                }
            }
        }
        if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
            let all = kind == "NodePort" || service["spec"]["allocateLoadBalancerNodePorts"] != false;
            let cause = match old {
                None => self.first_ports(service, all, &mut taken)?,
                Some(_) => self.further_ports(service, &before, all, &mut taken)?,
            };
            if let Some(cause) = cause {
                return invalid(&[cause]);
            }
        }
        if values::needs_health_port(&service["spec"]) && !values::needs_health_port(&before) {
            let port = &mut service["spec"]["healthCheckNodePort"];
            match port.as_i64().unwrap_or_default() {
                0 => *port = self.next_port(&mut taken).map_err(|why| no_health_port(0, why))?.into(),
                wanted => taken.take(wanted).map_err(|why| {
                    internal(&format!("failed to allocate requested HealthCheck NodePort {wanted}: {why}"))
                })?,
            }
        }
        Ok(())
    }

    /// The ports of a new Service. Those with one number have one port of the nodes, whatever their protocols are.
    fn first_ports(
        &mut self,
        service: &mut Value,
        all: bool,
        taken: &mut Taken,
    ) -> Result<Option<Cause>, Failure> {
        let mut ports = service["spec"]["ports"].as_array().cloned().unwrap_or_default();
        let number = |port: &Value, field: &str| port[field].as_i64().unwrap_or_default();
        let wanted: Vec<(i64, i64)> =
            ports.iter().map(|port| (number(port, "port"), number(port, "nodePort"))).collect();
        let mut given: Vec<(i64, i64)> = Vec::new();
        for (index, port) in ports.iter_mut().enumerate() {
            let (own, node) = wanted[index];
            if node == 0 && !all {
                continue;
            }
            let of_number = |all: &[(i64, i64)]| {
                all.iter().find(|(port, node)| *port == own && *node != 0).map(|(_, node)| *node)
            };
            match of_number(&given) {
                Some(node_of_number) if node == 0 || node == node_of_number => {
                    port["nodePort"] = node_of_number.into();
                }
                Some(_) => {
                    if let Err(why) = taken.take(node) {
                        return Ok(Some(wrong_port(index, node, why)));
                    }
                }
                None => {
                    let node = match of_number(&wanted) {
                        Some(wanted) => match taken.take(wanted) {
                            Ok(()) => wanted,
                            Err(why) => return Ok(Some(wrong_port(index, wanted, why))),
                        },
                        None => self.next_port(taken).map_err(no_port)?,
                    };
                    port["nodePort"] = node.into();
                    given.push((own, node));
                }
            }
        }
        service["spec"]["ports"] = ports.into();
        Ok(None)
    }

    /// The ports of a changed Service, which may keep what it had.
    fn further_ports(
        &mut self,
        service: &mut Value,
        before: &Value,
        all: bool,
        taken: &mut Taken,
    ) -> Result<Option<Cause>, Failure> {
        let had: BTreeSet<i64> = node_ports(before).collect();
        let mut seen: Vec<(String, i64)> = Vec::new();
        let mut given = BTreeSet::new();
        for (index, port) in service["spec"]["ports"].as_array_mut().into_iter().flatten().enumerate() {
            let mut node = port["nodePort"].as_i64().unwrap_or_default();
            if node == 0 {
                if !all {
                    continue;
                }
                node = self.next_port(taken).map_err(no_port)?;
                port["nodePort"] = node.into();
            } else if !had.contains(&node)
                && given.insert(node)
                && let Err(why) = taken.take(node)
            {
                return Ok(Some(wrong_port(index, node, why)));
            }
            let key = (port["protocol"].as_str().unwrap_or_default().to_owned(), node);
            if seen.contains(&key) {
                return Err(Failure::internal(format!("duplicate nodePort: {{{} {}}}", key.0, key.1)));
            }
            seen.push(key);
        }
        Ok(None)
    }

    fn next_address(&mut self, taken: &Taken, service: &str) -> Result<String, Failure> {
        if taken.dry_run {
            return Ok(address(0).to_string());
        }
        let upper = ADDRESSES - LOWER_ADDRESSES;
        let drawn = (0..upper).map(|step| LOWER_ADDRESSES + 1 + (self.addresses + step) % upper);
        let mut following = drawn.chain(OWN + 1..=LOWER_ADDRESSES);
        let Some(next) = following.find(|next| !taken.addresses.contains(&address(*next))) else {
            let why = format!("failed to allocate a serviceIP for Service {service:?}: {FULL}");
            return Err(internal(&why));
        };
        self.addresses = next.saturating_sub(LOWER_ADDRESSES);
        Ok(address(next).to_string())
    }

    fn next_port(&mut self, taken: &mut Taken) -> Result<i64, &'static str> {
        if taken.dry_run {
            let next = taken.given.iter().max().map_or(PORTS.end, |last| (*last).max(0)) + 1;
            taken.given.push(next);
            return Ok(next);
        }
        let start = PORTS.start + LOWER_PORTS;
        let upper = PORTS.end - start;
        let drawn = (0..upper).map(|step| start + (self.ports + step) % upper);
        let mut following = drawn.chain(PORTS.start..start);
        let next = following.find(|next| !taken.ports.contains(next)).ok_or(FULL)?;
        self.ports = (next - start + 1).max(0);
        taken.ports.insert(next);
        Ok(next)
    }
}

const FULL: &str = "range is full";

/// What Services have, this one before its change included, and what this one has been given so far.
struct Taken {
    addresses: BTreeSet<IpAddr>,
    ports: BTreeSet<i64>,
    given: Vec<i64>,
    dry_run: bool,
}

impl Taken {
    fn of(store: &Store, dry_run: bool) -> Self {
        let mut taken =
            Self { addresses: BTreeSet::new(), ports: BTreeSet::new(), given: Vec::new(), dry_run };
        let services = Resource::new("", "services");
        for (_, service) in store.list(&services, None) {
            let spec = &service["spec"];
            if spec["type"] == "ExternalName" {
                continue;
            }
            taken.addresses.extend(spec["clusterIP"].as_str().and_then(sloppy_ip));
            if matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer")) {
                taken.ports.extend(node_ports(spec));
                taken.ports.extend(spec["healthCheckNodePort"].as_i64());
            }
        }
        taken
    }

    /// Takes a certain port.
    fn take(&mut self, port: i64) -> Result<(), &'static str> {
        if !self.dry_run && !PORTS.contains(&port) {
            return Err("provided port is not in the valid range. The range of valid ports is 30000-32767");
        }
        if self.ports.contains(&port) || self.given.contains(&port) {
            return Err("provided port is already allocated");
        }
        self.given.push(port);
        if !self.dry_run {
            self.ports.insert(port);
        }
        Ok(())
    }
}

/// An address by its number.
fn address(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(Ipv4Addr::new(10, 96, 0, 0).to_bits() + number))
}

fn node_ports(spec: &Value) -> impl Iterator<Item = i64> {
    let ports = spec["ports"].as_array().into_iter().flatten();
    ports.filter_map(|port| port["nodePort"].as_i64()).filter(|port| *port != 0)
}

fn wrong_port(index: usize, port: i64, why: &str) -> Cause {
    let field = format!("spec.ports[{index}].nodePort");
    ("FieldValueInvalid".to_owned(), field, format!("Invalid value: {port}: {why}"))
}

fn no_port(why: &str) -> Failure {
    internal(&format!("failed to allocate a nodePort: {why}"))
}

fn no_health_port(port: i64, why: &str) -> Failure {
    internal(&format!("failed to allocate a HealthCheck NodePort {port}: {why}"))
}

/// 500 for what isn't the request's mistake, or isn't told as such.
fn internal(why: &str) -> Failure {
    let failure = Failure::new(500, "InternalError", format!("Internal error occurred: {why}"));
    failure.with(json!({ "causes": [{ "message": why }] }))
}
