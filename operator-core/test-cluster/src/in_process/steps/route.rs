//! Which controllers have to look at which objects after a change.

use serde_json::Value;

use super::{
    ClusterController as Controller,
    queue::{Listener, Look},
    view::{controller, pods, replica_sets, resource, selects, text},
};
use crate::in_process::{
    controllers::Change,
    namespaces::namespaces,
    state::State,
    store::{Path, Resource},
    write::{finalizers, is_deleting},
};

impl State {
    /// Puts into the queue what a change is to lead to.
    pub(in crate::in_process) fn route(&mut self, Change { resource, path, gone }: &Change) {
        let Some(object) = gone.as_ref().or_else(|| self.store.get(resource, path)).cloned() else { return };
        if let Some(Listener(listener)) = &self.steps.listener {
            listener(self.steps.moment, &object, gone.is_some());
        }
        self.route_garbage(resource, path, &object, gone.is_some());
        match (&*resource.group, &*resource.plural) {
            ("", "namespaces") if gone.is_none() => {
                self.look(Controller::ServiceAccounts, resource, path);
                if is_deleting(&object) {
                    self.look(Controller::Namespaces, resource, path);
                }
            }
            ("", "serviceaccounts") if gone.is_some() && path.name() == "default" => {
                let namespace = Path::new(None, path.namespace().unwrap_or_default());
                self.look(Controller::ServiceAccounts, &namespaces(), &namespace);
            }
            ("", "pods") => self.route_pod(resource, path, &object, gone.is_some()),
            ("", "nodes") => self.route_node(),
            ("apps", "deployments") if gone.is_none() => self.look(Controller::Deployments, resource, path),
            ("", "services") => self.look(Controller::Endpoints, resource, path),
            ("", "endpoints") | ("discovery.k8s.io", "endpointslices") => {
                let service = match controller(&object) {
                    Some(owner) => text(&owner["name"]).to_owned(),
                    None => path.name().to_owned(),
                };
                let service = Path::new(path.namespace(), &service);
                self.look_if_there(Controller::Endpoints, &services(), &service);
            }
            ("batch", "jobs") if gone.is_none() => self.look(Controller::Jobs, resource, path),
            ("apps", "statefulsets") if gone.is_none() => self.look(Controller::StatefulSets, resource, path),
            ("apps", "daemonsets") if gone.is_none() => self.look(Controller::DaemonSets, resource, path),
            ("apps", "controllerrevisions") => {
                self.route_to_owners(resource, path, &object, "statefulsets", Controller::StatefulSets);
                self.route_to_owners(resource, path, &object, "daemonsets", Controller::DaemonSets);
            }
            ("apps", "replicasets") => {
                if gone.is_none() {
                    self.look(Controller::ReplicaSets, resource, path);
                }
                self.route_to_owners(resource, path, &object, "deployments", Controller::Deployments);
            }
            _ => {}
        }
    }

    fn route_garbage(&mut self, resource: &Resource, path: &Path, object: &Value, is_gone: bool) {
        if is_gone {
            if let Some(namespace) = path.namespace() {
                let namespace = Path::new(None, namespace);
                if self.store.get(&namespaces(), &namespace).is_some_and(|namespace| is_deleting(namespace)) {
                    self.look(Controller::Namespaces, &namespaces(), &namespace);
                }
            }
            let waiting: Vec<_> = self.dependents_of(object).chain(self.owners_of(path, object)).collect();
            for (resource, path) in waiting {
                self.look(Controller::GarbageCollector, &resource, &path);
            }
        } else if !object["metadata"]["ownerReferences"].is_null()
            || (is_deleting(object) && !finalizers(object).is_empty())
        {
            self.look(Controller::GarbageCollector, resource, path);
        }
    }

    fn route_pod(&mut self, resource: &Resource, path: &Path, pod: &Value, is_gone: bool) {
        if !is_gone {
            let is_placed = !text(&pod["spec"]["nodeName"]).is_empty();
            let next = if is_placed { Controller::Node } else { Controller::Scheduler };
            self.look(next, resource, path);
        }
        for (plural, controller) in [
            ("replicasets", Controller::ReplicaSets),
            ("statefulsets", Controller::StatefulSets),
            ("daemonsets", Controller::DaemonSets),
            ("jobs", Controller::Jobs),
        ] {
            self.route_to_owners(&pods(), path, pod, plural, controller);
        }
        let labels = &pod["metadata"]["labels"];
        let selected = |service: &Value| {
            let selector = service["spec"]["selector"].as_object();
            selector.is_some_and(|selector| {
                !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            })
        };
        let behind = self.store.list(&services(), path.namespace()).filter(|(_, service)| selected(service));
        for service in behind.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            self.look(Controller::Endpoints, &services(), &service);
        }
        if let Some(owner) = controller(pod).filter(|owner| owner["kind"] == "ReplicaSet") {
            // A Deployment that replaces all its Pods at once waits for their end.
            let set = Path::new(path.namespace(), text(&owner["name"]));
            if let Some(set) = self.store.get(&replica_sets(), &set).cloned()
                && let Some(deployment) = controller(&set).filter(|_| is_gone)
            {
                let deployment = Path::new(path.namespace(), text(&deployment["name"]));
                self.look(Controller::Deployments, &self::resource("apps", "deployments"), &deployment);
            }
        }
    }

    /// The controllers of an object, or all that could become it.
    fn route_to_owners(
        &mut self,
        of: &Resource,
        path: &Path,
        object: &Value,
        plural: &str,
        looks: Controller,
    ) {
        let group = if plural == "jobs" { "batch" } else { "apps" };
        let owners = resource(group, plural);
        if let Some(owner) = controller(object).filter(|owner| plural_of(owner) == plural) {
            let owner = Path::new(path.namespace(), text(&owner["name"]));
            if self.store.get(&owners, &owner).is_some() {
                self.look(looks, &owners, &owner);
            }
        }
        if self.store.get(of, path).is_none() {
            return;
        }
        // One that lost its controller, or has none yet, is to be adopted; one whose labels have changed, to be left.
        if controller(object).is_some() {
            return;
        }
        let labels = &object["metadata"]["labels"];
        let fitting = self.store.list(&owners, path.namespace());
        let fitting = fitting.filter(|(_, owner)| selects(&owner["spec"]["selector"], labels));
        for path in fitting.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            self.look(looks, &owners, &path);
        }
    }

    /// There is another node, or one less: Pods that wait may find a place.
    pub(super) fn route_node(&mut self) {
        let waiting = self.store.list(&pods(), None).filter(|(_, pod)| pod["spec"]["nodeName"].is_null());
        for path in waiting.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            self.look(Controller::Scheduler, &pods(), &path);
        }
        let sets = resource("apps", "daemonsets");
        for path in self.store.list(&sets, None).map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            self.look(Controller::DaemonSets, &sets, &path);
        }
    }

    fn look_if_there(&mut self, controller: Controller, resource: &Resource, path: &Path) {
        if self.store.get(resource, path).is_some() {
            self.look(controller, resource, path);
        }
    }

    pub(super) fn look(&mut self, controller: Controller, resource: &Resource, path: &Path) {
        self.steps.look_at(Look { controller, resource: resource.clone(), path: path.clone() });
    }
}

fn services() -> Resource {
    resource("", "services")
}

/// The plural of an owner's kind.
fn plural_of(owner: &Value) -> String {
    format!("{}s", text(&owner["kind"]).to_lowercase())
}
