//! The store, the indexes and the overlay behind one lock: events, own writes and readers meet here.

mod access;
mod collections;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::SetOnce;

pub(crate) use access::AnyWrite;
pub(super) use access::Presence;

use crate::{
    environment::fenced,
    observe::SourceHealth,
    resource::{ObjectKey, ResourceVersion},
};

use super::{
    Change, ChangeHandler, ChangeKind, Follower, Indexer, InformerSettings,
    indexers::{Indexers, Values},
    list_watch::Identity,
    overlay::{Advanced, Observed, Overlay, Recent},
    scopes::{ScopeIndex, Scopes},
    store::ItemStore,
    text::{Face, TextObject, View},
};

/// The state of one informer. Everything that changes it holds the lock while it changes and while it hands over, so
/// that the handler is notified in order and "seen" implies "handed over". Readers don't take this lock.
pub(super) struct Engine {
    pub(super) name: String,
    pub(super) scopes: Scopes,
    pub(super) face: Arc<dyn Face>,
    store: Box<dyn ItemStore>,
    recent: Arc<Recent>,
    indexers: Indexers,
    handler: Arc<dyn ChangeHandler>,
    followers: Mutex<Arc<[Arc<dyn Follower>]>>,
    /// The selection of the objects that are followed, if it isn't all of them.
    selector: Option<String>,
    /// Whether the metadata of an object that can't be decoded any more is taken over.
    takes_metadata: bool,
    /// The number of objects that exist and can't be decoded.
    undecodable: AtomicUsize,
    state: Mutex<EngineState>,
    /// Set once it was in trouble.
    failed: SetOnce<()>,
}

struct EngineState {
    overlay: Overlay,
    /// The followed collections.
    collections: BTreeMap<ScopeIndex, WatchState>,
    /// Objects that are being read because they are followed from now on; whether one may have ended since.
    admitting: BTreeMap<ObjectKey, bool>,
    /// Objects that exist and can't be decoded.
    undecodable: BTreeMap<ObjectKey, DecodingFailure>,
    /// The number of them that the handler was last notified of.
    undecodable_told: Option<usize>,
    /// It has been reported that something was written that the selector doesn't match.
    not_selected_told: bool,
    health: SourceHealth,
}

impl EngineState {
    /// The keys of the stored objects of a collection, if they are kept separately.
    fn stored_in(&mut self, scope: ScopeIndex) -> Option<&mut BTreeSet<ObjectKey>> {
        self.collections.get_mut(&scope)?.stored.as_mut()
    }
}

/// The state of one list-watch.
#[derive(Debug, Default)]
struct WatchState {
    /// A list is being processed: the objects that it has shown so far.
    listing: Option<Listing>,
    /// The keys of its stored objects, if there are several collections: at the end of a collection's list only its
    /// own objects are checked.
    stored: Option<BTreeSet<ObjectKey>>,
    health: SourceHealth,
}

/// What a list has shown so far.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) keys: BTreeSet<ObjectKey>,
    /// An item was listed whose name couldn't be read: it could be any object.
    pub(super) blind: bool,
}

impl Listing {
    /// It has shown an item with this key, if that could be read.
    pub(super) fn add(&mut self, key: Option<ObjectKey>) {
        self.blind |= key.is_none();
        self.keys.extend(key);
    }
}

/// An object as it came from the server.
#[derive(Clone, Debug)]
pub(super) enum Decoded {
    /// It was decoded, and is in the form in which objects are kept.
    Object { key: ObjectKey, kept: Arc<TextObject> },
    /// It couldn't be decoded.
    Undecodable(Undecodable),
}

impl Decoded {
    /// The object, as far as it could be read.
    pub(super) fn kept(&self) -> Option<&TextObject> {
        match self {
            Self::Object { kept, .. } => Some(kept),
            Self::Undecodable(undecodable) => undecodable.kept.as_deref(),
        }
    }

    fn resource_version(&self) -> Option<ResourceVersion> {
        match self {
            Self::Object { kept, .. } => kept.resource_version(),
            Self::Undecodable(undecodable) => undecodable.version(),
        }
    }

    /// The object's key, if it could be read.
    pub(super) fn key(&self) -> Option<ObjectKey> {
        match self {
            Self::Object { key, .. } => Some(key.clone()),
            Self::Undecodable(undecodable) => undecodable.key.clone(),
        }
    }
}

/// An object that could not be decoded, as it came from the server.
#[derive(Clone, Debug)]
pub(super) struct Undecodable {
    /// Its key, if its metadata could be read.
    pub(super) key: Option<ObjectKey>,
    /// Its version, if its metadata could be read.
    pub(super) version: Option<String>,
    /// The object, if its metadata could be read.
    pub(super) kept: Option<Arc<TextObject>>,
    /// The decoder's message: which field, and what is expected there.
    pub(super) error: String,
}

impl Undecodable {
    pub(super) fn version(&self) -> Option<ResourceVersion> {
        self.version.as_deref().and_then(ResourceVersion::parse)
    }
}

/// The entry of an object that can't be decoded.
struct DecodingFailure {
    pub(super) version: Option<String>,
    pub(super) error: String,
}

/// How an object was seen.
struct Sighting {
    /// By a list, not by a watch.
    listed: bool,
    /// Earlier reports about it don't count: it could not be decoded.
    is_news: bool,
}

/// What a watch reports about an object.
#[derive(Clone, Debug)]
pub(super) enum WatchEvent {
    /// It exists in this state.
    Applied(Decoded),
    /// It is gone, or doesn't match the selectors any more.
    Deleted(Decoded),
}

impl WatchEvent {
    pub(super) const fn item(&self) -> &Decoded {
        match self {
            Self::Applied(item) | Self::Deleted(item) => item,
        }
    }
}

impl Engine {
    /// The engine of an informer with these settings, which gets objects as `view` reads them.
    pub(super) fn new(
        settings: &InformerSettings,
        view: &Arc<View>,
        handler: Arc<dyn ChangeHandler>,
        indexers: BTreeMap<String, Indexer<Arc<TextObject>>>,
        store: Box<dyn ItemStore>,
    ) -> Self {
        let scopes = Scopes::new(&settings.scope, &settings.resource_type).within(settings.cluster.clone());
        let indexers = Indexers::new(indexers);
        let overlay = Overlay::new(scopes.clone(), &indexers);
        let several = scopes.indexes().count() > 1;
        let collection = |scope| {
            let stored = several.then(BTreeSet::new);
            (scope, WatchState { stored, ..WatchState::default() })
        };
        let collections: BTreeMap<_, _> = scopes.indexes().map(collection).collect();
        // An informer without any namespace has nothing to wait for.
        let idle = collections.is_empty();
        Self {
            name: settings.name.clone(),
            face: Arc::clone(view) as _,
            store,
            recent: overlay.recent(),
            indexers,
            handler,
            followers: Mutex::new(Arc::new([])),
            selector: settings.selector(),
            takes_metadata: settings.take_over_metadata,
            undecodable: AtomicUsize::new(0),
            state: Mutex::new(EngineState {
                overlay,
                collections,
                admitting: BTreeMap::new(),
                undecodable: BTreeMap::new(),
                undecodable_told: None,
                not_selected_told: false,
                health: if idle { SourceHealth::Healthy } else { SourceHealth::Syncing },
            }),
            scopes,
            failed: SetOnce::new(),
        }
    }

    /// Whether the watch has shown this object, and not its deletion.
    pub(super) fn shows(&self, key: &ObjectKey) -> bool {
        self.store.version(key).is_some() || self.store.shown(key).is_some()
    }

    /// A watch showed an event.
    pub(super) fn watched(&self, scope: ScopeIndex, event: WatchEvent) {
        let state = &mut *self.lock();
        if !state.collections.contains_key(&scope) {
            return;
        }
        let version = event.item().resource_version();
        if !(state.overlay.is_behind(scope) && self.is_past(state, scope, event.item())) {
            match event {
                WatchEvent::Applied(item) => self.appeared(state, scope, item, false),
                WatchEvent::Deleted(item) => self.vanished(state, scope, item),
            }
        }
        if let Some(version) = version {
            let advanced = state.overlay.advance(scope, version);
            self.take_in(state, advanced);
        }
    }

    fn appeared(&self, state: &mut EngineState, scope: ScopeIndex, item: Decoded, listed: bool) {
        match item {
            Decoded::Object { key, kept } => self.applied(state, scope, &key, kept, listed),
            Decoded::Undecodable(undecodable) => self.not_decoded(state, scope, undecodable, listed),
        }
    }

    /// Whether a newer state of the object is known: a list-watch that this informer has joined may be behind.
    fn is_past(&self, state: &EngineState, scope: ScopeIndex, item: &Decoded) -> bool {
        let (Some(key), Some(version)) = (item.key(), item.resource_version()) else { return false };
        match self.store.version(&key).as_deref().and_then(ResourceVersion::parse) {
            Some(stored) => stored > version,
            None => state.overlay.seen(scope, &key) >= Some(version),
        }
    }

    /// A watch reported that an object is gone.
    fn vanished(&self, state: &mut EngineState, scope: ScopeIndex, item: Decoded) {
        match item {
            Decoded::Object { key, kept: object } => {
                let version = object.resource_version();
                let stored = self.store.shown(&key);
                // An event of an object that was replaced under its name says nothing about its successor.
                let stale = stored.as_ref().is_some_and(|stored| {
                    stored.uid() != object.uid() && stored.resource_version() > version
                });
                if !stale {
                    self.removed(state, &key, version, object, false);
                }
            }
            Decoded::Undecodable(undecodable) => {
                let version = undecodable.version();
                match undecodable.key.clone().map(|key| (self.store.shown(&key), key)) {
                    Some((Some(stored), key)) => self.removed(state, &key, version, stored, true),
                    Some((None, key)) => {
                        self.can_be_decoded(state, &key);
                        state.overlay.deleted(&key, version);
                    }
                    None => self.not_decoded(state, scope, undecodable, false),
                }
            }
        }
    }

    /// A watch reported that there was nothing else up to `version`.
    pub(super) fn bookmark(&self, scope: ScopeIndex, version: &str) {
        let state = &mut *self.lock();
        self.store.tidy();
        if let Some(version) = ResourceVersion::parse(version) {
            let advanced = state.overlay.advance(scope, version);
            self.take_in(state, advanced);
        }
    }

    fn lock(&self) -> MutexGuard<'_, EngineState> {
        self.state.lock()
    }

    /// An object exists in this state.
    fn applied(
        &self,
        state: &mut EngineState,
        scope: ScopeIndex,
        key: &ObjectKey,
        object: Arc<TextObject>,
        listed: bool,
    ) {
        let is_news = self.can_be_decoded(state, key);
        self.exists(state, scope, key, object, Sighting { listed, is_news });
    }

    /// The same, whether all of it could be decoded or only its metadata.
    fn exists(
        &self,
        state: &mut EngineState,
        scope: ScopeIndex,
        key: &ObjectKey,
        new: Arc<TextObject>,
        Sighting { listed, is_news }: Sighting,
    ) {
        let mut old = self.store.shown(key);
        let outdated = listed && {
            let seen = match &old {
                Some(stored) => stored.resource_version(),
                None => state.overlay.last_sync(scope),
            };
            new.resource_version().is_some_and(|version| Some(version) < seen)
        };
        if let Some(stored) = &old {
            if stored.version() == new.version() && !is_news {
                return;
            }
            // A watch may repeat itself after it was resumed; a list is always the newest state.
            let newer = stored.resource_version() > new.resource_version();
            if newer && !listed && new.resource_version().is_some() {
                return;
            }
        }
        let replaced = old.take_if(|old| old.uid() != new.uid());
        if let Some(replaced) = replaced.clone() {
            // Deleted and created again in a gap. Store and indexes change from one to the other in one step: each reader
            // finds an object. The recent entry leaves only with the new object's event: it may be our re-creation.
            state.overlay.deleted(key, replaced.resource_version());
            self.tell_followers(|follower| follower.gone(key));
            let kind = ChangeKind::Deleted { last: replaced, final_state_unknown: true };
            self.hand_over(Change { key: key.clone(), kind });
        }
        if let Some(old) = &old {
            new.take_over_verdict(old);
        }
        let values = self.indexers.add(key, &new);
        self.store.insert(key.clone(), Arc::clone(&new));
        if let Some(stored) = state.stored_in(scope) {
            stored.insert(key.clone());
        }
        if let Some(old) = old.as_ref().or(replaced.as_ref()) {
            self.indexers.remove(key, old, &values);
        }
        // Before the change causes a run: the data that others keep about the object is then up to date.
        let uid = new.uid().unwrap_or_default();
        self.tell_followers(|follower| follower.seen(key, uid));
        if outdated {
            self.tell(|handler| handler.on_outdated(key));
        }
        let initial = listed && !self.is_collection_synced(scope);
        // A state that couldn't be decoded can't be compared with the new one.
        let old = old.filter(|_| !is_news);
        self.hand_over_all(state.overlay.observed(key, Observed { old, new, initial, listed }));
    }

    /// An object is gone, as of `version`.
    fn removed(
        &self,
        state: &mut EngineState,
        key: &ObjectKey,
        version: Option<ResourceVersion>,
        last: Arc<TextObject>,
        final_state_unknown: bool,
    ) {
        self.can_be_decoded(state, key);
        if let Some(has_ended) = state.admitting.get_mut(key) {
            *has_ended = true;
        }
        if let Some(stored) = self.store.shown(key) {
            self.store.remove(key);
            self.indexers.remove(key, &stored, &Values::default());
            if let Some(scope) = self.scopes.of(key)
                && let Some(stored) = state.stored_in(scope)
            {
                stored.remove(key);
            }
        }
        state.overlay.deleted(key, version);
        self.tell_followers(|follower| follower.gone(key));
        let kind = ChangeKind::Deleted { last, final_state_unknown };
        self.hand_over(Change { key: key.clone(), kind });
    }

    fn hand_over_all(&self, changes: impl IntoIterator<Item = Change>) {
        for change in changes {
            self.hand_over(change);
        }
    }

    fn hand_over(&self, change: Change) {
        self.tell(|handler| handler.on_change(change));
    }

    /// A collection has been seen up to some version.
    fn take_in(&self, state: &mut EngineState, advanced: Advanced) {
        for key in advanced.not_shown {
            if self.store.shown(&key).is_none() && !state.undecodable.contains_key(&key) {
                self.not_selected(state, &key);
            }
        }
        self.hand_over_all(advanced.changes);
    }

    /// The written object isn't followed. No event of it will arrive.
    fn not_selected(&self, state: &mut EngineState, key: &ObjectKey) {
        self.tell(|handler| handler.on_not_selected(key));
        // The same will be true of further objects of that kind: one report is enough.
        if let Some(selector) = &self.selector
            && !mem::replace(&mut state.not_selected_told, true)
        {
            tracing::warn!(
                informer = self.name,
                object = %key,
                selector,
                "what the operator has written isn't selected by its event source: it is neither found nor watched, and \
                 each run writes it again; give it what the selector asks for, or take the selector away"
            );
        }
    }

    /// An object exists, and can't be decoded. An older state of it stays stored; its metadata is taken over, if that
    /// is configured.
    fn not_decoded(
        &self,
        state: &mut EngineState,
        scope: ScopeIndex,
        undecodable: Undecodable,
        listed: bool,
    ) {
        let Undecodable { key, version, kept, mut error } = undecodable;
        let known = key.as_ref().and_then(|key| state.undecodable.get(key));
        if known.is_some_and(|known| known.version == version) {
            return;
        }
        let stored = key.as_ref().and_then(|key| self.store.shown(key));
        let marked = kept.as_ref().is_some_and(|kept| kept.is_marked());
        if self.takes_metadata && marked && stored.is_none() {
            error.push_str("; it is marked for deletion, and stays: no state of it is known that it could be cleaned up with");
        }
        tracing::warn!(
            informer = self.name,
            object = key.as_ref().map(tracing::field::display),
            error,
            "an object can't be decoded and is skipped"
        );
        self.tell(|handler| handler.on_undecodable(key.as_ref(), &error));
        let Some(key) = key else { return };
        state.undecodable.insert(key.clone(), DecodingFailure { version, error });
        self.count_undecodable(state);
        let (Some(stored), Some(kept), true) = (stored, kept, self.takes_metadata) else { return };
        if stored.uid() == kept.uid()
            && let Some(object) = self.face.with_metadata(&stored, &kept)
        {
            self.exists(state, scope, &key, Arc::new(object), Sighting { listed, is_news: false });
        }
    }

    /// A read found an object that is not checked when it arrives, and that can't be decoded.
    pub(super) fn not_opened(&self, kept: &TextObject, error: &str) {
        let Some(identity) = Identity::of(kept.text()) else { return };
        let Some(key) = identity.key().map(|key| key.within(self.scopes.cluster())) else { return };
        let (state, version) = (&mut *self.lock(), identity.version());
        let is_newest = self.get(&key).is_some_and(|newest| newest.version() == version.as_deref());
        if !is_newest || state.undecodable.get(&key).is_some_and(|known| known.version == version) {
            return;
        }
        tracing::warn!(informer = self.name, object = %key, error, "an object can't be decoded, so all reads of it fail");
        self.tell(|handler| handler.on_undecodable(Some(&key), error));
        state.undecodable.insert(key, DecodingFailure { version, error: error.to_owned() });
        self.count_undecodable(state);
    }

    /// An object can be decoded, or is gone. Returns whether it could not be decoded before: then it was skipped.
    fn can_be_decoded(&self, state: &mut EngineState, key: &ObjectKey) -> bool {
        let could_not = state.undecodable.remove(key).is_some();
        if could_not {
            self.count_undecodable(state);
        }
        could_not && self.takes_metadata
    }

    /// Reports their number, if it has changed or was never reported.
    fn count_undecodable(&self, state: &mut EngineState) {
        let objects = state.undecodable.len();
        if state.undecodable_told.replace(objects) != Some(objects) {
            self.undecodable.store(objects, Ordering::Release);
            self.tell(|handler| handler.on_undecodable_objects(objects));
        }
    }

    /// Whether an object exists that can't be decoded.
    pub(super) fn is_undecodable(&self, key: &ObjectKey) -> bool {
        self.undecodable.load(Ordering::Acquire) > 0 && self.lock().undecodable.contains_key(key)
    }

    /// All objects that can't be decoded, and why; sorted by key.
    pub(super) fn undecodable(&self) -> Vec<(ObjectKey, String)> {
        if self.undecodable.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        self.lock().undecodable.iter().map(|(key, known)| (key.clone(), known.error.clone())).collect()
    }

    /// From now on `follower` is notified of every object that is stored, and right away of those that are stored
    /// already. Followers that have ended are dropped.
    pub(super) fn also_tell(&self, follower: Arc<dyn Follower>) {
        let _in_order = self.lock();
        for key in self.store.shown_keys() {
            let stored = self.store.shown(&key);
            let uid = stored.as_ref().and_then(|stored| stored.uid()).unwrap_or_default();
            self.guarded(|| follower.seen(&key, uid));
        }
        let mut followers = self.followers.lock();
        let living = followers.iter().filter(|follower| !follower.has_ended()).cloned();
        *followers = living.chain([follower]).collect();
    }

    fn tell_followers(&self, tell: impl Fn(&dyn Follower)) {
        // Shared, because the lock must not be held while a follower runs.
        let followers = Arc::clone(&self.followers.lock());
        for follower in &*followers {
            self.guarded(|| tell(&**follower));
        }
    }

    fn tell(&self, tell: impl FnOnce(&dyn ChangeHandler)) {
        self.guarded(|| tell(&*self.handler));
    }

    /// A handler's panic must neither stop the informer nor, in the middle of another panic, abort the process.
    fn guarded(&self, call: impl FnOnce()) {
        if fenced(call).is_err() {
            tracing::error!(informer = self.name, "the informer's handler panicked");
        }
    }

    /// The number of the handler's entries about objects that don't exist.
    pub(super) fn kept_by_handler(&self) -> usize {
        self.handler.leftovers(&|key| self.contains(key))
    }

    /// A watch fell silent and is replaced.
    pub(super) fn watch_was_silent(&self) {
        let _in_order = self.lock();
        self.tell(|handler| handler.on_silent_watch());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.face.forget(&self.store.entries());
    }
}

debug_of!(Engine: "Engine", |it| name: it.name, store: it.store, recent: it.recent, synced: it.is_synced());
