//! One list-watch of one collection, shared by all informers of an operator that follow the same objects in the same
//! form.
//!
//! ```text
//!                           ┌─▶ engine of controller a: its store, indexes, own writes, handler
//! list_watch ──▶ Feed ──────┼─▶ engine of controller b: the same bytes, everything else of its own
//!                  │        └─▶ one that joins later: first the existing objects, then the same as the others
//!                  └ the objects, kept once if others may join
//! ```
//!
//! The future of one of the informers drives the list-watch. When it is dropped, the future of another continues where it
//! stopped, with a new watch and without a new list. When the last informer leaves, everything is forgotten.
//!
//! # Guarantees
//! - Each informer gets everything in the order in which the server has shown it, as if it were alone, and nothing after
//!   it has left.
//! - An informer that joins later gets all objects, without a request, and learns of the feed's trouble. If it knows
//!   more than the feed, it gets nothing older, and no end of an object that the feed hasn't shown yet.
//! - It is synced, and gets deletions, once it knows what the others know. While the watch isn't open, that is with the
//!   watch's next event or with a list, or once a new watch has shown nothing for a while.
//! - For an informer that selects less than its feed, an object that it no longer selects counts as deleted, and one that
//!   it never selected isn't shown.
//!
//! # Assumptions
//! - An engine takes no lock of a feed while it processes what the feed shows.

#[cfg(test)]
mod key_tests;
mod pool;
mod seat;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::Collection;
use crate::cache::text::{Face, TextObject, View};

pub(in crate::cache) use pool::Key;
pub(crate) use pool::{InformerPool, Share};
pub(in crate::cache) use seat::Seat;
use state::FeedState;

/// Returns whether an informer selects an object among those of its feed.
pub(crate) type Selects = Arc<dyn Fn(&TextObject) -> bool + Send + Sync>;

/// A list-watch, and the informers that follow it.
pub(in crate::cache) struct Feed {
    /// The name in logs.
    pub(in crate::cache) name: String,
    pub(in crate::cache) collection: Collection,
    /// Reads what the server sends.
    pub(in crate::cache) face: Arc<dyn Face>,
    /// The same, with the wishes of all informers.
    view: Arc<View>,
    state: Mutex<FeedState>,
    /// Held by the future that drives, with its progress.
    pub(in crate::cache) turn: tokio::sync::Mutex<Option<super::Progress>>,
}

impl Feed {
    /// `is_shared`: others may join, and then get what exists.
    pub(in crate::cache) fn new(
        name: &str,
        collection: Collection,
        face: Arc<dyn Face>,
        view: Arc<View>,
        is_shared: bool,
    ) -> Self {
        let state = Mutex::new(FeedState::new(is_shared));
        Self { name: name.to_owned(), collection, face, view, state, turn: tokio::sync::Mutex::new(None) }
    }

    /// Another informer wants objects as `view` reads them.
    fn also_as(&self, view: &View) {
        self.view.also_as(view);
    }

    /// What it knows, to which is told what the server shows.
    pub(in crate::cache) fn lock(&self) -> MutexGuard<'_, FeedState> {
        self.state.lock()
    }
}

debug_of!(Feed: "Feed", |it| name: it.name);
