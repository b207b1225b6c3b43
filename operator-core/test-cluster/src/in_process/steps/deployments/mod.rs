//! Deployments: a ReplicaSet for each template, and the way from one to the next.
//!
//! ```text
//!  template ─▶ revision: its ReplicaSet, with the number of the rollout
//!                 ├─ paused, or only scaled ─▶ scale
//!                 ├─ RollingUpdate ─▶ rolling: up and down within maxSurge and maxUnavailable
//!                 └─ Recreate ──────▶ recreate: all down, then up
//!                        └─▶ status: counts and conditions; clean-up of old ReplicaSets
//! ```

mod revision;
mod rolling;
mod scale;
mod status;

pub(super) use revision::hash;

use std::sync::Arc;

use serde_json::Value;

use super::{
    Act, MANAGER, Next, claims,
    pods::is_over,
    replica_sets::{is_in_use, wanted},
    view::{Found, View, by_age, number, pods, replica_sets, share, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::How,
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
        if status::is_complete(self.deployment, &self.deployment["status"]) {
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

fn deployments() -> crate::in_process::store::Resource {
    Resource::new("apps", "deployments")
}

/// The sum of a number over ReplicaSets.
fn sum<'s>(sets: impl Iterator<Item = Found<'s>>, of: impl Fn(&Value) -> i64) -> i64 {
    sets.map(|(_, set)| of(set)).sum()
}
