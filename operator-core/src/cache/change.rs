//! What an informer passes to its handler.

use std::sync::Arc;

use super::{TextObject, View};
use crate::{
    observe::{Action, SourceHealth},
    resource::{Object, ObjectKey},
};

/// A change of a watched object.
#[derive(Debug)]
pub(crate) struct Change {
    /// The key of the object that has changed. For an object that appeared this is the key that the informer keeps, so
    /// a clone of it allocates no further strings.
    pub(crate) key: ObjectKey,
    /// What happened to it.
    pub(crate) kind: ChangeKind<TextObject>,
}

/// What happened to an object.
#[derive(Debug)]
pub(crate) enum ChangeKind<K: ?Sized> {
    /// The object appeared, or the handler is notified of it for the first time.
    Added {
        /// Its state.
        new: Arc<K>,
        /// Whether the first list found it: it may have existed long before.
        initial: bool,
    },
    /// The object changed. Several changes may have been merged into one: `old` is then the state before the first.
    Updated {
        /// The state before.
        old: Arc<K>,
        /// The state now.
        new: Arc<K>,
    },
    /// The object is gone.
    Deleted {
        /// The last known state.
        last: Arc<K>,
        /// Whether the deletion itself was missed: `last` may then be older than the object's real last state.
        final_state_unknown: bool,
    },
}

impl<K: ?Sized> ChangeKind<K> {
    /// The same without the states.
    pub(crate) const fn action(&self) -> Action {
        match self {
            Self::Added { .. } => Action::Added,
            Self::Updated { .. } => Action::Updated,
            Self::Deleted { .. } => Action::Deleted,
        }
    }

    /// The newest state: of a deleted object, the last known one.
    pub(crate) const fn object(&self) -> &Arc<K> {
        match self {
            Self::Added { new, .. } | Self::Updated { new, .. } => new,
            Self::Deleted { last, .. } => last,
        }
    }
}

impl ChangeKind<TextObject> {
    /// The same change with its objects opened.
    pub(crate) fn opened(&self, view: &View) -> Option<ChangeKind<dyn Object>> {
        Some(match self {
            Self::Added { new, initial } => ChangeKind::Added { new: view.open(new)?, initial: *initial },
            Self::Updated { old, new } => ChangeKind::Updated { old: view.open(old)?, new: view.open(new)? },
            Self::Deleted { last, final_state_unknown } => {
                ChangeKind::Deleted { last: view.open(last)?, final_state_unknown: *final_state_unknown }
            }
        })
    }
}

/// Is notified of the changes that an informer sees. JOSDK: `ResourceEventHandler`.
///
/// All methods are called in order under the informer's lock: they return quickly, don't block, and don't write through
/// the same informer. They may read from it. A panic is caught and logged, and the change counts as handed over.
pub(crate) trait ChangeHandler: Send + Sync {
    /// An object changed, and it was not merely the echo of an own write.
    fn on_change(&self, change: Change);

    /// The informer's health has changed.
    fn on_health(&self, health: &SourceHealth) {
        let _ = health;
    }

    /// A watch fell silent: the server should have ended it long ago and didn't. Another watch now replaces it.
    fn on_silent_watch(&self) {}

    /// The number of entries it keeps about objects that don't exist according to `exists`: 0 once everything has
    /// settled, otherwise a leak. By default 0.
    fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        let _ = exists;
        0
    }

    /// An object that the operator itself has written doesn't match the selectors, so its changes won't be reported.
    fn on_not_selected(&self, key: &ObjectKey) {
        let _ = key;
    }

    /// An object isn't followed any more, because its namespace isn't. It may still exist; nothing more is reported
    /// about it.
    fn on_left(&self, key: &ObjectKey, uid: &str) {
        let _ = (key, uid);
    }

    /// A list shows an object in an older state than was seen before, or an object that was seen to be gone. The
    /// server's storage may have been restored from a backup, or the list comes from a replica that lags behind. This
    /// is called before the change itself is reported.
    fn on_outdated(&self, key: &ObjectKey) {
        let _ = key;
    }

    /// The number of objects that exist now and can't be decoded, although their metadata can.
    fn on_undecodable_objects(&self, objects: usize) {
        let _ = objects;
    }

    /// An object couldn't be decoded and is skipped. `key` is unknown when not even its metadata could be read. The error
    /// names the field and what is expected there, and none of the object's values.
    fn on_undecodable(&self, key: Option<&ObjectKey>, error: &str) {
        let _ = (key, error);
    }
}

/// Is notified of the objects that an informer stores, even if the event is only the echo of one of the operator's own
/// writes. For code that keeps something about each of them. Called in order, under the informer's lock, like a
/// [`ChangeHandler`], and before it.
pub(crate) trait Follower: Send + Sync {
    /// It is stored in a new state.
    fn seen(&self, key: &ObjectKey, uid: &str);

    /// It is gone. An object that was replaced under its name is first reported as gone, then as seen.
    fn gone(&self, key: &ObjectKey);

    /// The follower wants no more notifications.
    fn has_ended(&self) -> bool;
}
