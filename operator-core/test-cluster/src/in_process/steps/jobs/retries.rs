//! Which Pods of a Job come next, and when.

use std::time::Duration;

use serde_json::Value;

use super::{
    super::{
        times::{left, parse},
        view::{items, number, text},
    },
    Consequence, FAILURES, Found, IGNORED, Job, consequence, has_failed, indexes, is_active, phase,
    waits_for_end,
};

impl<'s> Job<'s> {
    /// How long it takes until a Pod is made in place of a failed one: 10 s after the first, then twice as long.
    pub(super) fn backoff(&self, status: &Value) -> Option<Duration> {
        let last = self.pods.iter().filter(|(_, pod)| phase(pod) == "Failed").filter_map(finished).max()?;
        self.wait_after(last, number(&status["failed"]))
    }

    fn wait_after(&self, last: jiff::Timestamp, failures: i64) -> Option<Duration> {
        if failures == 0 {
            return None;
        }
        let seconds = (10_i64 << (failures - 1).clamp(0, 10)).min(600);
        Some(left(self.view.now, last, seconds)).filter(|left| !left.is_zero())
    }

    /// How often each index may fail, if each counts for itself.
    pub(super) fn limit_per_index(&self) -> Option<i64> {
        self.job["spec"]["backoffLimitPerIndex"].as_i64().filter(|_| self.is_indexed())
    }

    /// The numbers of the next Pods, if they have any.
    pub(super) fn indexes(&self, status: &Value, missing: usize) -> Vec<Option<i64>> {
        match self.is_indexed() {
            true => self.free_indexes(status).take(missing).map(Some).collect(),
            false => vec![None; missing],
        }
    }

    /// The indexes for which a Pod is due now, and how long the next one of the others waits.
    pub(super) fn indexes_by_themselves(
        &self,
        status: &Value,
        missing: usize,
    ) -> (Vec<i64>, Option<Duration>) {
        let mut now = Vec::new();
        let mut later: Option<Duration> = None;
        for index in self.free_indexes(status) {
            match self.wait_of(index) {
                None => now.push(index),
                Some(wait) => later = Some(later.map_or(wait, |known| known.min(wait))),
            }
        }
        now.truncate(missing);
        (now, later)
    }

    fn wait_of(&self, index: i64) -> Option<Duration> {
        let failed = self.last_failed(index)?;
        let failures = failures_before(failed.1, FAILURES) + failures_before(failed.1, IGNORED) + 1;
        self.wait_after(finished(&failed)?, failures)
    }

    /// The last Pod of an index that has failed.
    fn last_failed(&self, index: i64) -> Option<Found<'s>> {
        let spec = &self.job["spec"];
        let failed =
            self.pods.iter().filter(|(_, pod)| has_failed(spec, pod) && indexes::of(pod) == Some(index));
        failed.copied().max_by_key(|found| {
            (failures_before(found.1, FAILURES) + failures_before(found.1, IGNORED), finished(found))
        })
    }

    fn free_indexes(&self, status: &Value) -> impl Iterator<Item = i64> + use<'_, 's> {
        let (done, failed) = (self.done_indexes(status), self.failed_indexes(status));
        let waits = waits_for_end(&self.job["spec"]);
        let is_taken = move |index: i64| {
            let has = |(_, pod): &Found<'_>| {
                let counts = is_active(pod) || (waits && Self::is_ending(pod));
                counts && indexes::of(pod) == Some(index)
            };
            done.0.contains(&index) || failed.0.contains(&index) || self.pods.iter().any(has)
        };
        (0..number(&self.job["spec"]["completions"])).filter(move |index| !is_taken(*index))
    }

    /// Says in a new Pod how often its index has failed before.
    pub(super) fn count_failures(&self, pod: &mut Value, index: i64) {
        if self.limit_per_index().is_none() {
            return;
        }
        let (mut failures, mut ignored) = (0, 0);
        if let Some((_, before)) = self.last_failed(index) {
            failures = failures_before(before, FAILURES);
            ignored = failures_before(before, IGNORED);
            match consequence(&self.job["spec"], before) {
                Consequence::Ignore => ignored += 1,
                _ => failures += 1,
            }
        }
        pod["metadata"]["annotations"][FAILURES] = failures.to_string().into();
        if ignored > 0 {
            pod["metadata"]["annotations"][IGNORED] = ignored.to_string().into();
        }
    }
}

/// How often an index has failed before a Pod.
pub(super) fn failures_before(pod: &Value, which: &str) -> i64 {
    text(&pod["metadata"]["annotations"][which]).parse().unwrap_or_default()
}

/// When a Pod has ended.
fn finished((_, pod): &Found<'_>) -> Option<jiff::Timestamp> {
    let ends = items(&pod["status"]["containerStatuses"]).iter();
    ends.filter_map(|status| parse(&status["state"]["terminated"]["finishedAt"])).max()
}
