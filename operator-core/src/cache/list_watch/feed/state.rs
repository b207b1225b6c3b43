//! What a feed has shown, and to which informers.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use super::Seat;
use crate::{
    cache::{
        engine::{Decoded, Listing, Undecodable, WatchEvent},
        text::TextObject,
    },
    observe::SourceHealth,
    resource::ObjectKey,
};

/// A joining informer gets this number of objects before other tasks on the same thread may continue.
const TOLD_AT_A_TIME: usize = if cfg!(test) { 1 } else { 32 };

/// Everything under a feed's lock.
#[derive(Default)]
pub(in crate::cache) struct FeedState {
    /// In the order in which they joined.
    seats: BTreeMap<u64, Seat>,
    next: u64,
    /// Informers that joined after the last list was requested, and don't know yet what the others know: the key after
    /// which they still have to be shown the objects; `None` if they were shown all of them.
    joining: BTreeMap<u64, Option<Bound<ObjectKey>>>,
    /// The objects that exist, if others may join.
    objects: Option<BTreeMap<ObjectKey, Last>>,
    /// What a list has shown so far; `None` between lists.
    listing: Option<Listing>,
    /// The version up to which everything was shown; `None` before the first list is complete.
    version: Option<String>,
    /// The last list showed an item whose name couldn't be read.
    blind: bool,
    /// The watch is open, or a list has just been completed: no change since `version` is known.
    is_open: bool,
    health: SourceHealth,
    generation: u64,
}

/// The newest state of an object.
enum Last {
    Object(Arc<TextObject>),
    Undecodable(Box<Undecodable>),
}

impl Last {
    fn decoded(&self, key: &ObjectKey) -> Decoded {
        match self {
            Self::Object(kept) => Decoded::Object { key: key.clone(), kept: Arc::clone(kept) },
            Self::Undecodable(undecodable) => Decoded::Undecodable(Undecodable::clone(undecodable)),
        }
    }
}

/// The state that an event shows, unless the object is gone.
const fn applied(event: &WatchEvent) -> Option<&Decoded> {
    match event {
        WatchEvent::Applied(item) => Some(item),
        WatchEvent::Deleted(_) => None,
    }
}

impl FeedState {
    pub(super) fn new(is_shared: bool) -> Self {
        Self { objects: is_shared.then(BTreeMap::new), ..Self::default() }
    }

    /// Changes whenever everything that was known is forgotten.
    pub(in crate::cache) const fn generation(&self) -> u64 {
        self.generation
    }

    /// The informers that know everything that was shown.
    fn seated(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|(id, _)| !self.joining.contains_key(id)).map(|(_, seat)| seat)
    }

    /// Shows each informer an event, by `told` if it knows everything before. Joining informers get only what is `applied`,
    /// and deletions once they know as much as the others: before, an older state of the object that another feed shows
    /// couldn't be recognized.
    fn tell_all(&self, applied: Option<&Decoded>, told: impl Fn(&Seat)) {
        for (id, seat) in &self.seats {
            match (self.joining.contains_key(id), applied) {
                (false, _) => told(seat),
                (true, Some(item)) => seat.joined(item),
                (true, None) => {}
            }
        }
    }

    pub(super) fn join(&mut self, seat: Seat) -> u64 {
        let id = self.next;
        self.next += 1;
        if matches!(self.health, SourceHealth::Unhealthy { .. }) {
            seat.health_changed(&self.health);
        }
        self.seats.insert(id, seat);
        self.joining.insert(id, Some(Bound::Unbounded));
        id
    }

    /// Shows a joining informer the next objects. Returns whether there are more.
    pub(super) fn tell(&mut self, id: u64) -> bool {
        let (Some(seat), Some(Some(from))) = (self.seats.get(&id), self.joining.get(&id)) else {
            return false;
        };
        let objects = self.objects.iter().flat_map(|all| all.range((from.as_ref(), Bound::Unbounded)));
        let next: Vec<_> = objects.take(TOLD_AT_A_TIME).collect();
        for (key, object) in &next {
            seat.joined(&object.decoded(key));
        }
        let is_full = next.len() == TOLD_AT_A_TIME;
        let from = next.last().filter(|_| is_full).map(|(key, _)| Bound::Excluded((*key).clone()));
        self.joining.insert(id, from);
        if is_full {
            return true;
        }
        if self.is_open {
            self.seat_joiners();
        }
        false
    }

    /// The joining informers that were shown everything know as much as the others from now on.
    fn seat_joiners(&mut self) {
        let Some(version) = &self.version else { return };
        let is_told = |id: &u64| self.joining.get(id).is_some_and(Option::is_none);
        for (_, seat) in self.seats.iter().filter(|(id, _)| is_told(id)) {
            let known = |key: &ObjectKey| self.objects.as_ref().and_then(|objects| objects.get(key));
            let shows = |key: &ObjectKey| known(key).is_some_and(|last| seat.is_selected(&last.decoded(key)));
            seat.health_changed(&self.health);
            seat.engine.join_finished(seat.scope, version, &|key| self.blind || shows(key));
        }
        self.joining.retain(|_, from| from.is_some());
    }

    pub(super) fn leave(&mut self, id: u64) {
        self.seats.remove(&id);
        self.joining.remove(&id);
        if self.seats.is_empty() {
            let (is_shared, generation) = (self.objects.is_some(), self.generation + 1);
            *self = Self { next: self.next, generation, ..Self::new(is_shared) };
        }
    }

    fn exists(&mut self, item: &Decoded) {
        if let Some(listing) = &mut self.listing {
            listing.add(item.key());
        }
        let Some(key) = item.key() else { return };
        if let Some(objects) = &mut self.objects {
            let last = match item {
                Decoded::Object { kept, .. } => Last::Object(Arc::clone(kept)),
                Decoded::Undecodable(undecodable) => Last::Undecodable(Box::new(undecodable.clone())),
            };
            objects.insert(key, last);
        }
    }

    fn gone(&mut self, item: &Decoded) {
        let Some(key) = item.key() else { return };
        if let Some(listing) = &mut self.listing {
            listing.keys.remove(&key);
        }
        if let Some(objects) = &mut self.objects {
            objects.remove(&key);
        }
    }

    fn happened(&mut self, event: &WatchEvent) {
        match event {
            WatchEvent::Applied(item) => self.exists(item),
            WatchEvent::Deleted(item) => self.gone(item),
        }
    }

    /// A list is requested: it will show all objects to the informers that have joined before.
    pub(in crate::cache) fn list_asked(&mut self) {
        self.joining.clear();
        self.is_open = false;
    }

    /// A watch was opened, or has ended.
    pub(in crate::cache) fn watch_is_open(&mut self, is_open: bool) {
        self.is_open = is_open;
    }

    /// Whether informers have joined that don't know yet what the others know.
    pub(in crate::cache) fn is_awaited(&self) -> bool {
        !self.joining.is_empty()
    }

    /// A watch has shown nothing since it was opened, for long enough to show what had happened before.
    pub(in crate::cache) fn watch_is_quiet(&mut self) {
        if self.is_open {
            self.seat_joiners();
        }
    }

    /// A list starts.
    pub(in crate::cache) fn list_started(&mut self) {
        self.listing = Some(Listing::default());
        self.seated().for_each(|seat| seat.engine.list_started(seat.scope));
    }

    /// A list showed an item.
    pub(in crate::cache) fn listed(&mut self, item: &Decoded) {
        self.exists(item);
        self.tell_all(Some(item), |seat| seat.listed(item));
    }

    /// A streamed list showed an event.
    pub(in crate::cache) fn streamed(&mut self, event: &WatchEvent) {
        self.happened(event);
        self.tell_all(applied(event), |seat| seat.streamed(event));
    }

    /// The list is complete as of this version.
    pub(in crate::cache) fn list_finished(&mut self, version: &str) {
        let listing = self.listing.take().unwrap_or_default();
        if let Some(objects) = self.objects.as_mut().filter(|_| !listing.blind) {
            objects.retain(|key, _| listing.keys.contains(key));
        }
        self.blind = listing.blind;
        self.seated().for_each(|seat| seat.engine.list_finished(seat.scope, version));
        self.reached(version);
    }

    /// A watch showed an event.
    pub(in crate::cache) fn watched(&mut self, event: &WatchEvent) {
        self.happened(event);
        self.tell_all(applied(event), |seat| seat.watched(event));
        if let Some(version) = event.item().kept().and_then(TextObject::version) {
            self.reached(version);
        }
    }

    /// A watch reported that there was nothing else up to this version.
    pub(in crate::cache) fn bookmark(&mut self, version: &str) {
        self.seated().for_each(|seat| seat.engine.bookmark(seat.scope, version));
        self.reached(version);
    }

    /// Everything up to this version was shown.
    fn reached(&mut self, version: &str) {
        self.version = Some(version.to_owned());
        self.is_open = true;
        self.seat_joiners();
    }

    pub(in crate::cache) fn health_changed(&mut self, health: &SourceHealth) {
        self.health = health.clone();
        // Joining informers as well: the trouble that keeps the list from ending concerns them most.
        self.seats.values().for_each(|seat| seat.health_changed(health));
    }

    /// A watch fell silent and is replaced.
    pub(in crate::cache) fn watch_was_silent(&self) {
        self.seated().for_each(|seat| seat.engine.watch_was_silent());
    }

    /// The newest answer to a write of one of the informers, until its watch has caught up with it.
    pub(in crate::cache) fn answered(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.seated().find_map(|seat| seat.engine.answered(key))
    }
}
