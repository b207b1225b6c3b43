//! Which controllers have to look at which objects after a change.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    ClusterController as Controller,
    cron_jobs::{self, cron_jobs},
    furnish::ROOT,
    manager::{ControllerManager, Listener},
    queue::Look,
    view::{controller, pods, replica_sets, selects, text},
    volumes,
};
use crate::in_process::{
    api::ApiServer,
    controllers::Change,
    kinds::storage::class,
    namespaces::namespaces,
    store::{Path, Resource, Store},
    write::is_deleting,
};

impl ControllerManager {
    /// Puts into the queue what a change is to lead to.
    pub(super) fn route(&mut self, api: &ApiServer, Change { resource, path, before, gone }: &Change) {
        let Some(object) = gone.as_ref().or_else(|| api.store.get(resource, path)) else { return };
        for Listener(listener) in &self.listeners {
            listener(self.queue.moment, object, gone.is_some());
        }
        if gone.is_some() {
            self.route_emptied(&api.store, path);
            let next = self.graph.ended(api, path, object);
            self.look_at_garbage(next);
        } else {
            let next = self.graph.changed(api, (resource, path), object, before.as_deref());
            self.look_at_garbage(next);
        }
        match (&*resource.group, &*resource.plural) {
            ("", "namespaces") if gone.is_none() => {
                self.look(Controller::ServiceAccounts, resource, path);
                self.route_root(path);
                if is_deleting(object) {
                    self.look(Controller::Namespaces, resource, path);
                }
            }
            ("", "serviceaccounts") if gone.is_some() && path.name() == "default" => {
                let namespace = Path::new(None, path.namespace().unwrap_or_default());
                self.look(Controller::ServiceAccounts, &namespaces(), &namespace);
            }
            ("", "pods") => self.route_pod(&api.store, resource, path, object, gone.is_some()),
            ("", "nodes") => self.route_node(&api.store),
            ("apps", "deployments") if gone.is_none() => self.look(Controller::Deployments, resource, path),
            ("", "services") => self.look(Controller::Endpoints, resource, path),
            ("", "endpoints") | ("discovery.k8s.io", "endpointslices") => {
                let service = match controller(object) {
                    Some(owner) => text(&owner["name"]).to_owned(),
                    None => path.name().to_owned(),
                };
                let service = Path::new(path.namespace(), &service);
                self.look_if_there(&api.store, Controller::Endpoints, &services(), &service);
            }
            ("", "configmaps") => self.route_root_map(&api.store, path),
            ("batch", "jobs") => {
                self.route_to_owner_by_name(&api.store, path, object, &cron_jobs(), Controller::CronJobs);
                if gone.is_none() {
                    self.look(Controller::Jobs, resource, path);
                }
            }
            ("batch", "cronjobs") => self.route_cron_job(api.now, path, object, gone.is_some()),
            ("", "persistentvolumeclaims")
            | ("storage.k8s.io", "storageclasses")
            | ("", "persistentvolumes") => {
                self.route_volumes(&api.store, resource, path, object, gone.is_some());
            }
            ("apps", "statefulsets") if gone.is_none() => self.look(Controller::StatefulSets, resource, path),
            ("apps", "daemonsets") if gone.is_none() => self.look(Controller::DaemonSets, resource, path),
            ("apps", "controllerrevisions") => {
                self.route_to_owners(
                    &api.store,
                    resource,
                    path,
                    object,
                    "statefulsets",
                    Controller::StatefulSets,
                );
                self.route_to_owners(
                    &api.store,
                    resource,
                    path,
                    object,
                    "daemonsets",
                    Controller::DaemonSets,
                );
            }
            ("apps", "replicasets") => {
                if gone.is_none() {
                    self.look(Controller::ReplicaSets, resource, path);
                }
                self.route_to_owners(
                    &api.store,
                    resource,
                    path,
                    object,
                    "deployments",
                    Controller::Deployments,
                );
            }
            _ => {}
        }
    }

    /// A namespace that ends may be empty now.
    fn route_emptied(&mut self, store: &Store, path: &Path) {
        let Some(namespace) = path.namespace() else { return };
        let namespace = Path::new(None, namespace);
        if store.get(&namespaces(), &namespace).is_some_and(|namespace| is_deleting(namespace)) {
            self.look(Controller::Namespaces, &namespaces(), &namespace);
        }
    }

    pub(super) fn look_at_garbage(&mut self, places: Vec<(Resource, Path)>) {
        for (resource, path) in places {
            self.look(Controller::GarbageCollector, &resource, &path);
        }
    }

    fn route_pod(&mut self, store: &Store, resource: &Resource, path: &Path, pod: &Value, is_gone: bool) {
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
            self.route_to_owners(store, &pods(), path, pod, plural, controller);
        }
        for name in volumes::used_by(pod) {
            let claim = Path::new(path.namespace(), name);
            if volumes::depends_on_pods(store, &claim) {
                self.look(Controller::Volumes, &volumes::claims(), &claim);
            }
        }
        let labels = &pod["metadata"]["labels"];
        let selected = |service: &Value| {
            let selector = service["spec"]["selector"].as_object();
            selector.is_some_and(|selector| {
                !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            })
        };
        let behind = store.list(&services(), path.namespace()).filter(|(_, service)| selected(service));
        for (service, _) in behind {
            self.look(Controller::Endpoints, &services(), service);
        }
        if let Some(owner) = controller(pod).filter(|owner| owner["kind"] == "ReplicaSet") {
            // A Deployment that replaces all its Pods at once waits for their end.
            let set = Path::new(path.namespace(), text(&owner["name"]));
            if let Some(set) = store.get(&replica_sets(), &set)
                && let Some(deployment) = controller(set).filter(|_| is_gone)
            {
                let deployment = Path::new(path.namespace(), text(&deployment["name"]));
                self.look(Controller::Deployments, &Resource::new("apps", "deployments"), &deployment);
            }
        }
    }

    /// The controllers of an object, or all that could become it.
    fn route_to_owners(
        &mut self,
        store: &Store,
        of: &Resource,
        path: &Path,
        object: &Value,
        plural: &str,
        looks: Controller,
    ) {
        let group = if plural == "jobs" { "batch" } else { "apps" };
        let owners = Resource::new(group, plural);
        if let Some(owner) = controller(object).filter(|owner| plural_of(owner) == plural) {
            let owner = Path::new(path.namespace(), text(&owner["name"]));
            if store.get(&owners, &owner).is_some() {
                self.look(looks, &owners, &owner);
            }
        }
        if store.get(of, path).is_none() {
            return;
        }
        // One that lost its controller, or has none yet, is to be adopted; one whose labels have changed, to be left.
        if controller(object).is_some() {
            return;
        }
        let labels = &object["metadata"]["labels"];
        let fitting = store.list(&owners, path.namespace());
        let fitting = fitting.filter(|(_, owner)| selects(&owner["spec"]["selector"], labels));
        for (path, _) in fitting {
            self.look(looks, &owners, path);
        }
    }

    /// Another schedule counts from its next time on; everything else is looked at now.
    fn route_cron_job(&mut self, now: Timestamp, path: &Path, job: &Value, is_gone: bool) {
        if is_gone {
            self.schedules.remove(path);
            return;
        }
        let follows = cron_jobs::followed(job);
        let known = self.schedules.insert(path.clone(), follows.clone());
        let look = Look { controller: Controller::CronJobs, resource: cron_jobs(), path: path.clone() };
        match known.filter(|known| *known != follows) {
            Some(_) => {
                if let Some(wait) = cron_jobs::wait(job, now) {
                    self.queue.look_again(look, wait);
                }
            }
            None => self.queue.look_at(look),
        }
    }

    /// The controller of an object, if it is of this kind.
    fn route_to_owner_by_name(
        &mut self,
        store: &Store,
        path: &Path,
        object: &Value,
        owners: &Resource,
        looks: Controller,
    ) {
        if let Some(owner) = controller(object).filter(|owner| plural_of(owner) == owners.plural) {
            let owner = Path::new(path.namespace(), text(&owner["name"]));
            self.look_if_there(store, looks, owners, &owner);
        }
    }

    fn look_at_sets(&mut self, store: &Store, claim: &Path) {
        let sets = Resource::new("apps", "statefulsets");
        let with_claims = |set: &Value| set["spec"]["volumeClaimTemplates"].is_array();
        let all = store.list(&sets, claim.namespace()).filter(|(_, set)| with_claims(set));
        for (set, _) in all {
            self.look(Controller::StatefulSets, &sets, set);
        }
    }

    fn route_volumes(
        &mut self,
        store: &Store,
        resource: &Resource,
        path: &Path,
        object: &Value,
        is_gone: bool,
    ) {
        let claims = volumes::claims();
        if *resource == claims {
            let volume = text(&object["spec"]["volumeName"]);
            if !volume.is_empty() {
                self.look_if_there(store, Controller::Volumes, &volumes::volumes(), &Path::new(None, volume));
            }
            if is_gone {
                // A StatefulSet may wait for its end.
                self.look_at_sets(store, path);
            } else {
                self.look(Controller::Volumes, resource, path);
            }
            let users = store.list(&pods(), path.namespace());
            let waits = |pod: &Value| {
                pod["spec"]["nodeName"].is_null() && volumes::used_by(pod).any(|name| name == path.name())
            };
            for (pod, _) in users.filter(|(_, pod)| waits(pod)) {
                self.look(Controller::Scheduler, &pods(), pod);
            }
            return;
        }
        let is_volume = *resource == volumes::volumes();
        if is_volume && !is_gone {
            self.look(Controller::Volumes, resource, path);
        }
        let name = path.name();
        let concerned = |claim: &Value| {
            let volume = text(&claim["spec"]["volumeName"]);
            match is_volume {
                true => volume == name || (volume.is_empty() && class(object) == class(claim)),
                false => volume.is_empty() && class(claim) == name,
            }
        };
        let waiting = store.list(&claims, None).filter(|(_, claim)| concerned(claim));
        for (claim, _) in waiting {
            self.look(Controller::Volumes, &claims, claim);
        }
    }

    /// There is another node, or one less: Pods that wait may find a place.
    pub(super) fn route_node(&mut self, store: &Store) {
        let waiting = store.list(&pods(), None).filter(|(_, pod)| pod["spec"]["nodeName"].is_null());
        for (path, _) in waiting {
            self.look(Controller::Scheduler, &pods(), path);
        }
        let sets = Resource::new("apps", "daemonsets");
        for (path, _) in store.list(&sets, None) {
            self.look(Controller::DaemonSets, &sets, path);
        }
    }

    /// The node, or what happens to its Pods, has changed.
    pub(super) fn look_at_pods(&mut self, store: &Store) {
        for (path, _) in store.list(&pods(), None) {
            self.look(Controller::Node, &pods(), path);
        }
    }

    /// All namespaces may lack the certificate.
    pub(super) fn route_roots(&mut self, store: &Store) {
        if self.is_on() {
            store.list(&namespaces(), None).for_each(|(path, _)| self.route_root(path));
        }
    }

    /// A namespace may lack the certificate.
    fn route_root(&mut self, namespace: &Path) {
        if self.events.is_on {
            self.look(Controller::RootCertificates, &namespaces(), namespace);
        }
    }

    /// Somebody may have changed the certificate.
    fn route_root_map(&mut self, store: &Store, path: &Path) {
        let namespace = Path::new(None, path.namespace().unwrap_or_default());
        if path.name() == ROOT && store.get(&namespaces(), &namespace).is_some() {
            self.route_root(&namespace);
        }
    }

    fn look_if_there(&mut self, store: &Store, controller: Controller, resource: &Resource, path: &Path) {
        if store.get(resource, path).is_some() {
            self.look(controller, resource, path);
        }
    }

    fn look(&mut self, controller: Controller, resource: &Resource, path: &Path) {
        self.queue.look_at(Look { controller, resource: resource.clone(), path: path.clone() });
    }
}

fn services() -> Resource {
    Resource::new("", "services")
}

/// The plural of an owner's kind.
fn plural_of(owner: &Value) -> String {
    format!("{}s", text(&owner["kind"]).to_lowercase())
}
