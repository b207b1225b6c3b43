//! What every real cluster has besides its controllers, and few tests want to see: the Service `kubernetes`, and the
//! certificate of the API server in each namespace.

use serde_json::{Value, json};

use super::{MANAGER, manager::ControllerManager};
use crate::in_process::{
    api::ApiServer,
    fields::Endpoint,
    namespaces::namespaces,
    store::{Path, Resource},
    write::{create_own, is_deleting, write_own},
};

pub(super) const ROOT: &str = "kube-root-ca.crt";
const ABOUT: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints \
                     such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
                     distributions of Kubernetes clusters.";

/// Where the API server is said to be: on the node.
const ADDRESS: &str = "10.0.0.1";
const PORT: u16 = 6443;

/// From now on everything is there that a real cluster has.
pub(in crate::in_process) fn become_complete(controllers: &mut ControllerManager, api: &mut ApiServer) {
    if !std::mem::replace(&mut controllers.events.is_on, true) {
        furnish(api);
        controllers.route_roots(&api.store);
    }
}

/// The socket has this certificate authority from now on.
pub(in crate::in_process) fn present(
    controllers: &mut ControllerManager,
    api: &mut ApiServer,
    authority: String,
) {
    controllers.authority = authority;
    become_complete(controllers, api);
    controllers.route_roots(&api.store);
}

/// Everything that comes with a cluster, from now on.
fn furnish(api: &mut ApiServer) {
    let ports = json!([{ "name": "https", "protocol": "TCP", "port": 443, "targetPort": PORT }]);
    let service = json!({
        "metadata": { "labels": { "component": "apiserver", "provider": "kubernetes" } },
        "spec": { "type": "ClusterIP", "ports": ports, "sessionAffinity": "None" },
    });
    furnish_one(api, "v1", "Service", service);
    let ports = json!([{ "name": "https", "protocol": "TCP", "port": PORT }]);
    let endpoints = json!({
        "metadata": { "labels": { "endpointslice.kubernetes.io/skip-mirror": "true" } },
        "subsets": [{ "addresses": [{ "ip": ADDRESS }], "ports": ports }],
    });
    furnish_one(api, "v1", "Endpoints", endpoints);
    let slice = json!({
        "metadata": { "labels": { "kubernetes.io/service-name": "kubernetes" } },
        "addressType": "IPv4", "ports": ports,
        "endpoints": [{ "addresses": [ADDRESS], "conditions": { "ready": true } }],
    });
    furnish_one(api, "discovery.k8s.io/v1", "EndpointSlice", slice);
}

fn furnish_one(api: &mut ApiServer, version: &str, kind: &str, mut object: Value) {
    let Some(of) = api.discovery.of_object(version, kind).cloned() else { return };
    object["apiVersion"] = version.into();
    object["kind"] = kind.into();
    create_own(api, &of, &Path::new(Some("default"), "kubernetes"), "kube-apiserver", object).ok();
}

/// Each namespace has the certificate.
pub(super) fn publish_root(api: &mut ApiServer, authority: &str, namespace: &Path) {
    if api.store.get(&namespaces(), namespace).is_none_or(|namespace| is_deleting(namespace)) {
        return;
    }
    let maps = Resource::new("", "configmaps");
    let Some(kind) = api.discovery.of_resource(&maps).cloned() else { return };
    let path = Path::new(Some(namespace.name()), ROOT);
    let data = json!({ "ca.crt": authority });
    match api.store.get(&maps, &path) {
        Some(map) if map["data"] == data => {}
        Some(map) => {
            let mut map = Value::clone(map);
            map["data"] = data;
            map["metadata"]["annotations"]["kubernetes.io/description"] = ABOUT.into();
            write_own(api, &kind, &path, Endpoint::Main, MANAGER, map).ok();
        }
        None => {
            let map = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "data": data,
                "metadata": { "name": ROOT, "annotations": { "kubernetes.io/description": ABOUT } },
            });
            create_own(api, &kind, &path, MANAGER, map).ok();
        }
    }
}
