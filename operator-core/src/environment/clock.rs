//! Two kinds of time: [`Now`] for decisions, [`WallClock`] for what people read.

use std::{
    fmt,
    ops::{Add, Sub},
    time::Duration,
};

use jiff::Timestamp;
use tokio::time::Instant;

/// A moment, as time since the operator's start. Decisions get it as an argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Now(Duration);

impl Now {
    /// The operator's start.
    pub const START: Self = Self(Duration::ZERO);

    /// The moment that lies `since_start` after the operator's start.
    #[must_use]
    pub const fn at(since_start: Duration) -> Self {
        Self(since_start)
    }

    /// Time since the operator's start.
    #[must_use]
    pub const fn since_start(self) -> Duration {
        self.0
    }

    /// Time from `earlier` to this moment; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Now {
    type Output = Self;

    /// Saturates: a delay beyond all time means "never", not a panic.
    fn add(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(delay))
    }
}

impl Sub for Now {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

/// Follows tokio's clock, which a test can pause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

/// Sleeps longer than this are cut into pieces: tokio's timers don't reach further than about two years.
const LONGEST_SLEEP: Duration = Duration::from_secs(60 * 60 * 24 * 180);

impl Clock {
    /// Starts counting.
    #[must_use]
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Time since [`Clock::start`].
    #[must_use]
    pub(crate) fn now(&self) -> Now {
        Now(self.start.elapsed())
    }

    /// Sleeps until `deadline`; forever without one. A deadline in the past is due at once. One that is months away may
    /// wake early, once in half a year, so callers check the clock again.
    pub(crate) async fn sleep_until(&self, deadline: Option<Now>) {
        match deadline {
            Some(deadline) => tokio::time::sleep(deadline.since(self.now()).min(LONGEST_SLEEP)).await,
            None => std::future::pending().await,
        }
    }
}

/// The time of day, for what people and other programs read: transition times of conditions, Events, leases.
pub trait WallClock: fmt::Debug + Send + Sync {
    /// The current time of day.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemClock;

impl WallClock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
