//! The server, what is on its way from it, and our side.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};

use crate::{
    cache::{
        Change, InformerConfig, OwnWrite,
        engine::{Decoded, Engine, WatchEvent},
        scopes::ScopeIndex,
        tests::recorder::{Recorder, key, object, version},
    },
    resource::ResourceType,
};

use super::Step;

const SCOPE: ScopeIndex = ScopeIndex(0);
pub(super) const NAMES: [&str; 2] = ["a", "b"];

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
    Change(Change<ConfigMap>, u64),
    Wrote(usize),
}

pub(super) struct Guard {
    write: OwnWrite<ConfigMap>,
    /// The answer that is on its way, and where its event is in the log.
    answer: Option<(ConfigMap, Option<usize>)>,
}

pub(super) struct World {
    pub(super) engine: Arc<Engine<ConfigMap>>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) told: Vec<Told>,
    // The server.
    pub(super) version: u64,
    pub(super) uids: u64,
    pub(super) objects: BTreeMap<usize, ConfigMap>,
    pub(super) log: Vec<Event>,
    // On the way to us.
    pub(super) shown: usize,
    pub(super) list: Option<(u64, usize, VecDeque<ConfigMap>, Vec<usize>)>,
    pub(super) guards: [Vec<Guard>; 2],
    // What a naive watcher sees: the versions it holds, and the changes that must be told, with their log position.
    pub(super) naive: BTreeMap<usize, ConfigMap>,
    pub(super) must_tell: Vec<(usize, u64, Vec<usize>)>,
    pub(super) seen: u64,
    pub(super) gone: [u64; 2],
    pub(super) own: [u64; 2],
    pub(super) disturbed: [bool; 2],
}

impl World {
    pub(super) fn new() -> Self {
        let config = InformerConfig::new("model", ResourceType::of::<ConfigMap>());
        let recorder = Arc::new(Recorder::default());
        let engine = Arc::new(Engine::new(&config, Arc::new(Arc::clone(&recorder))));
        engine.list_started(SCOPE);
        engine.list_finished(SCOPE, "1");
        Self {
            engine,
            recorder,
            told: Vec::new(),
            version: 1,
            uids: 0,
            objects: BTreeMap::new(),
            log: Vec::new(),
            shown: 0,
            list: None,
            guards: [Vec::new(), Vec::new()],
            naive: BTreeMap::new(),
            must_tell: Vec::new(),
            seen: 1,
            gone: [0; 2],
            own: [0; 2],
            disturbed: [false; 2],
        }
    }

    /// The server stores a new state of an object.
    fn store(&mut self, name: usize, change: impl FnOnce(&mut ConfigMap)) -> ConfigMap {
        self.version += 1;
        let mut stored = self.objects.get(&name).cloned().unwrap_or_else(|| {
            self.uids += 1;
            object(NAMES[name], &format!("uid-{}", self.uids), 0)
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

    fn deliver(&mut self) {
        if self.list.is_some() {
            return;
        }
        let Some(event) = self.log.get(self.shown).cloned() else { return };
        self.naive_sees(event.name, version(&event.object), vec![self.shown], event.deleted);
        self.shown += 1;
        self.seen = version(&event.object);
        let object = Decoded::Object(event.object.clone());
        if event.deleted {
            self.naive.remove(&event.name);
            self.gone[event.name] = self.seen;
            self.engine.watched(SCOPE, WatchEvent::Deleted(object));
        } else {
            self.naive.insert(event.name, event.object);
            self.engine.watched(SCOPE, WatchEvent::Applied(object));
        }
    }

    fn list_made(&mut self) {
        if self.list.is_none() {
            self.engine.list_started(SCOPE);
            let names = self.objects.keys().copied().collect();
            self.list = Some((self.version, self.log.len(), self.objects.values().cloned().collect(), names));
        }
    }

    fn list_item(&mut self) {
        let Some((at, _, items, _)) = &mut self.list else { return };
        let at = *at;
        let Some(item) = items.pop_front() else { return };
        let name = NAMES.iter().position(|name| item.metadata.name.as_deref() == Some(name)).unwrap();
        let held = self.naive.insert(name, item.clone());
        if held.as_ref().map(version) != Some(version(&item)) {
            if held.is_some_and(|held| held.metadata.uid != item.metadata.uid) {
                self.gone[name] = self.gone[name].max(self.shown_version(name, &item, at));
            }
            self.naive_sees(name, version(&item), Vec::new(), true);
        }
        self.engine.listed(SCOPE, Decoded::Object(item));
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

    fn list_end(&mut self) {
        while self.list.as_ref().is_some_and(|(_, _, items, _)| !items.is_empty()) {
            self.list_item();
        }
        let Some((at, position, _, names)) = self.list.take() else { return };
        for name in 0..NAMES.len() {
            if !names.contains(&name) {
                self.gone[name] = at;
                if self.naive.remove(&name).is_some() {
                    self.naive_sees(name, at, Vec::new(), true);
                }
            }
        }
        // A list is told as such, and what it skips is never shown.
        for event in &self.log[self.shown..position] {
            self.disturbed[event.name] = true;
        }
        self.shown = position;
        self.seen = at;
        self.engine.list_finished(SCOPE, &at.to_string());
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
                let write = OwnWrite::begin(Arc::clone(&self.engine), key(NAMES[name]));
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
                let answer = Arc::new(self.foreign(name, |_| {}));
                self.engine.remember(&key(NAMES[name]), &answer);
                self.wrote(name, version(&answer));
            }
            Step::Remember(_) => {}
            Step::Deliver => self.deliver(),
            Step::Bookmark => {
                if self.list.is_none() && self.shown == self.log.len() {
                    self.seen = self.version;
                    self.engine.bookmark(SCOPE, &self.version.to_string());
                }
            }
            Step::ListMade => self.list_made(),
            Step::ListItem => self.list_item(),
            Step::ListEnd => self.list_end(),
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
        let seen = self.seen;
        self.told.extend(self.recorder.take_changes().into_iter().map(|change| Told::Change(change, seen)));
    }
}
