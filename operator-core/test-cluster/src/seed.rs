//! The seed of randomized tests.

use jiff::Timestamp;

/// Sets another seed than that of the day, to examine a failure of another day.
const VARIABLE: &str = "TEST_SEED";

/// A number for randomized tests: a different one each day, so that they don't repeat themselves, and the same one all
/// day, so that a failure can be examined. It is the date in UTC, as 20260131; the variable `TEST_SEED` overrides it.
///
/// It is printed on standard error, which is kept if a test fails: that may be all that is left of a run elsewhere.
///
/// # Panics
/// If `TEST_SEED` is not a number.
#[must_use]
#[expect(clippy::print_stderr, reason = "a seed that nobody knows repeats nothing")]
pub fn seed_of_the_day() -> u64 {
    let seed = match std::env::var(VARIABLE) {
        Ok(text) => chosen(&text),
        Err(_) => of(today()),
    };
    eprintln!("{VARIABLE}={seed}");
    seed
}

/// The configuration for proptest of this crate's properties: other cases each day, and the same ones with the same
/// seed.
#[cfg(test)]
pub(crate) fn daily() -> proptest::test_runner::Config {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(seed_of_the_day());
    proptest::test_runner::Config { rng_seed, ..proptest::test_runner::Config::default() }
}

fn chosen(text: &str) -> u64 {
    text.trim().parse().unwrap_or_else(|_| panic!("{VARIABLE}={text:?} is not a number"))
}

#[expect(clippy::disallowed_methods, reason = "the date is what this is about, and no test's clock has it")]
fn today() -> Timestamp {
    Timestamp::now()
}

/// The digits of the date.
fn of(time: Timestamp) -> u64 {
    let text = time.to_string();
    let date = text.split('T').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit);
    date.fold(0, |seed, digit| seed * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_the_date_unless_another_one_is_asked_for() {
        let time = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert_eq!(of(time("2026-01-31T00:00:00Z")), 20_260_131);
        assert_eq!(of(time("2026-01-31T23:59:59.999Z")), 20_260_131, "all day");
        assert_eq!(of(time("2026-02-01T00:00:00Z")), 20_260_201, "another one the day after");
        assert_eq!(chosen("777000"), 777_000);
    }
}
