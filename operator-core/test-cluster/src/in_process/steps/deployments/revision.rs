//! The ReplicaSet of a template, and the numbers of the rollouts.

use serde_json::{Map, Value, json};

use super::{
    super::{
        times::{condition, new_condition, set_condition},
        view::{number, reference},
    },
    Act, Found, MANAGER, Next, Rollout, replica_sets, text, wanted,
};
use crate::in_process::{fields::Endpoint, write::metadata::time};

/// The annotation that counts a Deployment's templates.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";
const HASH: &str = "pod-template-hash";

/// The annotations of a Deployment that its ReplicaSets don't have.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
];

/// A template without the label that its ReplicaSet adds.
pub(super) fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH);
    }
    template
}

/// The number of the rollout that a ReplicaSet belongs to.
pub(super) fn of(set: &Value) -> i64 {
    text(&set["metadata"]["annotations"][REVISION]).parse().unwrap_or_default()
}

impl Rollout<'_> {
    /// Finds or makes the ReplicaSet of the present template, and gives it the highest number; `None` if nothing is left
    /// to do about that.
    pub(super) fn revise(&self, create: bool) -> Option<Next> {
        let highest = self.old.iter().map(|(_, set)| of(set)).max().unwrap_or_default();
        let revision = highest + 1;
        let mut acts = Vec::new();
        let revision = match self.new {
            Some((path, set)) => {
                let changed = self.annotated(set, revision);
                let wait = &self.deployment["spec"]["minReadySeconds"];
                let mut object = changed.unwrap_or_else(|| Value::clone(set));
                if number(&object["spec"]["minReadySeconds"]) != number(wait) {
                    object["spec"]["minReadySeconds"] = wait.clone();
                }
                let revision = of(&object);
                if object != **set {
                    let (resource, endpoint) = (replica_sets(), Endpoint::Main);
                    acts.push(Act::Write {
                        resource,
                        path: path.clone(),
                        endpoint,
                        manager: MANAGER,
                        object,
                    });
                }
                revision
            }
            None if create => {
                acts.push(Act::Create {
                    resource: replica_sets(),
                    manager: MANAGER,
                    object: self.made(revision),
                });
                revision
            }
            None => return None,
        };
        let mut deployment = self.deployment.clone();
        let revision = Value::from(revision.to_string());
        let is_counted = deployment["metadata"]["annotations"][REVISION] == revision;
        if !is_counted {
            deployment["metadata"]["annotations"][REVISION] = revision;
        }
        let is_told = self.tell(&mut deployment);
        if !is_counted || is_told {
            acts.push(self.written(deployment));
        }
        (!acts.is_empty()).then(|| Next::acts(acts))
    }

    /// Says in the status which ReplicaSet there is.
    fn tell(&self, deployment: &mut Value) -> bool {
        if self.deployment["spec"]["progressDeadlineSeconds"].is_null() {
            return false;
        }
        let (reason, message) = match self.new {
            Some(_) if condition(&self.deployment["status"], "Progressing").is_some() => return false,
            Some((path, _)) => ("FoundNewReplicaSet", format!("Found new replica set \"{}\"", path.name())),
            None => {
                let name = self.name_of_new();
                ("NewReplicaSetCreated", format!("Created new replica set \"{name}\""))
            }
        };
        let mut told = new_condition(self.view.now, "Progressing", "True", reason, &message);
        told["lastUpdateTime"] = time(self.view.now).into();
        set_condition(&mut deployment["status"], told);
        true
    }

    /// An existing ReplicaSet with the annotations that it needs, if they differ.
    fn annotated(&self, set: &Value, revision: i64) -> Option<Value> {
        let mut object = set.clone();
        let mut annotations = set["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
        self.copy_annotations(&mut annotations);
        let known = of(set);
        if known < revision {
            // What it had before is kept, for those who look for it.
            if known != 0 {
                let history = annotations.get(HISTORY).and_then(Value::as_str).unwrap_or_default();
                let history =
                    if history.is_empty() { known.to_string() } else { format!("{history},{known}") };
                annotations.insert(HISTORY.to_owned(), history.into());
            }
            annotations.insert(REVISION.to_owned(), revision.to_string().into());
        }
        object["metadata"]["annotations"] = annotations.into();
        (object != *set).then_some(object)
    }

    fn copy_annotations(&self, annotations: &mut Map<String, Value>) {
        let given = self.deployment["metadata"]["annotations"].as_object();
        for (name, value) in given.into_iter().flatten() {
            if !NOT_COPIED.contains(&name.as_str()) {
                annotations.insert(name.clone(), value.clone());
            }
        }
    }

    fn name_of_new(&self) -> String {
        let hash = hash(&self.deployment["spec"]["template"], &self.deployment["status"]["collisionCount"]);
        format!("{}-{hash}", self.path.name())
    }

    /// The ReplicaSet of a new template.
    fn made(&self, revision: i64) -> Value {
        let hash = hash(&self.deployment["spec"]["template"], &self.deployment["status"]["collisionCount"]);
        let mut template = self.deployment["spec"]["template"].clone();
        template["metadata"]["labels"][HASH] = hash.clone().into();
        let mut selector = self.deployment["spec"]["selector"].clone();
        selector["matchLabels"][HASH] = hash.into();
        let mut annotations = Map::new();
        self.copy_annotations(&mut annotations);
        annotations.insert(REVISION.to_owned(), revision.to_string().into());
        let desired = self.replicas();
        annotations.insert(DESIRED.to_owned(), desired.to_string().into());
        annotations.insert(MAXIMUM.to_owned(), (desired + self.surge()).to_string().into());
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": self.name_of_new(),
                "namespace": self.path.namespace(),
                "labels": template["metadata"]["labels"],
                "annotations": annotations,
                "ownerReferences": [reference(self.deployment)],
            },
            "spec": {
                "replicas": self.replicas_of_new(),
                "minReadySeconds": self.deployment["spec"]["minReadySeconds"],
                "selector": selector,
                "template": template,
            },
        })
    }

    /// A ReplicaSet with another size.
    pub(super) fn resized(&self, (path, set): Found<'_>, replicas: i64) -> Act {
        let mut object = Value::clone(set);
        object["spec"]["replicas"] = replicas.into();
        let desired = self.replicas();
        object["metadata"]["annotations"][DESIRED] = desired.to_string().into();
        object["metadata"]["annotations"][MAXIMUM] = (desired + self.surge()).to_string().into();
        let (resource, endpoint) = (replica_sets(), Endpoint::Main);
        Act::Write { resource, path: path.clone(), endpoint, manager: MANAGER, object }
    }

    /// How many replicas the new ReplicaSet may have by now.
    pub(super) fn replicas_of_new(&self) -> i64 {
        let present = self.new.map_or(0, |(_, set)| wanted(set));
        if self.deployment["spec"]["strategy"]["type"] == "Recreate" {
            return self.replicas();
        }
        let all: i64 = self.all().map(|(_, set)| wanted(set)).sum();
        let room = (self.replicas() + self.surge() - all).max(0);
        present + room.min(self.replicas() - present).max(0)
    }
}

/// A short text that differs for different templates, written with the letters of the real one: FNV-1a of the JSON.
pub(in super::super) fn hash(template: &Value, collisions: &Value) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut text = serde_json::to_vec(template).unwrap_or_default();
    if let Some(collisions) = collisions.as_i64().filter(|count| *count > 0) {
        text.extend(collisions.to_be_bytes());
    }
    let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = text.into_iter().fold(0x811c_9dc5_u32, fold);
    let letter = |digit: u8| char::from(LETTERS[usize::from(digit) % LETTERS.len()]);
    hash.to_string().bytes().map(letter).collect()
}
