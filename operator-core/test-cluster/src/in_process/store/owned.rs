//! Which objects name which owners, so that nobody has to search for them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Path, Resource};

/// The objects by the uids of their owners.
#[derive(Clone, Debug, Default)]
pub(super) struct Owned(BTreeMap<String, BTreeSet<(Resource, Path)>>);

impl Owned {
    pub(super) fn of(&self, uid: &str) -> impl Iterator<Item = (&Resource, &Path)> {
        self.0.get(uid).into_iter().flatten().map(|(resource, path)| (resource, path))
    }

    /// Takes in a change. Most objects have no owner, and owners seldom change.
    pub(super) fn changed(
        &mut self,
        resource: &Resource,
        path: &Path,
        before: Option<&Value>,
        after: Option<&Value>,
    ) {
        let (before, after) = (references_of(before), references_of(after));
        if before == after {
            return;
        }
        for uid in uids(before) {
            if let Some(objects) = self.0.get_mut(uid) {
                objects.remove(&(resource.clone(), path.clone()));
                if objects.is_empty() {
                    self.0.remove(uid);
                }
            }
        }
        for uid in uids(after) {
            self.0.entry(uid.to_owned()).or_default().insert((resource.clone(), path.clone()));
        }
    }
}

fn references_of(object: Option<&Value>) -> Option<&Value> {
    object?["metadata"].get("ownerReferences")
}

fn uids(references: Option<&Value>) -> impl Iterator<Item = &str> {
    let references = references.and_then(Value::as_array).into_iter().flatten();
    references.filter_map(|reference| reference["uid"].as_str())
}
