//! Any order of own writes, foreign changes, fresh answers and old ones, against the history of the other system.

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;

use super::world::{Thing, key};
use crate::event_source::{Filters, external::cache::ExternalCache};

#[derive(Clone, Debug)]
enum Step {
    /// Somebody else creates or changes a resource.
    Foreign(u8),
    /// Somebody else deletes one.
    ForeignDelete(u8),
    /// The run creates, changes or deletes one, going by what the cache says.
    Own(u8),
    OwnDelete(u8),
    /// A full set arrives that was read so many steps ago, but not before the arrival of the last one.
    Shown(usize),
    /// The primary goes.
    Gone,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..4u8).prop_map(Step::Foreign),
        1 => (0..4u8).prop_map(Step::ForeignDelete),
        4 => (0..4u8).prop_map(Step::Own),
        2 => (0..4u8).prop_map(Step::OwnDelete),
        3 => (0..6usize).prop_map(Step::Shown),
        1 => Just(Step::Gone),
    ]
}

/// One moment of the other system.
#[derive(Clone, Debug, Default)]
struct Moment {
    things: BTreeMap<u8, u32>,
    /// When somebody else wrote a resource last.
    foreign: BTreeMap<u8, usize>,
    /// When it was last written by the run without having been what the cache said.
    blind: BTreeMap<u8, usize>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..crate::properties::daily() })]

    #[test]
    fn no_foreign_change_is_lost_and_own_writes_are_seen(steps in prop::collection::vec(step(), 1..60)) {
        let mut cache = ExternalCache::<Thing, u8>::new(Filters::new());
        let mut history = vec![Moment::default()];
        // When the last full set was read, when it arrived, and whether the run has written since.
        let (mut read_last, mut arrived, mut written) = (0, 0, false);
        let cached = |cache: &ExternalCache<Thing, u8>| -> BTreeMap<u8, u32> {
            cache.get(&key("a")).iter().map(|thing| (thing.0, thing.1)).collect()
        };
        for (number, step) in (1_u32..).zip(steps) {
            let mut now = history.last().unwrap().clone();
            let moment = history.len();
            match step {
                Step::Foreign(id) => {
                    now.things.insert(id, number);
                    now.foreign.insert(id, moment);
                }
                Step::ForeignDelete(id) => {
                    now.things.remove(&id);
                    now.foreign.insert(id, moment);
                }
                Step::Own(id) => {
                    let new = Arc::new(Thing(id, number));
                    let before = cached(&cache);
                    match before.get(&id) {
                        Some(state) => cache.updated(&key("a"), id, &Thing(id, *state), Arc::clone(&new)),
                        None => cache.created(&key("a"), id, Arc::clone(&new)),
                    }
                    now.things.insert(id, number);
                    // A write that builds upon what was not so any more is no better than anybody's.
                    if before.get(&id) != history.last().unwrap().things.get(&id) {
                        now.blind.insert(id, moment);
                    }
                    written = true;
                    prop_assert_eq!(cached(&cache).get(&id).copied(), Some(number), "an own write is seen at once");
                }
                Step::OwnDelete(id) => {
                    let before = cached(&cache);
                    cache.deleted(&key("a"), id);
                    now.things.remove(&id);
                    if before.get(&id) != history.last().unwrap().things.get(&id) {
                        now.blind.insert(id, moment);
                    }
                    written = true;
                    prop_assert!(!cached(&cache).contains_key(&id), "an own write is seen at once");
                }
                Step::Shown(ago) => {
                    let read = (moment - 1).saturating_sub(ago).max(arrived);
                    let shown = &history[read].things;
                    let set = shown.iter().map(|(id, state)| (*id, Arc::new(Thing(*id, *state)))).collect();
                    let before = cached(&cache);
                    let due = cache.update(&key("a"), set);
                    let after = cached(&cache);
                    prop_assert_eq!(due, before != after, "whatever changes is told");
                    for id in 0..4 {
                        let others = [now.foreign.get(&id), now.blind.get(&id)];
                        if others.into_iter().flatten().all(|moment| *moment <= read_last) {
                            prop_assert_eq!(after.get(&id), now.things.get(&id), "an old answer takes no write back");
                        }
                    }
                    for (id, state) in shown {
                        let foreign = now.foreign.get(id).is_some_and(|moment| *moment == *state as usize);
                        if foreign && *state as usize > read_last {
                            prop_assert_eq!(after.get(id), Some(state), "a foreign state counts at once");
                        }
                    }
                    if !written {
                        prop_assert_eq!(&after, shown, "without writes it is what was shown");
                    }
                    (read_last, arrived, written) = (read, moment, false);
                }
                Step::Gone => {
                    cache.remove(&key("a"));
                    prop_assert_eq!(cache.len(), 0);
                    // The successor has not been told anything.
                    now = Moment::default();
                    (read_last, arrived, written) = (moment, moment, false);
                }
            }
            history.push(now);
        }
    }
}
