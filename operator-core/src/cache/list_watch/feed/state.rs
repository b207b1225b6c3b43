//! What a feed has shown, and to which informers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::Seat;
use crate::{
    cache::{
        engine::{Decoded, Undecodable, WatchEvent},
        text::TextObject,
    },
    observe::SourceHealth,
    resource::ObjectKey,
};

/// Everything under a feed's lock.
pub(super) struct FeedState {
    /// In the order in which they joined.
    seats: BTreeMap<u64, Seat>,
    next: u64,
    /// Informers that joined in the middle of a list: they get everything at its end.
    waiting: BTreeSet<u64>,
    /// The objects that exist, if others may join.
    objects: Option<BTreeMap<ObjectKey, Last>>,
    /// What a list has shown so far; `None` between lists.
    listing: Option<Listing>,
    /// The version up to which everything was shown; `None` before the first list is complete.
    version: Option<String>,
    health: SourceHealth,
    generation: u64,
}

#[derive(Default)]
struct Listing {
    keys: BTreeSet<ObjectKey>,
    /// An item was listed whose name couldn't be read: it could be any object.
    blind: bool,
}

/// The newest state of an object.
enum Last {
    Object(Arc<TextObject>),
    Undecodable(Box<Undecodable>),
}

impl FeedState {
    pub(super) fn new(is_shared: bool) -> Self {
        Self {
            seats: BTreeMap::new(),
            next: 0,
            waiting: BTreeSet::new(),
            objects: is_shared.then(BTreeMap::new),
            listing: None,
            version: None,
            health: SourceHealth::Syncing,
            generation: 0,
        }
    }

    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    /// The informers that get the next event.
    fn seated(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|(id, _)| !self.waiting.contains(id)).map(|(_, seat)| seat)
    }

    pub(super) fn join(&mut self, seat: Seat) -> u64 {
        let id = self.next;
        self.next += 1;
        match (&self.version, &self.listing) {
            (Some(version), None) => self.tell_all(&seat, version),
            // Nothing was shown yet.
            (None, None) => seat.health_changed(&self.health),
            (_, Some(_)) => {
                self.waiting.insert(id);
            }
        }
        self.seats.insert(id, seat);
        id
    }

    pub(super) fn leave(&mut self, id: u64) {
        self.seats.remove(&id);
        self.waiting.remove(&id);
        if self.seats.is_empty() {
            let (is_shared, generation) = (self.objects.is_some(), self.generation + 1);
            *self = Self { next: self.next, generation, ..Self::new(is_shared) };
        }
    }

    /// Shows what a list would show now.
    fn tell_all(&self, seat: &Seat, version: &str) {
        seat.list_started();
        for (key, last) in self.objects.iter().flatten() {
            seat.listed(&match last {
                Last::Object(kept) => Decoded::Object { key: key.clone(), kept: Arc::clone(kept) },
                Last::Undecodable(undecodable) => Decoded::Undecodable(Undecodable::clone(undecodable)),
            });
        }
        seat.health_changed(&self.health);
        seat.list_finished(version);
    }

    fn exists(&mut self, item: &Decoded) {
        let Some(key) = item.key() else {
            if let Some(listing) = &mut self.listing {
                listing.blind = true;
            }
            return;
        };
        if let Some(listing) = &mut self.listing {
            listing.keys.insert(key.clone());
        }
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

    pub(super) fn list_started(&mut self) {
        self.listing = Some(Listing::default());
        self.seated().for_each(Seat::list_started);
    }

    pub(super) fn listed(&mut self, item: &Decoded) {
        self.exists(item);
        self.seated().for_each(|seat| seat.listed(item));
    }

    pub(super) fn streamed(&mut self, event: &WatchEvent) {
        self.happened(event);
        self.seated().for_each(|seat| seat.streamed(event));
    }

    pub(super) fn list_finished(&mut self, version: &str) {
        let listing = self.listing.take().unwrap_or_default();
        if let Some(objects) = self.objects.as_mut().filter(|_| !listing.blind) {
            objects.retain(|key, _| listing.keys.contains(key));
        }
        self.version = Some(version.to_owned());
        self.seated().for_each(|seat| seat.list_finished(version));
        let waiting = std::mem::take(&mut self.waiting);
        for seat in waiting.iter().filter_map(|id| self.seats.get(id)) {
            self.tell_all(seat, version);
        }
    }

    pub(super) fn watched(&mut self, event: &WatchEvent) {
        self.happened(event);
        if let Some(version) = event.item().kept().and_then(TextObject::version) {
            self.version = Some(version.to_owned());
        }
        self.seated().for_each(|seat| seat.watched(event));
    }

    pub(super) fn bookmark(&mut self, version: &str) {
        self.version = Some(version.to_owned());
        self.seated().for_each(|seat| seat.bookmark(version));
    }

    pub(super) fn health_changed(&mut self, health: &SourceHealth) {
        self.health = health.clone();
        // Waiting informers as well: the trouble that keeps the list from ending concerns them most.
        self.seats.values().for_each(|seat| seat.health_changed(health));
    }

    pub(super) fn watch_was_silent(&self) {
        self.seated().for_each(Seat::watch_was_silent);
    }

    pub(super) fn answered(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.seated().find_map(|seat| seat.engine.answered(key))
    }
}
