//! Those who keep something about each object: what they are told, and when.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;

use crate::{
    cache::{
        Change, ChangeHandler, Follower, InformerConfig,
        engine::{Engine, WatchEvent},
        scopes::ScopeIndex,
    },
    resource::{ObjectKey, ResourceType},
};

use super::{
    known::{Known, decoded, kept},
    recorder::{Recorder, key, object},
};

const SCOPE: ScopeIndex = ScopeIndex(0);

/// Notes what it is told, and what can be read at that moment.
struct Noting {
    engine: std::sync::Weak<Engine>,
    told: Mutex<Vec<String>>,
    ended: bool,
}

impl Noting {
    fn of(engine: &Known<ConfigMap>) -> Arc<Self> {
        Arc::new(Self { engine: Arc::downgrade(&engine.engine), told: Mutex::default(), ended: false })
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock())
    }
}

impl Follower for Arc<Noting> {
    fn seen(&self, key: &ObjectKey, _: &str) {
        let read = self.engine.upgrade().and_then(|engine| engine.get(key));
        let version = read.and_then(|kept| kept.version().map(str::to_owned));
        self.told.lock().push(format!("+{}@{}", key.name(), version.unwrap_or_default()));
    }

    fn gone(&self, key: &ObjectKey) {
        self.told.lock().push(format!("-{}", key.name()));
    }

    fn has_ended(&self) -> bool {
        self.ended
    }
}

/// A handler, or a follower, that panics.
struct Panics;

impl ChangeHandler<ConfigMap> for Panics {
    fn on_change(&self, _change: Change<ConfigMap>) {
        panic!("user code");
    }
}

impl Follower for Panics {
    fn seen(&self, _key: &ObjectKey, _: &str) {
        panic!("user code");
    }

    fn gone(&self, _key: &ObjectKey) {
        panic!("user code");
    }

    fn has_ended(&self) -> bool {
        false
    }
}

fn engine(handler: Arc<dyn ChangeHandler<ConfigMap>>) -> Known<ConfigMap> {
    let config = InformerConfig::new("test", ResourceType::of::<ConfigMap>());
    Known::new(&config, handler)
}

fn shown(engine: &Known<ConfigMap>, name: &str, uid: &str, version: u64) {
    engine.watched(SCOPE, WatchEvent::Applied(decoded(&object(name, uid, version))));
}

fn listed(engine: &Known<ConfigMap>, names: &[&str]) {
    engine.list_started(SCOPE);
    for name in names {
        engine.listed(SCOPE, decoded(&object(name, &format!("uid-{name}"), 5)));
    }
    engine.list_finished(SCOPE, "10");
}

#[test]
fn a_follower_is_told_of_everything_whatever_becomes_of_the_handler() {
    let engine = engine(Arc::new(Panics));
    let follower = Noting::of(&engine);
    engine.also_tell(Arc::new(Panics));
    engine.also_tell(Arc::new(Arc::clone(&follower)));
    listed(&engine, &["a"]);
    shown(&engine, "a", "uid-b", 11);
    engine.watched(SCOPE, WatchEvent::Deleted(decoded(&object("a", "uid-b", 12))));
    assert_eq!(follower.take(), ["+a@5", "-a", "+a@11", "-a"]);
}

#[test]
fn one_who_comes_late_is_told_of_what_is_there() {
    let engine = engine(Arc::new(Arc::new(Recorder::default())));
    listed(&engine, &["b", "a"]);
    let follower = Noting::of(&engine);
    engine.also_tell(Arc::new(Arc::clone(&follower)));
    assert_eq!(follower.take(), ["+a@5", "+b@5"]);
    shown(&engine, "c", "uid-c", 11);
    assert_eq!(follower.take(), ["+c@11"]);
}

#[test]
fn own_writes_are_told_with_their_echo_and_the_handler_hears_nothing_of_them() {
    let recorder = Arc::new(Recorder::default());
    let engine = engine(Arc::new(Arc::clone(&recorder)));
    listed(&engine, &["a"]);
    recorder.take();
    let follower = Noting::of(&engine);
    engine.also_tell(Arc::new(Arc::clone(&follower)));
    follower.take();
    let mut write = engine.begin(&key("a"));
    write.wrote(object("a", "uid-a", 11));
    // Foreign changes aren't held back from it either.
    shown(&engine, "a", "uid-a", 11);
    drop(write);
    assert_eq!((follower.take(), recorder.take()), (vec!["+a@11".to_owned()], vec![]));
    // One that was created and is gone again before the watch could show it.
    engine.remember(&key("b"), &kept(&object("b", "uid-b", 15)));
    engine.list_started(SCOPE);
    engine.listed(SCOPE, decoded(&object("a", "uid-a", 11)));
    engine.list_finished(SCOPE, "20");
    assert_eq!(follower.take(), ["-b"]);
}

#[test]
fn those_that_have_ended_are_let_go() {
    let engine = engine(Arc::new(Arc::new(Recorder::default())));
    for _ in 0..100 {
        engine.also_tell(Arc::new(Arc::new(Noting {
            engine: Arc::downgrade(&engine.engine),
            told: Mutex::default(),
            ended: true,
        })));
    }
    assert_eq!(engine.followers(), 1);
}
