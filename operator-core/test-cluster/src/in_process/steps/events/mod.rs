//! Events of the controllers: what they have done is said about the object they have looked at, as by real ones.
//!
//! ```text
//!  a controller's act ─▶ told: what a real one says about it ─┐
//!  a controller's remark ────────────────────────────────────┴▶ recorder: too many? the same again? similar ones?
//!                                                                   └▶ a new Event, or the count of a known one
//! ```
//!
//! # Guarantees
//! - Unless the server is complete, nothing of this happens: no Event, no uid and no version is used.
//! - An Event that can't be written is lost, and nothing else changes.

mod recorder;
mod told;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{ClusterController as Controller, MANAGER, node::NODE, view::text};
use crate::in_process::{
    api::ApiServer,
    fields::Endpoint,
    store::{Path, Resource},
    write::{create_own, metadata::time, remove, write_own},
};
pub(super) use recorder::Recorder;
use recorder::Verdict;
pub(super) use told::{Deed, Verb, told};

/// How long an Event is kept after its last occurrence.
const KEPT: SignedDuration = SignedDuration::from_hours(1);

/// What is said about an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) is_warning: bool,
    pub(super) reason: &'static str,
    pub(super) message: String,
    /// The part of the object that it is about, as `spec.containers{web}`.
    pub(super) part: Option<String>,
    /// Who says it, if it isn't the controller.
    pub(super) component: Option<&'static str>,
}

impl Said {
    pub(super) const fn normal(reason: &'static str, message: String) -> Self {
        Self { is_warning: false, reason, message, part: None, component: None }
    }

    pub(super) const fn warning(reason: &'static str, message: String) -> Self {
        Self { is_warning: true, reason, message, part: None, component: None }
    }
}

/// The name under which a controller speaks.
const fn component(controller: Controller) -> &'static str {
    match controller {
        Controller::Deployments => "deployment-controller",
        Controller::ReplicaSets => "replicaset-controller",
        Controller::StatefulSets => "statefulset-controller",
        Controller::DaemonSets => "daemonset-controller",
        Controller::Jobs => "job-controller",
        Controller::CronJobs => "cronjob-controller",
        Controller::Volumes => "persistentvolume-controller",
        Controller::Scheduler => SCHEDULER,
        Controller::Node => "kubelet",
        Controller::Endpoints
        | Controller::GarbageCollector
        | Controller::Namespaces
        | Controller::RootCertificates
        | Controller::ServiceAccounts => MANAGER,
    }
}

const SCHEDULER: &str = "default-scheduler";

/// Where Events are.
fn events() -> Resource {
    Resource::new("", "events")
}

/// Writes Events about objects.
pub(super) fn say(
    recorder: &mut Recorder,
    api: &mut ApiServer,
    controller: Controller,
    object: &Value,
    said: Said,
) {
    if !recorder.is_on {
        return;
    }
    forget_old_events(recorder, api);
    let component = said.component.unwrap_or_else(|| component(controller));
    let about = &object["metadata"];
    let mut regarding = json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": about["name"], "uid": about["uid"],
        "resourceVersion": about["resourceVersion"],
    });
    if !about["namespace"].is_null() {
        regarding["namespace"] = about["namespace"].clone();
    }
    if let Some(part) = &said.part {
        regarding["fieldPath"] = part.as_str().into();
    }
    let verdict = recorder.judge(component, &regarding, &said, api.now);
    match verdict {
        Verdict::Silence => {}
        Verdict::Again { path, count } => count_event(api, controller, &path, component, count),
        Verdict::New { key, message } => {
            let said = Said { message, ..said };
            let namespace = about["namespace"].as_str().unwrap_or("default").to_owned();
            let number = recorder.next_number();
            let nanos = api.now.as_nanosecond() + i128::from(number);
            let path = Path::new(Some(&namespace), &format!("{}.{nanos:x}", text(&about["name"])));
            let event = event(component, &regarding, &said, api.now);
            write_event(api, controller, &path, event);
            recorder.written(key, path, api.now);
        }
    }
}

fn write_event(api: &mut ApiServer, controller: Controller, path: &Path, mut event: Value) {
    event["metadata"] = json!({ "namespace": path.namespace(), "name": path.name() });
    if let Some(kind) = api.discovery.of_resource(&events()).cloned() {
        create_own(api, &kind, path, manager(controller), event).ok();
    }
}

fn count_event(api: &mut ApiServer, controller: Controller, path: &Path, component: &str, count: u64) {
    let Some(known) = api.store.get(&events(), path) else { return };
    let mut event = Value::clone(known);
    if component == SCHEDULER {
        event["series"] = json!({ "count": count, "lastObservedTime": micros(api.now) });
    } else {
        event["count"] = count.into();
        event["lastTimestamp"] = time(api.now).into();
    }
    if let Some(kind) = api.discovery.of_resource(&events()).cloned() {
        write_own(api, &kind, path, Endpoint::Main, manager(controller), event).ok();
    }
}

/// Events are kept for an hour.
fn forget_old_events(recorder: &mut Recorder, api: &mut ApiServer) {
    let Ok(since) = api.now.checked_sub(KEPT) else { return };
    for path in recorder.outdated(since) {
        if let Some(kind) = api.discovery.of_resource(&events()).cloned() {
            remove(api, &kind, &path);
        }
    }
}

/// The manager of an Event's fields.
const fn manager(controller: Controller) -> &'static str {
    match controller {
        Controller::Scheduler => "kube-scheduler",
        Controller::Node => "kubelet",
        _ => MANAGER,
    }
}

/// A new Event. The scheduler already writes the newer form.
fn event(component: &str, regarding: &Value, said: &Said, now: Timestamp) -> Value {
    let kind = if said.is_warning { "Warning" } else { "Normal" };
    let mut event = json!({
        "apiVersion": "v1", "kind": "Event", "involvedObject": regarding,
        "reason": said.reason, "message": said.message, "type": kind, "reportingComponent": component,
    });
    if component == SCHEDULER {
        event["reportingInstance"] = format!("{component}-in-process").into();
        event["action"] = if said.reason == "Scheduled" { "Binding" } else { "Scheduling" }.into();
        event["eventTime"] = micros(now).into();
        return event;
    }
    let mut source = json!({ "component": component });
    let mut instance = "";
    if component == "kubelet" {
        source["host"] = NODE.into();
        instance = NODE;
    }
    event["source"] = source;
    event["reportingInstance"] = instance.into();
    event["count"] = 1.into();
    for field in ["firstTimestamp", "lastTimestamp"] {
        event[field] = time(now).into();
    }
    event
}

fn micros(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}
