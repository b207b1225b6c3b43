//! Whether time advances: a loop that takes no virtual time would otherwise never end.

use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// More polls than this at one moment of virtual time mean a loop.
pub(super) const MOST_POLLS: u32 = 100_000;

/// Counts what happens at one moment of virtual time.
#[derive(Debug, Default)]
pub(super) struct Progress {
    moment: Mutex<(Duration, u32)>,
    stuck: CancellationToken,
}

impl Progress {
    /// Something is polled now. Returns true once, when there have been too many.
    pub(super) fn polled(&self, now: Duration) -> bool {
        let mut moment = self.moment.lock();
        if moment.0 != now {
            *moment = (now, 0);
        }
        moment.1 += 1;
        let stuck = moment.1 > MOST_POLLS && !self.is_stuck();
        if stuck {
            self.stuck.cancel();
        }
        stuck
    }

    /// Whether time has stopped: then nothing more is done.
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck.is_cancelled()
    }

    /// Resolves when time has stopped.
    pub(super) async fn stuck(&self) {
        self.stuck.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_polls_at_one_moment_are_a_loop_and_the_same_number_at_two_is_none() {
        let progress = Progress::default();
        let polls =
            |at: u64, times: u32| (0..times).filter(|_| progress.polled(Duration::from_millis(at))).count();
        assert_eq!((polls(1, MOST_POLLS), polls(2, MOST_POLLS)), (0, 0));
        assert!(!progress.is_stuck());
        assert_eq!((polls(2, 1), polls(2, 5)), (1, 0), "it is said once");
        assert!(progress.is_stuck());
    }
}
