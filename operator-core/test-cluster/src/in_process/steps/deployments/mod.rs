//! Deployments: a ReplicaSet for each template, and the way from one to the next.
//!
//! ```text
//!  template ─▶ revision: its ReplicaSet, with the number of the rollout
//!                 ├─ paused, or only scaled ─▶ scale
//!                 ├─ RollingUpdate ─▶ roll: up and down within maxSurge and maxUnavailable
//!                 └─ Recreate ──────▶ recreate: all down, then up
//!                        └─▶ status: counts and conditions; clean-up of old ReplicaSets
//! ```

mod revision;
mod scale;

pub(super) use revision::hash;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    Act, MANAGER, Next, claims,
    pods::is_over,
    replica_sets::{is_in_use, wanted},
    times::{condition, left, new_condition, parse, remove_condition, set_condition},
    view::{Found, View, by_age, counts, number, pods, replica_sets, share, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::{How, metadata::time},
};

/// A Deployment and its ReplicaSets at one time.
struct Rollout<'s> {
    view: View<'s>,
    path: &'s Path,
    deployment: &'s Value,
    /// That of the present template.
    new: Option<Found<'s>>,
    /// All others, oldest first.
    old: Vec<Found<'s>>,
}

/// What a Deployment needs next.
pub(super) fn next<'s>(view: &View<'s>, path: &'s Path, deployment: &'s Arc<Value>) -> Next {
    let mut sets = match claims::claim(view, &replica_sets(), path, deployment) {
        Ok(sets) => sets,
        Err(acts) => return Next::first(acts),
    };
    by_age(&mut sets);
    let template = revision::without_hash(&deployment["spec"]["template"]);
    let is_new = |set: &Value| revision::without_hash(&set["spec"]["template"]) == template;
    let new = sets.iter().copied().find(|(_, set)| is_new(set));
    let old = sets.into_iter().filter(|(path, _)| new.is_none_or(|(new, _)| new != *path)).collect();
    let rollout = Rollout { view: *view, path, deployment, new, old };
    rollout.next()
}

impl<'s> Rollout<'s> {
    fn next(&self) -> Next {
        if !stays(self.deployment) {
            return self.plain_status();
        }
        if let Some(act) = self.pause() {
            return Next::act(act);
        }
        if self.deployment["spec"]["paused"] == true {
            return self.scaled_or_status(true);
        }
        if self.is_scaling() {
            if let Some(next) = self.revise(false) {
                return next;
            }
            return self.scaled_or_status(false);
        }
        match text(&self.deployment["spec"]["strategy"]["type"]) {
            "Recreate" => self.recreate(),
            _ => self.roll(),
        }
    }

    /// Gives each ReplicaSet its share of a changed number of replicas, without a rollout.
    fn scaled_or_status(&self, paused: bool) -> Next {
        if paused && let Some(next) = self.revise(false) {
            return next;
        }
        let mut acts = self.scale();
        if !acts.is_empty() {
            return Next::acts(acts);
        }
        if paused {
            acts = self.clean_up();
        }
        let mut next = self.plain_status();
        acts.append(&mut next.acts);
        Next { acts, ..next }
    }

    fn recreate(&self) -> Next {
        if let Some(next) = self.revise(false) {
            return next;
        }
        let down: Vec<Act> =
            self.old.iter().filter(|(_, set)| wanted(set) > 0).map(|set| self.resized(*set, 0)).collect();
        if !down.is_empty() {
            return Next::acts(down);
        }
        if self.old_pods_are_left() {
            return self.status();
        }
        if let Some(next) = self.revise(true) {
            return next;
        }
        match self.new {
            Some(new) if wanted(new.1) != self.replicas() => Next::act(self.resized(new, self.replicas())),
            _ => self.finish(),
        }
    }

    /// Whether Pods of former templates still run.
    fn old_pods_are_left(&self) -> bool {
        let counted = self.old.iter().any(|(_, set)| number(&set["status"]["replicas"]) > 0);
        let run =
            |(_, set): &Found<'s>| self.view.controlled(&pods(), set).iter().any(|(_, pod)| !is_over(pod));
        counted || self.old.iter().any(run)
    }

    /// The end of each step: what is no longer needed goes, and the status says how far it is.
    fn finish(&self) -> Next {
        if is_complete(self.deployment, &self.deployment["status"]) {
            let acts = self.clean_up();
            if !acts.is_empty() {
                return Next::acts(acts);
            }
        }
        self.status()
    }

    /// Deletes the oldest ReplicaSets that are no longer used, if there are more than the spec keeps.
    fn clean_up(&self) -> Vec<Act> {
        let Some(kept) = self.deployment["spec"]["revisionHistoryLimit"].as_i64() else { return Vec::new() };
        let mut sets: Vec<_> = self.old.iter().filter(|(_, set)| stays(set)).collect();
        let surplus = sets.len().saturating_sub(usize::try_from(kept).unwrap_or_default());
        sets.sort_by_key(|(_, set)| revision::of(set));
        let is_seen = |set: &Value| set["status"]["observedGeneration"] == set["metadata"]["generation"];
        let unused = sets.into_iter().take(surplus).filter(|(_, set)| !is_in_use(set) && is_seen(set));
        let delete = |(path, _): &Found<'s>| Act::Delete {
            resource: replica_sets(),
            path: (*path).clone(),
            how: How::Background,
        };
        unused.map(delete).collect()
    }

    fn replicas(&self) -> i64 {
        wanted(self.deployment)
    }

    /// All ReplicaSets, the old ones first.
    fn all(&self) -> impl Iterator<Item = Found<'s>> {
        self.old.iter().copied().chain(self.new)
    }

    /// How many Pods there may be in addition.
    fn surge(&self) -> i64 {
        self.limits().0
    }

    /// How many Pods may be missing.
    fn unavailable(&self) -> i64 {
        if self.replicas() == 0 { 0 } else { self.limits().1.min(self.replicas()) }
    }

    fn limits(&self) -> (i64, i64) {
        let strategy = &self.deployment["spec"]["strategy"];
        if strategy["type"] != "RollingUpdate" {
            return (0, 0);
        }
        let rolling = &strategy["rollingUpdate"];
        let surge = share(&rolling["maxSurge"], self.replicas(), true);
        let unavailable = share(&rolling["maxUnavailable"], self.replicas(), false);
        // With none of both nothing could move.
        if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
    }

    /// A write of the Deployment's status, and of its annotations if they have changed.
    fn written(&self, object: Value) -> Act {
        Act::Write {
            resource: deployments(),
            path: self.path.clone(),
            endpoint: Endpoint::Status,
            manager: MANAGER,
            object,
        }
    }
}

/// What a Deployment says about its rollout.
impl Rollout<'_> {
    /// Says that the rollout is paused, or continues.
    pub(super) fn pause(&self) -> Option<Act> {
        self.deadline()?;
        let known = condition(&self.deployment["status"], "Progressing");
        let reason = known.map(|known| text(&known["reason"])).unwrap_or_default();
        if reason == "ProgressDeadlineExceeded" {
            return None;
        }
        let is_paused = self.deployment["spec"]["paused"] == true;
        let (reason, message) = match (is_paused, reason == "DeploymentPaused") {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return None,
        };
        let mut object = self.deployment.clone();
        set_condition(&mut object["status"], self.condition("Progressing", "Unknown", reason, message));
        Some(self.written(object))
    }

    /// The status without a look at the progress.
    pub(super) fn plain_status(&self) -> Next {
        self.status_if_changed(self.counted(), None)
    }

    /// The status, and how far the rollout is.
    pub(super) fn status(&self) -> Next {
        let mut status = self.counted();
        let known = condition(&self.deployment["status"], "Progressing");
        let reason = known.map(|known| text(&known["reason"])).unwrap_or_default();
        let is_told = reason == "NewReplicaSetAvailable"
            && number(&status["replicas"]) == number(&status["updatedReplicas"]);
        let subject = match self.new {
            Some((path, _)) => format!("ReplicaSet \"{}\"", path.name()),
            None => format!("Deployment \"{}\"", self.path.name()),
        };
        match self.deadline() {
            None => remove_condition(&mut status, "Progressing"),
            Some(_) if is_told => {}
            Some(deadline) => {
                if is_complete(self.deployment, &status) {
                    let message = format!("{subject} has successfully progressed.");
                    let done = self.condition("Progressing", "True", "NewReplicaSetAvailable", &message);
                    set_condition(&mut status, done);
                } else if self.progresses(&status) {
                    let message = format!("{subject} is progressing.");
                    let mut goes_on = self.condition("Progressing", "True", "ReplicaSetUpdated", &message);
                    if let Some(known) = known.filter(|known| known["status"] == "True") {
                        goes_on["lastTransitionTime"] = known["lastTransitionTime"].clone();
                    }
                    remove_condition(&mut status, "Progressing");
                    set_condition(&mut status, goes_on);
                } else if self.is_late(deadline) {
                    let message = format!("{subject} has timed out progressing.");
                    let late = self.condition("Progressing", "False", "ProgressDeadlineExceeded", &message);
                    set_condition(&mut status, late);
                }
            }
        }
        let again = self.until_late(&status);
        self.status_if_changed(status, again)
    }

    fn status_if_changed(&self, mut status: Value, again: Option<Duration>) -> Next {
        let failures = self.new.into_iter().chain(self.old.iter().copied());
        let failure = failures.filter_map(|(_, set)| condition(&set["status"], "ReplicaFailure")).next();
        match failure {
            Some(failure) => {
                let message = text(&failure["message"]);
                let reason = text(&failure["reason"]);
                let mut failure = self.condition("ReplicaFailure", text(&failure["status"]), reason, message);
                failure["lastUpdateTime"] = failure["lastTransitionTime"].clone();
                set_condition(&mut status, failure);
            }
            None => remove_condition(&mut status, "ReplicaFailure"),
        }
        if status == self.deployment["status"] {
            return Next { acts: Vec::new(), again };
        }
        let mut object = self.deployment.clone();
        object["status"] = status;
        Next { acts: vec![self.written(object)], again }
    }

    fn counted(&self) -> Value {
        let of = |field: &'static str| move |set: &Value| number(&set["status"][field]);
        let all = |field: &'static str| sum(self.all(), of(field));
        let available = all("availableReplicas");
        let unavailable = (sum(self.all(), wanted) - available).max(0);
        let mut status = counts(&[
            ("replicas", all("replicas")),
            ("updatedReplicas", self.new.map_or(0, |(_, set)| of("replicas")(set))),
            ("readyReplicas", all("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", unavailable),
        ]);
        status["terminatingReplicas"] = all("terminatingReplicas").into();
        status["observedGeneration"] = self.deployment["metadata"]["generation"].clone();
        for field in ["collisionCount", "conditions"] {
            if !self.deployment["status"][field].is_null() {
                status[field] = self.deployment["status"][field].clone();
            }
        }
        let enough = available >= self.replicas() - self.unavailable();
        set_condition(
            &mut status,
            match enough {
                true => self.condition(
                    "Available",
                    "True",
                    "MinimumReplicasAvailable",
                    "Deployment has minimum availability.",
                ),
                false => self.condition(
                    "Available",
                    "False",
                    "MinimumReplicasUnavailable",
                    "Deployment does not have minimum availability.",
                ),
            },
        );
        status
    }

    fn condition(&self, kind: &str, status: &str, reason: &str, message: &str) -> Value {
        let mut condition = new_condition(self.view.now, kind, status, reason, message);
        condition["lastUpdateTime"] = json!(time(self.view.now));
        condition
    }

    /// In how many seconds there must be progress. The greatest possible number means never.
    fn deadline(&self) -> Option<i64> {
        let deadline = self.deployment["spec"]["progressDeadlineSeconds"].as_i64();
        deadline.filter(|deadline| *deadline != i64::from(i32::MAX))
    }

    fn progresses(&self, status: &Value) -> bool {
        let before = &self.deployment["status"];
        let of = |status: &Value, field: &str| number(&status[field]);
        let old = |status: &Value| of(status, "replicas") - of(status, "updatedReplicas");
        let grows = |field: &str| of(status, field) > of(before, field);
        old(status) < old(before)
            || grows("updatedReplicas")
            || grows("readyReplicas")
            || grows("availableReplicas")
    }

    fn is_late(&self, deadline: i64) -> bool {
        let Some(known) = condition(&self.deployment["status"], "Progressing") else { return false };
        let since = parse(&known["lastUpdateTime"]);
        match text(&known["reason"]) {
            "NewReplicaSetAvailable" => false,
            "ProgressDeadlineExceeded" => true,
            _ => since.is_some_and(|since| self.view.now.duration_since(since).as_secs() > deadline),
        }
    }

    /// How long it takes until the rollout is late, if nothing changes.
    fn until_late(&self, status: &Value) -> Option<Duration> {
        let deadline = self.deadline()?;
        let known = condition(&self.deployment["status"], "Progressing")?;
        if is_complete(self.deployment, status) || known["reason"] == "ProgressDeadlineExceeded" {
            return None;
        }
        let since = parse(&known["lastUpdateTime"])?;
        Some(left(self.view.now, since, deadline + 1).max(Duration::from_secs(1)))
    }
}

/// Whether a status says that all replicas are updated and available.
fn is_complete(deployment: &Value, status: &Value) -> bool {
    let fields = ["replicas", "updatedReplicas", "availableReplicas"];
    fields.iter().all(|field| number(&status[*field]) == wanted(deployment))
        && number(&status["observedGeneration"]) >= number(&deployment["metadata"]["generation"])
}

fn deployments() -> crate::in_process::store::Resource {
    Resource::new("apps", "deployments")
}

/// The sum of a number over ReplicaSets.
fn sum<'s>(sets: impl Iterator<Item = Found<'s>>, of: impl Fn(&Value) -> i64) -> i64 {
    sets.map(|(_, set)| of(set)).sum()
}
