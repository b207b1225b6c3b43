//! Which class of storage a claim or a volume names: in its spec, or in an annotation, which is older and wins. Pure.

use serde_json::Value;

/// Where classes were named before there was a field for it.
pub(in crate::in_process) const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// The class that a claim or a volume names; empty if it names none, or wants none.
pub(in crate::in_process) fn class(object: &Value) -> &str {
    let annotation = object["metadata"]["annotations"][CLASS].as_str();
    annotation.or_else(|| object["spec"]["storageClassName"].as_str()).unwrap_or_default()
}

/// Whether a claim says something about its class; otherwise it leaves that to the cluster.
pub(in crate::in_process) fn names_class(claim: &Value) -> bool {
    !claim["spec"]["storageClassName"].is_null() || !claim["metadata"]["annotations"][CLASS].is_null()
}
