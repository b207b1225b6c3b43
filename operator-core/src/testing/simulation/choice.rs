//! Every decision of a simulation, on one tape: drawn from a seed, recorded, replayed.
//!
//! The tape has a *lane* for each subject, such as "request patch configmaps" or "task 3". Lanes are drawn
//! independently of each other, so that removing a decision from one of them shifts nothing in the others: this makes a
//! tape easy to shrink. In every lane 0 stands for nothing: no fault, no delay, first come first served.

use std::{collections::BTreeMap, fmt, sync::Arc};

use parking_lot::Mutex;

/// The decisions of one schedule. Cheap to clone; a clone continues where another stopped.
#[derive(Clone)]
pub struct Choices(Arc<Mutex<ChoiceState>>);

struct ChoiceState {
    source: ChoiceSource,
    lanes: Vec<Lane>,
    names: BTreeMap<String, usize>,
}

enum ChoiceSource {
    Seed(u64),
    Tape(Tape),
}

struct Lane {
    random: Random,
    given: Vec<u32>,
    taken: Vec<u32>,
}

/// A lane of a tape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneId(usize);

/// Decisions, by lane. Missing ones are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tape(pub(super) BTreeMap<String, Vec<u32>>);

impl Choices {
    /// Decisions drawn from a seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::of(ChoiceSource::Seed(seed))
    }

    /// The decisions of a tape, and 0 after its end. An empty one is a calm run.
    #[must_use]
    pub fn replayed(tape: Tape) -> Self {
        Self::of(ChoiceSource::Tape(tape))
    }

    fn of(source: ChoiceSource) -> Self {
        Self(Arc::new(Mutex::new(ChoiceState { source, lanes: Vec::new(), names: BTreeMap::new() })))
    }

    /// One of `n` possibilities, with equal probability; 0 without any.
    #[must_use]
    pub fn next(&self, lane: &str, n: u32) -> u32 {
        let lane = self.lane(lane);
        self.at(lane, |random| random.below(n.max(1)), n)
    }

    /// Usually 0, and once in `one_in` times one of the other `n` possibilities.
    #[must_use]
    pub fn rarely(&self, lane: &str, one_in: u32, n: u32) -> u32 {
        let lane = self.lane(lane);
        self.rarely_at(lane, one_in, n)
    }

    /// The tape's decision on something that no seed decides; 0 without a tape.
    pub(crate) fn given(&self, lane: &str) -> u32 {
        let lane = self.lane(lane);
        let is_tape = matches!(self.0.lock().source, ChoiceSource::Tape(_));
        if is_tape { self.at(lane, |_| 0, u32::MAX) } else { 0 }
    }

    pub(crate) fn rarely_at(&self, lane: LaneId, one_in: u32, n: u32) -> u32 {
        let draw = |random: &mut Random| match random.below(one_in.max(1)) {
            0 => random.below(n.max(1)) + 1,
            _ => 0,
        };
        self.at(lane, draw, n + 1)
    }

    pub(crate) fn lane(&self, name: &str) -> LaneId {
        let state = &mut *self.0.lock();
        if let Some(lane) = state.names.get(name) {
            return LaneId(*lane);
        }
        let (random, given) = match &state.source {
            ChoiceSource::Seed(seed) => (Random::new(*seed, name), Vec::new()),
            ChoiceSource::Tape(tape) => (Random(0), tape.0.get(name).cloned().unwrap_or_default()),
        };
        state.lanes.push(Lane { random, given, taken: Vec::new() });
        state.names.insert(name.to_owned(), state.lanes.len() - 1);
        LaneId(state.lanes.len() - 1)
    }

    fn at(&self, LaneId(lane): LaneId, draw: impl FnOnce(&mut Random) -> u32, n: u32) -> u32 {
        let state = &mut *self.0.lock();
        let lane = &mut state.lanes[lane];
        let value = match state.source {
            ChoiceSource::Seed(_) => draw(&mut lane.random),
            // A tape that was shrunk, or written by hand, may ask for what is not there.
            ChoiceSource::Tape(_) => {
                lane.given.get(lane.taken.len()).copied().unwrap_or(0).min(n.saturating_sub(1))
            }
        };
        lane.taken.push(value);
        value
    }

    /// What has been decided so far.
    #[must_use]
    pub fn tape(&self) -> Tape {
        let state = self.0.lock();
        let taken = |(name, lane): (&String, &usize)| (name.clone(), state.lanes[*lane].taken.clone());
        let mut tape = Tape(state.names.iter().map(taken).collect());
        tape.tidy();
        tape
    }
}

impl fmt::Debug for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Choices")
    }
}

impl Tape {
    /// No decisions: a calm run.
    #[must_use]
    pub fn calm() -> Self {
        Self::default()
    }

    /// Drops decisions that stand for nothing.
    pub(super) fn tidy(&mut self) {
        for values in self.0.values_mut() {
            let used = values.iter().rposition(|value| *value != 0).map_or(0, |last| last + 1);
            values.truncate(used);
        }
        self.0.retain(|_, values| !values.is_empty());
    }

    /// The number of decisions that are not 0.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.0.values().flatten().filter(|value| **value != 0).count()
    }

    /// Reads what [`Tape`]'s `Display` wrote: a lane in each line, with a tab after its name; `3x0` stands for `0 0 0`.
    ///
    /// # Errors
    /// The number of the first invalid line.
    pub fn parse(text: &str) -> Result<Self, usize> {
        let mut tape = Self::default();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, values) = line.split_once('\t').ok_or(number + 1)?;
            let mut lane = Vec::new();
            for word in values.split_whitespace() {
                let (times, value) = word.split_once('x').unwrap_or(("1", word));
                let times: usize = times.parse().map_err(|_| number + 1)?;
                let value: u32 = value.parse().map_err(|_| number + 1)?;
                lane.extend(std::iter::repeat_n(value, times));
            }
            tape.0.insert(name.to_owned(), lane);
        }
        Ok(tape)
    }
}

impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, values) in &self.0 {
            write!(f, "{name}\t")?;
            for run in values.chunk_by(|left, right| left == right) {
                match run.len() {
                    1 => write!(f, "{} ", run[0])?,
                    times => write!(f, "{times}x{} ", run[0])?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// FNV-1a: the same everywhere and forever.
pub(super) fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// SplitMix64: small, fast, and the same everywhere and forever, so that a seed keeps its meaning.
struct Random(u64);

impl Random {
    fn new(seed: u64, name: &str) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ fnv(name));
        random.draw();
        random
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u32) -> u32 {
        // The upper half, scaled: no division, and no bias that matters for numbers this small.
        u32::try_from(((self.draw() >> 32) * u64::from(n)) >> 32).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn draw(choices: &Choices) -> Vec<u32> {
        (0..40).map(|n| choices.next(if n % 3 == 0 { "a" } else { "b" }, 7)).collect()
    }

    #[test]
    fn a_recording_is_what_a_replay_does() {
        for seed in 0..50 {
            let first = Choices::seeded(seed);
            let drawn = draw(&first);
            assert_eq!(draw(&Choices::seeded(seed)), drawn);
            let tape = Tape::parse(&first.tape().to_string()).expect("it was just written");
            assert_eq!(tape, first.tape());
            let replayed = Choices::replayed(tape);
            assert_eq!(draw(&replayed), drawn);
            assert_eq!(replayed.tape(), first.tape());
        }
    }

    #[test]
    fn lanes_do_not_disturb_each_other() {
        let (alone, both) = (Choices::seeded(1), Choices::seeded(1));
        let without: Vec<u32> = (0..20).map(|_| alone.next("a", 100)).collect();
        let with: Vec<u32> = (0..20)
            .map(|_| {
                let _ = both.next("b", 100);
                both.next("a", 100)
            })
            .collect();
        assert_eq!(without, with);
    }

    #[test]
    fn a_seed_keeps_its_meaning() {
        let choices = Choices::seeded(42);
        let drawn: Vec<u32> = (0..6).map(|_| choices.next("request", 1000)).collect();
        assert_eq!(
            drawn,
            [780, 711, 894, 549, 18, 483],
            "a change here makes every seed in every bug report worthless"
        );
    }

    #[test]
    fn what_is_rare_is_rare_and_everything_is_possible() {
        let choices = Choices::seeded(3);
        let mut seen = [0; 5];
        for _ in 0..8000 {
            seen[usize::try_from(choices.rarely("a", 8, 4)).expect("small")] += 1;
        }
        assert!((6700..7300).contains(&seen[0]), "{seen:?}");
        assert!(seen[1..].iter().all(|times| (180..330).contains(times)), "{seen:?}");
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn text_and_tape_are_the_same(lanes in proptest::collection::btree_map("[a-z ]{1,9}", proptest::collection::vec(0u32..4, 0..30), 0..6)) {
            let mut tape = Tape(lanes);
            tape.tidy();
            prop_assert_eq!(Tape::parse(&tape.to_string()), Ok(tape));
        }
    }
}
