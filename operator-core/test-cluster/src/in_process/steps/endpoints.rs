//! The addresses of the Pods behind a Service, as an EndpointSlice and as Endpoints.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    Act, MANAGER, Next,
    pods::{is_over, is_ready},
    view::{Found, View, items, pods, reference, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::{How, is_deleting},
};

const SERVICE: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const HEADLESS: &str = "service.kubernetes.io/headless";

/// What a Service needs next.
pub(super) fn next(view: &View<'_>, path: &Path, service: &Arc<Value>) -> Next {
    let selector = service["spec"]["selector"].as_object().filter(|selector| !selector.is_empty());
    let Some(selector) = selector else { return Next::nothing() };
    if service["spec"]["type"] == "ExternalName" || !stays(service) {
        return Next::nothing();
    }
    let fits = |pod: &Value| {
        let labels = &pod["metadata"]["labels"];
        selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    let behind = view.list(&pods(), path.namespace().unwrap_or_default());
    let behind =
        behind.filter(|(_, pod)| fits(pod) && !is_over(pod) && !text(&pod["status"]["podIP"]).is_empty());
    let behind: Vec<Found<'_>> = behind.collect();
    let mut acts = Vec::new();
    acts.extend(slice(view, path, service, &behind));
    acts.extend(addresses(view, path, service, &behind));
    Next::acts(acts)
}

/// What is left of a Service that is gone.
pub(super) fn leftovers(path: &Path) -> Act {
    Act::Delete { resource: endpoints(), path: path.clone(), how: How::Background }
}

fn endpoints() -> Resource {
    Resource::new("", "endpoints")
}

fn slices() -> Resource {
    Resource::new("discovery.k8s.io", "endpointslices")
}

fn target(path: &Path, pod: &Value) -> Value {
    json!({
        "kind": "Pod", "namespace": path.namespace(), "name": path.name(), "uid": pod["metadata"]["uid"],
    })
}

/// The number of a port, which the Service may give by its name in the Pods.
fn port_of(port: &Value, behind: &[Found<'_>]) -> Option<Value> {
    let target = &port["targetPort"];
    let Some(name) = target.as_str() else { return Some(target.clone()) };
    let containers = behind.iter().flat_map(|(_, pod)| items(&pod["spec"]["containers"]));
    let mut ports = containers.flat_map(|container| items(&container["ports"]));
    ports.find(|known| known["name"] == name).map(|known| known["containerPort"].clone())
}

fn slice(view: &View<'_>, path: &Path, service: &Value, behind: &[Found<'_>]) -> Option<Act> {
    let mut known = view.controlled(&slices(), service).into_iter();
    let known = known.find(|(_, slice)| slice["metadata"]["labels"][MANAGED_BY] == CONTROLLER);
    let ports = items(&service["spec"]["ports"]).iter().filter_map(|port| {
        let number = port_of(port, behind)?;
        let name = port.get("name").cloned().unwrap_or_else(|| "".into());
        let mut shown = json!({ "name": name, "port": number, "protocol": port["protocol"] });
        if !port["appProtocol"].is_null() {
            shown["appProtocol"] = port["appProtocol"].clone();
        }
        Some(shown)
    });
    // Without Pods nothing is known about ports either.
    let ports: Vec<Value> = if behind.is_empty() { Vec::new() } else { ports.collect() };
    let shown = |(path, pod): &Found<'_>| {
        let is_ending = is_deleting(pod);
        json!({
            "addresses": [pod["status"]["podIP"]],
            "conditions": {
                "ready": is_ready(pod) && !is_ending, "serving": is_ready(pod), "terminating": is_ending,
            },
            "nodeName": pod["spec"]["nodeName"],
            "targetRef": target(path, pod),
        })
    };
    let shown: Vec<Value> = behind.iter().map(shown).collect();
    let mut labels = service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.insert(MANAGED_BY.to_owned(), CONTROLLER.into());
    labels.insert(SERVICE.to_owned(), path.name().into());
    if service["spec"]["clusterIP"] == "None" {
        labels.insert(HEADLESS.to_owned(), "".into());
    }
    let Some((place, slice)) = known else {
        let object = json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {
                "generateName": format!("{}-", path.name()), "namespace": path.namespace(), "labels": labels,
                "ownerReferences": [reference(service)],
            },
            "addressType": "IPv4", "endpoints": shown, "ports": ports,
        });
        return Some(Act::Create { resource: slices(), manager: MANAGER, object });
    };
    let same = items(&slice["endpoints"]) == shown
        && items(&slice["ports"]) == ports
        && slice["metadata"]["labels"].as_object() == Some(&labels);
    if same {
        return None;
    }
    let mut object = Value::clone(slice);
    object["endpoints"] = shown.into();
    object["ports"] = ports.into();
    object["metadata"]["labels"] = labels.into();
    let (resource, path, endpoint) = (slices(), place.clone(), Endpoint::Main);
    Some(Act::Write { resource, path, endpoint, manager: MANAGER, object })
}

fn addresses(view: &View<'_>, path: &Path, service: &Value, behind: &[Found<'_>]) -> Option<Act> {
    let known = view.store.get(&endpoints(), path);
    let (mut ready, mut unready) = (Vec::new(), Vec::new());
    for (path, pod) in behind.iter().filter(|(_, pod)| !is_deleting(pod)) {
        let address = json!({
            "ip": pod["status"]["podIP"], "nodeName": pod["spec"]["nodeName"], "targetRef": target(path, pod),
        });
        if is_ready(pod) { ready.push(address) } else { unready.push(address) }
    }
    let ports = items(&service["spec"]["ports"]).iter().filter_map(|port| {
        let mut shown = json!({ "port": port_of(port, behind)?, "protocol": port["protocol"] });
        for field in ["name", "appProtocol"] {
            if !text(&port[field]).is_empty() {
                shown[field] = port[field].clone();
            }
        }
        Some(shown)
    });
    let ports: Vec<Value> = ports.collect();
    let mut subset = Map::new();
    for (field, list) in [("addresses", ready), ("notReadyAddresses", unready), ("ports", ports)] {
        if !list.is_empty() {
            subset.insert(field.to_owned(), list.into());
        }
    }
    let has_any = subset.contains_key("addresses") || subset.contains_key("notReadyAddresses");
    let subsets = if has_any { vec![Value::Object(subset)] } else { Vec::new() };
    let mut labels = service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.insert("endpoints.kubernetes.io/managed-by".to_owned(), "endpoint-controller".into());
    if service["spec"]["clusterIP"] == "None" {
        labels.insert(HEADLESS.to_owned(), "".into());
    }
    let Some(known) = known else {
        let object = json!({
            "apiVersion": "v1", "kind": "Endpoints", "subsets": subsets,
            "metadata": { "name": path.name(), "namespace": path.namespace(), "labels": labels },
        });
        return Some(Act::Create { resource: endpoints(), manager: MANAGER, object });
    };
    if items(&known["subsets"]) == subsets && known["metadata"]["labels"].as_object() == Some(&labels) {
        return None;
    }
    let mut object = Value::clone(known);
    object["subsets"] = subsets.into();
    object["metadata"]["labels"] = labels.into();
    let (resource, path, endpoint) = (endpoints(), path.clone(), Endpoint::Main);
    Some(Act::Write { resource, path, endpoint, manager: MANAGER, object })
}

const CONTROLLER: &str = "endpointslice-controller.k8s.io";
