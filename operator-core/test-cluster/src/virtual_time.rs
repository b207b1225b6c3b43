//! Whether a test runs in virtual time.

use std::time::Duration;

/// Longer than the resolution of any machine's clock, and too short to be noticed.
const A_MOMENT: Duration = Duration::from_micros(20);

/// Whether tokio's clock is paused in the current runtime: real time passes, and tokio's doesn't.
#[expect(clippy::disallowed_methods, reason = "the two kinds of time are compared")]
pub(crate) fn is_virtual() -> bool {
    let (real, told) = (std::time::Instant::now(), tokio::time::Instant::now());
    while real.elapsed() < A_MOMENT {
        std::hint::spin_loop();
    }
    tokio::time::Instant::now() == told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_is_noticed() {
        assert!(is_virtual());
        tokio::time::resume();
        assert!(!is_virtual());
    }

    #[tokio::test]
    async fn real_time_is_noticed() {
        assert!(!is_virtual());
    }
}
