//! What exists in a dry run, before and after its writes.

use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;
use http::StatusCode;
use jiff::Timestamp;
use kube::core::Status;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::objects::completed;
use crate::{
    environment::Environment,
    event_source::Given,
    operations::{
        Verb, WriteRequest,
        plan::{Answered, Moment, Planner, answer},
    },
    resource::{ObjectKey, ResourceType},
};

/// The version of a cluster in which nothing has happened yet.
const FIRST_VERSION: u64 = 1_000;

/// The field manager of a primary that doesn't say who has written it.
const SOMEBODY: &str = "somebody";

/// Group, kind and key.
type Place = (String, String, ObjectKey);

/// The objects of a cluster that doesn't exist, and the other systems beside it.
pub(super) struct World {
    /// Gives time and uids.
    environment: Environment,
    /// The field manager that has written what doesn't say otherwise.
    manager: String,
    /// The kinds that the controller follows or writes.
    pub(super) kinds: Vec<ResourceType>,
    /// Those that aren't served.
    pub(super) lacks: Vec<ResourceType>,
    pub(super) resources: Vec<Arc<dyn Any + Send + Sync>>,
    state: Mutex<State>,
}

struct State {
    objects: BTreeMap<Place, Arc<Value>>,
    version: u64,
    writes: Vec<Write>,
}

/// A write that was planned.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) verb: Verb,
    pub(super) kind: ResourceType,
    pub(super) key: ObjectKey,
    pub(super) subresource: Option<&'static str>,
    pub(super) body: Value,
    /// The code of its refusal.
    pub(super) refused: Option<u16>,
}

impl World {
    pub(super) fn new(
        environment: Environment,
        manager: &str,
        kinds: Vec<ResourceType>,
        (lacks, resources): (Vec<ResourceType>, Vec<Arc<dyn Any + Send + Sync>>),
    ) -> Self {
        let state = State { objects: BTreeMap::new(), version: FIRST_VERSION, writes: Vec::new() };
        Self { environment, manager: manager.to_owned(), kinds, lacks, resources, state: Mutex::new(state) }
    }

    fn now(&self) -> Timestamp {
        self.environment.wall_clock().now()
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
        let mut state = self.state.lock();
        let given = object["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok());
        state.version = (state.version + 1).max(given.unwrap_or_default());
        let moment = Moment {
            manager,
            now: self.now(),
            version: state.version.to_string(),
            uid: self.environment.jitter().uuid(),
        };
        let (key, object) = completed(object, &kind, namespace, &moment);
        state.objects.insert(place(&kind, &key), Arc::new(object));
        key
    }

    pub(super) fn get(&self, kind: &ResourceType, key: &ObjectKey) -> Option<Arc<Value>> {
        self.state.lock().objects.get(&place(kind, key)).cloned()
    }

    /// The same for an object that is gone from now on.
    pub(super) fn take(&self, kind: &ResourceType, key: &ObjectKey) -> Option<Arc<Value>> {
        self.state.lock().objects.remove(&place(kind, key))
    }

    /// All objects.
    pub(super) fn all(&self) -> Vec<Arc<Value>> {
        self.state.lock().objects.values().cloned().collect()
    }

    /// The writes so far.
    pub(super) fn writes(&self) -> Vec<Write> {
        self.state.lock().writes.clone()
    }

    /// Whether the cluster serves a kind.
    pub(super) fn serves(&self, kind: &ResourceType) -> bool {
        !self.lacks.iter().any(|lacks| (lacks.group(), lacks.kind()) == (kind.group(), kind.kind()))
    }

    /// The definitions of the custom kinds that are served.
    fn definitions(&self) -> impl Iterator<Item = (ObjectKey, Arc<Value>)> {
        let custom = self.kinds.iter().filter(|kind| self.serves(kind) && is_custom(kind));
        custom.map(|kind| {
            let name = format!("{}.{}", kind.plural(), kind.group());
            let definition = json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": { "name": name, "uid": name, "resourceVersion": "1" },
                "spec": {
                    "group": kind.group(),
                    "names": { "kind": kind.kind(), "plural": kind.plural() },
                    "versions": [{ "name": kind.version(), "served": true }],
                },
                "status": { "conditions": [{ "type": "Established", "status": "True" }] },
            });
            (ObjectKey::cluster_scoped(&name), Arc::new(definition))
        })
    }
}

fn place(kind: &ResourceType, key: &ObjectKey) -> Place {
    (kind.group().to_owned(), kind.kind().to_owned(), key.clone())
}

fn is_custom(kind: &ResourceType) -> bool {
    kind.group().contains('.') && !kind.group().ends_with(".k8s.io")
}

impl Given for World {
    fn objects(&self, kind: &ResourceType) -> Vec<(ObjectKey, Arc<Value>)> {
        let state = self.state.lock();
        let is_one = |(group, name, _): &Place| (&**group, &**name) == (kind.group(), kind.kind());
        let objects = state.objects.iter().filter(|(place, _)| is_one(place));
        let mut objects: BTreeMap<ObjectKey, Arc<Value>> =
            objects.map(|((.., key), object)| (key.clone(), Arc::clone(object))).collect();
        if kind.kind() == "CustomResourceDefinition" {
            for (key, definition) in self.definitions() {
                objects.entry(key).or_insert(definition);
            }
        }
        objects.into_iter().collect()
    }

    fn version(&self) -> String {
        self.state.lock().version.to_string()
    }

    fn resources(
        &self,
        _: &str,
        is: &dyn Fn(&(dyn Any + Send + Sync)) -> bool,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        self.resources.iter().find(|resources| is(&***resources)).cloned()
    }
}

impl Planner for World {
    fn plan(&self, write: &WriteRequest<'_>, manager: &str) -> Result<(StatusCode, Bytes), Box<Status>> {
        let mut state = self.state.lock();
        let moment = Moment {
            manager,
            now: self.now(),
            version: (state.version + 1).to_string(),
            uid: self.environment.jitter().uuid(),
        };
        let place = place(write.kind, write.key);
        let answered = answer(write, state.objects.get(&place).map(|known| &**known), &moment);
        state.writes.push(Write {
            verb: write.verb,
            kind: write.kind.clone(),
            key: write.key.clone(),
            subresource: write.subresource,
            body: serde_json::from_slice(&write.body).unwrap_or_default(),
            refused: answered.as_ref().err().map(|status| status.code),
        });
        state.version += 1;
        let (code, body) = match answered? {
            Answered::Stored { object, created } => {
                let code = if created { StatusCode::CREATED } else { StatusCode::OK };
                let body = object.to_string();
                state.objects.insert(place, Arc::new(object));
                (code, body)
            }
            Answered::Removed(last) => {
                state.objects.remove(&place);
                let body = match write.verb {
                    Verb::Delete => {
                        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success" })
                    }
                    _ => last,
                };
                (StatusCode::OK, body.to_string())
            }
        };
        Ok((code, body.into()))
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}
