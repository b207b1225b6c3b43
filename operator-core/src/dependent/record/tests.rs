//! The steps of a record, in a model of the other system in which everything goes wrong that can: crashes between any two
//! steps, answers that are lost, people who say what became of an attempt.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::step::{Action, Done, Doubt, Facts, Kept, Search, Seen, Wait};

/// The failure of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Luck {
    Good,
    /// The process dies before the step.
    DiesBefore,
    /// The process dies after the step has taken effect, before it knows.
    DiesAfter,
    /// The answer is lost, the process continues.
    Lost,
}

/// All that there is: what is written, what the process knows, and the other system.
#[derive(Default)]
struct World {
    searchable: bool,
    several: bool,
    wanted: bool,
    /// The data in the cluster.
    id: Option<usize>,
    note: Option<Option<usize>>,
    /// The further knowledge of the process.
    known: Option<usize>,
    unanswered: bool,
    settled: bool,
    /// The other system: by id, what it is.
    records: BTreeMap<usize, u8>,
    made: usize,
    value: u8,
    /// How often a person had to say what became of an attempt.
    asked: usize,
    /// How often something went wrong between a note and the id.
    unlucky: usize,
}

impl World {
    fn crash(&mut self) {
        (self.known, self.unanswered, self.settled) = (None, false, false);
    }

    fn facts(&self, ends: bool) -> Facts {
        let noted = self.note == Some(self.id);
        let doubt = match self.unanswered || noted {
            true => Doubt::Attempted,
            false if self.settled || self.several => Doubt::No,
            false => Doubt::Unknown,
        };
        let id = match (self.known, self.id) {
            (Some(known), written) if written != Some(known) => Some((known.to_string(), Kept::No)),
            (_, written) => written.map(|id| (id.to_string(), Kept::Yes)),
        };
        Facts {
            several: self.several,
            wanted: self.wanted,
            ends,
            id,
            seen: Seen::NotYet,
            alike: false,
            asked: false,
            doubt,
            search: Search::NotYet,
            noted: false,
        }
    }

    /// One run, in which each step has its luck. Returns whether it came to its end.
    fn run(&mut self, ends: bool, luck: &mut impl Iterator<Item = Luck>) -> bool {
        let mut facts = self.facts(ends);
        for _ in 0..20 {
            let step = facts.next();
            let luck = luck.next().unwrap_or(Luck::Good);
            self.unlucky += usize::from(
                luck != Luck::Good && matches!(step, Action::Note | Action::Create | Action::Keep),
            );
            let is_over = matches!(step, Action::Wait(_) | Action::Done(_) | Action::Twice(_));
            if luck == Luck::DiesBefore && !is_over {
                self.crash();
                return false;
            }
            if step == Action::Create {
                self.unanswered = true;
            }
            let id = facts.id.as_ref().and_then(|(id, _)| id.parse::<usize>().ok());
            let answered = luck == Luck::Good;
            match step {
                Action::Keep => self.id = id,
                Action::Observe => match id.and_then(|id| self.records.get(&id)) {
                    _ if !answered => {}
                    Some(value) => facts.seen(*value == self.value),
                    None => facts.gone(),
                },
                Action::Search if !answered => {}
                Action::Search if !self.searchable => facts.search = Search::Impossible,
                Action::Search => {
                    let found: Vec<usize> =
                        self.records.keys().copied().filter(|found| Some(*found) != id).collect();
                    match found[..] {
                        [] => {
                            (self.unanswered, self.settled) = (false, true);
                            facts.search = Search::Nothing;
                        }
                        [one] => {
                            (self.known, self.unanswered) = (Some(one), false);
                            facts.found(one.to_string(), self.records[&one] == self.value);
                        }
                        _ => facts.search = Search::Several(found.len()),
                    }
                }
                Action::Note => {
                    self.note = Some(self.id);
                    facts.noted = true;
                }
                Action::Create => {
                    self.made += 1;
                    self.records.insert(self.made, self.value);
                    if answered {
                        (self.known, self.unanswered) = (Some(self.made), false);
                        facts.found(self.made.to_string(), true);
                    }
                }
                Action::Update => {
                    if let Some(value) = id.and_then(|id| self.records.get_mut(&id)) {
                        *value = self.value;
                    }
                    facts.seen(true);
                }
                Action::Delete => {
                    id.map(|id| self.records.remove(&id));
                    facts.deleted();
                }
                Action::Forget => {
                    (self.note, self.id, self.known, self.settled) = (None, None, None, true);
                    facts.forgotten();
                }
                Action::Wait(Wait::Person) => {
                    self.person();
                    return false;
                }
                Action::Wait(Wait::Shown) => unreachable!("nothing is shown late here"),
                Action::Twice(number) => panic!("{number} records"),
                Action::Done(done) => {
                    self.settled |= done == Done::Nothing;
                    return true;
                }
            }
            match luck {
                Luck::DiesAfter => {
                    self.crash();
                    return false;
                }
                Luck::Lost => return false,
                Luck::Good | Luck::DiesBefore => {}
            }
            if step == Action::Keep {
                facts.kept();
            }
        }
        panic!("no end: {facts:?}");
    }

    /// Looks into the other system, and says what it has found there.
    fn person(&mut self) {
        self.asked += 1;
        let there = self.records.keys().copied().find(|there| Some(*there) != self.id);
        match there {
            Some(there) => self.id = Some(there),
            None => self.note = None,
        }
        self.unanswered = false;
    }
}

/// Safety doesn't depend on this, so the property below can't see it; the number of calls and of writes does.
#[test]
fn without_a_doubt_the_other_system_is_searched_only_to_find_out_whether_an_attempt_has_to_be_noted() {
    let facts = |wanted, several, search, noted| {
        let id = None;
        let (seen, doubt) = (Seen::NotYet, Doubt::No);
        Facts { several, wanted, ends: false, id, seen, alike: false, asked: false, doubt, search, noted }
            .next()
    };
    assert_eq!(facts(true, false, Search::NotYet, false), Action::Search);
    assert_eq!(facts(true, false, Search::Nothing, false), Action::Create, "a search will find it");
    assert_eq!(facts(true, false, Search::Impossible, false), Action::Note);
    assert_eq!(facts(true, true, Search::NotYet, false), Action::Note, "one of several is noted in any case");
    assert_eq!(facts(true, true, Search::NotYet, true), Action::Create);
    for several in [false, true] {
        let nothing = facts(false, several, Search::NotYet, false);
        assert_eq!(nothing, Action::Done(Done::Nothing), "there is nothing to search for");
    }
}

/// In the model a deletion takes no time.
#[test]
fn a_deletion_that_takes_time_is_requested_once() {
    let mut world = World { known: Some(1), id: Some(1), ..World::default() };
    world.records.insert(1, 0);
    let mut facts = world.facts(false);
    facts.seen(false);
    assert_eq!(facts.next(), Action::Delete);
    facts.asked = true;
    assert_eq!(facts.next(), Action::Done(Done::Going));
    facts.wanted = true;
    assert_eq!(facts.next(), Action::Update, "it is wanted again");
}

/// The model goes on with an id that names nothing; a user who reads it shouldn't have to.
#[test]
fn the_id_of_what_is_gone_is_removed_unless_it_goes_with_its_primary() {
    for (ends, expected) in [(false, Action::Forget), (true, Action::Done(Done::Nothing))] {
        let mut facts = World { known: Some(1), id: Some(1), settled: true, ..World::default() }.facts(ends);
        facts.deleted();
        assert_eq!(facts.next(), expected, "{ends}");
        facts.forgotten();
        assert_eq!(facts.next(), Action::Done(Done::Nothing));
    }
}

fn luck() -> impl Strategy<Value = Luck> {
    prop_oneof![4 => Just(Luck::Good), 1 => Just(Luck::DiesBefore), 1 => Just(Luck::DiesAfter), 1 => Just(Luck::Lost)]
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn no_record_is_made_twice_or_forgotten_whatever_goes_wrong(
        searchable: bool,
        several: bool,
        days in prop::collection::vec((any::<bool>(), 0_u8..3, any::<bool>(), prop::collection::vec(luck(), 0..12)), 1..12),
    ) {
        let mut world = World { searchable, several, ..World::default() };
        let mut wanted = 0;
        for (wants, value, meddles, luck) in days {
            if meddles {
                // Somebody deletes it in the other system.
                world.records.clear();
                wanted += 1;
            }
            wanted += usize::from(wants && !world.wanted);
            (world.wanted, world.value) = (wants, value);
            world.run(false, &mut luck.into_iter());
            prop_assert!(world.records.len() <= 1, "{:?}", world.records);
        }
        prop_assert!(world.made <= wanted, "made {} times, wanted {wanted} times", world.made);
        prop_assert!(world.asked == 0 || !searchable, "a person was asked for what can be searched for");
        prop_assert!(world.asked <= world.unlucky, "a person was asked although nothing was in doubt");
        // Nothing goes wrong any more.
        for _ in 0..4 {
            if world.run(false, &mut std::iter::empty()) {
                break;
            }
        }
        let there: Vec<u8> = world.records.values().copied().collect();
        prop_assert_eq!(there, if world.wanted { vec![world.value] } else { vec![] });
        world.wanted = false;
        for _ in 0..4 {
            if world.run(true, &mut std::iter::empty()) {
                break;
            }
        }
        prop_assert!(world.records.is_empty(), "left behind: {:?}", world.records);
    }
}
