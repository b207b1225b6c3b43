//! The subresources of Kubernetes' kinds, except for `status`, which is a part of its object.
//!
//! ```text
//!  scale     ─▶ the replicas of a workload, and who owns them
//!  eviction  ─▶ PodDisruptionBudgets ─▶ deletion of a pod, or 429
//!  binding   ─▶ the node of a pod
//!  token     ─▶ a token of a service account, which `tokens` knows again
//!  finalize  ─▶ the finalizers of a namespace
//! ```

mod binding;
mod eviction;
mod finalize;
mod scale;
mod selector;
mod token;

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

pub(in crate::in_process) use selector::matches as selects;
pub(in crate::in_process) use token::Tokens;

use super::metadata;
use crate::in_process::{
    failure::Failure,
    kinds::Kind,
    read::json as json_bytes,
    request::{Request, Target},
    state::{Reply, State},
    store::Path,
};

/// A subresource in discovery: its name, the group, version and kind of its objects, and its verbs. Without a group
/// and version its objects are of its own resource's group.
type Entry = (&'static str, Option<(&'static str, &'static str)>, &'static str, &'static [&'static str]);

const CHANGE: &[&str] = &["get", "patch", "update"];
const SCALE: Entry = ("scale", Some(("autoscaling", "v1")), "Scale", CHANGE);

/// The subresources of a kind, except for its status.
fn entries(group: &str, plural: &str) -> &'static [Entry] {
    match (group, plural) {
        ("apps", "deployments" | "replicasets" | "statefulsets") | ("", "replicationcontrollers") => &[SCALE],
        ("", "pods") => &[
            ("binding", None, "Binding", &["create"]),
            ("eviction", Some(("policy", "v1")), "Eviction", &["create"]),
        ],
        ("", "serviceaccounts") => {
            &[("token", Some(("authentication.k8s.io", "v1")), "TokenRequest", &["create"])]
        }
        ("", "namespaces") => &[("finalize", None, "Namespace", &["update"])],
        _ => &[],
    }
}

/// The entries of a kind's subresources in discovery, except for its status.
pub(in crate::in_process) fn discovery(kind: &Kind) -> Vec<Value> {
    let entry = |(name, of, shown, verbs): &Entry| {
        let mut entry = json!({
            "name": format!("{}/{name}", kind.plural),
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": shown,
            "verbs": verbs,
        });
        if let Some((group, version)) = of {
            entry["group"] = (*group).into();
            entry["version"] = (*version).into();
        }
        entry
    };
    let of_definition = if kind.scale.is_some() { &[SCALE][..] } else { &[] };
    entries(&kind.group, &kind.plural).iter().chain(of_definition).map(entry).collect()
}

impl State {
    /// A request about a subresource that isn't the status.
    pub(in crate::in_process) fn subresource(
        &mut self,
        request: &Request,
        kind: &Arc<Kind>,
        path: &Path,
        name: &str,
    ) -> Result<Reply, Failure> {
        let has = |entry: &Entry| entry.0 == name;
        match (kind.plural.as_str(), name) {
            (_, "scale") if kind.scale.is_some() => self.scale(request, kind, path),
            _ if !entries(&kind.group, &kind.plural).iter().any(has) => self.not_here(kind, path, name),
            (_, "scale") => self.scale(request, kind, path),
            (_, "eviction") => self.evict(request, kind, path),
            (_, "binding") => self.bind(request, kind, path.namespace(), Some(path.name())),
            (_, "token") => self.token(request, kind, path),
            _ => self.finalize(request, kind, path),
        }
    }

    /// POST of a Binding to its collection.
    pub(in crate::in_process) fn bind_in(
        &mut self,
        request: &Request,
        target: &Target,
    ) -> Result<Reply, Failure> {
        let pods = Target { plural: "pods".to_owned(), name: None, subresource: None, ..target.clone() };
        let kind = self.kinds.find(&pods)?;
        match (&target.namespace, &target.name) {
            (Some(namespace), None) => self.bind(request, &kind, Some(namespace), None),
            _ => Err(Failure::method()),
        }
    }

    /// 501 for what the real server has; of what doesn't exist, it says that first.
    fn not_here(&self, kind: &Kind, path: &Path, name: &str) -> Result<Reply, Failure> {
        const WITH_KUBELET: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
        let of_pod = kind.group.is_empty() && kind.plural == "pods";
        if of_pod && WITH_KUBELET.contains(&name) {
            self.live(kind, path)?;
            return Err(Failure::not_modelled(format_args!(
                "{name} of pods, because no container runs here (the subresource {name} of pods)"
            )));
        }
        Err(Failure::not_modelled(format_args!("the subresource {name} of {}", kind.qualified())))
    }
}

/// 201 without an object.
fn done() -> Reply {
    let status =
        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    Reply::Json(StatusCode::CREATED, json_bytes(&status))
}

/// A kind that is served only as a subresource.
fn virtual_kind(group: &str, version: &str, plural: &str, kind: &str) -> Arc<Kind> {
    Arc::new(Kind::named(group, version, plural, kind))
}

/// Sets a condition in a pod's status. Its time stays if it says the same as before.
fn set_condition(pod: &mut Value, mut condition: Value, now: jiff::Timestamp) {
    let mut conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    condition["lastProbeTime"] = Value::Null;
    condition["lastTransitionTime"] = metadata::time(now).into();
    let known = conditions.iter_mut().find(|known| known["type"] == condition["type"]);
    match known {
        Some(known) => {
            if known["status"] == condition["status"] {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = condition;
        }
        None => conditions.push(condition),
    }
    pod["status"]["conditions"] = conditions.into();
}
