//! Namespaces: those that exist from the start, and the end of the others.

use serde_json::{Value, json};

use super::{
    api::ApiServer,
    store::{Path, Resource},
    write::{How, create_own, delete_own, is_deleting, put, remove},
};

/// Where namespaces are stored.
pub(super) fn namespaces() -> Resource {
    Resource::new("", "namespaces")
}

/// Creates the namespaces that every cluster has.
pub(super) fn make_first_namespaces(api: &mut ApiServer) {
    let Some(kind) = api.discovery.of_resource(&namespaces()).cloned() else { return };
    for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        create_own(api, &kind, &Path::new(None, name), "kube-apiserver", object).ok();
    }
}

/// Deletes the content of a namespace that is being terminated, and then itself.
pub(super) fn sync_namespace(api: &mut ApiServer, path: &Path) {
    let Some(namespace) = api.store.get(&namespaces(), path).cloned() else { return };
    if !is_deleting(&namespace) {
        return;
    }
    let mut is_empty = true;
    for resource in api.store.resources().cloned().collect::<Vec<_>>() {
        let Some(kind) = api.discovery.of_resource(&resource).cloned() else { continue };
        let objects = api.store.list(&resource, Some(path.name())).map(|(path, _)| path.clone());
        for object in objects.collect::<Vec<_>>() {
            delete_own(api, &kind, &object, How::Regardless).ok();
        }
        is_empty &= api.store.list(&resource, Some(path.name())).next().is_none();
    }
    if is_empty {
        end_namespace(api, path, Value::clone(&namespace));
    }
}

fn end_namespace(api: &mut ApiServer, path: &Path, mut namespace: Value) {
    let Some(kind) = api.discovery.of_resource(&namespaces()).cloned() else { return };
    let finalizers = namespace["metadata"]["finalizers"].as_array();
    if finalizers.is_none_or(Vec::is_empty) {
        return remove(api, &kind, path);
    }
    // A user's finalizer keeps the empty namespace.
    if let Some(spec) = namespace["spec"].as_object_mut()
        && spec.remove("finalizers").is_some()
    {
        put(api, &kind, path, namespace);
    }
}
