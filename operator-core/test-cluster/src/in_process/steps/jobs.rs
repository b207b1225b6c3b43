//! Jobs: Pods that end, as often as it takes.
//!
//! ```text
//!  Pods run ─▶ one ends: counted, its finalizer goes ─▶ enough? SuccessCriteriaMet ─▶ Complete
//!                                                   └─▶ too many failed? FailureTarget ─▶ Failed ─▶ ttl ─▶ deleted
//! ```

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    Act, MANAGER, Next, claims,
    pods::{create, delete, is_active, is_ready, of_template, phase},
    times::{condition, is_true, left, new_condition, parse, set_condition},
    view::{Found, View, counts, items, number, pods, resource, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::{How, finalizers, is_deleting, metadata::time},
};

/// Keeps a Pod until it was counted.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

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
    resource("batch", "jobs")
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
        let ended: Vec<Found<'s>> = self.pods.iter().copied().filter(|(_, pod)| is_new_end(pod)).collect();
        let has_succeeded = |(_, pod): &&Found<'_>| phase(pod) == "Succeeded";
        let succeeded = ended.iter().filter(has_succeeded).count();
        self.count(&mut status, succeeded, ended.len() - succeeded);
        let mut again = None;
        let mut acts = self.decide(&mut status, &mut again);
        if status != self.job["status"] {
            let mut object = self.job.clone();
            object["status"] = status;
            let (path, endpoint) = (self.path.clone(), Endpoint::Status);
            acts.insert(0, Act::Write { resource: jobs(), path, endpoint, manager: MANAGER, object });
        }
        acts.extend(self.untracked(is_new_end));
        Next { acts, again }
    }

    fn count(&self, status: &mut Value, succeeded: usize, failed: usize) {
        let add = |known: &Value, more: usize| number(known) + i64::try_from(more).unwrap_or_default();
        let active: Vec<_> = self.pods.iter().filter(|(_, pod)| is_active(pod)).collect();
        let ending = self.pods.iter().filter(|(_, pod)| is_deleting(pod) && !is_over(pod)).count();
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
        status["terminating"] = ending.into();
        status["uncountedTerminatedPods"] = json!({});
    }

    /// Starts, stops and ends: what to do with the Pods, and what the status says about it.
    fn decide(&self, status: &mut Value, again: &mut Option<Duration>) -> Vec<Act> {
        let spec = &self.job["spec"];
        if self.is_suspended(status) {
            return self.ended_pods();
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
        if active.len() > wanted {
            return active[wanted..].iter().map(|(path, _)| delete(path)).collect();
        }
        if active.len() == wanted || self.view.failed.is_some() {
            return Vec::new();
        }
        if let Some(wait) = self.backoff(status) {
            *again = Some(again.map_or(wait, |known| known.min(wait)));
            return Vec::new();
        }
        let missing = wanted - active.len();
        self.indexes(missing).into_iter().map(|index| create(self.made(index))).collect()
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
            let (reason, message) = match self.failure(status) {
                Some(failure) => failure,
                None if self.is_done(status) => {
                    let message = "Reached expected number of succeeded pods";
                    let met = self.condition("SuccessCriteriaMet", "True", "CompletionsReached", message);
                    set_condition(status, met);
                    return Some(self.ended_pods());
                }
                None => return None,
            };
            set_condition(status, self.condition("FailureTarget", "True", reason, message));
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

    fn failure(&self, status: &Value) -> Option<(&'static str, &'static str)> {
        let spec = &self.job["spec"];
        let limit = spec["backoffLimit"].as_i64().unwrap_or(6);
        let restarts = || {
            let pods = self.pods.iter().filter(|(_, pod)| matches!(phase(pod), "Running" | "Pending"));
            let statuses = pods.flat_map(|(_, pod)| items(&pod["status"]["containerStatuses"]));
            statuses.map(|status| number(&status["restartCount"])).sum::<i64>()
        };
        let restarts = if spec["template"]["spec"]["restartPolicy"] == "OnFailure" { restarts() } else { 0 };
        let by_restarts = if limit == 0 { restarts > 0 } else { restarts >= limit };
        if number(&status["failed"]) > limit || by_restarts {
            return Some(("BackoffLimitExceeded", "Job has reached the specified backoff limit"));
        }
        let seconds = spec["activeDeadlineSeconds"].as_i64()?;
        let start = parse(&status["startTime"])?;
        left(self.view.now, start, seconds)
            .is_zero()
            .then_some(("DeadlineExceeded", "Job was active longer than specified deadline"))
    }

    fn is_done(&self, status: &Value) -> bool {
        let (done, active) = (number(&status["succeeded"]), number(&status["active"]));
        match self.job["spec"]["completions"].as_i64() {
            None => done > 0 && active == 0,
            Some(completions) => done >= completions && active == 0,
        }
    }

    fn condition(&self, kind: &str, status: &str, reason: &str, message: &str) -> Value {
        let mut condition = new_condition(self.view.now, kind, status, reason, message);
        condition["lastProbeTime"] = time(self.view.now).into();
        condition
    }

    /// How long it takes until a Pod is made in place of a failed one: 10 s after the first, then twice as long.
    fn backoff(&self, status: &Value) -> Option<Duration> {
        let failed = number(&status["failed"]);
        let finished = |(_, pod): &Found<'_>| {
            let ends = items(&pod["status"]["containerStatuses"]).iter();
            ends.filter_map(|status| parse(&status["state"]["terminated"]["finishedAt"])).max()
        };
        let last = self.pods.iter().filter(|(_, pod)| phase(pod) == "Failed").filter_map(finished).max()?;
        let seconds = (10_i64 << (failed - 1).clamp(0, 10)).min(600);
        Some(left(self.view.now, last, seconds)).filter(|left| !left.is_zero())
    }

    /// Deletes the Pods that still run.
    fn ended_pods(&self) -> Vec<Act> {
        let active = self.pods.iter().filter(|(_, pod)| is_active(pod));
        active.map(|(path, _)| delete(path)).collect()
    }

    /// Takes away what keeps Pods until they are counted.
    fn untracked(&self, which: impl Fn(&Value) -> bool) -> Vec<Act> {
        let tracked = self.pods.iter().filter(|(_, pod)| finalizers(pod).contains(&TRACKING) && which(pod));
        let write = |(path, pod): &Found<'_>| {
            let mut object = Value::clone(pod);
            let kept: Vec<_> = finalizers(pod).into_iter().filter(|name| *name != TRACKING).collect();
            object["metadata"]["finalizers"] = kept.into();
            let (path, endpoint) = ((*path).clone(), Endpoint::Main);
            Act::Write { resource: pods(), path, endpoint, manager: MANAGER, object }
        };
        tracked.map(write).collect()
    }

    fn is_indexed(&self) -> bool {
        self.job["spec"]["completionMode"] == "Indexed"
    }

    /// The numbers of the next Pods, if they have any.
    fn indexes(&self, missing: usize) -> Vec<Option<i64>> {
        if !self.is_indexed() {
            return vec![None; missing];
        }
        let taken = |index: i64| {
            let has = |(_, pod): &Found<'_>| {
                let of = text(&pod["metadata"]["annotations"][INDEX]);
                (is_active(pod) || phase(pod) == "Succeeded") && of.parse() == Ok(index)
            };
            self.pods.iter().any(has)
        };
        let all = 0..number(&self.job["spec"]["completions"]);
        all.filter(|index| !taken(*index)).take(missing).map(Some).collect()
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

fn is_over(pod: &Value) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Whether a Pod has ended, or is about to, and was not counted yet.
fn is_new_end(pod: &Value) -> bool {
    finalizers(pod).contains(&TRACKING) && (is_over(pod) || is_deleting(pod))
}
