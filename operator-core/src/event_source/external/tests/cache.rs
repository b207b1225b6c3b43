//! The rules of the cache, one by one.

use std::sync::Arc;

use super::world::{Thing, key};
use crate::event_source::{
    Filters,
    external::cache::{ExternalCache, Set},
};

type Cache = ExternalCache<Thing, u8>;

fn set(things: &[Thing]) -> Set<Thing, u8> {
    things.iter().map(|thing| (thing.0, Arc::new(*thing))).collect()
}

fn cache(shown: &[Thing]) -> Cache {
    let mut cache = Cache::new(Filters::new());
    cache.update(&key("a"), set(shown));
    cache
}

fn known(cache: &Cache) -> Vec<Thing> {
    cache.get(&key("a")).iter().map(|thing| **thing).collect()
}

#[test]
fn an_event_is_due_when_something_differs() {
    let mut cache = cache(&[Thing(1, 1)]);
    assert!(!cache.update(&key("a"), set(&[Thing(1, 1)])), "nothing differs");
    assert!(cache.update(&key("a"), set(&[Thing(1, 2)])), "changed");
    assert!(cache.update(&key("a"), set(&[Thing(1, 2), Thing(2, 0)])), "added");
    assert!(cache.update(&key("a"), set(&[Thing(2, 0)])), "removed");
    assert_eq!(known(&cache), [Thing(2, 0)]);
}

#[test]
fn filters_decide_on_events_and_not_on_what_is_known() {
    let mut filters = Filters::<Thing>::new();
    filters.on_add = Some(Arc::new(|new| new.1 > 10));
    filters.on_update = Some(Arc::new(|new, old| new.1 > old.1));
    filters.on_delete = Some(Arc::new(|last| last.1 > 10));
    let mut cache = Cache::new(filters);
    let mut due = |shown: &[Thing]| cache.update(&key("a"), set(shown));
    assert!(!due(&[Thing(1, 5)]));
    assert!(due(&[Thing(1, 6)]));
    assert!(!due(&[Thing(1, 4)]));
    assert!(due(&[Thing(1, 3), Thing(2, 11)]), "one that is accepted is enough");
    assert!(!due(&[Thing(2, 11)]));
    assert!(due(&[]));

    let mut filters = Filters::<Thing>::new();
    filters.generic = Some(Arc::new(|newest| newest.1 > 10));
    let mut cache = Cache::new(filters);
    assert!(!cache.update(&key("a"), set(&[Thing(1, 1)])));
    assert!(cache.update(&key("a"), set(&[Thing(1, 11)])));
    assert!(!cache.update(&key("a"), set(&[Thing(1, 1)])));
    assert!(!cache.update(&key("a"), set(&[])));
    assert!(known(&cache).is_empty());
}

#[test]
fn a_primary_that_is_missing_in_a_poll_has_nothing_left() {
    let mut cache = Cache::new(Filters::new());
    let both = [(key("a"), set(&[Thing(1, 1)])), (key("b"), set(&[Thing(1, 1)]))];
    assert_eq!(cache.update_all(both.into()), [key("a"), key("b")]);
    assert_eq!(cache.update_all([(key("b"), set(&[Thing(1, 1)]))].into()), [key("a")]);
    assert_eq!(cache.len(), 1);
}

#[test]
fn an_own_write_stays_for_one_update_that_does_not_know_it() {
    let mut cache = cache(&[Thing(1, 1), Thing(2, 1)]);
    cache.updated(&key("a"), 1, &Thing(1, 1), Arc::new(Thing(1, 2)));
    cache.updated(&key("a"), 1, &Thing(1, 2), Arc::new(Thing(1, 3)));
    cache.deleted(&key("a"), 2);
    cache.created(&key("a"), 3, Arc::new(Thing(3, 1)));
    assert_eq!(known(&cache), [Thing(1, 3), Thing(3, 1)]);
    assert!(!cache.update(&key("a"), set(&[Thing(1, 2), Thing(2, 1)])), "it is behind the writes");
    assert_eq!(known(&cache), [Thing(1, 3), Thing(3, 1)]);
    assert!(cache.update(&key("a"), set(&[Thing(1, 2), Thing(2, 1)])), "the second is believed");
    assert_eq!(known(&cache), [Thing(1, 2), Thing(2, 1)]);
}

#[test]
fn a_state_of_somebody_else_counts_at_once() {
    let mut cache = cache(&[Thing(1, 1), Thing(2, 1)]);
    cache.updated(&key("a"), 1, &Thing(1, 1), Arc::new(Thing(1, 2)));
    cache.deleted(&key("a"), 2);
    cache.created(&key("a"), 3, Arc::new(Thing(3, 1)));
    assert!(cache.update(&key("a"), set(&[Thing(1, 9), Thing(2, 9), Thing(3, 9)])));
    assert_eq!(known(&cache), [Thing(1, 9), Thing(2, 9), Thing(3, 9)]);
}

#[test]
fn an_update_that_lacks_a_changed_resource_is_believed_the_second_time() {
    let mut cache = cache(&[Thing(1, 1)]);
    cache.updated(&key("a"), 1, &Thing(1, 1), Arc::new(Thing(1, 2)));
    assert!(!cache.update(&key("a"), set(&[])));
    assert_eq!(known(&cache), [Thing(1, 2)]);
    assert!(cache.update(&key("a"), set(&[])));
}

#[test]
fn what_a_poll_has_shown_meanwhile_is_newer_than_the_answer_to_a_write() {
    let mut cache = cache(&[Thing(1, 5)]);
    cache.created(&key("a"), 1, Arc::new(Thing(1, 1)));
    cache.updated(&key("a"), 1, &Thing(1, 4), Arc::new(Thing(1, 6)));
    cache.updated(&key("a"), 2, &Thing(2, 1), Arc::new(Thing(2, 2)));
    assert_eq!(known(&cache), [Thing(1, 5)]);
    cache.update(&key("a"), set(&[]));
    assert!(known(&cache).is_empty(), "no mark was left");
}

#[test]
fn a_push_that_a_resource_is_gone_ends_the_wait_for_its_confirmation() {
    let mut cache = cache(&[]);
    cache.created(&key("a"), 1, Arc::new(Thing(1, 1)));
    assert!(cache.vanished(&key("a"), &1));
    assert!(!cache.vanished(&key("a"), &1));
    cache.update(&key("a"), set(&[]));
    assert!(known(&cache).is_empty());
}

#[test]
fn an_empty_set_is_known_as_well_and_nothing_is_after_the_end() {
    let mut cache = Cache::new(Filters::new());
    cache.created(&key("a"), 1, Arc::new(Thing(1, 1)));
    assert!(!cache.is_complete(&key("a")), "there may be more than what was created");
    cache.update(&key("a"), set(&[]));
    assert!(cache.is_complete(&key("a")));
    cache.remove(&key("a"));
    assert!(!cache.is_complete(&key("a")));
    assert_eq!((cache.len(), cache.version(&key("a"))), (0, 0));
}
