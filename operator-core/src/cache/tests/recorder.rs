//! A handler that remembers what it was told, and objects to be told of.

use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;

use crate::{
    cache::{Change, ChangeHandler, ChangeKind, TextObject},
    observe::SourceHealth,
    resource::ObjectKey,
};

/// A config map in short: name, uid, version and the number it carries as data.
pub(in crate::cache) fn object(name: &str, uid: &str, version: u64) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object.metadata.namespace = Some("shop".to_owned());
    object.metadata.uid = Some(uid.to_owned());
    object.metadata.resource_version = Some(version.to_string());
    object
}

pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("shop", name)
}

pub(super) fn version(object: &ConfigMap) -> u64 {
    object.metadata.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or(0)
}

/// The version of a state that was told.
pub(super) fn kept_version(kept: &TextObject) -> u64 {
    kept.version().and_then(|version| version.parse().ok()).unwrap_or(0)
}

/// A change in short: `+a@5`, `a@4>5` or `-a@5`, followed by `!` for found by the first list and `?` for a deletion that was missed.
pub(super) fn short(change: &Change) -> String {
    let name = change.key.name();
    match &change.kind {
        ChangeKind::Added { new, initial } => {
            format!("+{name}@{}{}", kept_version(new), if *initial { "!" } else { "" })
        }
        ChangeKind::Updated { old, new } => format!("{name}@{}>{}", kept_version(old), kept_version(new)),
        ChangeKind::Deleted { last, final_state_unknown } => {
            format!("-{name}@{}{}", kept_version(last), if *final_state_unknown { "?" } else { "" })
        }
    }
}

#[derive(Debug, Default)]
pub(in crate::cache) struct Recorder {
    pub(super) changes: Mutex<Vec<Change>>,
    pub(super) health: Mutex<Vec<SourceHealth>>,
    pub(super) undecodable: Mutex<Vec<Option<ObjectKey>>>,
}

impl Recorder {
    /// What was told since the last call, in short.
    pub(super) fn take(&self) -> Vec<String> {
        self.take_changes().iter().map(short).collect()
    }

    pub(super) fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock())
    }
}

impl ChangeHandler for Recorder {
    fn on_change(&self, change: Change) {
        self.changes.lock().push(change);
    }

    fn on_health(&self, health: &SourceHealth) {
        self.health.lock().push(health.clone());
    }

    fn on_undecodable(&self, key: Option<&ObjectKey>, _error: &str) {
        self.undecodable.lock().push(key.cloned());
    }
}
