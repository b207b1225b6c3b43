//! The waits after failures. Pure.

use std::time::Duration;

use super::failure::Failure;

/// The first wait after a failure.
const FIRST_WAIT: Duration = Duration::from_millis(800);
/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The first wait for a type that the server doesn't know: its definition may be about to be installed.
const FIRST_WAIT_FOR_TYPE: Duration = Duration::from_millis(500);
/// The longest wait for an unknown type, in its first minute and after it.
const LONGEST_WAIT_FOR_TYPE: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(5)];
/// The number of attempts that make up about the first minute.
const ATTEMPTS_IN_FIRST_MINUTE: u32 = 30;
/// The longest wait that a server can request.
pub(crate) const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(300);

/// The wait after a number of failures or other disappointments in a row, counted from one.
pub(super) fn wait(times: u32) -> Duration {
    doubling(FIRST_WAIT, LONGEST_WAIT, times)
}

/// The wait after `failure`, the last of a number in a row: at least as long as the server requests.
pub(super) fn wait_after(failure: &Failure, failures: u32) -> Duration {
    let wait = match failure.status {
        Some(404) => {
            let longest = LONGEST_WAIT_FOR_TYPE[usize::from(failures > ATTEMPTS_IN_FIRST_MINUTE)];
            doubling(FIRST_WAIT_FOR_TYPE, longest, failures)
        }
        Some(_) | None => wait(failures),
    };
    match failure.retry_after {
        Some(asked) => wait.max(asked.min(LONGEST_RETRY_AFTER)),
        None => wait,
    }
}

/// Doubles with each failure, counted from one.
fn doubling(first: Duration, longest: Duration, times: u32) -> Duration {
    let factor = 1u32.checked_shl(times.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(failure: &Failure, times: impl IntoIterator<Item = u32>) -> Vec<u128> {
        times.into_iter().map(|failures| wait_after(failure, failures).as_millis()).collect()
    }

    #[test]
    fn waits_double_up_to_a_limit() {
        let failure = Failure::new("etcd is away");
        assert_eq!(waits(&failure, 1..=8), [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000],);
        assert_eq!(waits(&failure, [100, u32::MAX]), [30_000, 30_000]);
        let missing = Failure { status: Some(404), ..failure };
        assert_eq!(waits(&missing, [1, 2, 3, 30, 31]), [500, 1_000, 2_000, 2_000, 5_000]);
    }

    #[test]
    fn the_server_may_ask_for_a_longer_wait_within_reason_and_not_for_a_shorter_one() {
        let asking = |seconds| Failure {
            status: Some(429),
            retry_after: Some(Duration::from_secs(seconds)),
            ..Failure::new("slow down")
        };
        assert_eq!(waits(&asking(17), [1, 7]), [17_000, 30_000]);
        assert_eq!(waits(&asking(0), [1]), [800]);
        assert_eq!(waits(&asking(86_400), [1]), [300_000]);
    }
}
