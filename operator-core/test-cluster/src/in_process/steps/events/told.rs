//! What real controllers say about what they have done. Pure.

use serde_json::Value;

use super::{
    super::{
        pods::phase,
        times::condition,
        view::{items, number, text},
    },
    Controller, Said,
};
use crate::in_process::store::{Path, Resource};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::in_process::steps) enum Verb {
    Create,
    Write,
    Delete,
}

/// Something that a controller has done or tried.
#[derive(Debug)]
pub(in crate::in_process::steps) struct Deed<'d> {
    pub(in crate::in_process::steps) verb: Verb,
    pub(in crate::in_process::steps) resource: &'d Resource,
    pub(in crate::in_process::steps) path: &'d Path,
    /// The object before, if there was one.
    pub(in crate::in_process::steps) before: &'d Value,
    /// The object after it, if there still is one.
    pub(in crate::in_process::steps) after: &'d Value,
    /// Why it was refused.
    pub(in crate::in_process::steps) refused: Option<&'d str>,
}

/// What a controller says about a deed: about the object that it has looked at, which is called `looked_at`.
pub(in crate::in_process::steps) fn told(
    controller: Controller,
    looked_at: &Path,
    deed: &Deed<'_>,
) -> Vec<Said> {
    let name = deed.path.name();
    let one = |said: Said| vec![said];
    match (controller, deed.verb, &*deed.resource.plural) {
        (Controller::ReplicaSets | Controller::Jobs | Controller::DaemonSets, Verb::Create, "pods") => {
            one(said(
                "SuccessfulCreate",
                format!("Created pod: {name}"),
                deed.refused.map(|why| ("FailedCreate", format!("Error creating: {why}"))),
            ))
        }
        (Controller::ReplicaSets | Controller::Jobs | Controller::DaemonSets, Verb::Delete, "pods") => {
            one(said(
                "SuccessfulDelete",
                format!("Deleted pod: {name}"),
                deed.refused.map(|why| ("FailedDelete", format!("Error deleting: {why}"))),
            ))
        }
        (Controller::StatefulSets, Verb::Create, plural @ ("pods" | "persistentvolumeclaims")) => {
            one(of_stateful_set("Create", looked_at, name, plural, deed))
        }
        (Controller::StatefulSets, Verb::Delete, "pods") => {
            one(of_stateful_set("Delete", looked_at, name, "pods", deed))
        }
        (Controller::Deployments, verb, "replicasets") => of_deployment(verb, name, deed),
        (Controller::Jobs, Verb::Write, "jobs") => of_job(deed),
        (Controller::CronJobs, Verb::Create, "jobs") => one(said(
            "SuccessfulCreate",
            format!("Created job {name}"),
            deed.refused.map(|why| ("FailedCreate", format!("Error creating job: {why}"))),
        )),
        (Controller::Scheduler, Verb::Write, "pods") => of_scheduler(deed),
        (Controller::Node, verb, "pods") => of_node(verb, deed),
        _ => Vec::new(),
    }
}

/// The one thing, or else the other.
fn said(reason: &'static str, message: String, refused: Option<(&'static str, String)>) -> Said {
    match refused {
        None => Said::normal(reason, message),
        Some((reason, message)) => Said::warning(reason, message),
    }
}

fn of_stateful_set(verb: &'static str, set: &Path, name: &str, plural: &str, deed: &Deed<'_>) -> Said {
    let (done, failed) = match verb {
        "Create" => ("SuccessfulCreate", "FailedCreate"),
        _ => ("SuccessfulDelete", "FailedDelete"),
    };
    let set = set.name();
    if plural == "pods" {
        let what = format!("{verb} Pod {name} in StatefulSet {set}");
        let refused = deed.refused.map(|why| (failed, format!("{what} failed error: {why}")));
        return said(done, format!("{what} successful"), refused);
    }
    // The name of a claim ends with that of its Pod.
    let pod = name.rfind(&format!("-{set}-")).and_then(|at| name.get(at + 1..)).unwrap_or(name);
    let refused = deed.refused.map(|why| {
        (failed, format!("{verb} Claim {name} for Pod {pod} in StatefulSet {set} failed error: {why}"))
    });
    said(done, format!("{verb} Claim {name} Pod {pod} in StatefulSet {set} success"), refused)
}

fn of_deployment(verb: Verb, name: &str, deed: &Deed<'_>) -> Vec<Said> {
    let size = |set: &Value| number(&set["spec"]["replicas"]);
    let (from, to) = (size(deed.before), size(deed.after));
    match (verb, deed.refused) {
        (Verb::Create, Some(why)) => {
            let said = format!("Failed to create new replica set \"{name}\": {why}");
            vec![Said::warning("ReplicaSetCreateError", said)]
        }
        (Verb::Create | Verb::Write, None) if from != to => {
            let way = if to > from { "up" } else { "down" };
            let said = format!("Scaled {way} replica set {name} from {from} to {to}");
            vec![Said::normal("ScalingReplicaSet", said)]
        }
        _ => Vec::new(),
    }
}

fn of_job(deed: &Deed<'_>) -> Vec<Said> {
    let of = |job: &Value, kind: &str| condition(&job["status"], kind).cloned().unwrap_or_default();
    let has_come = |kind: &str| {
        let now = of(deed.after, kind);
        (now["status"] != of(deed.before, kind)["status"]).then_some(now)
    };
    if deed.refused.is_some() {
        return Vec::new();
    }
    let mut all = Vec::new();
    if let Some(suspended) = has_come("Suspended") {
        all.push(match suspended["status"] == "True" {
            true => Said::normal("Suspended", "Job suspended".to_owned()),
            false => Said::normal("Resumed", "Job resumed".to_owned()),
        });
    }
    if has_come("Complete").is_some() {
        all.push(Said::normal("Completed", "Job completed".to_owned()));
    }
    if let Some(failed) = has_come("Failed") {
        let reasons = [
            "BackoffLimitExceeded",
            "DeadlineExceeded",
            "PodFailurePolicy",
            "FailedIndexes",
            "MaxFailedIndexesExceeded",
        ];
        let reason = reasons.into_iter().find(|reason| failed["reason"] == *reason).unwrap_or("Failed");
        all.push(Said::warning(reason, text(&failed["message"]).to_owned()));
    }
    all
}

fn of_scheduler(deed: &Deed<'_>) -> Vec<Said> {
    let node = text(&deed.after["spec"]["nodeName"]);
    if deed.refused.is_some() {
        return Vec::new();
    }
    if !node.is_empty() {
        let (namespace, name) = (deed.path.namespace().unwrap_or_default(), deed.path.name());
        let said = format!("Successfully assigned {namespace}/{name} to {node}");
        return vec![Said::normal("Scheduled", said)];
    }
    let waits = condition(&deed.after["status"], "PodScheduled");
    let waits = waits.filter(|waits| waits["status"] == "False");
    let message = waits.map(|waits| text(&waits["message"]).to_owned());
    message.map(|message| Said::warning("FailedScheduling", message)).into_iter().collect()
}

fn of_node(verb: Verb, deed: &Deed<'_>) -> Vec<Said> {
    let (before, after) = (deed.before, deed.after);
    if deed.refused.is_some() {
        return Vec::new();
    }
    let containers = |list: &str| -> Vec<(String, String, String)> {
        let of = |container: &Value| {
            let name = text(&container["name"]).to_owned();
            (format!("spec.{list}{{{name}}}"), name, text(&container["image"]).to_owned())
        };
        items(&before["spec"][list]).iter().map(of).collect()
    };
    let about = |part: &str, said: Said| Said { part: Some(part.to_owned()), ..said };
    if verb == Verb::Delete {
        let running = containers("containers").into_iter().filter(|_| phase(before) == "Running");
        let killed = |(part, name, _): (String, String, String)| {
            about(&part, Said::normal("Killing", format!("Stopping container {name}")))
        };
        return running.map(killed).collect();
    }
    let started = |(part, _, image): (String, String, String)| {
        let there =
            format!("Container image \"{image}\" already present on machine and can be accessed by the pod");
        [
            ("Pulled", there),
            ("Created", "Container created".to_owned()),
            ("Started", "Container started".to_owned()),
        ]
        .map(|(reason, message)| about(&part, Said::normal(reason, message)))
    };
    if phase(before) != "Running" && phase(after) == "Running" {
        return containers("initContainers")
            .into_iter()
            .chain(containers("containers"))
            .flat_map(started)
            .collect();
    }
    let status = |pod: &Value, name: &str| {
        let of = items(&pod["status"]["containerStatuses"]).iter().find(|status| status["name"] == name);
        of.cloned().unwrap_or_default()
    };
    let mut all = Vec::new();
    for container in containers("containers") {
        let (was, is) = (status(before, &container.1), status(after, &container.1));
        if number(&is["restartCount"]) > number(&was["restartCount"]) {
            all.extend(started(container));
        } else if is["state"]["waiting"].is_object() && !was["state"]["waiting"].is_object() {
            let (part, name, _) = &container;
            let (namespace, pod) = (deed.path.namespace().unwrap_or_default(), deed.path.name());
            let uid = text(&after["metadata"]["uid"]);
            let said = format!("Back-off restarting failed container {name} in pod {pod}_{namespace}({uid})");
            all.push(about(part, Said::warning("BackOff", said)));
        }
    }
    all
}
