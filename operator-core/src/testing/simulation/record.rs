//! What has happened in a schedule: its calls, its story, and what was wrong with it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    Oracle,
    calm::Complaints,
    canary::Canaries,
    leases::Leases,
    progress::{MOST_POLLS, Progress},
};
use crate::testing::faults::{RequestTarget, Verb};

/// Who made a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Actor {
    User,
    /// The incarnation, counted from 1.
    Operator(u32),
}

/// A request that has reached the server.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) at: Duration,
    pub(super) by: Actor,
    pub(super) target: RequestTarget,
    /// The server's answer, whether or not it arrived.
    pub(super) code: Option<u16>,
}

impl Call {
    pub(super) fn took_effect(&self) -> bool {
        self.code.is_some_and(|code| (200..300).contains(&code))
    }

    /// The request and its answer, without their moment.
    pub(super) fn what(&self) -> String {
        format!("{} -> {}", self.target, self.answer())
    }

    fn answer(&self) -> String {
        self.code.map_or_else(|| "no answer".to_owned(), |code| code.to_string())
    }

    pub(super) fn by_operator(&self) -> bool {
        matches!(self.by, Actor::Operator(_))
    }

    /// Whether it created the object. An apply that creates is answered with 201, as a create is.
    pub(super) fn created(&self) -> bool {
        self.code == Some(201)
            && matches!(self.target.verb, Verb::Create | Verb::Apply)
            && self.target.subresource.is_none()
    }

    pub(super) fn deleted(&self) -> bool {
        self.took_effect() && matches!(self.target.verb, Verb::Delete | Verb::DeleteCollection)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.by {
            Actor::User => "user".to_owned(),
            Actor::Operator(incarnation) => format!("operator {incarnation}"),
        };
        write!(f, "{} {by}: {} -> {}", seconds(self.at), self.target, self.answer())
    }
}

/// The number of latest calls that are examined to show what a loop consists of.
const LAST_CALLS: usize = 60;

/// Something that an oracle has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The oracle.
    pub oracle: Oracle,
    /// What it found.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.oracle, self.message)
    }
}

/// A moment of virtual time, as in stories.
pub(super) fn seconds(at: Duration) -> String {
    format!("{:9.3} s ", at.as_secs_f64())
}

/// The record of one schedule.
#[derive(Debug)]
pub(super) struct ScheduleRecord {
    /// Searched for in everything that the operator sends.
    pub(super) canaries: Canaries,
    start: Instant,
    calls: Mutex<Vec<Call>>,
    pub(super) story: Mutex<Vec<String>>,
    pub(super) faults: Mutex<BTreeMap<&'static str, u64>>,
    pub(super) violations: Mutex<Vec<Violation>>,
    /// Grows with everything that the operator does.
    activity: AtomicU64,
    /// What is wrong in the calm run.
    pub(super) complaints: Complaints,
    pub(super) progress: Progress,
    pub(super) leases: Leases,
    /// The schedule ends with a violation of one of these.
    ends_with: Vec<Oracle>,
    over: CancellationToken,
}

impl ScheduleRecord {
    pub(super) fn new(canaries: Canaries, complaints: Complaints, ends_with: Vec<Oracle>) -> Self {
        Self {
            canaries,
            start: Instant::now(),
            calls: Mutex::default(),
            story: Mutex::default(),
            faults: Mutex::default(),
            violations: Mutex::default(),
            activity: AtomicU64::new(0),
            complaints,
            progress: Progress::default(),
            leases: Leases::default(),
            ends_with,
            over: CancellationToken::new(),
        }
    }

    /// A task is polled, or a request is made. Reports once in a schedule if that happens again and again while no time
    /// passes.
    pub(super) fn polled(&self) {
        let now = self.now();
        if self.progress.polled(now) {
            self.violated(
                Oracle::BoundedLoad,
                format!("no progress of time: more than {MOST_POLLS} polls at {}", seconds(now).trim()),
            );
        }
    }

    /// Virtual time since the schedule's start.
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// The same for the end of the schedule's runtime.
    pub(super) fn now_at_end(&self) -> Duration {
        self.calls.lock().last().map(|call| call.at).unwrap_or_default()
    }

    pub(super) fn tell(&self, what: impl fmt::Display) {
        self.story.lock().push(format!("{}{what}", seconds(self.now())));
    }

    /// A fault takes effect; `kind` is the name under which it is counted.
    pub(super) fn fault(&self, kind: &'static str, what: impl fmt::Display) {
        *self.faults.lock().entry(kind).or_default() += 1;
        self.tell(what);
    }

    pub(super) fn called(&self, call: Call) {
        if call.is_work() {
            self.activity.fetch_add(1, Ordering::Relaxed);
        }
        self.calls.lock().push(call);
    }

    /// The last calls, and the number of each sort: they show what a loop consists of.
    pub(super) fn last_calls(&self) -> String {
        let calls = self.calls.lock();
        let mut sorts: Vec<(String, usize)> = Vec::new();
        for call in calls.iter().rev().take(LAST_CALLS).rev() {
            let sort = format!("{} -> {}", call.target, call.answer());
            match sorts.iter_mut().find(|(known, _)| *known == sort) {
                Some((_, count)) => *count += 1,
                None => sorts.push((sort, 1)),
            }
        }
        let told: Vec<String> = sorts.iter().map(|(sort, count)| format!("{count} times {sort}")).collect();
        told.join(", ")
    }

    pub(super) fn activity(&self) -> u64 {
        self.activity.load(Ordering::Relaxed)
    }

    pub(super) fn violated(&self, oracle: Oracle, message: impl Into<String>) {
        self.violations.lock().push(Violation { oracle, message: message.into() });
        if self.ends_with.contains(&oracle) {
            self.over.cancel();
        }
    }

    /// Resolves when it is known what the schedule was run for.
    pub(super) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// All calls so far, oldest first.
    pub(super) fn with_calls<T>(&self, look: impl FnOnce(&[Call]) -> T) -> T {
        look(&self.calls.lock())
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use http::{Method, Request};
    use kube::client::Body;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_last_calls_show_what_a_loop_consists_of() {
        let record = ScheduleRecord::new(Canaries::default(), Complaints::default(), Vec::new());
        let call = |method: Method, name: &str, code| {
            let path = format!("/api/v1/namespaces/default/configmaps/{name}");
            let request = Request::builder().method(method).uri(path).body(Body::empty());
            let target = RequestTarget::of(&request.expect("a request")).expect("it is about an object");
            record.called(Call { at: record.now(), by: Actor::Operator(1), target, code });
        };
        call(Method::GET, "before", Some(200));
        for _ in 0..LAST_CALLS / 2 {
            call(Method::DELETE, "a", Some(200));
            call(Method::GET, "a", None);
        }
        let told =
            "30 times delete configmaps/default/a -> 200, 30 times get configmaps/default/a -> no answer";
        assert_eq!(record.last_calls(), told);
    }
}
