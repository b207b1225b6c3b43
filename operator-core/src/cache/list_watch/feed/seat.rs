//! The place of one informer at a feed.

use std::sync::Arc;

use super::{Feed, Selects};
use crate::{
    cache::{
        KeySet,
        engine::{Decoded, Engine, WatchEvent},
        scopes::ScopeIndex,
        text::TextObject,
    },
    observe::SourceHealth,
};

/// An informer, as a feed knows it.
#[derive(Clone)]
pub(in crate::cache) struct Seat {
    pub(in crate::cache) engine: Arc<Engine>,
    /// The informer's collection that the feed shows.
    pub(in crate::cache) scope: ScopeIndex,
    /// Its own selection; `None` for all objects.
    pub(in crate::cache) selects: Option<Selects>,
    /// The same by keys.
    pub(in crate::cache) only: Option<KeySet>,
}

/// Leaves the feed when it is dropped.
#[must_use]
pub(in crate::cache) struct Seated<'f> {
    feed: &'f Feed,
    id: u64,
}

impl Feed {
    /// From now on the informer is shown everything; and, before this returns, the existing objects, if they are known.
    pub(in crate::cache) async fn join(&self, seat: Seat) -> Seated<'_> {
        let id = self.lock().join(seat);
        let seated = Seated { feed: self, id };
        while self.lock().tell(id) {
            tokio::task::yield_now().await;
        }
        seated
    }
}

impl Drop for Seated<'_> {
    fn drop(&mut self) {
        self.feed.lock().leave(self.id);
    }
}

impl Seat {
    /// An object whose metadata can't be read may be any object.
    pub(super) fn is_selected(&self, item: &Decoded) -> bool {
        let is_kept = |only: &KeySet| item.key().is_none_or(|key| only.lock().contains(&key));
        self.only.as_ref().is_none_or(is_kept)
            && self.selects.as_ref().is_none_or(|selects| item.kept().is_none_or(|kept| selects(kept)))
    }

    pub(super) fn listed(&self, item: &Decoded) {
        if self.is_selected(item) {
            self.engine.listed(self.scope, item.clone());
        }
    }

    pub(super) fn streamed(&self, event: &WatchEvent) {
        if let Some(event) = self.as_selected(event) {
            self.engine.streamed(self.scope, event);
        }
    }

    pub(super) fn watched(&self, event: &WatchEvent) {
        match self.as_selected(event) {
            Some(event) => self.engine.watched(self.scope, event),
            None => {
                // The object is one of the others', and shows how far the collection has come.
                if let Some(version) = event.item().kept().and_then(TextObject::version) {
                    self.engine.bookmark(self.scope, version);
                }
            }
        }
    }

    /// The others have seen this item, or see it now, while the informer doesn't know everything yet.
    pub(super) fn joined(&self, item: &Decoded) {
        if self.is_selected(item) {
            self.engine.joined(self.scope, item.clone());
        }
    }

    /// The event as the informer sees it. An object that it doesn't select any more is gone.
    fn as_selected(&self, event: &WatchEvent) -> Option<WatchEvent> {
        let item = event.item();
        if self.is_selected(item) {
            return Some(event.clone());
        }
        let is_known = item.key().is_some_and(|key| self.engine.shows(&key));
        is_known.then(|| WatchEvent::Deleted(item.clone()))
    }

    pub(super) fn health_changed(&self, health: &SourceHealth) {
        self.engine.health_changed(self.scope, health.clone());
    }
}
