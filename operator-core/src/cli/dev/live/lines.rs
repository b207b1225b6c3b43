//! What the operator does, as lines.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{
    feed::{Feed, human},
    nodes::Nodes,
};
use crate::{
    cli::output::Mark,
    observe::{Observation, Observer, RunEnd, SourceHealth, WriteEffect},
    resource::ObjectKey,
};

/// Turns observations into lines, and remembers how the last run of each primary ended.
#[derive(Debug)]
pub(super) struct LineObserver {
    feed: Feed,
    runs: Mutex<BTreeMap<Id, LastRun>>,
    nodes: Mutex<Nodes>,
    /// Notified whenever something has happened.
    activity: Arc<Notify>,
}

/// A controller and one of its primaries.
type Id = (String, ObjectKey);

/// What is known of a primary's last run.
#[derive(Clone, Debug, Default)]
pub(super) struct LastRun {
    /// Why it runs; taken when it is printed, which happens with the run's first change.
    because: Option<String>,
    /// Why it failed.
    pub(super) failure: Option<String>,
    /// Whether a failure will be retried.
    pub(super) retrying: bool,
}

impl LineObserver {
    pub(super) fn new(feed: Feed, activity: Arc<Notify>) -> Self {
        Self { feed, runs: Mutex::default(), nodes: Mutex::default(), activity }
    }

    /// The last run of a primary.
    pub(super) fn last_run(&self, controller: &str, key: &ObjectKey) -> LastRun {
        self.runs.lock().get(&(controller.to_owned(), key.clone())).cloned().unwrap_or_default()
    }

    /// Changes what is known of a primary's last run; does nothing when the primary is gone.
    fn change<R>(
        &self,
        controller: &str,
        key: &ObjectKey,
        change: impl FnOnce(&mut LastRun) -> R,
    ) -> Option<R> {
        self.runs.lock().get_mut(&(controller.to_owned(), key.clone())).map(change)
    }

    /// A line about a primary, after the one with the reason for its run.
    pub(super) fn say(&self, controller: &str, key: &ObjectKey, mark: Mark, text: String) {
        self.say_because(controller, key);
        self.feed.change(key, mark, text);
    }

    /// Prints the reason for a primary's run, if that has not been printed yet.
    fn say_because(&self, controller: &str, key: &ObjectKey) {
        if let Some(because) = self.change(controller, key, |run| run.because.take()).flatten() {
            self.feed.change(key, Mark::Start, format!("runs because {because}"));
        }
    }

    fn health(&self, controller: &str, source: &str, health: &SourceHealth) {
        let SourceHealth::Unhealthy { reason, advice } = health else { return };
        self.feed.change(&controller, Mark::Warning, format!("{source} can't be watched: {reason}"));
        if let Some(advice) = advice {
            self.feed.change(&controller, Mark::Warning, format!("next  {advice}"));
        }
    }
}

impl Observer for LineObserver {
    fn observe(&self, observation: &Observation<'_>) {
        match observation {
            Observation::SourceHealth { controller, source, health } => {
                self.health(controller, source, health);
            }
            Observation::RunStarted { controller, key, because, attempt } => {
                let because =
                    if *attempt == 0 { (*because).to_owned() } else { format!("{because} ({attempt})") };
                let run = LastRun { because: Some(because), ..LastRun::default() };
                self.runs.lock().insert(((*controller).to_owned(), (*key).clone()), run);
            }
            Observation::Wrote { controller, primary, target_type, target, subresource, effect, took } => {
                let (mark, text) = match effect {
                    WriteEffect::Created => (Mark::Created, "created".to_owned()),
                    // The informer of the primaries reports what has changed in the status.
                    WriteEffect::Updated if *subresource == Some("status") && target == primary => {
                        return self.say_because(controller, primary);
                    }
                    WriteEffect::Updated => (Mark::Updated, "updated".to_owned()),
                    WriteEffect::Deleted => (Mark::Deleted, "deleted".to_owned()),
                    // The run goes on with the newer state, so this isn't an error yet.
                    WriteEffect::Failed { error } if error.contains("(409") => {
                        (Mark::Warning, "has been changed by someone else in the meantime".to_owned())
                    }
                    WriteEffect::Failed { error } => (Mark::Error, format!("not written: {error}")),
                    WriteEffect::Unchanged | WriteEffect::Matched => return,
                };
                let subresource = subresource.map(|name| format!(" {name}")).unwrap_or_default();
                let target = format!("{target_type}/{}{subresource}", target.name());
                self.say(controller, primary, mark, format!("{target:<28} {text}  ({})", human(*took)));
            }
            Observation::RunFinished { controller, key, end, .. } => {
                if let RunEnd::Failed { error, panicked } = end {
                    let word = if *panicked { "panic" } else { "error" };
                    self.say(controller, key, Mark::Error, format!("{word}: {error}"));
                    self.change(controller, key, |run| run.failure = Some((*error).to_owned()));
                }
                // What comes from here on is not this run's doing.
                self.change(controller, key, |run| run.because = None);
            }
            Observation::RetryScheduled { controller, key, attempt, after } => {
                let after = human(*after);
                let text = match attempt {
                    Some(attempt) => format!("retry {attempt} in {after}"),
                    None => {
                        let failure = self.change(controller, key, |run| run.failure.clone()).flatten();
                        format!("again in {after}, as {}", why_again(failure.as_deref().unwrap_or_default()))
                    }
                };
                self.feed.change(key, Mark::Waiting, text);
                self.change(controller, key, |run| run.retrying = true);
            }
            Observation::NodeState { controller, key, node, state } => {
                let line = self.nodes.lock().change(controller, key, node, state);
                if let Some((mark, text)) = line {
                    self.say(controller, key, mark, text);
                }
            }
            Observation::PrimaryGone { controller, key } => {
                self.nodes.lock().forget(controller, key);
                self.runs.lock().remove(&((*controller).to_owned(), (*key).clone()));
            }
            _ => {}
        }
        self.activity.notify_waiters();
    }
}

/// Why a run that has failed without using up an attempt is repeated.
fn why_again(failure: &str) -> &'static str {
    match failure {
        denied if denied.contains("a right is missing") => "a right is missing",
        refused if refused.contains("(4") && !refused.contains("(429") => {
            "something outside has to change first"
        }
        _ => "the server was in trouble",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};

    use super::*;
    use crate::{observe::RunKind, resource::ResourceType};

    const CONTROLLER: &str = "maps";

    fn started<'a>(key: &'a ObjectKey, because: &'a str) -> Observation<'a> {
        Observation::RunStarted { controller: CONTROLLER, key, because, attempt: 0 }
    }

    fn finished<'a>(key: &'a ObjectKey, end: RunEnd<'a>) -> Observation<'a> {
        let (kind, took) = (RunKind::Reconcile, Duration::from_millis(3));
        Observation::RunFinished { controller: CONTROLLER, key, kind, end, took }
    }

    /// A write of the object's Deployment, or of its own status.
    fn write(lines: &LineObserver, key: &ObjectKey, subresource: Option<&str>, effect: WriteEffect<'_>) {
        let kind = match subresource {
            Some(_) => ResourceType::of::<ConfigMap>(),
            None => ResourceType::of::<Deployment>(),
        };
        lines.observe(&Observation::Wrote {
            controller: CONTROLLER,
            primary: key,
            target_type: &kind,
            target: key,
            subresource,
            effect,
            took: Duration::from_millis(7),
        });
    }

    #[tokio::test]
    async fn a_run_is_told_by_its_changes() {
        let (feed, mut read) = Feed::collected();
        let lines = LineObserver::new(feed, Arc::default());
        let key = ObjectKey::namespaced("shop", "web");

        lines.observe(&started(&key, "created"));
        write(&lines, &key, None, WriteEffect::Created);
        write(&lines, &key, Some("status"), WriteEffect::Updated);
        lines.observe(&finished(&key, RunEnd::Succeeded));
        assert_eq!(
            read(),
            [
                "shop/web Start runs because created",
                "shop/web Created Deployment/web               created  (7 ms)"
            ]
        );

        lines.observe(&started(&key, "Deployment changed"));
        write(&lines, &key, None, WriteEffect::Matched);
        write(&lines, &key, Some("status"), WriteEffect::Matched);
        lines.observe(&finished(&key, RunEnd::Succeeded));
        lines.say(CONTROLLER, &key, Mark::Working, "status  by someone else".to_owned());
        assert_eq!(
            read(),
            ["shop/web Working status  by someone else"],
            "a run that changes nothing is not shown"
        );
    }

    #[tokio::test]
    async fn a_failure_is_told_with_its_retry_and_forgotten_with_its_object() {
        let (feed, mut read) = Feed::collected();
        let lines = LineObserver::new(feed, Arc::default());
        let key = ObjectKey::namespaced("shop", "web");

        lines.observe(&started(&key, "created"));
        lines.observe(&finished(&key, RunEnd::Failed { error: "no disk", panicked: false }));
        let (attempt, after) = (1, Duration::from_secs(2));
        lines.observe(&Observation::RetryScheduled {
            controller: CONTROLLER,
            key: &key,
            attempt: Some(attempt),
            after,
        });
        assert_eq!(
            read(),
            [
                "shop/web Start runs because created",
                "shop/web Error error: no disk",
                "shop/web Waiting retry 1 in 2.00 s"
            ]
        );
        let run = lines.last_run(CONTROLLER, &key);
        assert!(run.retrying && run.failure.as_deref() == Some("no disk"));

        lines.observe(&Observation::PrimaryGone { controller: CONTROLLER, key: &key });
        lines.observe(&finished(&key, RunEnd::Succeeded));
        assert!(lines.runs.lock().is_empty());
    }

    #[tokio::test]
    async fn what_a_repeated_run_waits_for_is_told_by_its_error() {
        let (feed, mut read) = Feed::collected();
        let lines = LineObserver::new(feed, Arc::default());
        let key = ObjectKey::namespaced("shop", "web");
        for (error, why) in [
            (
                "refused to apply it: a right is missing; grant patch on pods to eve (403 Forbidden)",
                "a right is missing",
            ),
            (
                "refused to apply it: quota small is exceeded (403 Forbidden)",
                "something outside has to change first",
            ),
            ("refused to apply it: too many requests (429 TooManyRequests)", "the server was in trouble"),
            ("refused to apply it: etcdserver: request timed out (500 )", "the server was in trouble"),
        ] {
            lines.observe(&started(&key, "created"));
            lines.observe(&finished(&key, RunEnd::Failed { error, panicked: false }));
            let after = Duration::from_secs(2);
            lines.observe(&Observation::RetryScheduled {
                controller: CONTROLLER,
                key: &key,
                attempt: None,
                after,
            });
            let said = read();
            assert!(said.last().is_some_and(|line| line.ends_with(&format!(", as {why}"))), "{said:?}");
        }
    }
}
