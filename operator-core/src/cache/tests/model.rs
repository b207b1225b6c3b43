//! The cache against a small model of the API server, with writes of ours and of others in any order, and events that come
//! late, or merged by a list after a gap.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use proptest::prelude::*;

use crate::{
    cache::{
        Change, InformerConfig, OwnWrite,
        engine::{Decoded, Engine, WatchEvent},
        scopes::ScopeIndex,
    },
    resource::ResourceType,
};

use super::recorder::{Recorder, key, object, short, version};

const SCOPE: ScopeIndex = ScopeIndex(0);
const NAMES: [&str; 2] = ["a", "b"];

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Others create, change, mark for deletion, or delete.
    ForeignCreate(usize),
    ForeignUpdate(usize),
    ForeignMark(usize),
    ForeignDelete(usize),
    /// A change of another collection, which only moves the version.
    Elsewhere,
    /// An own write starts; its request reaches the server and changes the object, or changes nothing; its answer arrives;
    /// it ends.
    Begin(usize),
    Request(usize),
    RequestWithoutEffect(usize),
    Answer(usize),
    Finish(usize),
    /// All of an own write.
    Write(usize),
    /// A write whose echo is to be told.
    Remember(usize),
    /// The watch shows its next event, or that there is none.
    Deliver,
    Bookmark,
    /// A list is made by the server; one item of it arrives; its end arrives.
    ListMade,
    ListItem,
    ListEnd,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let step = prop_oneof![
        2 => name.clone().prop_map(Step::ForeignCreate),
        4 => name.clone().prop_map(Step::ForeignUpdate),
        1 => name.clone().prop_map(Step::ForeignMark),
        2 => name.clone().prop_map(Step::ForeignDelete),
        1 => Just(Step::Elsewhere),
        5 => name.clone().prop_map(Step::Begin),
        5 => name.clone().prop_map(Step::Request),
        2 => name.clone().prop_map(Step::RequestWithoutEffect),
        5 => name.clone().prop_map(Step::Answer),
        5 => name.clone().prop_map(Step::Finish),
        3 => name.clone().prop_map(Step::Write),
        1 => name.prop_map(Step::Remember),
        12 => Just(Step::Deliver),
        2 => Just(Step::Bookmark),
        1 => Just(Step::ListMade),
        3 => Just(Step::ListItem),
        1 => Just(Step::ListEnd),
    ];
    prop::collection::vec(step, 1..80)
}

/// A change as the server made it.
#[derive(Clone, Debug)]
struct Event {
    name: usize,
    object: ConfigMap,
    deleted: bool,
    /// Not the echo of an own write whose answer we got: must be told.
    foreign: bool,
}

/// What happened on our side, in order.
#[derive(Debug)]
enum Told {
    Change(Change<ConfigMap>, u64),
    Wrote(usize),
}

struct Guard {
    write: OwnWrite<ConfigMap>,
    /// The answer that is on its way, and where its event is in the log.
    answer: Option<(ConfigMap, Option<usize>)>,
}

struct World {
    engine: Arc<Engine<ConfigMap>>,
    recorder: Arc<Recorder>,
    told: Vec<Told>,
    // The server.
    version: u64,
    uids: u64,
    objects: BTreeMap<usize, ConfigMap>,
    log: Vec<Event>,
    // On the way to us.
    shown: usize,
    list: Option<(u64, usize, VecDeque<ConfigMap>, Vec<usize>)>,
    guards: [Vec<Guard>; 2],
    // What a naive watcher sees: the versions it holds, and the changes that must be told, with their log position.
    naive: BTreeMap<usize, ConfigMap>,
    must_tell: Vec<(usize, u64, Vec<usize>)>,
    seen: u64,
    gone: [u64; 2],
    own: [u64; 2],
    disturbed: [bool; 2],
}

impl World {
    fn new() -> Self {
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

    fn step(&mut self, step: Step) {
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

    /// What holds at any time: reads are at least as new as our answers, and what was deleted doesn't come back.
    fn check_reads(&self) -> Result<(), TestCaseError> {
        for name in 0..NAMES.len() {
            let deletions = self.log.iter().filter(|event| event.name == name && event.deleted);
            let last_deletion = deletions.map(|event| version(&event.object)).max().unwrap_or(0);
            let read = self.engine.get(&key(NAMES[name])).map(|object| version(&object));
            match read {
                Some(read) => {
                    prop_assert!(read >= self.own[name], "read {read}, wrote {}", self.own[name]);
                    prop_assert!(read > self.gone[name], "read {read}, gone since {}", self.gone[name]);
                }
                None => {
                    prop_assert!(self.own[name] <= last_deletion, "wrote {}, read nothing", self.own[name])
                }
            }
            let listed = self.engine.entries().into_iter().find(|(held, _)| *held == key(NAMES[name]));
            prop_assert_eq!(listed.map(|(_, object)| version(&object)), read);
        }
        Ok(())
    }

    /// What holds in the end, when all writes have ended and everything has been shown.
    fn check_end(&mut self) -> Result<(), TestCaseError> {
        self.step(Step::ListEnd);
        for name in 0..NAMES.len() {
            while !self.guards[name].is_empty() {
                self.step(Step::Finish(name));
            }
        }
        while self.shown < self.log.len() {
            self.step(Step::Deliver);
            self.check_reads()?;
        }
        self.step(Step::Bookmark);
        let sizes = (self.engine.recent(), self.engine.windows(), self.engine.stored());
        prop_assert_eq!(sizes, (0, 0, self.objects.len()));
        for (name, object) in &self.objects {
            let read = self.engine.get(&key(NAMES[*name]));
            prop_assert_eq!(read.as_deref(), Some(object));
        }
        for name in 0..NAMES.len() {
            self.check_told(name)?;
        }
        for name in 0..NAMES.len() {
            self.step(Step::ForeignDelete(name));
            self.step(Step::Deliver);
            self.step(Step::Deliver);
        }
        let sizes = (self.engine.recent(), self.engine.windows(), self.engine.stored());
        prop_assert_eq!(sizes, (0, 0, 0));
        Ok(())
    }

    fn check_told(&self, name: usize) -> Result<(), TestCaseError> {
        // When a change was told, as a version: of its object, or of the list that missed the object.
        let changes: Vec<(&Change<ConfigMap>, u64)> = self
            .told
            .iter()
            .filter_map(|told| match told {
                Told::Change(change, seen) if change.key() == key(NAMES[name]) => match change {
                    Change::Deleted { final_state_unknown: true, .. } => Some((change, *seen)),
                    Change::Added { .. } | Change::Updated { .. } | Change::Deleted { .. } => {
                        Some((change, version(change.object())))
                    }
                },
                Told::Change(..) | Told::Wrote(..) => None,
            })
            .collect();
        let words = || changes.iter().map(|(change, _)| short(change)).collect::<Vec<_>>();
        for (changed, at, events) in &self.must_tell {
            let foreign = events.is_empty() || events.iter().any(|event| self.log[*event].foreign);
            if *changed == name && foreign {
                let told = changes.iter().any(|(_, told)| told >= at);
                prop_assert!(told, "the change of {} at {at} was lost: {:?}", NAMES[name], words());
            }
        }
        if !self.disturbed[name] {
            prop_assert!(changes.is_empty(), "only we wrote {}, and yet: {:?}", NAMES[name], words());
        }
        // Whoever acts on what he was told, and on his own writes, ends up knowing whether the object exists.
        let mut exists = false;
        for told in &self.told {
            match told {
                Told::Change(change, _) if change.key() == key(NAMES[name]) => {
                    exists = !matches!(change, Change::Deleted { .. });
                }
                Told::Wrote(wrote) if *wrote == name => exists = true,
                Told::Change(..) | Told::Wrote(..) => {}
            }
        }
        if self.objects.contains_key(&name) {
            prop_assert!(
                exists,
                "{} exists, and the last word was its deletion: {:?}",
                NAMES[name],
                self.told
            );
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_foreign_is_lost_and_nothing_own_is_told(steps in steps()) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            world.check_reads()?;
        }
        world.check_end()?;
    }

    #[test]
    fn only_own_writes_are_never_told(
        steps in prop::collection::vec((0..NAMES.len(), 0..3u8, any::<bool>()), 1..40),
    ) {
        let mut world = World::new();
        for (name, deliveries, effect) in steps {
            world.step(Step::Begin(name));
            world.step(if effect { Step::Request(name) } else { Step::RequestWithoutEffect(name) });
            // The echo may overtake the answer.
            world.step(if deliveries == 1 { Step::Deliver } else { Step::Elsewhere });
            world.step(Step::Answer(name));
            world.step(Step::Finish(name));
            for _ in 0..deliveries {
                world.step(Step::Deliver);
            }
            world.check_reads()?;
        }
        world.check_end()?;
        let told = world.told.iter().filter(|told| matches!(told, Told::Change(Change::Added { .. } | Change::Updated { .. }, _)));
        prop_assert_eq!(told.count(), 0);
    }
}
