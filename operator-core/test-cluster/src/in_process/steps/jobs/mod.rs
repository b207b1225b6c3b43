//! Jobs: Pods that end, as often as it takes.
//!
//! ```text
//!  Pods run ─▶ one ends: counted, its finalizer goes ─▶ enough? SuccessCriteriaMet ─▶ Complete
//!                                                   └─▶ too many failed? FailureTarget ─▶ Failed ─▶ ttl ─▶ deleted
//! ```

mod ends;
mod indexes;
mod policies;
mod retries;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use self::{
    indexes::Indexes,
    policies::{Consequence, consequence, enough, has_failed, waits_for_end},
    retries::failures_before,
};
use super::{
    Act, MANAGER, Next, claims,
    pods::{create, delete, is_active, is_over, is_ready, of_template, phase},
    times::{condition, is_true, left, new_condition, parse, set_condition},
    view::{Found, View, counts, number, pods, stays, text, without_finalizer},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::{How, finalizers, is_deleting, metadata::time},
};

/// Keeps a Pod until it was counted.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// How often an index has failed before this Pod.
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// A Job and its Pods at one time.
struct Job<'s> {
    view: View<'s>,
    path: &'s Path,
    job: &'s Value,
    pods: Vec<Found<'s>>,
}

/// What a Job needs next.
pub(super) fn next<'s>(view: &View<'s>, path: &'s Path, job: &'s Arc<Value>) -> Next {
    let is_ours = matches!(text(&job["spec"]["managedBy"]), "" | "kubernetes.io/job-controller");
    if !is_ours {
        return Next::nothing();
    }
    match claims::claim(view, &pods(), path, job) {
        Ok(pods) => Job { view: *view, path, job, pods }.next(),
        Err(acts) => Next::first(acts),
    }
}

/// Where Jobs are.
pub(super) fn jobs() -> Resource {
    Resource::new("batch", "jobs")
}

/// The condition that says that a Job has ended.
pub(super) fn end(job: &Value) -> Option<&Value> {
    let is_end = |kind: &str| condition(&job["status"], kind).filter(|end| end["status"] == "True");
    is_end("Complete").or_else(|| is_end("Failed"))
}

impl<'s> Job<'s> {
    fn next(&self) -> Next {
        if !stays(self.job) {
            return Next::acts(self.untracked(|_| true));
        }
        if let Some(end) = end(self.job) {
            let acts = self.untracked(|_| true);
            return if acts.is_empty() { self.after_ttl(end) } else { Next::acts(acts) };
        }
        let mut status = self.job["status"].clone();
        let ended: Vec<Found<'s>> =
            self.pods.iter().copied().filter(|found| self.is_new_end(found)).collect();
        let has_succeeded = |(_, pod): &&Found<'_>| phase(pod) == "Succeeded";
        let succeeded = ended.iter().filter(has_succeeded).count();
        let counts = |(_, pod): &&Found<'_>| {
            phase(pod) != "Succeeded" && consequence(&self.job["spec"], pod) != Consequence::Ignore
        };
        self.count(&mut status, succeeded, ended.iter().filter(counts).count());
        self.count_indexes(&mut status);
        let mut again = None;
        let mut acts = self.decide(&mut status, &mut again);
        self.foresee(&acts, &mut status);
        if status != self.job["status"] {
            let mut object = self.job.clone();
            object["status"] = status;
            let (path, endpoint) = (self.path.clone(), Endpoint::Status);
            acts.push(Act::Write { resource: jobs(), path, endpoint, manager: MANAGER, object });
        }
        acts.extend(self.untracked(|found| self.is_new_end(found)));
        Next { acts, again }
    }

    fn count(&self, status: &mut Value, succeeded: usize, failed: usize) {
        let add = |known: &Value, more: usize| number(known) + i64::try_from(more).unwrap_or_default();
        let active: Vec<_> = self.pods.iter().filter(|(_, pod)| is_active(pod)).collect();
        let numbers = counts(&[
            ("active", add(&Value::Null, active.len())),
            ("succeeded", add(&status["succeeded"], succeeded)),
            ("failed", add(&status["failed"], failed)),
        ]);
        for field in ["active", "succeeded", "failed"] {
            match numbers.get(field) {
                Some(number) => status[field] = number.clone(),
                None => drop(status.as_object_mut().and_then(|status| status.remove(field))),
            }
        }
        status["ready"] = active.iter().filter(|(_, pod)| is_ready(pod)).count().into();
        status["terminating"] = self.ending().into();
        status["uncountedTerminatedPods"] = json!({});
    }

    /// Counts the Pods as they are when the acts are done.
    fn foresee(&self, acts: &[Act], status: &mut Value) {
        let mut active = number(&status["active"]);
        for act in acts {
            match act {
                Act::Create { .. } => active += 1,
                Act::Delete { path, .. } => {
                    active -= 1;
                    status["terminating"] = (number(&status["terminating"]) + 1).into();
                    let pod = self.pods.iter().find(|(of, _)| *of == path);
                    if pod.is_some_and(|(_, pod)| is_ready(pod)) {
                        status["ready"] = (number(&status["ready"]) - 1).into();
                    }
                }
                _ => {}
            }
        }
        match active {
            0 => drop(status.as_object_mut().and_then(|status| status.remove("active"))),
            _ => status["active"] = active.into(),
        }
    }

    /// Starts, stops and ends: what to do with the Pods, and what the status says about it.
    fn decide(&self, status: &mut Value, again: &mut Option<Duration>) -> Vec<Act> {
        let spec = &self.job["spec"];
        if self.is_suspended(status) {
            return self.all_given_up();
        }
        if status["startTime"].is_null() {
            status["startTime"] = time(self.view.now).into();
        }
        if let Some(act) = self.finish(status) {
            return act;
        }
        if let Some(seconds) = spec["activeDeadlineSeconds"].as_i64()
            && let Some(start) = parse(&status["startTime"])
        {
            *again = Some(left(self.view.now, start, seconds)).filter(|left| !left.is_zero());
        }
        let active: Vec<Found<'s>> = self.pods.iter().copied().filter(|(_, pod)| is_active(pod)).collect();
        let parallel = spec["parallelism"].as_i64().unwrap_or(1);
        let done = number(&status["succeeded"]);
        let wanted = match spec["completions"].as_i64() {
            None if done > 0 => i64::try_from(active.len()).unwrap_or_default(),
            None => parallel,
            Some(completions) => parallel.min((completions - done).max(0)),
        };
        let wanted = usize::try_from(wanted).unwrap_or_default();
        let wanted = if waits_for_end(spec) {
            wanted.saturating_sub(self.ending()).max(active.len().min(wanted))
        } else {
            wanted
        };
        if active.len() > wanted {
            return active[wanted..].iter().flat_map(given_up).collect();
        }
        if active.len() == wanted || self.view.failed.is_some() {
            return Vec::new();
        }
        let missing = wanted - active.len();
        let mut wait_for = |wait: Duration| *again = Some(again.map_or(wait, |known| known.min(wait)));
        if self.limit_per_index().is_some() {
            let (now, later) = self.indexes_by_themselves(status, missing);
            later.into_iter().for_each(wait_for);
            return now.into_iter().map(|index| create(self.made(Some(index)))).collect();
        }
        if let Some(wait) = self.backoff(status) {
            wait_for(wait);
            return Vec::new();
        }
        self.indexes(status, missing).into_iter().map(|index| create(self.made(index))).collect()
    }

    /// Whether the Job is not to run now; says so in the status.
    fn is_suspended(&self, status: &mut Value) -> bool {
        let is_suspended = self.job["spec"]["suspend"] == true;
        let was_suspended = is_true(status, "Suspended");
        if is_suspended && !was_suspended {
            set_condition(status, self.condition("Suspended", "True", "JobSuspended", "Job suspended"));
            status.as_object_mut().map(|status| status.remove("startTime"));
        } else if !is_suspended && was_suspended {
            set_condition(status, self.condition("Suspended", "False", "JobResumed", "Job resumed"));
            status["startTime"] = time(self.view.now).into();
        }
        is_suspended
    }

    /// What is done when the Job has succeeded or failed; `None` if neither is so.
    fn finish(&self, status: &mut Value) -> Option<Vec<Act>> {
        let has_met = is_true(status, "SuccessCriteriaMet");
        if !has_met && !is_true(status, "FailureTarget") {
            let Some((reason, message)) = self.failure(status) else {
                let (reason, message) = self.success(status)?;
                set_condition(status, self.condition("SuccessCriteriaMet", "True", reason, &message));
                return Some(self.all_given_up());
            };
            set_condition(status, self.condition("FailureTarget", "True", reason, &message));
            return Some(self.ended_pods());
        }
        // It is over when nothing of it runs any more.
        if self.pods.iter().any(|(_, pod)| !is_over(pod)) {
            return Some(self.ended_pods());
        }
        let (cause, kind) =
            if has_met { ("SuccessCriteriaMet", "Complete") } else { ("FailureTarget", "Failed") };
        let cause = condition(status, cause).cloned().unwrap_or_default();
        let (reason, message) = (text(&cause["reason"]), text(&cause["message"]));
        set_condition(status, self.condition(kind, "True", reason, message));
        if has_met {
            status["completionTime"] = time(self.view.now).into();
        }
        Some(Vec::new())
    }

    fn condition(&self, kind: &str, status: &str, reason: &str, message: &str) -> Value {
        let mut condition = new_condition(self.view.now, kind, status, reason, message);
        condition["lastProbeTime"] = time(self.view.now).into();
        condition
    }

    /// Deletes the Pods that still run.
    fn ended_pods(&self) -> Vec<Act> {
        let active = self.pods.iter().filter(|(_, pod)| is_active(pod));
        active.map(|(path, _)| delete(path)).collect()
    }

    /// Takes away what keeps Pods until they are counted.
    fn untracked(&self, which: impl Fn(&Found<'s>) -> bool) -> Vec<Act> {
        let is_tracked = |found: &&Found<'s>| finalizers(found.1).contains(&TRACKING) && which(found);
        let tracked = self.pods.iter().filter(is_tracked);
        tracked.filter_map(freed).collect()
    }

    /// Ends all Pods that run, because none is needed.
    fn all_given_up(&self) -> Vec<Act> {
        self.pods.iter().filter(|(_, pod)| is_active(pod)).flat_map(given_up).collect()
    }

    /// How many Pods are about to end.
    fn ending(&self) -> usize {
        self.pods.iter().filter(|(_, pod)| Self::is_ending(pod)).count()
    }

    fn is_indexed(&self) -> bool {
        self.job["spec"]["completionMode"] == "Indexed"
    }

    fn made(&self, index: Option<i64>) -> Value {
        let namespace = self.path.namespace().unwrap_or_default();
        let mut pod = of_template(&self.job["spec"]["template"], self.job, namespace);
        let name = self.path.name();
        let mut finalizers = pod["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        finalizers.push(TRACKING.into());
        pod["metadata"]["finalizers"] = finalizers.into();
        pod["metadata"]["generateName"] = format!("{name}-").into();
        let Some(index) = index else { return pod };
        pod["metadata"]["generateName"] = format!("{name}-{index}-").into();
        for part in ["labels", "annotations"] {
            pod["metadata"][part][INDEX] = index.to_string().into();
        }
        self.count_failures(&mut pod, index);
        if pod["spec"]["hostname"].is_null() {
            pod["spec"]["hostname"] = format!("{name}-{index}").into();
        }
        let field = format!("metadata.labels['{INDEX}']");
        let variable = json!({
            "name": "JOB_COMPLETION_INDEX", "valueFrom": { "fieldRef": { "fieldPath": field } },
        });
        for list in ["containers", "initContainers"] {
            for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
                match container["env"].as_array_mut() {
                    Some(env) => env.push(variable.clone()),
                    None => container["env"] = json!([variable]),
                }
            }
        }
        pod
    }

    /// A Job that has ended is deleted some time later, if it says so.
    fn after_ttl(&self, end: &Value) -> Next {
        let wait = self.job["spec"]["ttlSecondsAfterFinished"].as_i64();
        let Some((seconds, since)) = wait.zip(parse(&end["lastTransitionTime"])) else {
            return Next::nothing();
        };
        let left = left(self.view.now, since, seconds);
        if !left.is_zero() {
            return Next { acts: Vec::new(), again: Some(left) };
        }
        Next::act(Act::Delete { resource: jobs(), path: self.path.clone(), how: How::Foreground })
    }
}

/// Ends a Pod that is not needed, which then is no failure.
fn given_up(found: &Found<'_>) -> Vec<Act> {
    freed(found).into_iter().chain([delete(found.0)]).collect()
}

/// A Pod without what keeps it until it is counted.
fn freed((path, pod): &Found<'_>) -> Option<Act> {
    let object = without_finalizer(pod, TRACKING)?;
    let (path, endpoint) = ((*path).clone(), Endpoint::Main);
    Some(Act::Write { resource: pods(), path, endpoint, manager: MANAGER, object })
}
