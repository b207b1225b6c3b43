//! The binding of a pod to a node, which a scheduler writes.

use std::sync::{Arc, LazyLock};

use http::Method;
use serde_json::{Value, json};

use super::{done, set_condition, virtual_kind};
use crate::in_process::{
    api::{ApiServer, Reply},
    failure::Failure,
    kinds::Kind,
    read,
    request::Request,
    store::Path,
    write::{Options, body, is_deleting, meta, metadata, put},
};

static BINDING: LazyLock<Arc<Kind>> = LazyLock::new(|| virtual_kind("", "v1", "bindings", "Binding"));

/// POST of a binding; without a `name`, of the pod that it names.
pub(super) fn bind(
    api: &mut ApiServer,
    request: &Request,
    pods: &Arc<Kind>,
    namespace: Option<&str>,
    name: Option<&str>,
) -> Result<Reply, Failure> {
    if request.method != Method::POST {
        return Err(Failure::method());
    }
    let options = Options::new(request, "CreateOptions")?;
    let mut binding = body(request, &BINDING)?;
    metadata::place(&mut binding, namespace)?;
    if name.is_some_and(|name| name != meta(&binding, "name")) {
        return Err(Failure::bad_request("name in URL does not match name in Binding object"));
    }
    if let Some(why) = wrong_target(&binding["target"]) {
        return Err(Failure::internal(why));
    }
    let path = Path::new(namespace, meta(&binding, "name"));
    let live = read::live(&api.store, pods, &path)?;
    let node = live["spec"]["nodeName"].as_str().unwrap_or_default();
    if is_deleting(&live) {
        let why = format!("pod {} is being deleted, cannot be assigned to a host", path.name());
        return Err(refused(path.name(), &why));
    }
    if !node.is_empty() {
        let why = format!("pod {} is already assigned to node {node:?}", path.name());
        return Err(refused(path.name(), &why));
    }
    let mut pod = Value::clone(&live);
    pod["spec"]["nodeName"] = binding["target"]["name"].clone();
    for (key, value) in binding["metadata"]["annotations"].as_object().into_iter().flatten() {
        pod["metadata"]["annotations"][key] = value.clone();
    }
    set_condition(&mut pod, json!({ "type": "PodScheduled", "status": "True" }), api.now);
    if !options.dry_run {
        put(api, pods, &path, pod);
    }
    Ok(done())
}

/// What is wrong with a binding's target.
fn wrong_target(target: &Value) -> Option<String> {
    let text = |field: &str| target[field].as_str().unwrap_or_default();
    let mut wrong = Vec::new();
    if !matches!(text("kind"), "" | "Node") {
        let kind = text("kind");
        wrong.push(format!(
            "target.kind: Unsupported value: {kind:?}: supported values: \"Node\", \"<empty>\""
        ));
    }
    if text("name").is_empty() {
        wrong.push("target.name: Required value".to_owned());
    }
    match wrong.len() {
        0 | 1 => wrong.pop(),
        _ => Some(format!("[{}]", wrong.join(", "))),
    }
}

/// 409, whose resource is the binding's.
fn refused(name: &str, why: &str) -> Failure {
    let message = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {why}");
    Failure::new(409, "Conflict", message).with(json!({ "name": name, "kind": "pods/binding" }))
}
