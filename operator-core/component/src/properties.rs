//! Random tests with other cases each day.

use operator_core::testing::seed_of_the_day;
use proptest::test_runner::{Config, RngSeed};

/// Other cases each day. A failing one says the seed of the day, which gives the same everywhere.
pub(crate) fn daily() -> Config {
    Config { rng_seed: RngSeed::Fixed(seed_of_the_day()), ..Config::default() }
}
