//! What the server does by itself when something has changed.

use super::{
    definitions::definitions,
    namespaces::namespaces,
    state::State,
    store::{Path, Resource},
    write::is_deleting,
};

impl State {
    /// Looks at one object that has changed or is gone.
    pub(super) fn react(&mut self, resource: &Resource, path: &Path) {
        if *resource == definitions() {
            return self.sync_definition(path);
        }
        if *resource == namespaces() {
            return self.sync_namespace(path);
        }
        if self.store.get(resource, path).is_none() {
            self.react_to_end(resource, path);
        }
    }

    /// What waited for the end of an object.
    fn react_to_end(&mut self, resource: &Resource, path: &Path) {
        let definition = Self::definition_of(resource);
        if self.store.get(&definitions(), &definition).is_some_and(|definition| is_deleting(definition)) {
            self.changed.insert((definitions(), definition));
        }
        if let Some(namespace) = path.namespace() {
            let namespace = Path::new(None, namespace);
            if self.store.get(&namespaces(), &namespace).is_some_and(|namespace| is_deleting(namespace)) {
                self.changed.insert((namespaces(), namespace));
            }
        }
    }
}
