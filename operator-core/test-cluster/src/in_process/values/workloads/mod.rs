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
mod schedule;
mod stateful_set;
mod status;

use serde_json::Value;

use super::{Checks, anything, common::selector, errors::Errors, path::Path};

const SPEC: Path<'static> = Path::root("spec");
const STATUS: Path<'static> = Path::root("status");

/// The checks of a kind, if it is one of these.
pub(super) fn checks(group: &str, kind: &str) -> Option<Checks> {
    let (create, update, status): (Create, Change, Change) = match (group, kind) {
        ("", "Pod") => (pod::create, pod::update::main, pod::status::check),
        ("apps", "Deployment") => (deployment::create, deployment::update, deployment::status),
        ("apps", "ReplicaSet") => (deployment::create_set, deployment::update_set, deployment::status_of_set),
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

type Create = fn(&Value, &mut Errors);
type Change = fn(&Value, &Value, &mut Errors);

/// Checks a selector, and says whether it can be used.
fn usable(errors: &mut Errors, path: &Path<'_>, given: &Value) -> bool {
    let before = errors.len();
    selector(errors, path, given);
    errors.len() == before
}
