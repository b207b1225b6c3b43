//! Pods, and the kinds that make them or look after them.

mod autoscaler;
mod budget;
mod cron_job;
mod daemon_set;
mod deployment;
mod indexes;
mod job;
mod job_policies;
mod job_status;
mod metrics;
mod pod;
mod revision;
pub(in crate::in_process) mod schedule;
mod stateful_set;
mod status;

use serde_json::Value;

pub(super) use pod::{host_path, node_selector, older_volume, storage_os_volume};

use super::{
    Checks, OfChanged, OfNew, anything,
    common::{Selector, selector, selects_all},
    errors::{Errors, Verbatim, json},
    path::Path,
    read::{at, part, text},
};

const SPEC: Path<'static> = Path::root("spec");
const STATUS: Path<'static> = Path::root("status");

/// The checks of a kind, if it is one of these.
pub(super) fn checks(group: &str, kind: &str) -> Option<Checks> {
    let (create, update, status): (OfNew, OfChanged, OfChanged) = match (group, kind) {
        ("", "Pod") => (pod::create, pod::update::main, pod::status::check),
        ("apps", "Deployment") => (deployment::create, deployment::update, deployment::status),
        ("apps", "ReplicaSet") => (deployment::create_set, deployment::update_set, deployment::status_of_set),
        ("apps", "ControllerRevision") => (revision::create, revision::update, anything),
        ("apps", "StatefulSet") => (stateful_set::create, stateful_set::update, stateful_set::status),
        ("apps", "DaemonSet") => (daemon_set::create, daemon_set::update, daemon_set::status),
        ("batch", "Job") => (job::create, job::update, job_status::check),
        ("batch", "CronJob") => (cron_job::create, cron_job::update, anything),
        ("autoscaling", "HorizontalPodAutoscaler") => {
            (autoscaler::create, autoscaler::update, autoscaler::status)
        }
        ("policy", "PodDisruptionBudget") => (budget::create, budget::update, budget::status),
        _ => return None,
    };
    Some(Checks { create, update, status })
}

/// Checks a selector, and says whether it can be used.
fn usable(errors: &mut Errors, path: &Path<'_>, given: &Value) -> bool {
    let before = errors.len();
    selector(errors, path, given);
    errors.len() == before
}

/// The selector of a kind that needs one: what it is, if it can be used. `words` say that it can't.
fn selection<'s>(errors: &mut Errors, spec: &'s Value, kind: &str, words: &str) -> Option<Option<&'s Value>> {
    let path = SPEC.child("selector");
    let selector = part(spec, "selector");
    let usable = match selector {
        None => {
            errors.required(&path, "");
            true
        }
        Some(selector) => {
            let usable = usable(errors, &path, selector);
            if selects_all(selector) {
                let detail = format!("empty selector is invalid for {kind}");
                errors.invalid(&path, Selector(selector), &detail);
            }
            usable
        }
    };
    if !usable {
        errors.invalid(&path, Selector(at(spec, "selector")), words);
    }
    usable.then_some(selector)
}

/// A strategy of a type that isn't known, shown as Go's JSON of it.
fn unknown_strategy(errors: &mut Errors, path: &Path<'_>, strategy: &Value, known: &[&str]) {
    let rolling = part(strategy, "rollingUpdate").map_or("null".to_owned(), |rolling| {
        let field = |name: &str| {
            let value = at(rolling, name);
            if value.is_null() { "0".to_owned() } else { json(value, &[]) }
        };
        format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", field("maxUnavailable"), field("maxSurge"))
    });
    let of = json(&text(strategy, "type").into(), &[]);
    errors.not_supported(path, Verbatim(format!("{{\"Type\":{of},\"RollingUpdate\":{rolling}}}")), known);
}
