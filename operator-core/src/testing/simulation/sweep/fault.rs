//! One fault, or two: the second within the run of the first, or its retry.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::testing::{
    faults::{Fault, RequestTarget, Verb},
    simulation::{Choices, storm},
};

/// The lane of a tape that selects the request that meets a fault, the fault, and how many requests about objects later
/// the next one happens: four numbers, of which the kinds of faults are counted from 1.
pub(super) const FAULTS: &str = "pair of faults";

/// The approximate number of requests about objects that a run and its retry make.
pub(super) const WINDOW: u32 = 12;

/// Of the faults of a write, those that differ in what has happened and in what the operator knows: done but its answer
/// lost, refused, done and never answered, and refused as if the kind were not served.
const WRITES: [usize; 4] = [0, 3, 7, 8];

/// The same for a read: refused, never answered, refused as if the kind were not served, and old when it arrives.
const READS: [usize; 4] = [2, 5, 9, 11];

/// The number of a request's faults that are paired with others.
pub(super) const PAIRED: u32 = 4;

/// The fault of such a request at this place among those that are paired.
pub(super) fn paired(verb: Verb, place: u32) -> Option<usize> {
    let kinds = match verb {
        Verb::Get | Verb::List => READS,
        Verb::Watch => return None,
        _ => WRITES,
    };
    kinds.get(usize::try_from(place).ok()?).copied()
}

/// The faults of one schedule.
pub(super) struct Faulted {
    first: (u32, u32),
    second: (u32, u32),
    /// Requests about objects since the first fault.
    since: AtomicU32,
}

impl Faulted {
    pub(super) fn new(choices: &Choices) -> Self {
        let given = || choices.given(FAULTS);
        Self { first: (given(), given()), second: (given(), given()), since: AtomicU32::new(0) }
    }

    /// The fault of the request with this number, if it has one.
    pub(super) fn request(&self, number: u32, target: &RequestTarget) -> Option<(&'static str, Fault)> {
        let (first, kind) = self.first;
        if first == 0 || number < first {
            return None;
        }
        if number == first {
            return fault_of(target.verb, usize::try_from(kind).ok()?.checked_sub(1)?);
        }
        target.name.as_ref()?;
        let since = self.since.fetch_add(1, Ordering::Relaxed) + 1;
        let (later, next) = self.second;
        if later == 0 || since != later {
            return None;
        }
        fault_of(target.verb, paired(target.verb, next.checked_sub(1)?)?)
    }
}

fn fault_of(verb: Verb, kind: usize) -> Option<(&'static str, Fault)> {
    storm::kinds_of(verb).get(kind).map(|(name, fault)| (*name, fault()))
}
