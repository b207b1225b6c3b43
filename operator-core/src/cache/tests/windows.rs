//! Own writes that overlap, step by step: what the model only sees in the end.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;

use crate::cache::{engine::WatchEvent, scopes::ScopeIndex};

use super::{
    known::{TestEngine, decoded, kept},
    recorder::{Recorder, key, object, version},
    typed::TestConfig,
};

const SCOPE: ScopeIndex = ScopeIndex(0);

/// An informer that knows `a` in version 5, up to version 10.
fn engine() -> (TestEngine<ConfigMap>, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let engine = TestEngine::new(&TestConfig::new(), Arc::clone(&recorder) as _);
    engine.list_started(SCOPE);
    engine.listed(SCOPE, decoded(&object("a", "uid-a", 5)));
    engine.list_finished(SCOPE, "10");
    recorder.take();
    (engine, recorder)
}

fn shown(engine: &TestEngine<ConfigMap>, version: u64) {
    engine.watched(SCOPE, WatchEvent::Applied(decoded(&object("a", "uid-a", version))));
}

#[test]
fn what_was_decided_is_told_while_another_write_is_under_way_and_what_may_be_its_echo_waits() {
    let (engine, told) = engine();
    let mut first = engine.begin(&key("a"));
    let mut second = engine.begin(&key("a"));
    shown(&engine, 11);
    assert_eq!(told.take(), [""; 0], "it may be ours");
    first.wrote(object("a", "uid-a", 12));
    drop(first);
    assert_eq!(told.take(), [""; 0]);
    // With our own echo, the change before it is known to be foreign, whatever the second write may bring.
    shown(&engine, 12);
    assert_eq!(told.take(), ["a@5>12"]);
    // This one may be the second write's echo, and is.
    shown(&engine, 13);
    assert_eq!(told.take(), [""; 0]);
    second.wrote(object("a", "uid-a", 13));
    drop(second);
    assert_eq!(told.take(), [""; 0]);
    assert_eq!((engine.windows(), engine.recent()), (0, 0));
}

#[test]
fn an_echo_is_dropped_alone_while_a_later_change_waits_for_another_write() {
    let (engine, told) = engine();
    let mut first = engine.begin(&key("a"));
    let second = engine.begin(&key("a"));
    shown(&engine, 11);
    shown(&engine, 12);
    first.wrote(object("a", "uid-a", 11));
    drop(first);
    assert_eq!(told.take(), [""; 0], "11 was ours, 12 may be");
    // The second write fails: 12 was foreign, and 11 is no part of it.
    drop(second);
    assert_eq!(told.take(), ["a@11>12"]);
    assert_eq!(engine.windows(), 0);
}

#[test]
fn an_answer_that_the_collection_has_passed_is_not_kept() {
    let (engine, _told) = engine();
    let mut write = engine.begin(&key("a"));
    write.wrote(object("a", "uid-a", 12));
    drop(write);
    let read = || engine.base(&key("a")).map(|object| version(&object));
    engine.bookmark(SCOPE, "11");
    assert_eq!((engine.recent(), engine.windows(), read()), (1, 1, Some(12)));
    // Our write took away the label we select by, say: neither its echo nor a deletion will ever come.
    engine.bookmark(SCOPE, "12");
    assert_eq!((engine.recent(), engine.windows(), read()), (0, 0, Some(5)));
}

#[test]
fn what_a_streamed_list_showed_as_deleted_was_not_listed() {
    let (engine, told) = engine();
    engine.list_started(SCOPE);
    engine.streamed(SCOPE, WatchEvent::Applied(decoded(&object("a", "uid-a", 11))));
    engine.streamed(SCOPE, WatchEvent::Deleted(decoded(&object("a", "uid-a", 12))));
    assert_eq!(told.take(), ["a@5>11", "-a@12"]);
    // Our creation, which the end of the list has passed without showing it: it is gone again.
    engine.remember(&key("a"), &kept(&object("a", "uid-b", 15)));
    engine.list_finished(SCOPE, "20");
    assert_eq!(told.take(), ["-a@15?"]);
    assert_eq!((engine.stored(), engine.recent()), (0, 0));
}
