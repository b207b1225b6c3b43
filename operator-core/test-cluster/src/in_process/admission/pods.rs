//! The priority of pods, and for how long they stay on a node that is lost.

use serde_json::{Value, json};

use crate::in_process::store::{Path, Resource, Store};

const TOLERATED: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
/// Pods leave a node after this many seconds.
const SECONDS: u64 = 300;

/// What a class says that a Pod costs beside its containers, only the class says.
pub(super) fn check_overhead(pod: &Value) -> Result<(), String> {
    let spec = &pod["spec"];
    match spec["overhead"].is_object() && spec["runtimeClassName"].is_null() {
        true => {
            Err("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
                .to_owned())
        }
        false => Ok(()),
    }
}

/// Gives a pod the priority of its class.
pub(super) fn prioritize(store: &Store, pod: &mut Value) -> Result<(), String> {
    let classes = Resource::new("scheduling.k8s.io", "priorityclasses");
    let name = pod["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
    let class = if name.is_empty() {
        let all = store.list(&classes, None).map(|(_, class)| class);
        let default = all.filter(|class| class["globalDefault"] == true);
        default.min_by_key(|class| class["value"].as_i64()).cloned()
    } else {
        let class = store.get(&classes, &Path::new(None, &name));
        Some(class.cloned().ok_or_else(|| format!("no PriorityClass with name {name} was found"))?)
    };
    let (value, policy) = match &class {
        Some(class) => (class["value"].as_i64().unwrap_or_default(), class["preemptionPolicy"].clone()),
        None => (0, "PreemptLowerPriority".into()),
    };
    let spec = &mut pod["spec"];
    if let Some(given) = spec["priority"].as_i64().filter(|given| *given != value) {
        return Err(format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission \
             controller computed {value} from the given PriorityClass name"
        ));
    }
    let given = spec["preemptionPolicy"].as_str().unwrap_or_default();
    if !given.is_empty() && !policy.is_null() && policy != given {
        return Err(format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority \
             admission controller computed {} from the given PriorityClass name",
            policy.as_str().unwrap_or_default()
        ));
    }
    if let Some(class) = class {
        spec["priorityClassName"] = class["metadata"]["name"].clone();
    }
    spec["priority"] = value.into();
    if !policy.is_null() {
        spec["preemptionPolicy"] = policy;
    }
    Ok(())
}

/// Refuses a second class that is the default.
pub(super) fn one_default_priority(store: &Store, path: &Path, class: &Value) -> Result<(), String> {
    if class["globalDefault"] != true {
        return Ok(());
    }
    let classes = Resource::new("scheduling.k8s.io", "priorityclasses");
    let mut others = store.list(&classes, None);
    match others.find(|(other, class)| *other != path && class["globalDefault"] == true) {
        None => Ok(()),
        Some((other, _)) => Err(format!(
            "PriorityClass {} is already marked as default. Only one default can exist",
            other.name()
        )),
    }
}

/// Lets a pod stay on a node that is lost for some time.
pub(super) fn tolerate(pod: &mut Value) {
    let mut tolerations = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    for key in TOLERATED {
        let known = tolerations.iter().any(|toleration| {
            let text = |field: &str| toleration[field].as_str().unwrap_or_default();
            (text("key") == key || text("key").is_empty()) && matches!(text("effect"), "NoExecute" | "")
        });
        if !known {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS,
            }));
        }
    }
    pod["spec"]["tolerations"] = tolerations.into();
}
