//! What the server warns of in an object that it takes: what has no effect, is on its way out, or is there twice. Pure.
//!
//! ```text
//!  an object whose values are right ─▶ here, once for each write ─▶ header Warning
//! ```
//!
//! # Guarantees
//! - The words and their order are those of the real server.
//! - Kinds that nothing is warned of cost nothing.

mod addresses;
mod pods;
mod ports;
mod resources;
mod volumes;

use std::fmt::Display;

use serde_json::Value;

use self::{
    addresses::{ip, range},
    resources::claim,
};
use super::{
    names,
    path::Path,
    read::{at, int, items, part, text},
};
use crate::in_process::{
    fields::Endpoint,
    kinds::{Kind, storage::CLASS},
};

/// Warnings in the order in which they are found.
#[derive(Debug, Default)]
struct Found(Vec<String>);

impl Found {
    fn add(&mut self, path: impl Display, words: impl Display) {
        self.0.push(format!("{path}: {words}"));
    }

    fn say(&mut self, words: impl Into<String>) {
        self.0.push(words.into());
    }
}

const SPEC: Path<'static> = Path::root("spec");

/// What a new object is warned of.
pub(in crate::in_process) fn of_new(kind: &Kind, object: &Value) -> Vec<String> {
    let mut found = Found::default();
    if kind.is_custom() {
        finalizers(&mut found, object, &Value::Null);
        return found.0;
    }
    let spec = at(object, "spec");
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => {
            named(&mut found, object, "the Pod's hostname");
            pods::pod(&mut found, object);
        }
        ("apps", "Deployment" | "ReplicaSet") => {
            named(&mut found, object, "Pod names and hostnames");
            template(&mut found, spec);
        }
        ("apps", "DaemonSet") => template(&mut found, spec),
        ("apps", "StatefulSet") => {
            template(&mut found, spec);
            claims(&mut found, spec, "");
        }
        ("batch", "Job") => {
            named(&mut found, object, "Pod names and hostnames");
            job(&mut found, &SPEC, spec);
        }
        ("batch", "CronJob") => {
            named(&mut found, object, "Pod names and hostnames");
            job(&mut found, &SPEC.child("jobTemplate.spec"), at(at(spec, "jobTemplate"), "spec"));
        }
        ("networking.k8s.io", "Ingress") => {
            const OLD: &str = "kubernetes.io/ingress.class";
            if annotation(object, OLD).is_some() && part(spec, "ingressClassName").is_none() {
                found.say(format!(
                    "annotation {OLD:?} is deprecated, please use 'spec.ingressClassName' instead"
                ));
            }
        }
        ("", "ResourceQuota") => resources::quota(&mut found, at(spec, "hard")),
        ("discovery.k8s.io", "EndpointSlice") => {
            if text(object, "addressType") == "FQDN" {
                found.say("spec.addressType: FQDN endpoints are deprecated");
            }
            addresses::slice(&mut found, object);
        }
        ("", "ServiceAccount") => account(&mut found, object),
        _ => always(&mut found, kind, object),
    }
    found.0
}

/// What a changed object is warned of. `counts` tells whether the change counts as a generation.
pub(in crate::in_process) fn of_changed(
    kind: &Kind,
    endpoint: Endpoint,
    new: &Value,
    old: &Value,
    counts: impl Fn() -> bool,
) -> Vec<String> {
    let mut found = Found::default();
    if kind.is_custom() {
        finalizers(&mut found, new, old);
        return found.0;
    }
    if endpoint == Endpoint::Status {
        addresses::of_status(&mut found, kind, at(new, "status"));
        return found.0;
    }
    let spec = at(new, "spec");
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "Deployment" | "ReplicaSet") if counts() => template(&mut found, spec),
        ("apps", "DaemonSet") if at(spec, "template") != at(at(old, "spec"), "template") => {
            template(&mut found, spec)
        }
        ("apps", "StatefulSet") => {
            if counts() {
                template(&mut found, spec);
            }
            claims(&mut found, spec, ".Spec");
        }
        ("batch", "Job") if counts() => job(&mut found, &SPEC, spec),
        ("batch", "CronJob") => {
            if counts() {
                job(&mut found, &SPEC.child("jobTemplate.spec"), at(at(spec, "jobTemplate"), "spec"));
            }
            if text(spec, "schedule").contains("TZ") {
                found.say(
                    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                     https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
                );
            }
        }
        ("discovery.k8s.io", "EndpointSlice") => addresses::slice(&mut found, new),
        ("", "ServiceAccount") if annotation(old, MOUNTABLE).is_none() => account(&mut found, new),
        _ => always(&mut found, kind, new),
    }
    found.0
}

/// What is warned of whether an object is new or not.
fn always(found: &mut Found, kind: &Kind, object: &Value) {
    let spec = at(object, "spec");
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Service") => addresses::service(found, object),
        ("", "Endpoints") => addresses::endpoints(found, object),
        ("networking.k8s.io", "NetworkPolicy") => addresses::policy(found, spec),
        ("", "PersistentVolumeClaim") => {
            if annotation(object, CLASS).is_some() {
                let words = "deprecated since v1.8; use \"storageClassName\" attribute instead";
                found.add(format_args!("metadata.annotations[{}]", CLASS), words);
            }
            claim(found, &SPEC, spec);
        }
        ("", "PersistentVolume") => volumes::volume(found, object),
        ("", "Secret") if text(object, "type") == "kubernetes.io/tls" => {
            resources::certificate(found, object)
        }
        ("", "Node") => {
            if part(spec, "configSource").is_some() {
                found.say("spec.configSource: the feature is removed");
            }
            if !text(spec, "externalID").is_empty() {
                found.say("spec.externalID: this field is deprecated, and is unused by Kubernetes");
            }
            for (index, cidr) in items(spec, "podCIDRs") {
                range(found, &SPEC.child("podCIDRs").index(index), cidr);
            }
        }
        ("storage.k8s.io", "StorageClass") => {
            for (index, topology) in items(object, "allowedTopologies") {
                for (at, expression) in items(topology, "matchLabelExpressions") {
                    if let Some(words) = pods::old_label(text(expression, "key")) {
                        let path = Path::root("allowedTopologies");
                        let path = path.index(index);
                        found.add(path.child("matchLabelExpressions").index(at).child("key"), words);
                    }
                }
            }
        }
        _ => {}
    }
}

fn annotation<'o>(object: &'o Value, name: &str) -> Option<&'o Value> {
    part(at(at(object, "metadata"), "annotations"), name)
}

fn template(found: &mut Found, spec: &Value) {
    pods::template(found, &SPEC.child("template"), at(spec, "template"));
}

fn job(found: &mut Found, path: &Path<'_>, spec: &Value) {
    let above = |field: &str, limit: i64| int(spec, field).is_some_and(|count| count > limit);
    if text(spec, "completionMode") == "Indexed"
        && above("completions", 100_000)
        && above("parallelism", 10_000)
    {
        found.add(
            path,
            "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes \
             might not be able to track completedIndexes when a big number of indexes fail",
        );
    }
    pods::template(found, &path.child("template"), at(spec, "template"));
}

fn claims(found: &mut Found, spec: &Value, below: &str) {
    for (index, template) in items(spec, "volumeClaimTemplates") {
        let path = format!("spec.volumeClaimTemplates[{index}]{below}");
        claim(found, &Path::root(&path), at(template, "spec"));
    }
    if int(spec, "revisionHistoryLimit").is_some_and(|limit| limit < 0) {
        let words = "a negative value retains all historical revisions; a value >= 0 is recommended";
        found.add("spec.revisionHistoryLimit", words);
    }
}

/// A name that isn't a label of a domain name, where it becomes one.
fn named(found: &mut Found, object: &Value, used_in: &str) {
    let wrong = names::dns_label(text(at(object, "metadata"), "name"));
    if !wrong.is_empty() {
        let words = format!(
            "this is used in {used_in}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            wrong.join(" ")
        );
        found.add("metadata.name", words);
    }
}

const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";

fn account(found: &mut Found, account: &Value) {
    if annotation(account, MOUNTABLE).is_some() {
        let words = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
        found.add(format_args!("metadata.annotations[{MOUNTABLE}]"), words);
    }
}

/// New finalizers of custom objects that don't say whose they are.
fn finalizers(found: &mut Found, new: &Value, old: &Value) {
    let of = |object| items(at(object, "metadata"), "finalizers").filter_map(|(_, name)| name.as_str());
    let mut added: Vec<&str> = of(new).filter(|name| !of(old).any(|known| known == *name)).collect();
    added.sort_unstable();
    added.dedup();
    for name in added {
        let path = format!("metadata.finalizers: {name:?}");
        for wrong in names::qualified(name) {
            found.add(&path, wrong);
        }
        let standard = matches!(name, "orphan" | "foregroundDeletion" | "kubernetes");
        if !name.contains('/') && !standard {
            let what = if name.contains('.') { " including a path (/)" } else { "" };
            let words = format!(
                "prefer a domain-qualified finalizer name{what} to avoid accidental conflicts with other finalizer writers"
            );
            found.add(&path, words);
        }
    }
}
