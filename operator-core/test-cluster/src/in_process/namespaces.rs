//! Namespaces: those that exist from the start, and the end of the others.

use serde_json::{Value, json};

use super::{
    state::State,
    store::{Path, Resource},
    write::{How, is_deleting},
};

/// Where namespaces are stored.
pub(super) fn namespaces() -> Resource {
    Resource { group: String::new(), plural: "namespaces".to_owned() }
}

impl State {
    /// Creates the namespaces that every cluster has.
    pub(super) fn make_first_namespaces(&mut self) {
        let Some(kind) = self.kinds.of_resource(&namespaces()).cloned() else { return };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
            self.create_own(&kind, &Path::new(None, name), "kube-apiserver", object).ok();
        }
    }

    /// Deletes the content of a namespace that is being terminated, and then itself.
    pub(super) fn sync_namespace(&mut self, path: &Path) {
        let Some(namespace) = self.store.get(&namespaces(), path).cloned() else { return };
        if !is_deleting(&namespace) {
            return;
        }
        let mut is_empty = true;
        for resource in self.store.resources().cloned().collect::<Vec<_>>() {
            let Some(kind) = self.kinds.of_resource(&resource).cloned() else { continue };
            let objects = self.store.list(&resource, Some(path.name())).map(|(path, _)| path.clone());
            for object in objects.collect::<Vec<_>>() {
                self.delete_own(&kind, &object, How::Background).ok();
            }
            is_empty &= self.store.list(&resource, Some(path.name())).next().is_none();
        }
        if is_empty {
            self.end_namespace(path, Value::clone(&namespace));
        }
    }

    fn end_namespace(&mut self, path: &Path, mut namespace: Value) {
        let Some(kind) = self.kinds.of_resource(&namespaces()).cloned() else { return };
        let finalizers = namespace["metadata"]["finalizers"].as_array();
        if finalizers.is_none_or(Vec::is_empty) {
            return self.remove(&kind, path);
        }
        // A user's finalizer keeps the empty namespace.
        if let Some(spec) = namespace["spec"].as_object_mut()
            && spec.remove("finalizers").is_some()
        {
            self.put_own(&kind, path, namespace);
        }
    }
}
