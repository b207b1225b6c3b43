//! What a Deployment says about its rollout.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    super::{
        Next,
        times::{condition, left, new_condition, parse, remove_condition, set_condition},
        view::{counts, number, text},
    },
    Act, Rollout, sum, wanted,
};
use crate::in_process::write::metadata::time;

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
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let fields = ["replicas", "updatedReplicas", "availableReplicas"];
    fields.iter().all(|field| number(&status[*field]) == wanted(deployment))
        && number(&status["observedGeneration"]) >= number(&deployment["metadata"]["generation"])
}
