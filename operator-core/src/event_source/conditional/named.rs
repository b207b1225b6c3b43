//! Objects that runs read by their keys, whether they exist or not.
//!
//! ```text
//! a node's function names a key ──▶ Naming, in the primary's scope ──▶ NamedKeys: an event of the object wakes the primary,
//!                                        │                                       whichever source sees it
//!                                        └ no source of the controller sees it ──▶ NamedObjects: a watch for the key
//! ```
//!
//! # Guarantees
//! - A key counts until its node names another one, or the primary is gone. A run that doesn't reach the node changes
//!   nothing.
//! - Up to 20 keys of a kind and namespace are watched one by one. Above that the namespace is watched as a whole, by
//!   metadata, of which only that of named objects is kept; the content of an object is read once for each version.
//! - A watch that nobody needs any more stops, and its objects are forgotten.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;

use super::{
    slot::Slot,
    watches::{Watch, is_whole, watches},
};
use crate::{
    cache::{self, KeySet},
    event_source::{
        AnySecondary, NamedEventSource, PrimaryScope, RustType, ScopeSlot, SourceDeclaration, Sources,
        WatchScope, Wiring,
    },
    observe::SourceIndex,
    resource::{ObjectKey, ResourceType},
};

/// A node of a primary.
type User = (ObjectKey, ScopeSlot);

/// The users of each key of a kind.
type KindKeys = (ResourceType, BTreeMap<ObjectKey, BTreeSet<User>>);

/// The keys that the primaries of a controller name, of all kinds.
#[derive(Default)]
pub(crate) struct NamedKeys(Mutex<Vec<KindKeys>>);

impl NamedKeys {
    /// The primaries that name this object.
    pub(crate) fn primaries_of(&self, kind: &ResourceType, key: &ObjectKey) -> BTreeSet<ObjectKey> {
        let kinds = self.0.lock();
        let users = kinds.iter().filter(|(of, _)| of.is_kind_of(kind)).filter_map(|(_, keys)| keys.get(key));
        users.flatten().map(|(primary, _)| primary.clone()).collect()
    }

    fn add(&self, kind: &ResourceType, key: &ObjectKey, user: User) {
        let kinds = &mut *self.0.lock();
        if !kinds.iter().any(|(of, _)| of.is_kind_of(kind)) {
            kinds.push((kind.clone(), BTreeMap::new()));
        }
        if let Some((_, keys)) = kinds.iter_mut().find(|(of, _)| of.is_kind_of(kind)) {
            keys.entry(key.clone()).or_default().insert(user);
        }
    }

    fn remove(&self, kind: &ResourceType, key: &ObjectKey, user: &User) {
        for (_, keys) in self.0.lock().iter_mut().filter(|(of, _)| of.is_kind_of(kind)) {
            if keys.get_mut(key).is_some_and(|users| users.remove(user) && users.is_empty()) {
                keys.remove(key);
            }
        }
    }
}

debug_of!(NamedKeys: "NamedKeys", |it| kinds: it.0.lock().len());

/// A key that a node of a primary names, in the primary's scope.
struct Naming {
    of: Weak<NamedObjects>,
    source: Arc<str>,
    kind: ResourceType,
    key: ObjectKey,
    user: User,
    /// Whether it needs a watch for reads by key.
    is_watched: bool,
}

impl Naming {
    fn watch(&mut self, of: &NamedObjects, is_watched: bool) {
        if std::mem::replace(&mut self.is_watched, is_watched) != is_watched {
            of.change(self, is_watched);
        }
    }
}

impl Drop for Naming {
    fn drop(&mut self) {
        if let Some(of) = self.of.upgrade() {
            of.keys.remove(&self.kind, &self.key, &self.user);
            self.watch(&of, false);
        }
    }
}

/// The watches for objects that are read by key, of one controller.
#[derive(Default)]
pub(crate) struct NamedObjects {
    keys: Arc<NamedKeys>,
    kinds: Mutex<BTreeMap<String, Arc<NamedKind>>>,
}

/// The watches for one kind.
struct NamedKind {
    source: NamedEventSource,
    index: SourceIndex,
    wiring: Wiring,
    namespaces: Mutex<BTreeMap<Option<String>, NamedIn>>,
}

/// Those in one namespace.
#[derive(Default)]
struct NamedIn {
    users: BTreeMap<ObjectKey, BTreeSet<User>>,
    slots: BTreeMap<Watch, Arc<Slot>>,
    is_whole: bool,
    /// The keys in `users`, for the watch of the namespace.
    kept: KeySet,
    /// Those that were added since that watch has begun, and aren't known yet.
    unknown: BTreeSet<ObjectKey>,
}

impl NamedObjects {
    pub(crate) fn new(keys: Arc<NamedKeys>) -> Self {
        Self { keys, kinds: Mutex::default() }
    }

    /// Objects of a kind are read by key, through watches like this source.
    pub(crate) fn add(&self, name: String, source: NamedEventSource, index: SourceIndex, wiring: &Wiring) {
        // A namespace of the controller says nothing about that of the object.
        let wiring = Wiring { scope: WatchScope::All, ..wiring.clone() };
        let kind = NamedKind { source, index, wiring, namespaces: Mutex::default() };
        self.kinds.lock().insert(name, Arc::new(kind));
    }

    /// The same for a kind that only runs know, unless it is there.
    pub(super) fn add_late(&self, source: &NamedEventSource, index: SourceIndex, wiring: &Wiring) {
        let name = source.name();
        if !self.kinds.lock().contains_key(&name) {
            self.add(name, source.clone(), index, wiring);
        }
    }

    /// Whether objects of that type, and of that kind if one is given, are read by key.
    pub(crate) fn declares(&self, of: RustType, kind: Option<&ResourceType>) -> bool {
        let is = |source: &NamedEventSource| {
            source.of() == of && kind.is_none_or(|kind| source.resource_type().is_kind_of(kind))
        };
        self.kinds.lock().values().any(|kind| is(&kind.source))
    }

    /// A node of the primary names this object now, instead of another one; `None` for nothing. `is_watched`: no other
    /// source sees it.
    pub(crate) fn name(
        self: &Arc<Self>,
        (scope, node): (PrimaryScope<'_>, ScopeSlot),
        (source, kind): (&Arc<str>, &ResourceType),
        key: Option<&ObjectKey>,
        is_watched: bool,
    ) {
        let place = scope.slot(node);
        let before = place.look(|named: &mut Option<Naming>| named.take()).flatten();
        let Some(key) = key else { return };
        let same = before.filter(|before| before.key == *key);
        let mut naming = same.unwrap_or_else(|| {
            let user = (scope.primary().clone(), node);
            self.keys.add(kind, key, user.clone());
            let (of, source, kind) = (Arc::downgrade(self), Arc::clone(source), kind.clone());
            Naming { of, source, kind, key: key.clone(), user, is_watched: false }
        });
        naming.watch(self, is_watched);
        // If the primary is gone, it is dropped, and names nothing: not under the lock of the scopes.
        let mut naming = Some(naming);
        place.change(|named: &mut Option<Naming>| *named = naming.take());
    }

    /// The nodes of a primary that read through this source take no part, and name nothing.
    pub(crate) fn release(&self, source: &str, scope: PrimaryScope<'_>) {
        drop(
            scope.take_all(|named: &Option<Naming>| named.as_ref().is_some_and(|one| &*one.source == source)),
        );
    }

    fn kind(&self, source: &str) -> Option<Arc<NamedKind>> {
        self.kinds.lock().get(source).cloned()
    }

    /// A key is needed, or not any more.
    fn change(&self, naming: &Naming, is_needed: bool) {
        let Some(kind) = self.kind(&naming.source) else { return };
        let (started, stopped) = kind.change(&naming.key, &naming.user, is_needed);
        // Not under the lock: a source takes its own, and may trigger primaries.
        for slot in stopped {
            slot.close();
        }
        for (slot, users) in started {
            for primary in users {
                slot.claim(kind.wiring.scopes.of(&primary), None);
            }
        }
    }

    /// The watch that shows this object, once it has shown everything; otherwise what it waits for, and the primary is
    /// triggered then.
    ///
    /// # Errors
    /// If the object can't be read.
    pub(crate) async fn seen(
        &self,
        source: &str,
        key: &ObjectKey,
        scope: PrimaryScope<'_>,
    ) -> Result<Result<Arc<AnySecondary>, String>, cache::Error> {
        let gone = || Ok(Err("the primary is gone".to_owned()));
        let Some(kind) = self.kind(source) else { return gone() };
        let Some((slot, is_unknown)) = kind.slot(key) else { return gone() };
        if !slot.claim(scope, None) {
            return Ok(Err(slot.trouble(scope.primary()).reason));
        }
        let Some(seen) = slot.sources().and_then(|sources| sources.only()) else { return gone() };
        if is_unknown {
            seen.informer().admit(key).await?;
            kind.known(key);
        }
        Ok(Ok(seen))
    }

    /// Waits until the watch for this object has shown whether it exists, for so long.
    pub(crate) async fn wait(
        &self,
        source: &str,
        key: &ObjectKey,
        scope: PrimaryScope<'_>,
        patience: Duration,
    ) {
        if let Some((slot, _)) = self.kind(source).and_then(|kind| kind.slot(key)) {
            drop(tokio::time::timeout(patience, slot.shown_to(scope.primary())).await);
        }
    }

    /// The running sources that a run of this primary can read.
    pub(crate) fn readable(&self, scope: PrimaryScope<'_>) -> Vec<Arc<Sources>> {
        let watched = scope.all(|named: &Option<Naming>| {
            let named = named.as_ref().filter(|named| named.is_watched)?;
            Some((Arc::clone(&named.source), named.key.clone()))
        });
        let slots = watched.iter().filter_map(|(source, key)| self.kind(source)?.slot(key));
        slots.filter_map(|(slot, _)| slot.readable(scope.primary())).collect()
    }

    /// The watches.
    pub(super) fn slots(&self) -> Vec<Arc<Slot>> {
        let kinds: Vec<_> = self.kinds.lock().values().cloned().collect();
        let slots = |kind: &Arc<NamedKind>| {
            let namespaces = kind.namespaces.lock();
            namespaces.values().flat_map(|one| one.slots.values().cloned()).collect::<Vec<_>>()
        };
        kinds.iter().flat_map(slots).collect()
    }

    /// No watch starts any more. Returns those that run.
    pub(super) fn close(&self) -> Vec<Arc<Slot>> {
        let slots = self.slots();
        self.kinds.lock().clear();
        slots
    }
}

/// The watches that start, each with the primaries that need it, and those that stop.
type Changed = (Vec<(Arc<Slot>, BTreeSet<ObjectKey>)>, Vec<Arc<Slot>>);

impl NamedKind {
    fn change(&self, key: &ObjectKey, user: &User, is_needed: bool) -> Changed {
        let namespaces = &mut *self.namespaces.lock();
        let namespace = key.namespace().map(str::to_owned);
        let named = namespaces.entry(namespace.clone()).or_default();
        if is_needed {
            let is_new = !named.users.contains_key(key);
            named.users.entry(key.clone()).or_default().insert(user.clone());
            if is_new {
                named.kept.lock().insert(key.clone());
                if named.is_whole {
                    named.unknown.insert(key.clone());
                }
            }
        } else if named.users.get_mut(key).is_some_and(|users| users.remove(user) && users.is_empty()) {
            named.users.remove(key);
            named.kept.lock().remove(key);
            named.unknown.remove(key);
        }
        let was_whole = named.is_whole;
        named.is_whole = is_whole(named.users.len(), was_whole);
        if named.is_whole && was_whole {
            return Changed::default();
        }
        named.unknown.clear();
        let wanted = watches(named.users.keys(), was_whole);
        let (kept, stopped): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut named.slots).into_iter().partition(|(watch, _)| wanted.contains(watch));
        named.slots = kept;
        let stopped = stopped.into_values().collect();
        let mut started = Vec::new();
        for watch in wanted {
            if named.slots.contains_key(&watch) {
                continue;
            }
            let source = self.source.watching(&watch_scope(key), object_of(&watch), &named.kept);
            let slot = Slot::new(Arc::new(source), self.index, self.wiring.clone(), true);
            let users = named.users.iter().filter(|(key, _)| Watch::of(key, named.is_whole) == watch);
            let primaries = users.flat_map(|(_, users)| users).map(|(primary, _)| primary.clone());
            started.push((Arc::clone(&slot), primaries.collect()));
            named.slots.insert(watch, slot);
        }
        if named.users.is_empty() {
            namespaces.remove(&namespace);
        }
        (started, stopped)
    }

    /// The watch for a key, and whether the object isn't known to it yet.
    fn slot(&self, key: &ObjectKey) -> Option<(Arc<Slot>, bool)> {
        let namespaces = self.namespaces.lock();
        let named = namespaces.get(&key.namespace().map(str::to_owned))?;
        let slot = named.slots.get(&Watch::of(key, named.is_whole))?;
        Some((Arc::clone(slot), named.unknown.contains(key)))
    }

    fn known(&self, key: &ObjectKey) {
        if let Some(named) = self.namespaces.lock().get_mut(&key.namespace().map(str::to_owned)) {
            named.unknown.remove(key);
        }
    }
}

fn watch_scope(key: &ObjectKey) -> WatchScope {
    key.namespace().map_or(WatchScope::All, |namespace| [namespace].into())
}

fn object_of(watch: &Watch) -> Option<&ObjectKey> {
    match watch {
        Watch::Object(key) => Some(key),
        Watch::Whole => None,
    }
}
