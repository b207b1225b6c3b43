//! The configuration of proptest.

use proptest::test_runner::{Config, RngSeed};
use test_cluster::seed_of_the_day;

/// With other cases each day. The output of a failing test contains the seed, which gives the same cases everywhere:
/// `TEST_SEED=20260131 cargo test …`. Failing cases are also kept in `proptest-regressions` of the crate, to be
/// committed with the fix.
pub(crate) fn daily() -> Config {
    Config { rng_seed: RngSeed::Fixed(seed_of_the_day()), ..Config::default() }
}

/// So many cases where they are quick or rare. `PROPERTY_TIMES` multiplies them, for nightly.
pub(crate) fn many(cases: u32) -> u32 {
    let times = std::env::var("PROPERTY_TIMES").map_or(1, |times| times.parse().expect("a number"));
    cases * times
}

#[cfg(test)]
mod tests {
    use proptest::{
        strategy::{Strategy, ValueTree},
        test_runner::TestRunner,
    };

    use super::*;

    fn drawn(config: Config) -> u64 {
        let tree =
            proptest::num::u64::ANY.new_tree(&mut TestRunner::new(config)).expect("a number can be drawn");
        tree.current()
    }

    #[test]
    fn the_cases_of_a_day_are_those_of_its_seed() {
        assert_eq!(drawn(daily()), drawn(daily()), "the same all day");
        let of = |seed| Config { rng_seed: RngSeed::Fixed(seed), ..daily() };
        assert_eq!(drawn(of(seed_of_the_day())), drawn(daily()), "and with its seed on any day");
        assert_ne!(drawn(of(seed_of_the_day() + 1)), drawn(daily()), "others on the next");
    }
}
