//! What every real cluster has besides its controllers, and few tests want to see: the Service `kubernetes`, and the
//! certificate of the API server in each namespace.

use serde_json::{Value, json};

use super::{ClusterController as Controller, MANAGER};
use crate::in_process::{
    controllers::Controllers,
    fields::Endpoint,
    namespaces::namespaces,
    state::State,
    store::{Path, Resource},
    write::is_deleting,
};

const ROOT: &str = "kube-root-ca.crt";
const ABOUT: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints \
                     such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
                     distributions of Kubernetes clusters.";

/// Where the API server is said to be: on the node.
const ADDRESS: &str = "10.0.0.1";
const PORT: u16 = 6443;

impl State {
    /// Everything that comes with a cluster, from now on.
    pub(super) fn furnish(&mut self) {
        let ports = json!([{ "name": "https", "protocol": "TCP", "port": 443, "targetPort": PORT }]);
        let service = json!({
            "metadata": { "labels": { "component": "apiserver", "provider": "kubernetes" } },
            "spec": { "type": "ClusterIP", "ports": ports, "sessionAffinity": "None" },
        });
        self.furnish_one("v1", "Service", service);
        let ports = json!([{ "name": "https", "protocol": "TCP", "port": PORT }]);
        let endpoints = json!({
            "metadata": { "labels": { "endpointslice.kubernetes.io/skip-mirror": "true" } },
            "subsets": [{ "addresses": [{ "ip": ADDRESS }], "ports": ports }],
        });
        self.furnish_one("v1", "Endpoints", endpoints);
        let slice = json!({
            "metadata": { "labels": { "kubernetes.io/service-name": "kubernetes" } },
            "addressType": "IPv4", "ports": ports,
            "endpoints": [{ "addresses": [ADDRESS], "conditions": { "ready": true } }],
        });
        self.furnish_one("discovery.k8s.io/v1", "EndpointSlice", slice);
        self.route_roots();
    }

    /// The socket has this certificate authority from now on.
    pub(in crate::in_process) fn present(&mut self, authority: String) {
        self.steps.authority = authority;
        self.become_complete();
        self.route_roots();
    }

    fn furnish_one(&mut self, version: &str, kind: &str, mut object: Value) {
        let Some(of) = self.kinds.of_object(version, kind).cloned() else { return };
        object["apiVersion"] = version.into();
        object["kind"] = kind.into();
        self.create_own(&of, &Path::new(Some("default"), "kubernetes"), "kube-apiserver", object).ok();
    }

    fn route_roots(&mut self) {
        if self.controllers == Controllers::Off {
            return;
        }
        let all: Vec<_> = self.store.list(&namespaces(), None).map(|(path, _)| path.clone()).collect();
        all.iter().for_each(|path| self.route_root(path));
    }

    /// A namespace may lack the certificate.
    pub(super) fn route_root(&mut self, namespace: &Path) {
        if self.steps.events.is_on {
            self.look(Controller::RootCertificates, &namespaces(), namespace);
        }
    }

    /// Somebody may have changed the certificate.
    pub(super) fn route_root_map(&mut self, path: &Path) {
        let namespace = Path::new(None, path.namespace().unwrap_or_default());
        if path.name() == ROOT && self.store.get(&namespaces(), &namespace).is_some() {
            self.route_root(&namespace);
        }
    }

    /// Each namespace has the certificate.
    pub(super) fn publish_root(&mut self, namespace: &Path) {
        if self.store.get(&namespaces(), namespace).is_none_or(|namespace| is_deleting(namespace)) {
            return;
        }
        let maps = Resource { group: String::new(), plural: "configmaps".to_owned() };
        let Some(kind) = self.kinds.of_resource(&maps).cloned() else { return };
        let path = Path::new(Some(namespace.name()), ROOT);
        let data = json!({ "ca.crt": self.steps.authority });
        match self.store.get(&maps, &path) {
            Some(map) if map["data"] == data => {}
            Some(map) => {
                let mut map = Value::clone(map);
                map["data"] = data;
                map["metadata"]["annotations"]["kubernetes.io/description"] = ABOUT.into();
                self.write_own(&kind, &path, Endpoint::Main, MANAGER, map).ok();
            }
            None => {
                let map = json!({
                    "apiVersion": "v1", "kind": "ConfigMap", "data": data,
                    "metadata": { "name": ROOT, "annotations": { "kubernetes.io/description": ABOUT } },
                });
                self.create_own(&kind, &path, MANAGER, map).ok();
            }
        }
    }
}
