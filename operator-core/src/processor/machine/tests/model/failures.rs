//! The consequences of a failure.

use super::*;

impl Oracle {
    pub(super) fn follow_failure(
        &mut self,
        key: &ObjectKey,
        (kind, again): (FailureKind, Option<Duration>),
        nothing_owed: bool,
        patience: Duration,
        now: Now,
    ) {
        let delays = self.settings.delays;
        let name = self.names.get_mut(key).unwrap();
        name.failed = kind != FailureKind::Permanent;
        name.exhausted = kind == FailureKind::Permanent;
        let mut none = Retries::default();
        let taken = match kind {
            FailureKind::Permanent => &mut none,
            FailureKind::Retryable => name.retry.get_or_insert_default(),
            FailureKind::Server | FailureKind::Outside => name.trouble.get_or_insert_default(),
        };
        if !nothing_owed && !name.hurried {
            name.hurried = true;
            return;
        }
        name.hurried = false;
        let rest = taken.deadline.map_or(Duration::ZERO, |deadline| deadline.since(now));
        // Beyond the last one they grow by half.
        let grown = |taken| {
            let last = delays.last().copied().unwrap_or(2000);
            (delays.len()..=taken).fold(last, |delay, _| (delay * 3 / 2).min(300_000))
        };
        let next = match kind {
            FailureKind::Permanent => None,
            FailureKind::Retryable => delays.get(taken.taken).copied(),
            FailureKind::Server | FailureKind::Outside => {
                Some(delays.get(taken.taken).copied().unwrap_or_else(|| grown(taken.taken)))
            }
        };
        let delay = if rest > millis(5000) {
            Some(rest)
        } else {
            next.map(|delay| {
                taken.taken += 1;
                taken.deadline = Some(now + millis(delay));
                millis(delay)
            })
        };
        if let Some(delay) = delay {
            let after = delay.max(patience);
            let attempt = (kind == FailureKind::Retryable).then_some(taken.taken as u32);
            name.timer = Some((now + after, Cause::Retry));
            name.brake = if nothing_owed { Brake::Off } else { Brake::Retry };
            self.expected_retries.push(Effect::RetryScheduled { key: key.clone(), attempt, after });
            return;
        }
        name.exhausted = true;
        if !nothing_owed {
            let taken = name.retry.map_or(0, |retry| retry.taken);
            let last =
                taken.checked_sub(1).map_or(delays.first().copied().unwrap_or(2000), |last| delays[last]);
            name.brake = Brake::Until(now + millis(last));
            return;
        }
        let max_interval =
            self.settings.max_interval.map(|interval| (now + millis(interval), Cause::MaxInterval));
        let reschedule = again.or(name.reschedule).map(|delay| (now + delay, Cause::Reschedule));
        name.timer = match (reschedule, max_interval) {
            (Some(reschedule), Some(longest)) if reschedule.0 >= longest.0 => Some(longest),
            (reschedule, max_interval) => reschedule.or(max_interval),
        };
        if kind == FailureKind::Retryable {
            self.expected_retries.push(Effect::RetriesExhausted(key.clone()));
        }
    }
}
