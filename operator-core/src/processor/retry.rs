//! When failed runs are retried.

use std::{fmt, time::Duration};

use super::Error;
use crate::environment::Now;

/// Information about the retry that a reconciler is part of; absent in a first run.
///
/// JOSDK: `RetryInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetryInfo {
    /// The number of retries that have been scheduled since the last success, including this one. Zero if an event
    /// during the first, failed run caused this one before any delay.
    pub attempt: u32,
    /// Whether no retry follows if this run also fails.
    pub last_attempt: bool,
}

/// The state of a primary between its first failure and its next success.
///
/// JOSDK: `RetryExecution`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryState {
    /// The number of delays that have been returned.
    pub attempt: u32,
    /// The last returned delay; before the first one, the initial delay.
    pub interval: Duration,
    /// When it was returned.
    pub last_call: Option<Now>,
}

impl RetryState {
    /// A state before its first delay, which will be `interval`.
    #[must_use]
    pub const fn new(interval: Duration) -> Self {
        Self { attempt: 0, interval, last_call: None }
    }

    /// How much of the current delay is left; `None` if it is over, or if there was none yet.
    #[must_use]
    pub fn remaining(&self, now: Now) -> Option<Duration> {
        let rest = (self.last_call? + self.interval).since(now);
        (!rest.is_zero()).then_some(rest)
    }
}

/// A retry policy. One value serves all primaries of a controller; the state of each primary is in [`RetryState`].
/// JOSDK: `Retry`.
///
/// It is called by the task that decides about all primaries of a controller: a panic stops the controller.
pub trait Retry: fmt::Debug + Send + Sync {
    /// The state of a primary whose run has failed for the first time since its last success.
    fn begin(&self) -> RetryState;

    /// Takes one attempt and returns the delay after which it is due; `None` if there are no more.
    fn next_delay(&self, state: &mut RetryState, now: Now) -> Option<Duration>;

    /// Whether a run in this state is the last one that a failure causes.
    fn is_last(&self, state: &RetryState) -> bool;

    /// The delay after a failure of the API server (no answer, 500 and above, 429, 403, a kind that isn't served), or
    /// after one that something outside decides (an object in the way, a write refused with 400 or 422, a missing
    /// namespace). Such a failure uses up no attempt and is retried without end: `state` is separate from that of the
    /// attempts, and is reset after each success.
    ///
    /// By default, the delays are those of [`next_delay`](Self::next_delay); after the last one they grow by half each
    /// time. The library limits each of them to five minutes, and shortens it randomly by up to a tenth.
    fn server_delay(&self, state: &mut RetryState, now: Now) -> Duration {
        let last = state.interval;
        let grown = || times(last, DEFAULT_MULTIPLIER).min(LONGEST_DELAY).max(last);
        let delay = self.next_delay(state, now).unwrap_or_else(grown);
        (state.interval, state.last_call) = (delay, Some(now));
        delay
    }
}

/// Delays that grow by a factor up to a cap. By default they never end: they are 2, 2, 3, 4.5, 6.75 … seconds, grow to four
/// and a half minutes, and stay there until a run succeeds or an event causes one. JOSDK: `GenericRetry`, whose default of
/// five attempts is [`josdk`](Self::josdk).
///
/// The first two delays equal the initial interval; each further one is the previous one times the multiplier. Delays
/// are in whole milliseconds, rounded down. The library lengthens each one randomly by up to a tenth, so runs that
/// failed together don't stay together; by default, then, none is longer than five minutes.
///
/// ```
/// use std::time::Duration;
/// use operator_core::GenericRetry;
///
/// let patient = GenericRetry::exponential(Duration::from_secs(1), 2.0, 10)?.with_max_interval(Duration::from_secs(60))?;
/// let limited = GenericRetry::default().with_max_attempts(5);
/// assert_eq!(limited, GenericRetry::josdk());
/// # Ok::<(), operator_core::processor::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GenericRetry {
    max_attempts: Option<u32>,
    initial_interval: Duration,
    multiplier: f64,
    cap: Cap,
}

/// The limit of the delays.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cap {
    /// Follows from the other settings: initial interval times the multiplier to the power of the attempts; without a
    /// limit of these, [`LONGEST_INTERVAL`].
    Derived,
    /// This delay.
    At(Duration),
    /// There is no limit.
    None,
}

/// The longest delay after a failure that uses up no attempt.
pub(super) const LONGEST_DELAY: Duration = Duration::from_secs(5 * 60);

/// To what the delays grow that have no limit. A tenth may be added.
const LONGEST_INTERVAL: Duration = Duration::from_secs(270);

const JOSDK_ATTEMPTS: u32 = 5;
const DEFAULT_INTERVAL: Duration = Duration::from_secs(2);
const DEFAULT_MULTIPLIER: f64 = 1.5;

impl Default for GenericRetry {
    fn default() -> Self {
        Self {
            max_attempts: None,
            initial_interval: DEFAULT_INTERVAL,
            multiplier: DEFAULT_MULTIPLIER,
            cap: Cap::Derived,
        }
    }
}

impl GenericRetry {
    /// `max_attempts` retries, of which the first two wait `initial_interval` and each further one `multiplier` times
    /// as long as the one before.
    ///
    /// # Errors
    /// If the interval is below a millisecond, or the multiplier below one.
    pub fn exponential(
        initial_interval: Duration,
        multiplier: f64,
        max_attempts: u32,
    ) -> Result<Self, Error> {
        Ok(Self::default()
            .with_initial_interval(initial_interval)?
            .with_multiplier(multiplier)?
            .with_max_attempts(max_attempts))
    }

    /// `max_attempts` retries, each after `interval`.
    ///
    /// # Errors
    /// If the interval is below a millisecond.
    pub fn linear(interval: Duration, max_attempts: u32) -> Result<Self, Error> {
        Self::exponential(interval, 1.0, max_attempts)
    }

    /// The default of the Java Operator SDK: five retries, after 2, 2, 3, 4.5 and 6.75 seconds. Then the next event, the
    /// last reschedule or the maximum reconciliation interval causes the next run.
    #[must_use]
    pub fn josdk() -> Self {
        Self::default().with_max_attempts(JOSDK_ATTEMPTS)
    }

    /// No retry: after a failure the next event, the last reschedule or the maximum reconciliation interval causes the
    /// next run. Failures of the API server, and those that something outside decides, are still retried.
    #[must_use]
    pub fn no_retry() -> Self {
        Self::default().with_max_attempts(0)
    }

    /// Ten retries, one every ten seconds.
    #[must_use]
    pub fn every_10_seconds_10_times() -> Self {
        Self {
            max_attempts: Some(10),
            initial_interval: Duration::from_secs(10),
            multiplier: 1.0,
            cap: Cap::Derived,
        }
    }

    /// The same with this many retries; zero for none.
    #[must_use]
    pub fn with_max_attempts(mut self, max_attempts: u32) -> Self {
        self.max_attempts = Some(max_attempts);
        self
    }

    /// The same without a limit. The delays still stop growing, at four and a half minutes, unless the first one is
    /// longer.
    #[must_use]
    pub fn without_max_attempts(mut self) -> Self {
        self.max_attempts = None;
        self
    }

    /// The same with another first delay.
    ///
    /// # Errors
    /// If the interval is below a millisecond.
    pub fn with_initial_interval(mut self, interval: Duration) -> Result<Self, Error> {
        self.initial_interval = whole_milliseconds(interval)?;
        Ok(self)
    }

    /// The same with another factor between two delays.
    ///
    /// # Errors
    /// If the multiplier is below one, infinite or not a number.
    pub fn with_multiplier(mut self, multiplier: f64) -> Result<Self, Error> {
        if !multiplier.is_finite() || multiplier < 1.0 {
            return Err(Error::RetryMultiplier(multiplier));
        }
        self.multiplier = multiplier;
        Ok(self)
    }

    /// The same with a maximum delay. The first two delays are the initial interval even if that is longer.
    ///
    /// # Errors
    /// If the interval is below a millisecond.
    pub fn with_max_interval(mut self, interval: Duration) -> Result<Self, Error> {
        self.cap = Cap::At(whole_milliseconds(interval)?);
        Ok(self)
    }

    /// The same with delays that grow without bound.
    #[must_use]
    pub fn without_max_interval(mut self) -> Self {
        self.cap = Cap::None;
        self
    }

    /// The maximum number of retries; `None` for no limit.
    #[must_use]
    pub fn max_attempts(&self) -> Option<u32> {
        self.max_attempts
    }

    /// The maximum delay; `None` if delays grow without bound.
    #[must_use]
    pub fn max_interval(&self) -> Option<Duration> {
        match self.cap {
            Cap::At(interval) => Some(interval),
            Cap::None => None,
            Cap::Derived => Some(match self.max_attempts {
                Some(steps) => times(self.initial_interval, self.multiplier.powf(f64::from(steps))),
                None => LONGEST_INTERVAL.max(self.initial_interval),
            }),
        }
    }
}

impl Retry for GenericRetry {
    fn begin(&self) -> RetryState {
        RetryState::new(self.initial_interval)
    }

    fn next_delay(&self, state: &mut RetryState, now: Now) -> Option<Duration> {
        if self.is_last(state) {
            return None;
        }
        if state.attempt > 1 {
            let grown = times(state.interval, self.multiplier);
            state.interval = self.max_interval().map_or(grown, |longest| grown.min(longest));
        }
        state.attempt = state.attempt.saturating_add(1);
        state.last_call = Some(now);
        Some(state.interval)
    }

    fn is_last(&self, state: &RetryState) -> bool {
        self.max_attempts.is_some_and(|max| state.attempt >= max)
    }
}

fn whole_milliseconds(interval: Duration) -> Result<Duration, Error> {
    match u64::try_from(interval.as_millis()) {
        Ok(0) => Err(Error::RetryInterval(interval)),
        Ok(millis) => Ok(Duration::from_millis(millis)),
        Err(_) => Ok(Duration::from_millis(u64::MAX)),
    }
}

/// Whole milliseconds; saturates, as the conversion of a float does.
fn times(interval: Duration, factor: f64) -> Duration {
    let millis = interval.as_millis() as f64 * factor;
    Duration::from_millis(millis as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn delays(retry: GenericRetry, count: usize) -> Vec<Option<u64>> {
        let mut state = retry.begin();
        (0..count)
            .map(|_| retry.next_delay(&mut state, Now::START).map(|delay| delay.as_millis() as u64))
            .collect()
    }

    #[test]
    fn that_of_josdk_has_five_attempts_of_which_the_first_two_wait_equally_long() {
        let expected = [Some(2000), Some(2000), Some(3000), Some(4500), Some(6750), None, None];
        assert_eq!(delays(GenericRetry::josdk(), 7), expected);
        assert_eq!(GenericRetry::josdk().max_interval(), Some(Duration::from_millis(15187)));
        assert_eq!(GenericRetry::josdk(), GenericRetry::default().with_max_attempts(5));
    }

    #[test]
    fn by_default_delays_grow_to_four_and_a_half_minutes_and_stay_there() {
        let given: Vec<u64> = delays(GenericRetry::default(), 1_000).into_iter().flatten().collect();
        assert_eq!(given[..7], [2000, 2000, 3000, 4500, 6750, 10125, 15187]);
        assert_eq!((given[12], given[13], given[999]), (172_984, 259_476, 270_000));
        assert_eq!(given.len(), 1_000);
        let longer = GenericRetry::default().with_initial_interval(Duration::from_secs(600)).unwrap();
        assert_eq!(delays(longer, 4), [Some(600_000); 4]);
    }

    #[test]
    fn without_max_interval_delays_grow_until_time_itself_ends() {
        let retry = GenericRetry::default().without_max_interval();
        let delays = delays(retry, 2_000);
        assert_eq!(delays[7], Some(22780), "the fraction of a millisecond is cut off");
        assert_eq!(delays[1_999], Some(u64::MAX));
    }

    #[test]
    fn a_cap_below_the_initial_interval_counts_from_the_third_delay() {
        let retry = GenericRetry::default().with_max_interval(Duration::from_secs(1)).unwrap();
        assert_eq!(delays(retry, 4), [2000, 2000, 1000, 1000].map(Some));
    }

    #[test]
    fn presets_are_what_their_names_say() {
        assert_eq!(delays(GenericRetry::no_retry(), 1), [None]);
        let linear = GenericRetry::linear(Duration::from_secs(3), 2).unwrap();
        assert_eq!(delays(linear, 3), [Some(3000), Some(3000), None]);
        let every = delays(GenericRetry::every_10_seconds_10_times(), 11);
        assert_eq!((&every[..10], every[10]), (&[Some(10_000); 10][..], None));
    }

    #[test]
    fn delays_after_failures_of_the_server_grow_as_the_policy_s_do_and_go_on_after_its_last() {
        let delays = |retry: GenericRetry, count: usize| -> Vec<u64> {
            let mut state = retry.begin();
            (0..count).map(|_| retry.server_delay(&mut state, Now::START).as_millis() as u64).collect()
        };
        assert_eq!(delays(GenericRetry::josdk(), 7), [2000, 2000, 3000, 4500, 6750, 10125, 15187]);
        assert_eq!(delays(GenericRetry::josdk(), 100)[99], 300_000);
        assert_eq!(delays(GenericRetry::default(), 100)[99], 270_000);
        assert_eq!(delays(GenericRetry::no_retry(), 3), [3000, 4500, 6750]);
        let linear = GenericRetry::linear(Duration::from_secs(3), 2).unwrap();
        assert_eq!(delays(linear, 4), [3000, 3000, 4500, 6750]);
    }

    #[test]
    fn the_last_attempt_is_told_by_the_count() {
        let retry = GenericRetry::linear(Duration::from_secs(1), 2).unwrap();
        let mut state = retry.begin();
        assert!(!retry.is_last(&state));
        retry.next_delay(&mut state, Now::START);
        assert!(!retry.is_last(&state));
        retry.next_delay(&mut state, Now::START);
        assert!(retry.is_last(&state));
        assert!(GenericRetry::no_retry().is_last(&GenericRetry::no_retry().begin()));
    }

    #[test]
    fn what_remains_counts_from_the_last_delay_handed_out() {
        let retry = GenericRetry::default();
        let mut state = retry.begin();
        let second = |n| Now::at(Duration::from_secs(n));
        assert_eq!(state.remaining(second(0)), None);
        retry.next_delay(&mut state, second(10));
        assert_eq!(state.remaining(second(11)), Some(Duration::from_secs(1)));
        assert_eq!(state.remaining(second(12)), None);
        assert_eq!(state.remaining(second(99)), None);
    }

    #[test]
    fn settings_that_cannot_work_are_refused_with_a_reason() {
        let second = Duration::from_secs(1);
        let error = GenericRetry::linear(Duration::ZERO, 3).unwrap_err();
        assert_eq!(error.to_string(), "the interval between retries is 0ns; it must be at least 1ms");
        for multiplier in [0.5, -1.0, f64::NAN, f64::INFINITY] {
            let error = GenericRetry::exponential(second, multiplier, 3).unwrap_err();
            assert!(matches!(error, Error::RetryMultiplier(_)), "{multiplier}");
        }
        assert!(GenericRetry::default().with_max_interval(Duration::from_micros(1)).is_err());
        assert!(GenericRetry::linear(Duration::MAX, 3).is_ok());
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn settings_of_any_kind_are_refused_or_lead_to_delays(
            initial: Duration,
            multiplier in prop_oneof![any::<f64>(), 1.0..1e308],
            attempts: Option<u32>,
            longest: Option<Duration>,
        ) {
            let made = GenericRetry::exponential(initial, multiplier, attempts.unwrap_or(0)).and_then(|retry| {
                let retry = if attempts.is_none() { retry.without_max_attempts() } else { retry };
                longest.map_or(Ok(retry), |longest| retry.with_max_interval(longest))
            });
            let sound = multiplier.is_finite() && multiplier >= 1.0 && initial.as_millis() > 0;
            let sound = sound && longest.is_none_or(|longest| longest.as_millis() > 0);
            prop_assert_eq!(made.is_ok(), sound);
            let Ok(retry) = made else { return Ok(()) };
            let delays = delays(retry, 8);
            let expected = attempts.map_or(8, |attempts| attempts.min(8) as usize);
            prop_assert_eq!(delays.iter().flatten().count(), expected);
            let given: Vec<u64> = delays.into_iter().flatten().collect();
            prop_assert!(given.iter().all(|delay| *delay > 0), "{given:?}");
            let grow = |delays: &[u64]| delays.windows(2).all(|pair| pair[0] <= pair[1]);
            // The longest delay may be shorter than the first two.
            prop_assert!(grow(given.get(2..).unwrap_or_default()), "{given:?}");
        }
    }
}
