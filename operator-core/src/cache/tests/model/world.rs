//! The server, what is on its way from it, and our side.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};

use crate::{
    cache::{
        Bounds, Change, WatchScope,
        engine::{Presence, WatchEvent},
        scopes::ScopeIndex,
        store::{BoundedStore, FullStore, ItemStore},
        tests::{
            known::{TestEngine, decoded, kept},
            recorder::{Recorder, object, version},
            typed::{OwnWrite, TestConfig},
        },
    },
    resource::{ObjectKey, ResourceType},
};

use super::Step;

pub(super) const NAMES: [&str; 2] = ["a", "b"];
/// With one collection for each object, they are told apart by namespace.
const NAMESPACES: [&str; 2] = ["bank", "shop"];

/// What kind of informer it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// One collection for all objects, or one for each.
    pub(super) scopes: usize,
    /// How many objects are held in full; `None` for a plain store.
    pub(super) max_objects: Option<u64>,
}

/// A list that is on its way.
pub(super) struct List {
    version: u64,
    /// How much of the log it has seen.
    position: usize,
    items: VecDeque<ConfigMap>,
    names: Vec<usize>,
}

/// A change as the server made it.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) name: usize,
    pub(super) object: ConfigMap,
    pub(super) deleted: bool,
    /// Not the echo of an own write whose answer we got: must be told.
    pub(super) foreign: bool,
}

/// What happened on our side, in order.
#[derive(Debug)]
pub(super) enum Told {
    Change(Change, u64),
    Wrote(usize),
}

pub(super) struct Guard {
    write: OwnWrite<ConfigMap>,
    /// The answer that is on its way, and where its event is in the log.
    answer: Option<(ConfigMap, Option<usize>)>,
}

pub(super) struct World {
    pub(super) shape: Shape,
    pub(super) engine: TestEngine<ConfigMap>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) told: Vec<Told>,
    // The server.
    pub(super) version: u64,
    pub(super) uids: u64,
    pub(super) objects: BTreeMap<usize, ConfigMap>,
    pub(super) log: Vec<Event>,
    // On the way to us.
    pub(super) shown: [usize; 2],
    list: [Option<List>; 2],
    /// The version that an object was asked for, and the server's answer.
    fetch: [Option<(Option<String>, Option<ConfigMap>)>; 2],
    pub(super) guards: [Vec<Guard>; 2],
    // What a naive watcher sees: the versions it holds, and the changes that must be told, with their log position.
    pub(super) naive: BTreeMap<usize, ConfigMap>,
    pub(super) must_tell: Vec<(usize, u64, Vec<usize>)>,
    pub(super) seen: [u64; 2],
    pub(super) gone: [u64; 2],
    pub(super) own: [u64; 2],
    pub(super) disturbed: [bool; 2],
}

impl World {
    pub(super) fn new(shape: Shape) -> Self {
        let mut config = TestConfig::new();
        if shape.scopes > 1 {
            config.scope = WatchScope::Namespaces(NAMESPACES.map(str::to_owned).into());
        }
        let recorder = Arc::new(Recorder::default());
        let store: Box<dyn ItemStore> = match shape.max_objects {
            None => Box::new(FullStore::default()),
            Some(max) => Box::new(BoundedStore::new(
                Bounds::<ConfigMap>::new(max).any(&ResourceType::of::<ConfigMap>()).unwrap(),
            )),
        };
        let engine = TestEngine::with_store(&config, Arc::clone(&recorder) as _, store);
        for scope in engine.scopes.indexes() {
            engine.list_started(scope);
            engine.list_finished(scope, "1");
        }
        Self {
            shape,
            engine,
            recorder,
            told: Vec::new(),
            version: 1,
            uids: 0,
            objects: BTreeMap::new(),
            log: Vec::new(),
            shown: [0; 2],
            list: [None, None],
            fetch: [None, None],
            guards: [Vec::new(), Vec::new()],
            naive: BTreeMap::new(),
            must_tell: Vec::new(),
            seen: [1; 2],
            gone: [0; 2],
            own: [0; 2],
            disturbed: [false; 2],
        }
    }

    /// The collection of an object, by its name.
    pub(super) fn scope_of(&self, name: usize) -> usize {
        name.min(self.shape.scopes - 1)
    }

    pub(super) fn key(&self, name: usize) -> ObjectKey {
        let namespace = if self.shape.scopes > 1 { NAMESPACES[name] } else { NAMESPACES[1] };
        ObjectKey::namespaced(namespace, NAMES[name])
    }

    /// The server stores a new state of an object.
    fn store(&mut self, name: usize, change: impl FnOnce(&mut ConfigMap)) -> ConfigMap {
        self.version += 1;
        let key = self.key(name);
        let mut stored = self.objects.get(&name).cloned().unwrap_or_else(|| {
            self.uids += 1;
            let mut created = object(NAMES[name], &format!("uid-{}", self.uids), 0);
            created.metadata.namespace = key.namespace().map(str::to_owned);
            created
        });
        stored.metadata.resource_version = Some(self.version.to_string());
        change(&mut stored);
        self.objects.insert(name, stored.clone());
        self.log.push(Event { name, object: stored.clone(), deleted: false, foreign: true });
        stored
    }

    /// An own request reaches the server, which refuses it unless it starts from the current state.
    fn request(&mut self, name: usize, effect: bool) {
        // Of two writes at once, the second one's answer can come first; what waited before it then counts as foreign.
        let crossed = self.guards[name].iter().any(|guard| guard.answer.is_some());
        self.disturbed[name] |= crossed;
        let Some(guard) = self.guards[name].last_mut() else { return };
        if guard.answer.is_some() {
            return;
        }
        let identity = |object: &ConfigMap| (object.metadata.uid.clone(), version(object));
        let current = self.objects.get(&name);
        if guard.write.base().map(|base| identity(&base)) != current.map(identity) {
            guard.write.rebase();
            return;
        }
        let answer = match (effect, current.cloned()) {
            (false, Some(current)) => (current, None),
            (false, None) => return,
            (true, _) => (self.store(name, |_| {}), Some(self.log.len() - 1)),
        };
        if let Some(guard) = self.guards[name].last_mut() {
            guard.answer = Some(answer);
        }
    }

    fn answer(&mut self, name: usize) {
        let Some((guard, (answer, event))) = self.guards[name]
            .iter_mut()
            .rev()
            .find_map(|guard| guard.answer.take().map(|answer| (guard, answer)))
        else {
            return;
        };
        if let Some(event) = event {
            self.log[event].foreign = false;
        }
        let answered = version(&answer);
        guard.write.wrote(answer);
        self.wrote(name, answered);
    }

    fn wrote(&mut self, name: usize, answered: u64) {
        self.note_told();
        self.told.push(Told::Wrote(name));
        self.own[name] = self.own[name].max(answered);
    }

    fn finish(&mut self, name: usize) {
        if let Some(guard) = self.guards[name].pop() {
            self.disturbed[name] |= guard.answer.is_some();
        }
    }

    /// The naive watcher sees a change that stands for these events of the log.
    fn naive_sees(&mut self, name: usize, at: u64, events: Vec<usize>, always: bool) {
        self.disturbed[name] |= always;
        // Whether they are foreign is known at the end only: an answer may still be on its way.
        self.must_tell.push((name, at, if always { Vec::new() } else { events }));
    }

    fn deliver(&mut self, scope: usize) {
        if self.list[scope].is_some() {
            return;
        }
        let Some(position) = self.next_event(scope) else { return };
        let event = self.log[position].clone();
        self.naive_sees(event.name, version(&event.object), vec![position], event.deleted);
        self.shown[scope] = position + 1;
        self.seen[scope] = version(&event.object);
        let object = decoded(&event.object);
        if event.deleted {
            self.naive.remove(&event.name);
            self.gone[event.name] = self.seen[scope];
            self.engine.watched(ScopeIndex(scope), WatchEvent::Deleted(object));
        } else {
            self.naive.insert(event.name, event.object);
            self.engine.watched(ScopeIndex(scope), WatchEvent::Applied(object));
        }
    }

    /// The first event of a collection that was not shown yet.
    pub(super) fn next_event(&self, scope: usize) -> Option<usize> {
        (self.shown[scope]..self.log.len()).find(|position| self.scope_of(self.log[*position].name) == scope)
    }

    fn list_made(&mut self, scope: usize) {
        if self.list[scope].is_none() {
            self.engine.list_started(ScopeIndex(scope));
            let listed = self.objects.iter().filter(|(name, _)| self.scope_of(**name) == scope);
            let (names, items) = listed.map(|(name, item)| (*name, item.clone())).unzip();
            self.list[scope] = Some(List { version: self.version, position: self.log.len(), items, names });
        }
    }

    fn list_item(&mut self, scope: usize) {
        let Some(list) = &mut self.list[scope] else { return };
        let at = list.version;
        let Some(item) = list.items.pop_front() else { return };
        let name = NAMES.iter().position(|name| item.metadata.name.as_deref() == Some(name)).unwrap();
        let held = self.naive.insert(name, item.clone());
        if held.as_ref().map(version) != Some(version(&item)) {
            if held.is_some_and(|held| held.metadata.uid != item.metadata.uid) {
                self.gone[name] = self.gone[name].max(self.shown_version(name, &item, at));
            }
            self.naive_sees(name, version(&item), Vec::new(), true);
        }
        self.engine.listed(ScopeIndex(scope), decoded(&item));
    }

    /// When the predecessor of `item` was deleted, as far as the log knows.
    fn shown_version(&self, name: usize, item: &ConfigMap, at: u64) -> u64 {
        let deletions = self.log.iter().filter(|event| event.name == name && event.deleted);
        deletions
            .map(|event| version(&event.object))
            .filter(|gone| *gone < version(item).min(at))
            .max()
            .unwrap_or(0)
    }

    fn list_end(&mut self, scope: usize) {
        while self.list[scope].as_ref().is_some_and(|list| !list.items.is_empty()) {
            self.list_item(scope);
        }
        let Some(list) = self.list[scope].take() else { return };
        for name in (0..NAMES.len()).filter(|name| self.scope_of(*name) == scope).collect::<Vec<_>>() {
            if !list.names.contains(&name) {
                self.gone[name] = list.version;
                if self.naive.remove(&name).is_some() {
                    self.naive_sees(name, list.version, Vec::new(), true);
                }
            }
        }
        // A list is told as such, and what it skips is never shown.
        while let Some(skipped) = self.next_event(scope).filter(|skipped| *skipped < list.position) {
            self.disturbed[self.log[skipped].name] = true;
            self.shown[scope] = skipped + 1;
        }
        self.seen[scope] = list.version;
        self.engine.list_finished(ScopeIndex(scope), &list.version.to_string());
    }

    /// An object that is not held in full is asked for.
    fn fetch(&mut self, name: usize) {
        if let (None, Presence::Minimal(asked)) = (&self.fetch[name], self.engine.held(&self.key(name))) {
            self.fetch[name] = Some((asked, self.objects.get(&name).cloned()));
        }
    }

    fn fetched(&mut self, name: usize) {
        let key = self.key(name);
        match self.fetch[name].take() {
            Some((asked, Some(object))) => drop(self.engine.fetched(&key, asked.as_deref(), kept(&object))),
            Some((asked, None)) => {
                self.engine.not_found(&key, asked.as_deref());
            }
            None => {}
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        match step {
            Step::ForeignCreate(name) if !self.objects.contains_key(&name) => {
                drop(self.foreign(name, |_| {}))
            }
            Step::ForeignUpdate(name) if self.objects.contains_key(&name) => drop(self.foreign(name, |_| {})),
            Step::ForeignMark(name) if self.objects.contains_key(&name) => {
                drop(self.foreign(name, |object| {
                    object.metadata.deletion_timestamp.get_or_insert(Time(Timestamp::UNIX_EPOCH));
                }))
            }
            Step::ForeignCreate(_) | Step::ForeignUpdate(_) | Step::ForeignMark(_) => {}
            Step::ForeignDelete(name) => self.delete(name),
            Step::Elsewhere => self.version += 1,
            Step::Begin(name) if self.guards[name].len() < 2 => {
                let write = self.engine.begin(&self.key(name));
                self.guards[name].push(Guard { write, answer: None });
            }
            Step::Begin(_) => {}
            Step::Request(name) => self.request(name, true),
            Step::RequestWithoutEffect(name) => self.request(name, false),
            Step::Answer(name) => self.answer(name),
            Step::Finish(name) => self.finish(name),
            Step::Write(name) => {
                for step in [Step::Begin(name), Step::Request(name), Step::Answer(name), Step::Finish(name)] {
                    self.step(step);
                }
            }
            Step::Remember(name) if self.objects.contains_key(&name) => {
                let answer = self.foreign(name, |_| {});
                self.engine.remember(&self.key(name), &kept(&answer));
                self.wrote(name, version(&answer));
            }
            Step::Remember(_) => {}
            Step::Deliver(scope) => self.deliver(scope),
            Step::Bookmark(scope) => {
                if self.list[scope].is_none() && self.next_event(scope).is_none() && scope < self.shape.scopes
                {
                    self.seen[scope] = self.version;
                    self.engine.bookmark(ScopeIndex(scope), &self.version.to_string());
                }
            }
            Step::ListMade(scope) if scope < self.shape.scopes => self.list_made(scope),
            Step::ListMade(_) => {}
            Step::ListItem(scope) => self.list_item(scope),
            Step::ListEnd(scope) => self.list_end(scope),
            Step::Fetch(name) => self.fetch(name),
            Step::Fetched(name) => self.fetched(name),
        }
        self.note_told();
    }

    fn foreign(&mut self, name: usize, change: impl FnOnce(&mut ConfigMap)) -> ConfigMap {
        self.disturbed[name] = true;
        self.store(name, change)
    }

    fn delete(&mut self, name: usize) {
        if let Some(mut last) = self.objects.remove(&name) {
            self.disturbed[name] = true;
            self.version += 1;
            last.metadata.resource_version = Some(self.version.to_string());
            self.log.push(Event { name, object: last, deleted: true, foreign: true });
        }
    }

    fn note_told(&mut self) {
        for change in self.recorder.take_changes() {
            let name = (0..NAMES.len()).find(|name| self.key(*name) == change.key).unwrap();
            let seen = self.seen[self.scope_of(name)];
            self.told.push(Told::Change(change, seen));
        }
    }
}
