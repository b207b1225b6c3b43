//! The cells of what runs pods, and of what watches over them.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    cells::{
        containers, first, flag, is_deleting, is_true, labels, list, number, or, plain, row, selector, text,
        text_or,
    },
    duration::{between, since},
};

const CONTAINERS: &str = "/spec/template/spec/containers";

pub(super) fn cells(kind: &str, object: &Value, name: &Value, age: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, CONTAINERS);
    let status = |field: &str| number(object, &format!("/status/{field}"));
    let replicas = number(object, "/spec/replicas");
    let selected = || selector(object, "/spec/selector");
    match kind {
        "Deployment" => {
            let ready = format!("{}/{replicas}", status("readyReplicas"));
            let (updated, available) = (status("updatedReplicas"), status("availableReplicas"));
            row![name, ready, updated, available, age, names, images, selected()]
        }
        "ReplicaSet" => {
            let (current, ready) = (status("replicas"), status("readyReplicas"));
            row![name, replicas, current, ready, age, names, images, or(selected(), "<none>")]
        }
        "ReplicationController" => {
            let (current, ready) = (status("replicas"), status("readyReplicas"));
            row![name, replicas, current, ready, age, names, images, labels(object, "/spec/selector")]
        }
        "StatefulSet" => {
            row![name, format!("{}/{replicas}", status("readyReplicas")), age, names, images]
        }
        "DaemonSet" => row![
            name,
            status("desiredNumberScheduled"),
            status("currentNumberScheduled"),
            status("numberReady"),
            status("updatedNumberScheduled"),
            status("numberAvailable"),
            labels(object, "/spec/template/spec/nodeSelector"),
            age,
            names,
            images,
            or(selected(), "<none>"),
        ],
        "Job" => {
            let (done, took) = (completions(object), took(object, now));
            row![name, job_status(object), done, took, age, names, images, or(selected(), "<none>")]
        }
        "CronJob" => {
            let [names, images] = containers(object, "/spec/jobTemplate/spec/template/spec/containers");
            let last = match &object["status"]["lastScheduleTime"] {
                Value::Null => "<none>".to_owned(),
                time => since(time, now),
            };
            row![
                name,
                text(object, "/spec/schedule"),
                text_or(object, "/spec/timeZone", "<none>"),
                flag(&object["spec"]["suspend"]),
                list(object, "/status/active").len(),
                last,
                age,
                names,
                images,
                or(selector(object, "/spec/jobTemplate/spec/selector"), "<none>"),
            ]
        }
        "PodDisruptionBudget" => {
            let bound = |field: &str| match &object["spec"][field] {
                Value::Null => "N/A".to_owned(),
                bound => plain(bound),
            };
            row![name, bound("minAvailable"), bound("maxUnavailable"), status("disruptionsAllowed"), age]
        }
        "HorizontalPodAutoscaler" => autoscaler(object, name, age),
        "PodTemplate" => {
            let [names, images] = containers(object, "/template/spec/containers");
            row![name, names, images, labels(object, "/template/metadata/labels")]
        }
        // A controller's revision.
        _ => {
            let owners = list(object, "/metadata/ownerReferences");
            let controller = owners.iter().find(|owner| owner["controller"] == true).map(|owner| {
                let group = text(owner, "/apiVersion").split_once('/').map(|(group, _)| format!(".{group}"));
                let kind = format!("{}{}", text(owner, "/kind"), group.unwrap_or_default()).to_lowercase();
                format!("{kind}/{}", text(owner, "/name"))
            });
            row![name, controller.unwrap_or_else(|| "<none>".to_owned()), number(object, "/revision"), age]
        }
    }
}

fn completions(object: &Value) -> String {
    let succeeded = number(object, "/status/succeeded");
    match (object["spec"]["completions"].as_i64(), number(object, "/spec/parallelism")) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, parallel) if parallel > 1 => format!("{succeeded}/1 of {parallel}"),
        _ => format!("{succeeded}/1"),
    }
}

fn took(object: &Value, now: Timestamp) -> String {
    match (&object["status"]["startTime"], &object["status"]["completionTime"]) {
        (Value::Null, _) => String::new(),
        (start, Value::Null) => since(start, now),
        (start, end) => between(start, end),
    }
}

fn job_status(object: &Value) -> &'static str {
    match () {
        () if is_true(object, "Complete") => "Complete",
        () if is_true(object, "Failed") => "Failed",
        () if is_deleting(object) => "Terminating",
        () if is_true(object, "Suspended") => "Suspended",
        () if is_true(object, "FailureTarget") => "FailureTarget",
        () if is_true(object, "SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

fn autoscaler(object: &Value, name: &Value, age: &Value) -> Vec<Value> {
    let target = &object["spec"]["scaleTargetRef"];
    let current = list(object, "/status/currentMetrics");
    let metrics = list(object, "/spec/metrics").iter().enumerate();
    let metrics = metrics.map(|(at, spec)| metric(spec, current.get(at).unwrap_or(&Value::Null))).collect();
    let least = object["spec"]["minReplicas"].as_i64();
    row![
        name,
        format!("{}/{}", text(target, "/kind"), text(target, "/name")),
        first(metrics, 2, ", ", "<none>"),
        least.map_or_else(|| "<unset>".to_owned(), |least| least.to_string()),
        number(object, "/spec/maxReplicas"),
        number(object, "/status/currentReplicas"),
        age,
    ]
}

/// A metric: what it is now, and what it should be.
fn metric(spec: &Value, status: &Value) -> String {
    let kind = text(spec, "/type");
    let (field, has_name) = match kind {
        "External" => ("external", false),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".to_owned(),
    };
    let (wanted, now) = (&spec[field]["target"], &status[field]["current"]);
    let shown = |value: &Value| match value {
        Value::Null => "<unknown>".to_owned(),
        value => plain(value),
    };
    let percent = |value: &Value, none: &str| match value {
        Value::Null => none.to_owned(),
        value => format!("{value}%"),
    };
    let name = if has_name { format!("{}: ", text(&spec[field], "/name")) } else { String::new() };
    match &wanted["averageValue"] {
        Value::Null if has_name => {
            let now = percent(&now["averageUtilization"], "<unknown>");
            format!("{name}{now}/{}", percent(&wanted["averageUtilization"], "<auto>"))
        }
        Value::Null => format!("{}/{}", shown(&now["value"]), shown(&wanted["value"])),
        average => {
            let mean = if has_name || kind == "Pods" { "" } else { " (avg)" };
            format!("{name}{}/{}{mean}", shown(&now["averageValue"]), plain(average))
        }
    }
}
