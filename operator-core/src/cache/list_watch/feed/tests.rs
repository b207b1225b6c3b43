//! Several informers on one pool, each feed at its own pace, against the history of the server: informers start, stop, and
//! change their namespaces while feeds are behind, cut, in trouble, or in the middle of a list.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use proptest::prelude::*;

use super::{Seat, state::FeedState};
use crate::{
    cache::{
        Change, ChangeHandler, ChangeKind, WatchScope,
        engine::WatchEvent,
        scopes::ScopeIndex,
        tests::{
            known::{TestEngine, decoded},
            typed::TestConfig,
        },
    },
    observe::SourceHealth,
    resource::ObjectKey,
};

const OBJECTS: [(&str, &str); 3] = [("bank", "a"), ("shop", "b"), ("shop", "c")];
/// The collections, each with a feed.
const FEEDS: [Option<&str>; 3] = [None, Some("bank"), Some("shop")];
const INFORMERS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Others create or change an object, or delete it.
    Change(usize),
    Delete(usize),
    /// An informer writes an object and gets the answer.
    Write(usize, usize),
    /// An informer starts with these feeds, or changes to them.
    Follow(usize, u8),
    Stop(usize),
    /// An informer joins the feeds that are new to it, or gets the next objects.
    Join(usize),
    /// The next step of a feed: its list is requested or continues, its watch is opened or shows an event.
    Advance(usize),
    Bookmark(usize),
    /// Its watch has shown nothing for a while.
    Quiet(usize),
    /// The next lists of a feed are streamed, or come in pages.
    Stream(usize, bool),
    /// The watch of a feed ends; its version has expired.
    Cut(usize),
    Expire(usize),
    Trouble(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (object, feed, informer) = (0..OBJECTS.len(), 0..FEEDS.len(), 0..INFORMERS);
    let step = prop_oneof![
        6 => object.clone().prop_map(Step::Change),
        4 => object.clone().prop_map(Step::Delete),
        2 => (informer.clone(), object).prop_map(|(informer, object)| Step::Write(informer, object)),
        4 => (informer.clone(), 0..4u8).prop_map(|(informer, feeds)| Step::Follow(informer, feeds)),
        1 => informer.clone().prop_map(Step::Stop),
        12 => informer.prop_map(Step::Join),
        20 => feed.clone().prop_map(Step::Advance),
        3 => feed.clone().prop_map(Step::Bookmark),
        2 => feed.clone().prop_map(Step::Quiet),
        2 => (feed.clone(), any::<bool>()).prop_map(|(feed, streams)| Step::Stream(feed, streams)),
        2 => feed.clone().prop_map(Step::Cut),
        1 => feed.clone().prop_map(Step::Expire),
        1 => feed.prop_map(Step::Trouble),
    ];
    prop::collection::vec(step, 1..100)
}

fn key(object: usize) -> ObjectKey {
    ObjectKey::namespaced(OBJECTS[object].0, OBJECTS[object].1)
}

fn shows(feed: usize, object: usize) -> bool {
    FEEDS[feed].is_none_or(|namespace| namespace == OBJECTS[object].0)
}

fn version(object: &ConfigMap) -> u64 {
    object.metadata.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or(0)
}

/// A change as the server made it.
#[derive(Clone)]
struct Event {
    object: usize,
    state: ConfigMap,
    deleted: bool,
}

impl Event {
    fn line(&self) -> WatchEvent {
        let item = decoded(&self.state);
        if self.deleted { WatchEvent::Deleted(item) } else { WatchEvent::Applied(item) }
    }
}

/// A list in progress.
struct List {
    version: u64,
    position: usize,
    items: VecDeque<ConfigMap>,
    /// Its first page has arrived.
    begun: bool,
}

enum Phase {
    Empty,
    Listing(List),
    Streaming(List),
    Listed,
    Watching,
}

/// A feed with the state of its list-watch.
struct Driven {
    feed: FeedState,
    phase: Phase,
    /// The part of the history that it has shown, and the version up to which it has.
    position: usize,
    version: Option<u64>,
    /// As far as the feed knows, it has missed nothing since.
    is_current: bool,
    health: SourceHealth,
    streams: bool,
}

impl Driven {
    fn new() -> Self {
        let health = SourceHealth::Syncing;
        let feed = FeedState::new(true);
        Self {
            feed,
            phase: Phase::Empty,
            position: 0,
            version: None,
            is_current: false,
            health,
            streams: false,
        }
    }

    /// All objects have been streamed: the same watch continues.
    fn streamed(&mut self) {
        let Phase::Streaming(List { version, position, .. }) = self.phase else { return };
        (self.version, self.position) = (Some(version), position);
        (self.phase, self.is_current) = (Phase::Watching, true);
        self.heal();
        self.feed.list_finished(&version.to_string());
    }

    fn heal(&mut self) {
        self.health = SourceHealth::Healthy;
        self.feed.health_changed(&self.health);
    }
}

enum Word {
    Change(Change),
    Left(ObjectKey),
}

#[derive(Default)]
struct Words(Mutex<Vec<Word>>);

impl ChangeHandler for Words {
    fn on_change(&self, change: Change) {
        self.0.lock().push(Word::Change(change));
    }

    fn on_left(&self, key: &ObjectKey, _: &str) {
        self.0.lock().push(Word::Left(key.clone()));
    }
}

struct Follower {
    engine: TestEngine<ConfigMap>,
    words: Arc<Words>,
    /// Its seats, each with the feed.
    seats: BTreeMap<ScopeIndex, (usize, u64)>,
    /// The version that it got last of each object: of its end or of a state.
    told: [u64; OBJECTS.len()],
    own: [u64; OBJECTS.len()],
    /// The version up to which its feeds have shown each object, while the object is followed.
    seen: [u64; OBJECTS.len()],
    synced: BTreeSet<ScopeIndex>,
}

struct World {
    version: u64,
    uids: u64,
    objects: BTreeMap<usize, ConfigMap>,
    history: Vec<Event>,
    feeds: [Driven; FEEDS.len()],
    informers: [Option<Follower>; INFORMERS],
}

fn scope_of(feeds: u8) -> WatchScope {
    match feeds {
        0 => WatchScope::All,
        1 => ["bank"].into(),
        2 => ["shop"].into(),
        _ => ["bank", "shop"].into(),
    }
}

impl World {
    fn new() -> Self {
        Self {
            version: 1,
            uids: 0,
            objects: BTreeMap::new(),
            history: Vec::new(),
            feeds: std::array::from_fn(|_| Driven::new()),
            informers: std::array::from_fn(|_| None),
        }
    }

    /// Two informers know everything: one of all namespaces at once, the other of each separately.
    fn settled() -> Self {
        let mut world = Self::new();
        for step in [Step::Change(0), Step::Change(1), Step::Follow(0, 0), Step::Follow(1, 3)] {
            world.step(step);
        }
        for round in 0..10 {
            world.step(Step::Join(round % 2));
            (0..FEEDS.len()).for_each(|feed| world.step(Step::Advance(feed)));
            world.check().expect("nothing stands in the way");
        }
        world
    }

    fn change(&mut self, object: usize) -> ConfigMap {
        self.version += 1;
        let mut state = self.objects.remove(&object).unwrap_or_else(|| {
            self.uids += 1;
            let mut created = ConfigMap::default();
            created.metadata.name = Some(OBJECTS[object].1.to_owned());
            created.metadata.namespace = Some(OBJECTS[object].0.to_owned());
            created.metadata.uid = Some(format!("uid-{}", self.uids));
            created
        });
        state.metadata.resource_version = Some(self.version.to_string());
        self.objects.insert(object, state.clone());
        self.history.push(Event { object, state: state.clone(), deleted: false });
        state
    }

    fn follow(&mut self, informer: usize, feeds: u8) {
        if let Some(follower) = &mut self.informers[informer] {
            follower.engine.follow_in(&scope_of(feeds));
            return;
        }
        let mut config = TestConfig::new();
        config.scope = scope_of(feeds);
        let words = Arc::new(Words::default());
        let engine = TestEngine::new(&config, Arc::clone(&words) as _);
        let [told, own, seen] = [[0; OBJECTS.len()]; 3];
        let (seats, synced) = (BTreeMap::new(), BTreeSet::new());
        self.informers[informer] = Some(Follower { engine, words, seats, told, own, seen, synced });
    }

    fn leave(&mut self, feed: usize, seat: u64) {
        let driven = &mut self.feeds[feed];
        let before = driven.feed.generation();
        driven.feed.leave(seat);
        if driven.feed.generation() != before {
            *driven = Driven::new();
        }
    }

    /// Returns whether there are more objects to show.
    fn join(&mut self, informer: usize) -> bool {
        let Some(follower) = &mut self.informers[informer] else { return false };
        let scopes: Vec<ScopeIndex> = follower.engine.scopes.indexes().collect();
        let mut more = false;
        for scope in &scopes {
            if let Some((feed, seat)) = follower.seats.get(scope) {
                more |= self.feeds[*feed].feed.tell(*seat);
                continue;
            }
            more = true;
            let namespace = follower.engine.scopes.namespace(*scope);
            let feed = FEEDS.iter().position(|of| *of == namespace.as_deref()).expect("there is one");
            let engine = Arc::clone(&follower.engine.engine);
            let seat = self.feeds[feed].feed.join(Seat { engine, scope: *scope, selects: None, only: None });
            follower.seats.insert(*scope, (feed, seat));
        }
        let seats = std::mem::take(&mut follower.seats).into_iter();
        let (followed, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            seats.partition(|(scope, _)| scopes.contains(scope));
        follower.seats = followed;
        for (_, (feed, seat)) in left {
            self.leave(feed, seat);
        }
        more
    }

    fn is_driven(&self, feed: usize) -> bool {
        let seats = self.informers.iter().flatten().flat_map(|follower| follower.seats.values());
        seats.into_iter().any(|(at, _)| *at == feed)
    }

    fn next_event(&self, feed: usize) -> Option<usize> {
        let position = self.feeds[feed].position;
        (position..self.history.len()).find(|at| shows(feed, self.history[*at].object))
    }

    fn advance(&mut self, feed: usize) {
        if !self.is_driven(feed) {
            return;
        }
        let next = self.next_event(feed);
        let driven = &mut self.feeds[feed];
        match &mut driven.phase {
            Phase::Empty => {
                driven.feed.list_asked();
                driven.is_current = false;
                let listed = self.objects.iter().filter(|(object, _)| shows(feed, **object));
                let items = listed.map(|(_, state)| state.clone()).collect();
                let (version, position) = (self.version, self.history.len());
                let list = List { version, position, items, begun: false };
                driven.phase = if driven.streams { Phase::Streaming(list) } else { Phase::Listing(list) };
            }
            Phase::Streaming(list) if !list.begun => {
                list.begun = true;
                driven.feed.list_started();
            }
            // What happens meanwhile comes after the objects that existed, and before the end.
            Phase::Streaming(list) => {
                let streamed = match list.items.pop_front() {
                    Some(item) => Some(WatchEvent::Applied(decoded(&item))),
                    None => self.history[list.position..].iter().find(|event| shows(feed, event.object)).map(
                        |event| {
                            list.version = version(&event.state);
                            event.line()
                        },
                    ),
                };
                if let Some(event) = streamed {
                    driven.feed.streamed(&event);
                    if list.items.is_empty() {
                        let passed = |event: &Event| version(&event.state) <= list.version;
                        list.position = self.history.iter().take_while(|event| passed(event)).count();
                    }
                    return;
                }
                driven.streamed();
            }
            Phase::Listing(list) if !list.begun => {
                list.begun = true;
                driven.feed.list_started();
            }
            Phase::Listing(list) => match list.items.pop_front() {
                Some(item) => driven.feed.listed(&decoded(&item)),
                None => {
                    let (version, position) = (list.version, list.position);
                    (driven.version, driven.position) = (Some(version), position);
                    (driven.phase, driven.is_current) = (Phase::Listed, true);
                    driven.heal();
                    driven.feed.list_finished(&version.to_string());
                }
            },
            Phase::Listed => {
                (driven.phase, driven.is_current) = (Phase::Watching, true);
                driven.heal();
                driven.feed.watch_is_open(true);
            }
            Phase::Watching => {
                let Some(at) = next else { return };
                let event = &self.history[at];
                (driven.position, driven.version) = (at + 1, Some(version(&event.state)));
                driven.feed.watched(&event.line());
            }
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Change(object) => drop(self.change(object)),
            Step::Delete(object) => {
                if let Some(mut state) = self.objects.remove(&object) {
                    self.version += 1;
                    state.metadata.resource_version = Some(self.version.to_string());
                    self.history.push(Event { object, state, deleted: true });
                }
            }
            Step::Write(informer, object) => {
                let Some(follower) = &self.informers[informer] else { return };
                if follower.engine.scopes.of(&key(object)).is_none() {
                    return;
                }
                let mut write = follower.engine.begin(&key(object));
                // The server refuses a write that starts from another state than its own.
                if write.base().map(|base| version(&base)) == self.objects.get(&object).map(version) {
                    let answer = self.change(object);
                    let follower = self.informers[informer].as_mut().expect("it was there");
                    follower.own[object] = version(&answer);
                    write.wrote(answer);
                }
            }
            Step::Follow(informer, feeds) => self.follow(informer, feeds),
            Step::Stop(informer) => {
                let seats = self.informers[informer].take().map(|follower| follower.seats);
                for (_, (feed, seat)) in seats.into_iter().flatten() {
                    self.leave(feed, seat);
                }
            }
            Step::Join(informer) => drop(self.join(informer)),
            Step::Advance(feed) => self.advance(feed),
            Step::Stream(feed, streams) => self.feeds[feed].streams = streams,
            Step::Quiet(feed) => self.feeds[feed].feed.watch_is_quiet(),
            Step::Bookmark(feed) => {
                let quiet = self.next_event(feed).is_none();
                let driven = &mut self.feeds[feed];
                if matches!(&driven.phase, Phase::Streaming(list) if list.begun && list.items.is_empty()) {
                    return driven.streamed();
                }
                if quiet && matches!(driven.phase, Phase::Watching) {
                    driven.version = Some(self.version);
                    driven.feed.bookmark(&self.version.to_string());
                }
            }
            Step::Cut(feed) | Step::Expire(feed) => {
                let driven = &mut self.feeds[feed];
                if matches!(driven.phase, Phase::Listed | Phase::Watching | Phase::Streaming(_)) {
                    let expires = matches!(step, Step::Expire(_));
                    let expires = expires || matches!(driven.phase, Phase::Streaming(_));
                    driven.phase = if expires { Phase::Empty } else { Phase::Listed };
                    driven.is_current = false;
                    driven.feed.watch_is_open(false);
                }
            }
            Step::Trouble(feed) => {
                let driven = &mut self.feeds[feed];
                if !matches!(driven.phase, Phase::Watching) {
                    let reason = "connection refused".to_owned();
                    driven.health = SourceHealth::Unhealthy { reason, advice: None };
                    driven.feed.health_changed(&driven.health);
                }
            }
        }
    }

    /// The version of the end of the object with this uid; `None` if the object exists.
    fn end_of(&self, object: usize, uid: Option<&str>) -> Option<u64> {
        let is_end = |event: &&Event| {
            event.deleted && event.object == object && event.state.metadata.uid.as_deref() == uid
        };
        self.history.iter().find(is_end).map(|event| version(&event.state))
    }

    /// The state of an object as of a version.
    fn as_of(&self, object: usize, at: u64) -> Option<u64> {
        let until = |event: &&Event| event.object == object && version(&event.state) <= at;
        let last = self.history.iter().rev().find(until)?;
        (!last.deleted).then(|| version(&last.state))
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        for informer in 0..INFORMERS {
            let Some(mut follower) = self.informers[informer].take() else { continue };
            let checked = self.check_words(&mut follower).and_then(|()| self.check_joined(&mut follower));
            self.informers[informer] = Some(follower);
            checked?;
        }
        Ok(())
    }

    /// No informer gets an end that the history doesn't have, or an older state.
    fn check_words(&self, follower: &mut Follower) -> Result<(), TestCaseError> {
        for word in std::mem::take(&mut *follower.words.0.lock()) {
            let of = |key: &ObjectKey| OBJECTS.iter().position(|(_, name)| *name == key.name()).unwrap();
            match word {
                Word::Left(key) => {
                    follower.told[of(&key)] = 0;
                    follower.own[of(&key)] = 0;
                }
                Word::Change(Change { key, kind: ChangeKind::Deleted { last, .. } }) => {
                    let end = self.end_of(of(&key), last.uid());
                    prop_assert!(end.is_some(), "{key} is told as gone, and exists");
                    follower.told[of(&key)] = follower.told[of(&key)].max(end.unwrap_or_default());
                }
                Word::Change(Change { key, kind }) => {
                    let version = kind.object().version().and_then(|version| version.parse().ok());
                    let (version, told) = (version.unwrap_or(0), &mut follower.told[of(&key)]);
                    prop_assert!(version > *told, "{key} is told in version {version} after {told}");
                    *told = version;
                }
            }
        }
        Ok(())
    }

    fn check_joined(&self, follower: &mut Follower) -> Result<(), TestCaseError> {
        for object in 0..OBJECTS.len() {
            if follower.engine.scopes.of(&key(object)).is_none() {
                // All data about the namespace is dropped, and another feed may be behind.
                (follower.told[object], follower.own[object], follower.seen[object]) = (0, 0, 0);
            }
        }
        for (scope, (feed, _)) in follower.seats.clone() {
            if follower.engine.scopes.indexes().all(|followed| followed != scope) {
                continue;
            }
            let driven = &self.feeds[feed];
            let is_synced = follower.engine.is_collection_synced(scope);
            if is_synced && follower.synced.insert(scope) {
                prop_assert!(driven.is_current, "synced by a feed that may have missed something");
            }
            if matches!(driven.health, SourceHealth::Unhealthy { .. }) {
                prop_assert_eq!(follower.engine.collection_health(scope), driven.health.clone());
            }
            let Some(at) = driven.version.filter(|_| is_synced) else { continue };
            for object in (0..OBJECTS.len()).filter(|object| shows(feed, *object)) {
                let read = follower.engine.base(&key(object)).map(|state| version(&state));
                let end = follower.told[object];
                follower.seen[object] = follower.seen[object].max(at);
                // Perhaps a former feed has shown more, and no word of an object that the informer never knew.
                let is_gone = self.as_of(object, follower.seen[object]).is_none();
                match (self.as_of(object, at), read) {
                    (Some(exists), read) => prop_assert!(
                        read >= Some(exists) || end > exists || is_gone,
                        "{:?}: the feed knows {exists}, the informer {read:?}",
                        OBJECTS[object]
                    ),
                    (None, Some(read)) => {
                        prop_assert!(read > at, "{:?}: {read}, gone by {at}", OBJECTS[object])
                    }
                    (None, None) => {}
                }
            }
        }
        // An own write is read until the object is gone or changed.
        for object in (0..OBJECTS.len()).filter(|object| follower.own[*object] > 0) {
            let read = follower.engine.base(&key(object)).map(|state| version(&state));
            let is_gone = self.objects.get(&object).is_none_or(|state| version(state) > follower.own[object]);
            prop_assert!(is_gone || read == Some(follower.own[object]), "{:?}: {read:?}", OBJECTS[object]);
        }
        Ok(())
    }

    /// When everything has been shown, each informer knows everything.
    fn check_end(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..2 {
            for informer in 0..INFORMERS {
                while self.join(informer) {}
            }
            for feed in 0..FEEDS.len() {
                for _ in 0..self.history.len() + 10 {
                    self.advance(feed);
                    self.check()?;
                }
                self.step(Step::Bookmark(feed));
                self.check()?;
            }
        }
        for follower in self.informers.iter().flatten() {
            prop_assert!(follower.engine.is_synced());
            prop_assert_eq!(follower.engine.health(), SourceHealth::Healthy);
            let sizes = (follower.engine.recent(), follower.engine.windows());
            prop_assert_eq!(sizes, (0, 0));
            for object in 0..OBJECTS.len() {
                let is_followed = follower.engine.scopes.of(&key(object)).is_some();
                let exists = self.objects.get(&object).filter(|_| is_followed);
                let read = follower.engine.base(&key(object));
                prop_assert_eq!(read.as_deref(), exists);
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::properties::many(500), ..crate::properties::daily() })]

    #[test]
    fn an_informer_that_joins_knows_all_that_its_feed_knows_and_gets_no_false_change(
        settled in any::<bool>(),
        steps in steps(),
    ) {
        let mut world = if settled { World::settled() } else { World::new() };
        for step in steps {
            world.step(step);
            world.check()?;
        }
        world.check_end()?;
    }
}
