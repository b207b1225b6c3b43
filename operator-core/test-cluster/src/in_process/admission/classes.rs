//! The default classes of storage and of Ingresses.

use std::sync::Arc;

use serde_json::Value;

use super::amount::nanos;
use crate::in_process::{
    kinds::storage::{class, names_class},
    store::{Path, Resource, Store},
};

/// Gives a claim that names no class the default one.
pub(super) fn default_storage_class(store: &Store, claim: &mut Value) {
    if !names_class(claim)
        && let Some(class) = default_class(
            store,
            ("storage.k8s.io", "storageclasses"),
            &[
                "storageclass.kubernetes.io/is-default-class",
                "storageclass.beta.kubernetes.io/is-default-class",
            ],
        )
    {
        claim["spec"]["storageClassName"] = class["metadata"]["name"].clone();
    }
}

/// Whether a claim may ask for more: one that is bound, if its class allows that.
pub(super) fn may_grow(store: &Store, old: &Value, claim: &Value) -> Result<(), String> {
    let size =
        |claim: &Value| nanos(claim["spec"]["resources"]["requests"]["storage"].as_str().unwrap_or("0"));
    if size(claim) <= size(old) {
        return Ok(());
    }
    if old["status"]["phase"] != "Bound" {
        return Err("Only bound persistent volume claims can be expanded".to_owned());
    }
    let name = class(claim);
    let found = store.get(&Resource::new("storage.k8s.io", "storageclasses"), &Path::new(None, name));
    let allows = found.is_some_and(|found| found["allowVolumeExpansion"] == true);
    if name.is_empty() || name != class(old) || !allows {
        return Err(
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc \
                    must support resize"
                .to_owned(),
        );
    }
    Ok(())
}

/// Gives an Ingress that names no class the default one.
pub(super) fn default_ingress_class(store: &Store, ingress: &mut Value) {
    const OLD: &str = "kubernetes.io/ingress.class";
    let is_named = !ingress["spec"]["ingressClassName"].is_null()
        || ingress["metadata"]["annotations"].get(OLD).is_some();
    if !is_named
        && let Some(class) = default_class(
            store,
            ("networking.k8s.io", "ingressclasses"),
            &["ingressclass.kubernetes.io/is-default-class"],
        )
    {
        ingress["spec"]["ingressClassName"] = class["metadata"]["name"].clone();
    }
}

/// The newest default class, and of several the first by name.
fn default_class(store: &Store, (group, plural): (&str, &str), annotations: &[&str]) -> Option<Arc<Value>> {
    let resource = Resource::new(group, plural);
    let classes = store.list(&resource, None).map(|(_, class)| class);
    let mut defaults: Vec<_> = classes
        .filter(|class| annotations.iter().any(|name| class["metadata"]["annotations"][*name] == "true"))
        .collect();
    let made = |class: &Value| class["metadata"]["creationTimestamp"].as_str().map(str::to_owned);
    defaults.sort_by_key(|class| std::cmp::Reverse(made(class)));
    defaults.first().map(|class| Arc::clone(class))
}
