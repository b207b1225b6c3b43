//! The smallest tape that still fails.

use super::Tape;

/// Sets as many decisions to 0 as possible while `fails` is true for the rest, and makes the others small. Calls it at
/// most `attempts` times.
pub(super) fn shrink(tape: Tape, attempts: usize, fails: impl FnMut(&Tape) -> bool) -> Tape {
    let mut shrinking = Shrinking { tape, attempts, fails };
    loop {
        let before = shrinking.tape.clone();
        // All lanes whose names start with the same word, then each lane.
        shrinking.whole_lanes(|name| name.split(' ').next().unwrap_or_default());
        shrinking.whole_lanes(|name| name);
        shrinking.chunks();
        shrinking.values();
        if shrinking.tape == before || shrinking.attempts == 0 {
            return shrinking.tape;
        }
    }
}

struct Shrinking<F> {
    tape: Tape,
    attempts: usize,
    fails: F,
}

impl<F: FnMut(&Tape) -> bool> Shrinking<F> {
    /// Keeps the candidate if it differs and still fails.
    fn attempt(&mut self, mut candidate: Tape) -> bool {
        candidate.tidy();
        if candidate == self.tape || self.attempts == 0 {
            return false;
        }
        self.attempts -= 1;
        let fails = (self.fails)(&candidate);
        if fails {
            self.tape = candidate;
        }
        fails
    }

    /// All lanes with the same subject.
    fn whole_lanes(&mut self, subject: impl Fn(&str) -> &str) {
        let mut subjects: Vec<String> = self.tape.0.keys().map(|name| subject(name).to_owned()).collect();
        subjects.dedup();
        for gone in subjects {
            let mut candidate = self.tape.clone();
            candidate.0.retain(|name, _| subject(name) != gone);
            self.attempt(candidate);
        }
    }

    /// Halves of what is left, then quarters, down to single decisions.
    fn chunks(&mut self) {
        let mut size = self.tape.weight().div_ceil(2);
        while size > 0 && self.attempts > 0 {
            let mut from = 0;
            loop {
                let places = self.places();
                if from >= places.len() {
                    break;
                }
                let mut candidate = self.tape.clone();
                for (name, at) in &places[from..(from + size).min(places.len())] {
                    if let Some(values) = candidate.0.get_mut(name) {
                        values[*at] = 0;
                    }
                }
                // What was taken away makes room: the next chunk begins at the same place.
                if !self.attempt(candidate) {
                    from += size;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    fn values(&mut self) {
        for (name, at) in self.places() {
            let Some(value) = self.tape.0.get(&name).and_then(|values| values.get(at)).copied() else {
                continue;
            };
            for smaller in [1, value / 4, value / 2] {
                if smaller == 0 || smaller >= value {
                    continue;
                }
                let mut candidate = self.tape.clone();
                if let Some(values) = candidate.0.get_mut(&name) {
                    values[at] = smaller;
                }
                if self.attempt(candidate) {
                    break;
                }
            }
        }
    }

    /// The places of all decisions.
    fn places(&self) -> Vec<(String, usize)> {
        let lanes = self.tape.0.iter();
        let places = lanes.flat_map(|(name, values)| {
            let decided = values.iter().enumerate().filter(|(_, value)| **value != 0);
            decided.map(|(at, _)| (name.clone(), at))
        });
        places.collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// What fails because of a few decisions is shrunk to exactly those.
        #[test]
        fn what_is_left_is_what_is_needed(
            lanes in proptest::collection::btree_map("[ab] [a-z]{1,3}", proptest::collection::vec(0u32..9, 1..20), 1..6),
            picks in proptest::collection::vec(any::<proptest::sample::Index>(), 1..3),
        ) {
            let mut tape = Tape(lanes);
            tape.tidy();
            let all = Shrinking { tape: tape.clone(), attempts: 0, fails: |_: &Tape| true }.places();
            prop_assume!(!all.is_empty());
            let mut needed: Vec<_> = picks.iter().map(|pick| pick.get(&all).clone()).collect();
            needed.sort();
            needed.dedup();
            let has = |tape: &Tape, (name, at): &(String, usize)| {
                tape.0.get(name).and_then(|values| values.get(*at)).is_some_and(|value| *value != 0)
            };
            let shrunk = shrink(tape, 10_000, |tape| needed.iter().all(|place| has(tape, place)));
            let left = Shrinking { tape: shrunk.clone(), attempts: 0, fails: |_: &Tape| true }.places();
            prop_assert_eq!(left, needed);
            prop_assert!(shrunk.0.values().flatten().all(|value| *value <= 1));
        }

        #[test]
        fn it_asks_no_more_often_than_allowed(
            values in proptest::collection::vec(0u32..9, 1..60), attempts in 0usize..20,
        ) {
            let mut asked = 0;
            let tape = Tape([("a".to_owned(), values)].into());
            shrink(tape, attempts, |_| { asked += 1; false });
            prop_assert!(asked <= attempts);
        }
    }
}
