//! The fields of a kind that were compared, and those that weren't.

use std::{collections::BTreeMap, fmt};

use crate::run::{FORGOTTEN, NOT_DONE, Outcome, Skipped};

/// Of each story of ten requests so many answers are compared, at the least: the end of the object's life has two more.
/// Those of Jobs come to seven on an average, all others to nine and more.
const ANSWERS: u64 = 4;

/// And of so many stories one event.
const FOR_AN_EVENT: u64 = 2;

/// One in so many stories may come to what the model says it doesn't do: of Services one in eighty does.
const DONE: u64 = 5;

/// What was compared of one kind.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) different: usize,
    compared: usize,
    events: usize,
    skipped: Skipped,
    codes: BTreeMap<u16, usize>,
}

impl Summary {
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.compared += outcome.compared;
        self.events += outcome.events;
        outcome.skipped.iter().for_each(|(why, times)| *self.skipped.entry(why).or_default() += times);
        outcome.codes.iter().for_each(|(code, times)| *self.codes.entry(*code).or_default() += times);
    }

    /// How many answers to writes were compared.
    pub(crate) fn compared(&self) -> usize {
        self.compared
    }

    /// Why these stories have compared too little to say that the servers are the same.
    pub(crate) fn thin(&self, stories: u64) -> Option<String> {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let skipped = |why: &str| self.skipped.get(why).copied().unwrap_or(0);
        if count(self.compared) < ANSWERS * stories {
            return Some(format!(
                "{} answers are fewer than {ANSWERS} of each of {stories} stories",
                self.compared
            ));
        }
        if count(self.events) * FOR_AN_EVENT < stories {
            return Some(format!(
                "{} events are fewer than one of {FOR_AN_EVENT} of {stories} stories",
                self.events
            ));
        }
        if count(skipped(NOT_DONE)) * DONE > stories {
            return Some(format!("{} {NOT_DONE}, of {stories}", skipped(NOT_DONE)));
        }
        // Neither server forgets anything in so short a time.
        (skipped(FORGOTTEN) > 0).then(|| format!("{} {FORGOTTEN}", skipped(FORGOTTEN)))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compared, events, different, codes, .. } = self;
        let skipped = self.skipped.iter().map(|(why, times)| format!("{times} {why}")).collect::<Vec<_>>();
        let skipped = if skipped.is_empty() { "nothing".to_owned() } else { skipped.join(", ") };
        write!(
            f,
            "{compared} answers and {events} events compared, {different} differ, skipped: {skipped}; {codes:?}"
        )
    }
}

#[test]
fn stories_that_compare_too_little_are_told() {
    let of = |compared, events, skipped: &[(&'static str, usize)]| Summary {
        compared,
        events,
        skipped: skipped.iter().copied().collect(),
        ..Summary::default()
    };
    assert_eq!(of(80, 10, &[(NOT_DONE, 4)]).thin(20), None);
    let why = |summary: Summary| summary.thin(20).expect("it is too little");
    assert_eq!(why(of(79, 10, &[])), "79 answers are fewer than 4 of each of 20 stories");
    assert_eq!(why(of(80, 9, &[])), "9 events are fewer than one of 2 of 20 stories");
    assert_eq!(why(of(80, 10, &[(NOT_DONE, 5)])), "5 stories that the model doesn't do, of 20");
    assert_eq!(why(of(100, 20, &[(FORGOTTEN, 1)])), "1 watches of forgotten versions");
}
