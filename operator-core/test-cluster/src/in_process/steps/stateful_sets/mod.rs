//! StatefulSets: Pods with numbers, one after the other, each with its own volumes.

mod retention;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    Act, MANAGER, Next, claims,
    pods::{create, delete, is_available, is_over, is_ready, of_template, phase, until_available},
    revisions::{self, Revisions},
    view::{Found, View, items, number, pods, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::is_deleting,
};

const REVISION: &str = "controller-revision-hash";

/// A StatefulSet and its Pods at one time.
struct Set<'s> {
    view: View<'s>,
    path: &'s Path,
    set: &'s Value,
    revisions: Revisions<'s>,
    /// The revision of those that are not updated yet.
    current: String,
    pods: BTreeMap<i64, Found<'s>>,
}

/// What a StatefulSet needs next.
pub(super) fn next<'s>(view: &View<'s>, path: &'s Path, set: &'s Arc<Value>) -> Next {
    let found = match claims::claim(view, &pods(), path, set) {
        Ok(found) => found,
        Err(acts) => return Next::first(acts),
    };
    let revisions = match revisions::of(view, path, set, "controller.kubernetes.io/hash") {
        Ok(revisions) => revisions,
        Err(acts) if stays(set) => return Next::first(acts),
        Err(_) => return Next::nothing(),
    };
    let known = text(&set["status"]["currentRevision"]);
    let current = if revisions.template(known).is_some() { known } else { revisions.update.0.name() };
    let ordinal = |pod: Found<'s>| {
        let number = pod.0.name().strip_prefix(path.name())?.strip_prefix('-')?.parse::<i64>().ok()?;
        Some((number, pod))
    };
    let set = Set {
        view: *view,
        path,
        set,
        current: current.to_owned(),
        revisions,
        pods: found.into_iter().filter_map(ordinal).collect(),
    };
    set.next()
}

impl<'s> Set<'s> {
    fn next(&self) -> Next {
        let mut acts = Vec::new();
        if stays(self.set) && self.view.failed.is_none() {
            acts = self.owned_claims();
            acts.extend(self.changes());
            if acts.is_empty() {
                let used = |revision: &Value| {
                    let name = text(&revision["metadata"]["name"]);
                    name == self.current || self.pods.values().any(|(_, pod)| revision_of(pod) == name)
                };
                acts = self.revisions.clean_up(self.set, used);
            }
        }
        let status = self.status();
        if status != self.set["status"] {
            let mut object = self.set.clone();
            object["status"] = status;
            let (path, endpoint) = (self.path.clone(), Endpoint::Status);
            acts.push(Act::Write { resource: sets(), path, endpoint, manager: MANAGER, object });
        }
        let again = self.pods.values().filter(|(_, pod)| is_ready(pod));
        let again = again.filter_map(|(_, pod)| until_available(pod, self.wait(), self.view.now)).min();
        Next { acts, again }
    }

    fn wait(&self) -> i64 {
        number(&self.set["spec"]["minReadySeconds"])
    }

    fn ordinals(&self) -> std::ops::Range<i64> {
        let start = number(&self.set["spec"]["ordinals"]["start"]);
        start..start + self.set["spec"]["replicas"].as_i64().unwrap_or(1)
    }

    fn is_well(&self, pod: &Value) -> bool {
        phase(pod) == "Running" && is_available(pod, self.wait(), self.view.now) && !is_deleting(pod)
    }

    /// The Pods that are missing, too many or outdated. One at a time, unless the set says that order doesn't matter.
    fn changes(&self) -> Vec<Act> {
        let in_order = self.set["spec"]["podManagementPolicy"] != "Parallel";
        let mut acts = Vec::new();
        for ordinal in self.ordinals() {
            match self.pods.get(&ordinal) {
                None if in_order && self.has_stale_claim(ordinal) => return acts,
                None => acts.extend(self.make(ordinal)),
                Some((path, pod)) if is_over(pod) && !is_deleting(pod) => acts.push(delete(path)),
                Some((_, pod)) if in_order && !self.is_well(pod) => return Vec::new(),
                Some(_) => {}
            }
            if in_order && !acts.is_empty() {
                return acts;
            }
        }
        let surplus = self.pods.iter().filter(|(ordinal, _)| !self.ordinals().contains(ordinal)).rev();
        let surplus: Vec<_> = surplus.map(|(_, pod)| *pod).collect();
        let unhealthy = surplus.iter().rev().find(|(_, pod)| !self.is_well(pod)).map(|(path, _)| *path);
        for (path, pod) in surplus {
            if in_order && (is_deleting(pod) || (!self.is_well(pod) && unhealthy != Some(path))) {
                return acts;
            }
            if !is_deleting(pod) {
                acts.push(delete(path));
            }
            if in_order {
                return acts;
            }
        }
        if acts.is_empty() { self.outdated().into_iter().collect() } else { acts }
    }

    /// The last Pod that has a former template, if all after it are well.
    fn outdated(&self) -> Option<Act> {
        let strategy = &self.set["spec"]["updateStrategy"];
        if strategy["type"] == "OnDelete" {
            return None;
        }
        let partition = number(&strategy["rollingUpdate"]["partition"]);
        let first = self.ordinals().start.max(partition);
        for ordinal in (first..self.ordinals().end).rev() {
            let (path, pod) = self.pods.get(&ordinal)?;
            if revision_of(pod) != self.revisions.update.0.name() && !is_deleting(pod) {
                return Some(delete(path));
            }
            if !self.is_well(pod) {
                return None;
            }
        }
        None
    }

    /// A Pod and its claims.
    fn make(&self, ordinal: i64) -> Vec<Act> {
        if self.has_stale_claim(ordinal) {
            return Vec::new();
        }
        let updated = self.revisions.update.0.name();
        let partition = &self.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"];
        let is_current = self.set["spec"]["updateStrategy"]["type"] == "RollingUpdate"
            && ordinal < self.ordinals().start + number(partition);
        let revision = if is_current { self.current.as_str() } else { updated };
        let template = self.revisions.template(revision).unwrap_or_default();
        let namespace = self.path.namespace().unwrap_or_default();
        let name = format!("{}-{ordinal}", self.path.name());
        let mut pod = of_template(&template, self.set, namespace);
        pod["metadata"]["name"] = name.clone().into();
        pod["metadata"]["generateName"] = format!("{}-", self.path.name()).into();
        for (label, value) in [
            ("statefulset.kubernetes.io/pod-name", name.as_str()),
            ("apps.kubernetes.io/pod-index", &ordinal.to_string()),
            (REVISION, revision),
        ] {
            pod["metadata"]["labels"][label] = value.into();
        }
        pod["spec"]["hostname"] = name.clone().into();
        if !text(&self.set["spec"]["serviceName"]).is_empty() {
            pod["spec"]["subdomain"] = self.set["spec"]["serviceName"].clone();
        }
        let mut acts = Vec::new();
        let mut volumes = Vec::new();
        for claim in items(&self.set["spec"]["volumeClaimTemplates"]) {
            let of = &claim["metadata"]["name"];
            let claim_name = format!("{}-{name}", text(of));
            volumes.push(json!({ "name": of, "persistentVolumeClaim": { "claimName": claim_name } }));
            let path = Path::new(Some(namespace), &claim_name);
            if self.view.store.get(&Resource::new("", "persistentvolumeclaims"), &path).is_none() {
                acts.push(self.make_claim(claim, &claim_name));
            }
        }
        let others = items(&pod["spec"]["volumes"]).iter();
        let others: Vec<_> =
            others.filter(|other| !volumes.iter().any(|own| own["name"] == other["name"])).cloned().collect();
        volumes.extend(others);
        if !volumes.is_empty() {
            pod["spec"]["volumes"] = volumes.into();
        }
        acts.push(create(pod));
        acts
    }

    fn make_claim(&self, template: &Value, name: &str) -> Act {
        let mut metadata = template["metadata"].clone();
        metadata["name"] = name.into();
        metadata["namespace"] = self.path.namespace().into();
        for (label, value) in self.set["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten() {
            metadata["labels"][label] = value.clone();
        }
        let object = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": template["spec"],
        });
        Act::Create { resource: Resource::new("", "persistentvolumeclaims"), manager: MANAGER, object }
    }

    fn status(&self) -> Value {
        let count = |is: &dyn Fn(&Value) -> bool| {
            let pods = self.pods.values().filter(|(_, pod)| is(pod));
            i64::try_from(pods.count()).unwrap_or_default()
        };
        let updated = self.revisions.update.0.name();
        let runs = |pod: &Value| phase(pod) == "Running" && is_ready(pod);
        let of = |pod: &Value, revision: &str| !is_deleting(pod) && revision_of(pod) == revision;
        let replicas = count(&|_| true);
        let ready = count(&runs);
        let available = count(&|pod| runs(pod) && is_available(pod, self.wait(), self.view.now));
        let up_to_date = count(&|pod| of(pod, updated));
        let (mut current, mut still) = (self.current.as_str(), count(&|pod| of(pod, &self.current)));
        let wanted = self.ordinals().end - self.ordinals().start;
        let is_rolling = self.set["spec"]["updateStrategy"]["type"] != "OnDelete";
        if is_rolling && [up_to_date, ready, replicas] == [wanted; 3] {
            (current, still) = (updated, up_to_date);
        }
        let mut status = super::view::counts(&[
            ("currentReplicas", still),
            ("readyReplicas", ready),
            ("updatedReplicas", up_to_date),
        ]);
        status["availableReplicas"] = available.into();
        status["replicas"] = replicas.into();
        status["collisionCount"] = number(&self.set["status"]["collisionCount"]).into();
        status["currentRevision"] = current.into();
        status["updateRevision"] = updated.into();
        status["observedGeneration"] = self.set["metadata"]["generation"].clone();
        if !self.set["status"]["conditions"].is_null() {
            status["conditions"] = self.set["status"]["conditions"].clone();
        }
        status
    }
}

fn sets() -> Resource {
    Resource::new("apps", "statefulsets")
}

fn revision_of(pod: &Value) -> &str {
    text(&pod["metadata"]["labels"][REVISION])
}
