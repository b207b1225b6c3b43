//! Deployments and similar kinds reach their goal at once: their status says so, without any pods.

use serde_json::{Value, json};

use super::{
    controllers::MANAGER,
    fields::Endpoint,
    state::State,
    store::{Path, Resource},
    write::metadata::time,
};

/// The annotation that counts a Deployment's pod templates.
const REVISION: &str = "deployment.kubernetes.io/revision";

impl State {
    /// Sets the status that a workload of this kind has when all its pods are ready.
    pub(super) fn sync_workload(&mut self, resource: &Resource, path: &Path, object: &Value) {
        let generation = &object["metadata"]["generation"];
        let replicas = object["spec"]["replicas"].as_i64().unwrap_or(1);
        let template = digest(&object["spec"]["template"]);
        let name = path.name();
        let mut changed = object.clone();
        let mut status = match resource.plural.as_str() {
            "deployments" => {
                // A deployment that is paused stays as it is.
                if object["spec"]["paused"] == true {
                    return;
                }
                let revision = self.revision(object, &template);
                changed["metadata"]["annotations"][REVISION] = revision.to_string().into();
                let mut status =
                    counts(replicas, &["availableReplicas", "readyReplicas", "replicas", "updatedReplicas"]);
                status["terminatingReplicas"] = 0.into();
                status["conditions"] = self.conditions(object, &format!("{name}-{template}"));
                status
            }
            "statefulsets" => {
                let mut status = counts(replicas, &["currentReplicas", "readyReplicas", "updatedReplicas"]);
                status["availableReplicas"] = replicas.into();
                status["replicas"] = replicas.into();
                status["collisionCount"] = 0.into();
                status["currentRevision"] = format!("{name}-{template}").into();
                status["updateRevision"] = format!("{name}-{template}").into();
                status
            }
            "replicasets" => {
                let fields = ["availableReplicas", "fullyLabeledReplicas", "readyReplicas"];
                let mut status = counts(replicas, &fields);
                status["replicas"] = replicas.into();
                status["terminatingReplicas"] = 0.into();
                status
            }
            // As on a cluster with one node.
            "daemonsets" => {
                let fields =
                    ["currentNumberScheduled", "desiredNumberScheduled", "numberAvailable", "numberReady"];
                let mut status = counts(1, &fields);
                status["updatedNumberScheduled"] = 1.into();
                status["numberMisscheduled"] = 0.into();
                status
            }
            _ => return,
        };
        // What others have said about it stays.
        let known = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let own = status["conditions"].as_array().cloned().unwrap_or_default();
        let is_own = |other: &Value| own.iter().any(|condition| condition["type"] == other["type"]);
        let mut conditions: Vec<Value> = known.into_iter().filter(|other| !is_own(other)).collect();
        conditions.extend(own.iter().cloned());
        if !conditions.is_empty() {
            status["conditions"] = conditions.into();
        }
        changed["status"] = status;
        changed["status"]["observedGeneration"] = generation.clone();
        if changed == *object {
            return;
        }
        if let Some(kind) = self.kinds.of_resource(resource).cloned() {
            self.write_own(&kind, path, Endpoint::Status, MANAGER, changed);
        }
    }

    /// The number of a Deployment's current pod template, counted from 1.
    fn revision(&mut self, deployment: &Value, template: &str) -> u64 {
        let uid = deployment["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let (known, revision) = self.rollouts.entry(uid).or_default();
        if known != template {
            template.clone_into(known);
            *revision += 1;
        }
        *revision
    }

    /// The conditions of an existing Deployment, with the times of those that it had already.
    fn conditions(&self, deployment: &Value, replica_set: &str) -> Value {
        let progress = format!("ReplicaSet \"{replica_set}\" has successfully progressed.");
        let wanted = [
            ("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            ("Progressing", "NewReplicaSetAvailable", &progress),
        ];
        let known = deployment["status"]["conditions"].as_array();
        let conditions = wanted.into_iter().map(|(kind, reason, message)| {
            let of_kind = |condition: &&Value| condition["type"] == kind && condition["status"] == "True";
            let before = known.into_iter().flatten().find(of_kind);
            let now = Value::from(time(self.now));
            let since = before.map_or(&now, |condition| &condition["lastTransitionTime"]);
            let same = before.filter(|condition| condition["message"] == message);
            let updated = same.map_or(&now, |condition| &condition["lastUpdateTime"]);
            json!({
                "type": kind, "status": "True", "reason": reason, "message": message,
                "lastTransitionTime": since, "lastUpdateTime": updated,
            })
        });
        conditions.collect()
    }
}

/// Fields that all have the same count, and are omitted if it is zero.
fn counts(count: i64, fields: &[&str]) -> Value {
    let mut status = json!({});
    for field in fields.iter().filter(|_| count != 0) {
        status[*field] = count.into();
    }
    status
}

/// A short text that differs for different templates: FNV-1a of the JSON.
fn digest(template: &Value) -> String {
    let text = serde_json::to_vec(template).unwrap_or_default();
    let hash = text.into_iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:010x}", hash >> 24)
}
