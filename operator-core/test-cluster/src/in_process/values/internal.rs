//! Values as the real server has them in memory, which is how some of its errors show them.

use serde_json::Value;

use super::errors::json;

/// A pod template.
pub(in crate::in_process) fn pod_template(template: &Value) -> String {
    json(template, &[])
}

/// The spec of a pod.
pub(in crate::in_process) fn pod_spec(spec: &Value) -> String {
    json(spec, &[])
}

/// The security context of a container.
pub(in crate::in_process) fn security_context(context: &Value) -> String {
    json(context, &[])
}

/// One term of a selector of nodes.
pub(in crate::in_process) fn node_term(term: &Value) -> String {
    json(term, &[])
}

/// The terms of a selector of nodes.
pub(in crate::in_process) fn node_terms(terms: &[Value]) -> String {
    json(&terms.into(), &[])
}

/// What is different between two specs of a pod.
pub(in crate::in_process) fn difference(_old: &Value, _new: &Value) -> String {
    String::new()
}
