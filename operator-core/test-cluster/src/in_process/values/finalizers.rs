//! What is said about the finalizers of custom objects: the server takes any, and warns of those that may be somebody
//! else's, too. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

/// Those that the garbage collector and namespaces have.
const KNOWN: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

/// A warning for each new finalizer whose name says no owner and no purpose.
pub(in crate::in_process) fn warnings(object: &Value, old: Option<&Value>) -> Vec<String> {
    let of = |object: &Value| -> BTreeSet<String> {
        let names = object["metadata"]["finalizers"].as_array().into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (new, before) = (of(object), old.map(of).unwrap_or_default());
    let vague = new.difference(&before).filter(|name| !name.contains('/') && !KNOWN.contains(&name.as_str()));
    let warnings = vague.map(|name| {
        let path = if name.contains('.') { " including a path (/)" } else { "" };
        format!(
            "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts \
             with other finalizer writers"
        )
    });
    warnings.collect()
}
