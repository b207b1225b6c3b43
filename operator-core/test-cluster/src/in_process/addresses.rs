//! Addresses and ports of Services: counted up, while the real server draws them at random.

use serde_json::{Value, json};

use super::{
    failure::Failure,
    kinds::Kind,
    store::{Path, Resource, Store},
    values,
};

/// The number of addresses: those of 10.96.0.0/16 except for its ends.
const ADDRESSES: u32 = 65_534;
/// The ports of nodes.
const PORTS: std::ops::Range<u32> = 30_000..32_768;

/// What has been given out so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Addresses {
    addresses: u32,
    ports: u32,
}

impl Addresses {
    /// Gives a Service what it needs and doesn't have yet. `old` is what there was before a change.
    pub(super) fn allocate(
        &mut self,
        store: &Store,
        kind_of: &Kind,
        service: &mut Value,
        old: Option<&Value>,
    ) -> Result<(), Failure> {
        let name = service["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let before = old.map_or(Value::Null, |old| old["spec"].clone());
        let causes = values::addresses_of_new(&service["spec"], &before);
        if !causes.is_empty() {
            return Err(Failure::invalid(kind_of, &name, &causes));
        }
        let kind = service["spec"]["type"].as_str().unwrap_or("ClusterIP").to_owned();
        if kind == "ExternalName" {
            return Ok(());
        }
        let own = Path::new(
            service["metadata"]["namespace"].as_str(),
            service["metadata"]["name"].as_str().unwrap_or_default(),
        );
        let address = service["spec"]["clusterIP"].as_str().unwrap_or_default().to_owned();
        let others = |pointer: &str, value: &Value| is_taken(store, &own, pointer, value);
        if address.is_empty() {
            let mut count = self.addresses;
            let address = loop {
                count += 1;
                if count > ADDRESSES {
                    return Err(Failure::not_modelled("more services than there are addresses"));
                }
                let address = Value::from(format!("10.96.{}.{}", count >> 8, count & 255));
                if !others("/spec/clusterIP", &address) {
                    break address;
                }
            };
            service["spec"]["clusterIPs"] = json!([address]);
            service["spec"]["clusterIP"] = address;
            self.addresses = count;
        } else if address != "None" && before["clusterIP"] != service["spec"]["clusterIP"] {
            let taken = others("/spec/clusterIP", &address.clone().into());
            let wrong = values::wrong_address(&service["spec"], &address, taken);
            if let Some(cause) = wrong {
                return Err(Failure::invalid(kind_of, &name, &[cause]));
            }
        }
        let balanced = kind == "LoadBalancer" && service["spec"]["allocateLoadBalancerNodePorts"] != false;
        if kind == "NodePort" || balanced {
            self.allocate_ports(service)?;
        }
        if values::needs_health_port(&service["spec"])
            && service["spec"]["healthCheckNodePort"].as_i64().unwrap_or_default() == 0
        {
            let next = self.next_port()?;
            service["spec"]["healthCheckNodePort"] = next.into();
        }
        Ok(())
    }

    fn allocate_ports(&mut self, service: &mut Value) -> Result<(), Failure> {
        for port in service["spec"]["ports"].as_array_mut().into_iter().flatten() {
            if port["nodePort"].as_u64().is_some_and(|port| port != 0) {
                continue;
            }
            port["nodePort"] = self.next_port()?.into();
        }
        Ok(())
    }

    fn next_port(&mut self) -> Result<u32, Failure> {
        let next = PORTS.start + self.ports;
        if next >= PORTS.end {
            return Err(Failure::not_modelled("more ports of nodes than there are"));
        }
        self.ports += 1;
        Ok(next)
    }
}

/// Whether another Service has a value.
fn is_taken(store: &Store, own: &Path, pointer: &str, value: &Value) -> bool {
    let services = Resource::new("", "services");
    store.list(&services, None).any(|(path, service)| path != own && service.pointer(pointer) == Some(value))
}
