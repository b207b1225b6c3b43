//! Chance, injected.

use std::{fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Spreads delays, so that many clients that failed at once don't come back at once.
#[derive(Clone)]
pub struct Jitter(Arc<Mutex<StdRng>>);

impl Jitter {
    /// Unpredictable chance, for production.
    #[must_use]
    pub fn from_entropy() -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(rand::random()))))
    }

    /// Chance that repeats itself, for tests.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    /// A delay between `base` and `base * (1 + factor)`.
    #[must_use]
    pub fn spread(&self, base: Duration, factor: f64) -> Duration {
        let share: f64 = self.0.lock().random_range(0.0..1.0);
        base.saturating_add(base.mul_f64(share * factor.max(0.0)))
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jitter")
    }
}
