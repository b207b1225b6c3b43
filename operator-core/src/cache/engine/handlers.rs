//! Who is told what an informer sees.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use parking_lot::RwLock;

use crate::{
    cache::{Change, ChangeHandler},
    observe::SourceHealth,
    resource::{KubeObject, ObjectKey},
};

use super::Engine;

/// The informer's own handler, and those who follow its changes beside it.
pub(super) struct Handlers<K> {
    main: Arc<dyn ChangeHandler<K>>,
    /// Told before the main one: what they keep about an object is in order when an event causes a run.
    followers: RwLock<Followers<K>>,
}

type Followers<K> = Arc<[Arc<dyn ChangeHandler<K>>]>;

impl<K: Clone> Handlers<K> {
    pub(super) fn new(main: Arc<dyn ChangeHandler<K>>) -> Self {
        Self { main, followers: RwLock::new(Arc::new([])) }
    }

    pub(super) fn add(&self, follower: Arc<dyn ChangeHandler<K>>) {
        let mut followers = self.followers.write();
        *followers = followers.iter().cloned().chain([follower]).collect();
    }

    pub(super) fn on_change(&self, informer: &str, change: Change<K>) {
        // Shared, so that no lock of ours is held while others' code runs.
        let followers = Arc::clone(&self.followers.read());
        for follower in &*followers {
            guarded(informer, || follower.on_change(change.clone()));
        }
        guarded(informer, || self.main.on_change(change));
    }

    pub(super) fn on_health(&self, informer: &str, health: &SourceHealth) {
        guarded(informer, || self.main.on_health(health));
    }

    fn on_silent_watch(&self, informer: &str) {
        guarded(informer, || self.main.on_silent_watch());
    }

    pub(super) fn on_undecodable(&self, informer: &str, key: Option<&ObjectKey>, error: &str) {
        guarded(informer, || self.main.on_undecodable(key, error));
    }
}

impl<K: KubeObject> Engine<K> {
    /// How much the informer's handler keeps about objects that are not there.
    pub(in crate::cache) fn kept_by_handler(&self) -> usize {
        self.handlers.main.leftovers(&|key| self.contains(key))
    }

    /// A watch fell silent and is replaced.
    pub(in crate::cache) fn watch_was_silent(&self) {
        let _in_order = self.state.lock();
        self.handlers.on_silent_watch(&self.name);
    }
}

/// A handler's panic must neither stop the informer nor, in the middle of another panic, abort the process.
fn guarded(informer: &str, call: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        tracing::error!(informer, "the informer's handler panicked");
    }
}
