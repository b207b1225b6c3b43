//! What the server and the controllers around it do by themselves when something has changed.
//!
//! ```text
//!  put, remove ─▶ changed ─▶ definitions (always)
//!                    └─────▶ waiting ─▶ namespaces, garbage, workloads, accounts (kube-controller-manager's)
//! ```
//!
//! # Guarantees
//! - Changes are processed in the order in which they happened, and each once, however often it happened before that.

use std::{collections::VecDeque, sync::Arc};

use serde_json::{Value, json};

use super::{
    definitions::definitions,
    namespaces::namespaces,
    state::State,
    store::{Path, Resource},
    write::is_deleting,
};

/// When the controllers work that a real cluster has in kube-controller-manager: those that terminate namespaces,
/// collect garbage, create service accounts, and bring Deployments, StatefulSets, DaemonSets and ReplicaSets to their
/// goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controllers {
    /// Never, as on a cluster that is only an API server.
    Off,
    /// After each request, before the next one: everything that a request causes is done at once.
    #[default]
    AtOnce,
    /// When [`InProcessServer::step`](super::InProcessServer::step) is called, one change at a time.
    Stepwise,
}

/// An object that has changed or is gone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) resource: Resource,
    pub(super) path: Path,
    /// The last state of an object that is gone.
    pub(super) gone: Option<Arc<Value>>,
}

/// Changes that were not processed yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes(VecDeque<Change>);

impl Changes {
    /// Adds a change, unless the same one is already waiting.
    pub(super) fn push(&mut self, change: Change) {
        if !self.0.contains(&change) {
            self.0.push_back(change);
        }
    }

    /// Adds an object to be processed.
    pub(super) fn look_at(&mut self, resource: Resource, path: Path) {
        self.push(Change { resource, path, gone: None });
    }

    fn pop(&mut self) -> Option<Change> {
        self.0.pop_front()
    }
}

impl State {
    /// Lets the controllers do what the last request has caused.
    pub(super) fn settle(&mut self) {
        loop {
            while let Some(change) = self.changed.pop() {
                self.react_in_server(&change);
                if self.controllers != Controllers::Off {
                    self.waiting.push(change);
                }
            }
            if self.controllers != Controllers::AtOnce || !self.step() {
                return;
            }
        }
    }

    /// Lets the controllers process one change; returns whether there was one.
    pub(super) fn step(&mut self) -> bool {
        let Some(change) = self.waiting.pop() else { return false };
        self.react(&change);
        true
    }

    fn react_in_server(&mut self, Change { resource, path, gone }: &Change) {
        if *resource == definitions() {
            return self.sync_definition(path);
        }
        let definition = Self::definition_of(resource);
        if gone.is_some()
            && self.store.get(&definitions(), &definition).is_some_and(|definition| is_deleting(definition))
        {
            self.changed.look_at(definitions(), definition);
        }
    }

    fn react(&mut self, Change { resource, path, gone }: &Change) {
        if let Some(gone) = gone {
            return self.react_to_end(path, gone);
        }
        let Some(object) = self.store.get(resource, path).cloned() else { return };
        self.collect(resource, path, &object);
        if *resource == namespaces() {
            self.sync_namespace(path);
            self.make_account(path);
        } else if resource.group == "apps" && !is_deleting(&object) {
            self.sync_workload(resource, path, &object);
        }
    }

    /// What waited for the end of an object: its namespace, its dependents, its owners.
    fn react_to_end(&mut self, path: &Path, gone: &Value) {
        if let Some(namespace) = path.namespace() {
            let namespace = Path::new(None, namespace);
            if self.store.get(&namespaces(), &namespace).is_some_and(|namespace| is_deleting(namespace)) {
                self.waiting.look_at(namespaces(), namespace);
            }
        }
        for (resource, path) in self.dependents_of(gone).chain(self.owners_of(path, gone)).collect::<Vec<_>>()
        {
            self.waiting.look_at(resource, path);
        }
    }

    /// Each namespace has a service account called `default`.
    fn make_account(&mut self, namespace: &Path) {
        let accounts = Resource { group: String::new(), plural: "serviceaccounts".to_owned() };
        let path = Path::new(Some(namespace.name()), "default");
        if self.store.get(&accounts, &path).is_none()
            && let Some(kind) = self.kinds.of_resource(&accounts).cloned()
        {
            let account =
                json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "default" } });
            self.create_own(&kind, &path, MANAGER, account);
        }
    }
}

/// The field manager of the controllers.
pub(super) const MANAGER: &str = "kube-controller-manager";
