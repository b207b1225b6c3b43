//! The objects of a dry run, before and after its writes, on a server of its own; and other systems.

use std::{any::Any, fmt, sync::Arc};

use kube::discovery::Scope;
use parking_lot::Mutex;
use serde_json::{Value, json};
use test_cluster::Snapshot;

use super::objects::completed;
use crate::{
    environment::Environment,
    resource::{ObjectKey, ResourceType},
    testing::{Controllers, InProcessServer, faults::RequestTarget},
};

/// The field manager of a primary without managed fields.
const SOMEBODY: &str = "somebody";

const DEFINITIONS: &str = "customresourcedefinitions";

/// The annotation of a definition that nobody has given.
const STANDS_IN: &str = "operator-core.io/stands-in";

/// A cluster that nothing else uses, and the other systems beside it.
pub(super) struct World {
    pub(super) server: InProcessServer,
    /// The field manager of objects without managed fields.
    manager: String,
    /// The kinds that the controller follows or writes.
    kinds: Vec<ResourceType>,
    /// The kinds that aren't served.
    lacks: Vec<ResourceType>,
    pub(super) resources: Vec<Arc<dyn Any + Send + Sync>>,
    /// The writes so far.
    pub(super) writes: Mutex<Vec<Write>>,
}

/// A write, as it was requested.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) target: RequestTarget,
    pub(super) key: ObjectKey,
    pub(super) body: Value,
    /// The code of the answer, if the write was refused.
    pub(super) refused: Option<u16>,
}

impl World {
    /// A world that continues from `before`, or in which nothing has happened yet.
    pub(super) fn new(
        environment: &Environment,
        manager: &str,
        kinds: Vec<ResourceType>,
        (lacks, resources): (Vec<ResourceType>, Vec<Arc<dyn Any + Send + Sync>>),
        before: Option<&Snapshot>,
    ) -> Self {
        let environment = environment.clone();
        let now = move || environment.wall_clock().now();
        let server = match before {
            Some(before) => InProcessServer::from_snapshot(now, before),
            None => InProcessServer::with_controllers(now, Controllers::Off),
        };
        let world =
            Self { server, manager: manager.to_owned(), kinds, lacks, resources, writes: Mutex::default() };
        for kind in &world.kinds {
            let scope = if kind.is_namespaced() { Scope::Namespaced } else { Scope::Cluster };
            world.server.serve(&kind.api_resource(), &scope);
        }
        world
    }

    /// From now on, the kinds that the cluster lacks aren't served. Before, they could be listed.
    pub(super) fn withdraw(&self) {
        for kind in self.kinds.iter().filter(|kind| !self.serves(kind)) {
            self.server.withdraw(&kind.api_resource());
        }
    }

    /// The kind of an object by hand.
    pub(super) fn kind_of(&self, object: &Value) -> ResourceType {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        let found = self.kinds.iter().find(|one| one.api_version() == version && one.kind() == kind);
        found.cloned().unwrap_or_else(|| {
            let followed: Vec<_> = self.kinds.iter().map(ResourceType::kind).collect();
            panic!("the controller follows no {kind} ({version}), only {}", followed.join(", "))
        })
    }

    /// The name of the kind that a write is about.
    pub(super) fn kind_named<'w>(&'w self, write: &'w Write) -> &'w str {
        let RequestTarget { group, resource, .. } = &write.target;
        let found = self.kinds.iter().find(|one| one.group() == group && one.plural() == resource);
        found.map_or(resource, ResourceType::kind)
    }

    /// Adds the primary, which somebody else has made.
    pub(super) fn add_primary(&self, object: Value) -> ObjectKey {
        self.add_by(SOMEBODY, object, None)
    }

    /// Adds an object, completed with what only a server sets. Returns its key.
    pub(super) fn add(&self, object: Value, namespace: Option<&str>) -> ObjectKey {
        self.add_by(&self.manager, object, namespace)
    }

    fn add_by(&self, manager: &str, object: Value, namespace: Option<&str>) -> ObjectKey {
        let kind = self.kind_of(&object);
        let (key, object) = completed(object, &kind, namespace);
        if let Some(namespace) = key.namespace() {
            self.has_namespace(namespace);
        }
        self.server
            .store_as(manager, &object)
            .unwrap_or_else(|error| panic!("an object can't be given: {error}"));
        key
    }

    /// Makes the namespace exist.
    pub(super) fn has_namespace(&self, name: &str) {
        if self.server.stored("", "namespaces", None, name).is_none() {
            let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
            self.server.store_as(SOMEBODY, &namespace).expect("each server has namespaces");
        }
    }

    /// Adds the definitions of the custom kinds that are served, where none was given.
    pub(super) fn define(&self) {
        for kind in self.kinds.iter().filter(|kind| self.serves(kind) && is_custom(kind)) {
            let name = format!("{}.{}", kind.plural(), kind.group());
            if self.definition(&name).is_some() {
                continue;
            }
            let definition = json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": { "name": name, "annotations": { STANDS_IN: "true" } },
                "spec": {
                    "group": kind.group(),
                    "names": { "kind": kind.kind(), "plural": kind.plural() },
                    "versions": [{ "name": kind.version(), "served": true }],
                },
                "status": { "conditions": established() },
            });
            self.server.store(&definition).expect("each server has definitions");
        }
    }

    /// A definition that stands in for one of somebody gives way to one that the operator writes.
    pub(super) fn give_way(&self, write: &Write) {
        let name = write.key.name();
        let stands_in = |stored: Arc<Value>| !stored["metadata"]["annotations"][STANDS_IN].is_null();
        if write.target.resource == DEFINITIONS && self.definition(name).is_some_and(stands_in) {
            drop(self.server.take("apiextensions.k8s.io", DEFINITIONS, None, name));
        }
    }

    /// A definition that the operator has written is established when the next run looks: nothing else here would do that.
    pub(super) fn establish(&self, write: &Write) {
        let written = Some(write.key.name()).filter(|_| write.target.resource == DEFINITIONS);
        let written = written.and_then(|name| self.definition(name));
        if let Some(written) = written.filter(|written| written["status"]["conditions"].is_null()) {
            let mut written = Value::clone(&written);
            written["status"]["conditions"] = established();
            self.server.store(&written).expect("each server has definitions");
        }
    }

    fn definition(&self, name: &str) -> Option<Arc<Value>> {
        self.server.stored("apiextensions.k8s.io", DEFINITIONS, None, name)
    }

    pub(super) fn get(&self, kind: &ResourceType, key: &ObjectKey) -> Option<Arc<Value>> {
        self.server.stored(kind.group(), kind.plural(), key.namespace(), key.name())
    }

    /// The same for an object that is gone from now on.
    pub(super) fn take(&self, kind: &ResourceType, key: &ObjectKey) -> Option<Arc<Value>> {
        self.server.take(kind.group(), kind.plural(), key.namespace(), key.name())
    }

    fn serves(&self, kind: &ResourceType) -> bool {
        !self.lacks.iter().any(|lacks| lacks.is_kind_of(kind))
    }
}

/// The conditions of a definition whose kind is served.
fn established() -> Value {
    ["Established", "NamesAccepted"].map(|of| json!({ "type": of, "status": "True" })).into_iter().collect()
}

fn is_custom(kind: &ResourceType) -> bool {
    kind.group().contains('.') && !kind.group().ends_with(".k8s.io")
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}
