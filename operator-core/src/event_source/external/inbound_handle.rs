//! The input of an inbound source, from anywhere and at any time.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{
    cache::{ExternalCache, Set},
    store::{IdOf, by_id},
};
use crate::{event_source::Filters, resource::ObjectKey};

/// The number of primaries for which pushes are kept while the source doesn't run.
const MOST_EARLY: usize = 10_000;

/// Pushes resources into a [`CachingInboundEventSource`](super::CachingInboundEventSource). Cheap to clone; it can be used
/// before the operator starts, while it runs, and between a stop and the next start. JOSDK:
/// `handleResourceEvent` and `handleResourceDeleteEvent`.
///
/// Pushes while the operator isn't running are kept for its next start, for at most 10,000 primaries; each start forgets
/// the resources of the one before. Pushes for a primary that doesn't exist are dropped, once all primaries have been
/// seen at the latest. If that primary appears later, its run fetches.
pub struct InboundHandle<R, I> {
    id: IdOf<R, I>,
    line: Arc<Mutex<Line<R, I>>>,
}

/// The target of pushes.
struct Line<R, I> {
    /// The source, while it runs.
    inbox: Option<Weak<dyn Inbox<R, I>>>,
    /// Pushes for the next start.
    early: ExternalCache<R, I>,
    /// Something was dropped since the last start, and that was reported.
    is_full: bool,
}

/// Receives pushes.
pub(super) trait Inbox<R, I>: Send + Sync {
    /// Starts with the earlier pushes.
    fn adopt(&self, early: ExternalCache<R, I>);
    /// A full set of a primary was pushed.
    fn put(&self, primary: &ObjectKey, set: Set<R, I>);
    /// A resource was reported as gone.
    fn delete(&self, primary: &ObjectKey, id: &I);
}

impl<R: PartialEq, I: Ord + Clone> InboundHandle<R, I> {
    pub(super) fn new(id: IdOf<R, I>) -> Self {
        let early = ExternalCache::new(Filters::new());
        Self { id, line: Arc::new(Mutex::new(Line { inbox: None, early, is_full: false })) }
    }

    /// Sets all current resources of a primary. Triggers it if they have changed. Never blocks.
    pub fn put(&self, primary: &ObjectKey, resources: Vec<R>) {
        let set = by_id(resources, &self.id);
        let mut line = self.line.lock();
        match line.inbox() {
            // The lock is released first: the source may wake the primary, which notifies others.
            Some(inbox) => {
                drop(line);
                inbox.put(primary, set);
            }
            None if line.has_room_for(primary) => {
                line.early.update(primary, set);
            }
            None => {}
        }
    }

    /// Removes a resource of a primary. Triggers the primary if the resource was known. Never blocks.
    pub fn delete(&self, primary: &ObjectKey, id: &I) {
        let mut line = self.line.lock();
        match line.inbox() {
            Some(inbox) => {
                drop(line);
                inbox.delete(primary, id);
            }
            // Only pushed resources are known here.
            None if line.early.is_complete(primary) => {
                line.early.vanished(primary, id);
            }
            None => {}
        }
    }

    /// From now on pushes go to `inbox`, until it is dropped.
    pub(super) fn connect(&self, inbox: &Arc<dyn Inbox<R, I>>) {
        let mut line = self.line.lock();
        inbox.adopt(line.take_early());
        line.inbox = Some(Arc::downgrade(inbox));
    }
}

impl<R: PartialEq, I: Ord + Clone> Line<R, I> {
    fn inbox(&self) -> Option<Arc<dyn Inbox<R, I>>> {
        self.inbox.as_ref()?.upgrade()
    }

    /// Whether a push for the next start can be kept. A source that never starts doesn't collect them forever.
    fn has_room_for(&mut self, primary: &ObjectKey) -> bool {
        let has_room = self.early.is_complete(primary) || self.early.primaries().len() < MOST_EARLY;
        if !has_room && !std::mem::replace(&mut self.is_full, true) {
            tracing::warn!(
                primaries = MOST_EARLY,
                "too many pushes to a source that doesn't run: those of further primaries are dropped, and fetched once it runs"
            );
        }
        has_room
    }

    fn take_early(&mut self) -> ExternalCache<R, I> {
        self.is_full = false;
        std::mem::replace(&mut self.early, ExternalCache::new(Filters::new()))
    }
}

impl<R, I> Clone for InboundHandle<R, I> {
    fn clone(&self) -> Self {
        Self { id: Arc::clone(&self.id), line: Arc::clone(&self.line) }
    }
}

debug_of!(InboundHandle<R, I> [R, I]: "InboundHandle");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pushed_to_a_source_that_never_starts_has_a_bound() {
        let handle: InboundHandle<u32, u32> = InboundHandle::new(Arc::new(|number: &u32| *number));
        let key = |number: usize| ObjectKey::namespaced("shop", &format!("p-{number}"));
        for number in 0..MOST_EARLY + 500 {
            handle.put(&key(number), vec![1]);
        }
        assert_eq!(
            handle.line.lock().early.primaries().len(),
            MOST_EARLY,
            "a bound, however many are pushed"
        );
        // What is known already is kept up to date.
        handle.put(&key(7), vec![2, 3]);
        assert_eq!(handle.line.lock().early.get(&key(7)).len(), 2);
        assert_eq!(handle.line.lock().early.primaries().len(), MOST_EARLY);
        assert_eq!(handle.line.lock().early.get(&key(MOST_EARLY + 1)).len(), 0);
    }
}
