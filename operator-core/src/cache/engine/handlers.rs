//! The handlers that are notified of what an informer sees.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use parking_lot::RwLock;

use crate::{
    cache::{Change, ChangeHandler, Follower, text::Kept},
    observe::SourceHealth,
    resource::ObjectKey,
};

use super::Engine;

/// The informer's own handler, and the followers of what it stores.
pub(super) struct Handlers {
    main: Arc<dyn ChangeHandler<Kept>>,
    followers: RwLock<Followers>,
}

type Followers = Arc<[Arc<dyn Follower>]>;

impl Handlers {
    pub(super) fn new(main: Arc<dyn ChangeHandler<Kept>>) -> Self {
        Self { main, followers: RwLock::new(Arc::new([])) }
    }

    /// Adds one, and removes those that have ended.
    pub(super) fn add(&self, follower: Arc<dyn Follower>) {
        let mut followers = self.followers.write();
        let living = followers.iter().filter(|follower| !follower.has_ended()).cloned();
        *followers = living.chain([follower]).collect();
    }

    #[cfg(test)]
    pub(super) fn followers(&self) -> usize {
        self.followers.read().len()
    }

    pub(super) fn seen(&self, informer: &str, key: &ObjectKey, uid: &str) {
        self.follow(informer, |follower| follower.seen(key, uid));
    }

    pub(super) fn gone(&self, informer: &str, key: &ObjectKey) {
        self.follow(informer, |follower| follower.gone(key));
    }

    fn follow(&self, informer: &str, tell: impl Fn(&dyn Follower)) {
        // Shared, so that no lock of ours is held while others' code runs.
        let followers = Arc::clone(&self.followers.read());
        for follower in &*followers {
            guarded(informer, || tell(&**follower));
        }
    }

    pub(super) fn on_change(&self, informer: &str, change: Change<Kept>) {
        guarded(informer, || self.main.on_change(change));
    }

    pub(super) fn on_health(&self, informer: &str, health: &SourceHealth) {
        guarded(informer, || self.main.on_health(health));
    }

    fn on_silent_watch(&self, informer: &str) {
        guarded(informer, || self.main.on_silent_watch());
    }

    pub(super) fn on_not_selected(&self, informer: &str, key: &ObjectKey) {
        guarded(informer, || self.main.on_not_selected(key));
    }

    pub(super) fn on_left(&self, informer: &str, key: &ObjectKey, uid: &str) {
        guarded(informer, || self.main.on_left(key, uid));
    }

    pub(super) fn on_outdated(&self, informer: &str, key: &ObjectKey) {
        guarded(informer, || self.main.on_outdated(key));
    }

    pub(super) fn on_undecodable_objects(&self, informer: &str, objects: usize) {
        guarded(informer, || self.main.on_undecodable_objects(objects));
    }

    pub(super) fn on_undecodable(&self, informer: &str, key: Option<&ObjectKey>, error: &str) {
        guarded(informer, || self.main.on_undecodable(key, error));
    }
}

impl Engine {
    /// From now on `follower` is notified of every object that is stored, and right away of those that are stored
    /// already.
    pub(in crate::cache) fn also_tell(&self, follower: Arc<dyn Follower>) {
        let _in_order = self.state.lock();
        for key in self.store.shown_keys() {
            let stored = self.store.shown(&key);
            let uid = stored.as_ref().and_then(|stored| stored.uid()).unwrap_or_default();
            guarded(&self.name, || follower.seen(&key, uid));
        }
        self.handlers.add(follower);
    }

    /// The number of followers.
    #[cfg(test)]
    pub(in crate::cache) fn followers(&self) -> usize {
        self.handlers.followers()
    }

    /// The number of the handler's entries about objects that don't exist.
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
