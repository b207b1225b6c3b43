//! The steps of the cluster's controllers beside the real ones: the same requests, and in the end the same objects, and
//! the same Events in the same order.
//!
//! ```text
//!  requests ─┬─▶ in-process server, its controllers at once ───┬─▶ both have come so far? ─▶ masked ─▶ compared
//!            └─▶ kube-apiserver, kube-controller-manager, … ───┘
//! ```
//!
//! Pods whose `schedulerName` is nobody's stay as they are: there the story itself plays the node.

mod jobs;
mod rollouts;
mod sets;
mod storage;

use std::{fmt::Write, time::Duration};

use kube::Client;
use regex::Regex;
use serde_json::{Value, json};
use test_cluster::InProcessServer;
use tokio::time::Instant;

use crate::harness::{both::send, planes};

/// Far more than anything here takes, also on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(90);
const NONE: Value = Value::Null;

/// A namespace on both servers, and what differs in it.
pub(super) struct Story {
    sides: [(&'static str, Client); 2],
    namespace: &'static str,
    differences: String,
}

impl Story {
    pub(super) async fn new(namespace: &'static str) -> Self {
        let real = Client::try_from(planes::busy().await.config()).expect("a client");
        let ours = InProcessServer::new().complete().client();
        let story = Self { sides: [("real", real), ("ours", ours)], namespace, differences: String::new() };
        story.send("POST", "/api/v1/namespaces", &json!({ "metadata": { "name": namespace } })).await;
        story
    }

    /// The path of a resource of the namespace, as `apps/v1/deployments/web`.
    fn path(&self, of: &str) -> String {
        if of.starts_with('/') {
            return of.to_owned();
        }
        let (version, rest) = match of.strip_prefix("v1/") {
            Some(rest) => ("/api/v1", rest.to_owned()),
            None => {
                let parts: Vec<&str> = of.splitn(3, '/').collect();
                return format!("/apis/{}/{}/namespaces/{}/{}", parts[0], parts[1], self.namespace, parts[2]);
            }
        };
        format!("{version}/namespaces/{}/{rest}", self.namespace)
    }

    /// Sends a request to both, which must succeed.
    pub(super) async fn send(&self, method: &str, of: &str, body: &Value) {
        for (name, client) in &self.sides {
            let (code, answer) = send(client, None, method, &self.path(of), body).await;
            assert!(code < 300, "{name}: {method} {of}: {code} {answer}");
        }
    }

    /// Waits until something is so on both.
    pub(super) async fn until(&self, of: &str, what: &str, is: impl Fn(&Value) -> bool) {
        for (name, client) in &self.sides {
            let started = Instant::now();
            loop {
                let (_, seen) = send(client, None, "GET", &self.path(of), &NONE).await;
                if is(&seen) {
                    break;
                }
                assert!(started.elapsed() < DEADLINE, "{name}: {of} is not {what}: {seen:#}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// The objects that a list has on each side, each with its name.
    async fn each(&self, of: &str) -> Vec<Vec<Value>> {
        let mut all = Vec::new();
        for (_, client) in &self.sides {
            let (_, list) = send(client, None, "GET", &self.path(of), &NONE).await;
            all.push(list["items"].as_array().cloned().unwrap_or_default());
        }
        all
    }

    /// Plays the node: the Pods that a label selector finds get this status.
    pub(super) async fn pods_become(&self, selector: &str, status: &Value) {
        let of = format!("v1/pods?labelSelector={selector}");
        for (pods, (name, client)) in self.each(&of).await.into_iter().zip(&self.sides) {
            assert!(!pods.is_empty(), "{name}: no Pods of {selector}");
            for pod in pods {
                let pod = pod["metadata"]["name"].as_str().expect("a name");
                let path = self.path(&format!("v1/pods/{pod}/status"));
                let (code, answer) = send(client, None, "MERGE", &path, &json!({ "status": status })).await;
                assert!(code < 300, "{name}: {answer}");
            }
        }
    }

    /// Compares the objects of a list, in whatever order. Waits for a while until they are equal.
    pub(super) async fn same(&mut self, of: &str) {
        let shown = |objects: &[Value]| {
            let mut shown: Vec<String> = objects.iter().map(shown).collect();
            shown.sort();
            shown
        };
        self.compare(of, of, shown).await;
    }

    /// Compares what a list says on each side. Waits for a while until it is equal.
    async fn compare(&mut self, of: &str, what: &str, said: impl Fn(&[Value]) -> Vec<String>) {
        let started = Instant::now();
        loop {
            let each = self.each(of).await;
            let [real, ours] = [0, 1].map(|side| said(&each[side]));
            if real == ours {
                return;
            }
            if started.elapsed() > Duration::from_secs(5) {
                self.note(what, &real, &ours);
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Notes what differs: what only one side has, or else the order.
    fn note(&mut self, what: &str, real: &[String], ours: &[String]) {
        let _ = writeln!(self.differences, "{what}");
        let mut is_order = true;
        for (side, these, others) in [("real", real, ours), ("ours", ours, real)] {
            for one in these.iter().filter(|one| !others.contains(one)) {
                is_order = false;
                let _ = writeln!(self.differences, "  {side} only: {one}");
            }
        }
        if is_order {
            let _ = writeln!(self.differences, "  order of real: {real:#?}\n  order of ours: {ours:#?}");
        }
    }

    /// Compares what was said about the objects of a kind, in the order in which it was said.
    pub(super) async fn same_events(&mut self, kind: &str) {
        self.compare_events(kind, true).await;
    }

    /// The same where a real controller does several things at once.
    pub(super) async fn same_events_in_any_order(&mut self, kind: &str) {
        self.compare_events(kind, false).await;
    }

    async fn compare_events(&mut self, kind: &str, in_order: bool) {
        let of = format!("v1/events?fieldSelector=involvedObject.kind%3D{kind}");
        let version = |event: &Value| {
            event["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse::<u64>().ok())
        };
        let all = |events: &[Value]| {
            let mut events = events.to_vec();
            events.sort_by_key(version);
            let mut said: Vec<String> = events.iter().map(|event| masked(&said(event))).collect();
            // Whoever says a thing again says it later.
            if !in_order || REPEATED.contains(&kind) {
                said.sort();
            }
            if kind == "Pod" {
                // The scheduler says the same again when the Pod has changed.
                said.dedup();
            }
            said
        };
        self.compare(&of, &format!("Events about {kind}"), all).await;
    }

    pub(super) fn end(self) {
        assert!(self.differences.is_empty(), "the controllers differ:\n{}", self.differences);
    }
}

/// Of these, real controllers say the same more or less often: it depends on how soon they see what they have done.
const REPEATED: [&str; 2] = ["StatefulSet", "PersistentVolumeClaim"];

/// What an Event says.
fn said(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let is_repeated = REPEATED.iter().any(|kind| event["involvedObject"]["kind"] == *kind);
    let count = if is_repeated { "some".into() } else { event["count"].to_string() };
    format!(
        "{} {} {} {} x{} from {} {} {}: {}",
        text(&event["involvedObject"]["name"]),
        text(&event["involvedObject"]["fieldPath"]),
        text(&event["type"]),
        text(&event["reason"]),
        count,
        text(&event["source"]["component"]),
        text(&event["reportingComponent"]),
        text(&event["action"]),
        text(&event["message"]),
    )
}

/// An object without what two clusters can't agree on. Of a Pod's status only the phase is compared: the nodes differ.
fn shown(object: &Value) -> String {
    let mut object = object.clone();
    // The one that has changed last is the last one, which depends on how much a real controller sees at once.
    if let Some(conditions) = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        conditions.sort_by_key(|condition| condition["type"].to_string());
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["managedFields", "resourceVersion", "uid", "creationTimestamp"] {
            metadata.remove(field);
        }
    }
    if object["spec"]["containers"].is_array() {
        object["status"] = object["status"]["phase"].clone();
    }
    masked(&object.to_string())
}

fn masked(text: &str) -> String {
    let masks = [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        (
            r#"("(pod-template-hash|controller-revision-hash|controller.kubernetes.io/hash)":)"[^"]+""#,
            "${1}HASH",
        ),
        (r#"("resourceVersion":)"\d+""#, "${1}VERSION"),
        (r"\b(web|old|db|agent)-[a-z0-9]{6,10}\b(-[a-z0-9]{5}\b)?", "${1}-HASH${2}"),
        (r"-HASH-[a-z0-9]{5}\b", "-HASH-RANDOM"),
        (r"\b(agent|once|index|many)(-\d)?-[a-z0-9]{5}\b", "${1}${2}-RANDOM"),
        (r"\btick-\d{8}\b", "tick-MINUTE"),
        (r"\btick-MINUTE-[a-z0-9]{5}\b", "tick-MINUTE-RANDOM"),
    ];
    masks.iter().fold(text.to_owned(), |text, (pattern, mask)| {
        Regex::new(pattern).expect("a pattern").replace_all(&text, *mask).into_owned()
    })
}

/// The template of Pods with this label and image.
fn template(app: &str, image: &str) -> Value {
    json!({
        "metadata": { "labels": { "app": app } },
        "spec": { "containers": [{ "name": "main", "image": image }] },
    })
}

/// A patch of the image of a template.
fn with_image(image: &str) -> Value {
    json!([{ "op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image }])
}

/// Whether numbers of a status are these.
fn counts(object: &Value, fields: &[(&str, i64)]) -> bool {
    fields.iter().all(|(field, count)| object["status"][*field].as_i64().unwrap_or_default() == *count)
}

/// Whether a status speaks of the present spec.
fn is_seen(object: &Value) -> bool {
    object["status"]["observedGeneration"] == object["metadata"]["generation"]
}

/// Whether an object has a condition with this status.
fn has(object: &Value, kind: &str, status: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == kind && one["status"] == status))
}
