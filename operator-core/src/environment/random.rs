//! Randomness, injected.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Spreads delays: many clients that failed at once don't return at once.
#[derive(Clone)]
pub struct Jitter(Arc<Mutex<StdRng>>);

impl Jitter {
    /// Unpredictable randomness, for production.
    #[must_use]
    pub fn from_entropy() -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(rand::random()))))
    }

    /// Randomness that repeats itself, for tests.
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

    /// A unique name: a random UUID.
    #[must_use]
    pub fn uuid(&self) -> String {
        let number: u128 = self.0.lock().random();
        // Version 4 and variant 1, as RFC 9562 has them.
        let number = number & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
        let digits = format!("{number:032x}");
        let (a, b, c, d, e) = (&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]);
        format!("{a}-{b}-{c}-{d}-{e}")
    }
}

debug_of!(Jitter: "Jitter");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_one_and_another_each_time() {
        let jitter = Jitter::seeded(1);
        let (one, two) = (jitter.uuid(), jitter.uuid());
        assert_ne!(one, two);
        for uuid in [one, two] {
            let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{uuid}");
            assert!(uuid[14..15] == *"4" && "89ab".contains(&uuid[19..20]), "{uuid}");
        }
        assert_eq!(Jitter::seeded(7).uuid(), Jitter::seeded(7).uuid());
    }
}
