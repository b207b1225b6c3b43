//! When a Job has failed, and when it has succeeded.

use serde_json::Value;

use super::{
    super::{
        times::{left, parse},
        view::{items, number},
    },
    Consequence, Found, Indexes, Job, TRACKING, consequence, enough, finalizers, has_failed, indexes,
    is_active, is_deleting, is_over, phase,
};

/// A reason and its message.
type Why = (&'static str, String);

impl<'s> Job<'s> {
    pub(super) fn failure(&self, status: &Value) -> Option<Why> {
        let spec = &self.job["spec"];
        let by_policy =
            self.pods.iter().filter(|(_, pod)| has_failed(spec, pod)).find_map(|(_, pod)| match consequence(
                spec, pod,
            ) {
                Consequence::FailJob(message) => Some(message),
                _ => None,
            });
        if let Some(message) = by_policy {
            return Some(("PodFailurePolicy", message));
        }
        let limit = spec["backoffLimit"].as_i64().unwrap_or(6);
        let restarts = || {
            let pods = self.pods.iter().filter(|(_, pod)| matches!(phase(pod), "Running" | "Pending"));
            let statuses = pods.flat_map(|(_, pod)| items(&pod["status"]["containerStatuses"]));
            statuses.map(|status| number(&status["restartCount"])).sum::<i64>()
        };
        let restarts = if spec["template"]["spec"]["restartPolicy"] == "OnFailure" { restarts() } else { 0 };
        let by_restarts = if limit == 0 { restarts > 0 } else { restarts >= limit };
        if number(&status["failed"]) > limit || by_restarts {
            return Some(("BackoffLimitExceeded", "Job has reached the specified backoff limit".to_owned()));
        }
        let is_late = || {
            let seconds = spec["activeDeadlineSeconds"].as_i64()?;
            Some(left(self.view.now, parse(&status["startTime"])?, seconds).is_zero())
        };
        if is_late() == Some(true) {
            return Some(("DeadlineExceeded", "Job was active longer than specified deadline".to_owned()));
        }
        self.limit_per_index()?;
        let (failed, done) = (self.failed_indexes(status).len(), self.done_indexes(status).len());
        if spec["maxFailedIndexes"].as_i64().is_some_and(|most| failed > most) {
            let why = "Job has exceeded the specified maximal number of failed indexes";
            return Some(("MaxFailedIndexesExceeded", why.to_owned()));
        }
        let is_over = failed > 0 && failed + done >= number(&spec["completions"]);
        is_over.then(|| ("FailedIndexes", "Job has failed indexes".to_owned()))
    }

    pub(super) fn success(&self, status: &Value) -> Option<Why> {
        if self.is_indexed()
            && let Some(met) = enough(&self.job["spec"], &self.done_indexes(status))
        {
            return Some(("SuccessPolicy", met));
        }
        let (done, active) = (number(&status["succeeded"]), number(&status["active"]));
        let is_done = match self.job["spec"]["completions"].as_i64() {
            None => done > 0 && active == 0,
            Some(completions) => done >= completions && active == 0,
        };
        is_done.then(|| ("CompletionsReached", "Reached expected number of succeeded pods".to_owned()))
    }

    /// Whether a Pod has ended, or is about to, and was not counted yet.
    pub(super) fn is_new_end(&self, (_, pod): &Found<'s>) -> bool {
        let ends = is_over(pod) || has_failed(&self.job["spec"], pod);
        finalizers(pod).contains(&TRACKING) && ends && !self.is_kept(pod)
    }

    /// Whether the last failed Pod of an index stays as it is until there is one in its place, which then knows how often
    /// its index has failed.
    fn is_kept(&self, pod: &Value) -> bool {
        let Some(index) = indexes::of(pod).filter(|_| phase(pod) != "Succeeded") else { return false };
        let is_replaced =
            || self.pods.iter().any(|(_, other)| is_active(other) && indexes::of(other) == Some(index));
        self.limit_per_index().is_some() && !self.has_index_failed(pod) && !is_replaced()
    }

    /// Says which indexes have succeeded and failed.
    pub(super) fn count_indexes(&self, status: &mut Value) {
        if !self.is_indexed() {
            return;
        }
        let uncounted = || self.pods.iter().filter(|(_, pod)| finalizers(pod).contains(&TRACKING));
        let mut done = self.done_indexes(status);
        let succeeded = uncounted().filter(|(_, pod)| phase(pod) == "Succeeded");
        done.0.extend(succeeded.filter_map(|(_, pod)| indexes::of(pod)));
        if done.len() > 0 {
            status["completedIndexes"] = done.show().into();
            status["succeeded"] = done.len().into();
        }
        if self.limit_per_index().is_some() {
            let mut failed = self.failed_indexes(status);
            let of = uncounted().filter(|(_, pod)| self.has_index_failed(pod));
            failed.0.extend(of.filter_map(|(_, pod)| indexes::of(pod)));
            status["failedIndexes"] = failed.show().into();
        }
    }

    pub(super) fn done_indexes(&self, status: &Value) -> Indexes {
        self.read_indexes(&status["completedIndexes"])
    }

    pub(super) fn failed_indexes(&self, status: &Value) -> Indexes {
        self.read_indexes(&status["failedIndexes"])
    }

    fn read_indexes(&self, text: &Value) -> Indexes {
        let completions = number(&self.job["spec"]["completions"]);
        Indexes::read(text.as_str().unwrap_or_default(), completions)
    }

    /// Whether the failure of a Pod is the end of its index.
    fn has_index_failed(&self, pod: &Value) -> bool {
        let (spec, Some(limit)) = (&self.job["spec"], self.limit_per_index()) else { return false };
        if !has_failed(spec, pod) {
            return false;
        }
        match consequence(spec, pod) {
            Consequence::FailIndex => true,
            Consequence::Ignore => false,
            Consequence::Count | Consequence::FailJob(_) => {
                super::failures_before(pod, super::FAILURES) >= limit
            }
        }
    }

    /// Whether a Pod is to be deleted.
    pub(super) fn is_ending(pod: &Value) -> bool {
        is_deleting(pod) && !is_over(pod)
    }
}
