//! Another system, scripted: records outside the cluster, and all that goes wrong with them.
//!
//! ```text
//!  caller ──▶ before the call ──▶ half the latency ──▶ is it down? called too often? refused? lost on its way?
//!                                                               │ no
//!  caller ◀── half the latency ◀── after the call ◀── it is done, perhaps twice
//!                    │
//!                    └ or the answer is lost, or never comes
//! ```
//!
//! ```
//! use std::time::Duration;
//! use operator_core::testing::{OtherSystem, OtherSystemError};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let dns = OtherSystem::new();
//! dns.latency(Duration::from_millis(100)).lose_answers(1, "create");
//! let lost = dns.create("uid/record", "10.0.0.1").await;
//! assert_eq!(lost, Err(OtherSystemError::NoAnswer));
//! assert_eq!(dns.made_for("uid/record"), 1);
//! assert_eq!(dns.find("uid/record").await, Ok(vec![("id-1".to_owned(), "10.0.0.1")]));
//! # }
//! ```
//!
//! # Guarantees
//! - The same calls in the same order have the same results: ids are counted, time is tokio's, so that a test can pause it, and nothing
//!   is random.
//! - A call that is dropped on its way there does nothing; one that is dropped on its way back is done.
//! - All calls and all records that it has ever made can be looked at, whatever the script does.
//!
//! # Assumptions
//! - What happens to the next calls is declared before they arrive, in this order.

mod error;
mod records;
mod script;
#[cfg(test)]
mod tests;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::dependent::{Deletion, PERMIT};

pub use error::OtherSystemError;
use records::{SystemRecord, SystemRecords};
use script::{Happens, Script};

/// Another system, as a dependent of external records calls it: records by their id, each with the token of who made it, and a
/// script of what goes wrong. Cheap to clone; clones are the same system.
///
/// The words of the script return the system again, and may be said at any time. `call` is one of `create`, `get`, `update`,
/// `delete`, `find` and `list`; any other word panics.
pub struct OtherSystem<R>(Arc<Mutex<SystemState<R>>>);

type Hook = Arc<dyn Fn(String) -> BoxFuture<'static, ()> + Send + Sync>;

/// The name of a record that no other one may have.
type Name<R> = dyn Fn(&R) -> Option<String> + Send + Sync;

/// Longer than any test.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

struct SystemState<R> {
    records: SystemRecords<R>,
    script: Script,
    name: Option<Arc<Name<R>>>,
    hook: Option<Hook>,
    calls: Vec<String>,
    unpermitted: Vec<String>,
    in_progress: usize,
    most_at_once: usize,
}

/// The words of the script.
#[expect(
    clippy::must_use_candidate,
    reason = "a word is said for its effect, and returns what it was said to"
)]
impl<R: Clone + Send + 'static> OtherSystem<R> {
    /// A system without records, which does at once what it is asked for.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Each call takes this long: half of it on its way there, half of it on its way back.
    pub fn latency(&self, latency: Duration) -> &Self {
        self.script(|script| script.latency = latency)
    }

    /// The next `times` calls are done, and the caller gets [`OtherSystemError::NoAnswer`].
    pub fn lose_answers(&self, times: usize, call: &str) -> &Self {
        self.script(|script| script.say(times, call, Happens::AnswerLost))
    }

    /// The next `times` calls are done, and the caller waits forever.
    pub fn never_answer(&self, times: usize, call: &str) -> &Self {
        self.script(|script| script.say(times, call, Happens::NeverAnswered))
    }

    /// The next `times` calls are not done, and the caller gets [`OtherSystemError::NoAnswer`].
    pub fn lose_requests(&self, times: usize, call: &str) -> &Self {
        self.script(|script| script.say(times, call, Happens::RequestLost))
    }

    /// The next `times` calls are not done, and the caller gets [`OtherSystemError::Refused`].
    pub fn refuse(&self, times: usize, call: &str, why: &str) -> &Self {
        self.script(|script| script.say(times, call, Happens::Refused(why.to_owned())))
    }

    /// The next `times` calls are done twice, as by a proxy that repeats requests; the caller gets the second answer.
    pub fn double(&self, times: usize, call: &str) -> &Self {
        self.script(|script| script.say(times, call, Happens::Doubled))
    }

    /// Begins an outage, or ends it.
    pub fn outage(&self, is_down: bool) -> &Self {
        self.script(|script| script.down_until = is_down.then(|| Instant::now() + FOREVER))
    }

    /// Begins an outage that lasts this long.
    pub fn down_for(&self, time: Duration) -> &Self {
        self.script(|script| script.down_until = Some(Instant::now() + time))
    }

    /// Reads show the state of this long ago: eventual consistency. The answer of a change shows what was changed.
    pub fn shows_after(&self, lag: Duration) -> &Self {
        self.script(|script| script.shows_after = lag)
    }

    /// At most this number of calls in any period of this length; another one gets [`OtherSystemError::TooManyCalls`].
    pub fn rate(&self, calls: usize, period: Duration) -> &Self {
        self.script(|script| script.rate(calls, period))
    }

    /// A deletion takes this long: until then the record exists, and a deletion is answered with [`Deletion::Asked`].
    pub fn deletes_in(&self, time: Duration) -> &Self {
        self.script(|script| script.deletes_in = time)
    }

    /// Called before and after each call with, for example, `before create uid/node` or `after delete id-1`; the call goes on
    /// when it returns. If it never does, that is the last that is seen of this caller: a test can stop its operator there.
    /// `after` means that it is done, or has failed, and no one knows yet.
    pub fn on_call<F>(&self, hook: impl Fn(String) -> F + Send + Sync + 'static) -> &Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.lock().hook = Some(Arc::new(move |call| hook(call).boxed()));
        self
    }

    /// Someone else changes a record, or deletes it, and nothing goes wrong. Returns whether there is one.
    pub fn meddle(&self, id: &str, body: Option<R>) -> bool {
        let (mut state, now) = (self.0.lock(), Instant::now());
        state.records.pass(now);
        match body {
            Some(body) => state.records.update(id, body, now),
            None => {
                let is_there =
                    state.records.all().iter().any(|record| record.id == id && record.body().is_some());
                let _ = state.records.delete(id, Duration::ZERO, now);
                is_there
            }
        }
    }

    /// From now on a create or an update that would give a record the name of one with another token is refused.
    pub fn unique(&self, name: impl Fn(&R) -> Option<String> + Send + Sync + 'static) -> &Self {
        self.0.lock().name = Some(Arc::new(name));
        self
    }

    /// Removes everything about next calls from the script, and ends an outage.
    pub(crate) fn nothing_more_happens(&self) {
        self.script(Script::forget);
    }

    /// The system, as long as another clone of it exists.
    pub(crate) fn weakly(&self) -> impl Fn() -> Option<Self> + Send + Sync + 'static {
        let weak = Arc::downgrade(&self.0);
        move || weak.upgrade().map(Self)
    }

    fn script(&self, say: impl FnOnce(&mut Script)) -> &Self {
        say(&mut self.0.lock().script);
        self
    }
}

/// What a dependent calls.
impl<R: Clone + Send + 'static> OtherSystem<R> {
    /// Makes a record, and returns its id and what it is.
    ///
    /// # Errors
    /// As the script says.
    pub async fn create(&self, token: &str, body: R) -> Result<(String, R), OtherSystemError> {
        let create = |state: &mut SystemState<R>, now| {
            state.is_free(token, &body)?;
            Ok(state.records.create(token, body.clone(), now))
        };
        self.call("create", token, create).await
    }

    /// The record with this id, if there is one.
    ///
    /// # Errors
    /// As the script says.
    pub async fn get(&self, id: &str) -> Result<Option<R>, OtherSystemError> {
        let shown = self.call("get", id, |state, now| Ok(state.shown(now, |record| record.id == id))).await?;
        Ok(shown.into_iter().next().map(|(_, body)| body))
    }

    /// Changes a record, and returns what it is.
    ///
    /// # Errors
    /// If there is none, and as the script says.
    pub async fn update(&self, id: &str, body: R) -> Result<R, OtherSystemError> {
        let update = |state: &mut SystemState<R>, now| {
            let all = state.records.all().iter();
            let token = all.filter(|record| record.id == id).map(|record| record.token.clone()).next();
            state.is_free(&token.unwrap_or_default(), &body)?;
            match state.records.update(id, body.clone(), now) {
                true => Ok(body.clone()),
                false => Err(OtherSystemError::NotFound(id.to_owned())),
            }
        };
        self.call("update", id, update).await
    }

    /// Deletes a record, and returns whether that is done. One that doesn't exist is gone.
    ///
    /// # Errors
    /// As the script says.
    pub async fn delete(&self, id: &str) -> Result<Deletion, OtherSystemError> {
        let delete =
            |state: &mut SystemState<R>, now| Ok(state.records.delete(id, state.script.deletes_in, now));
        self.call("delete", id, delete).await
    }

    /// The records that were made with this token, with their ids.
    ///
    /// # Errors
    /// As the script says.
    pub async fn find(&self, token: &str) -> Result<Vec<(String, R)>, OtherSystemError> {
        self.call("find", token, |state, now| Ok(state.shown(now, |record| record.token == token))).await
    }

    /// All records, with their ids.
    ///
    /// # Errors
    /// As the script says.
    pub async fn list(&self) -> Result<Vec<(String, R)>, OtherSystemError> {
        self.call("list", "", |state, now| Ok(state.shown(now, |_| true))).await
    }

    async fn call<T>(
        &self,
        call: &'static str,
        about: &str,
        perform: impl Fn(&mut SystemState<R>, Instant) -> Result<T, OtherSystemError>,
    ) -> Result<T, OtherSystemError> {
        let words = format!("{call} {about}").trim_end().to_owned();
        let latency = {
            let mut state = self.0.lock();
            state.calls.push(words.clone());
            if PERMIT.try_with(|()| ()).is_err() {
                state.unpermitted.push(words.clone());
            }
            state.in_progress += 1;
            state.most_at_once = state.most_at_once.max(state.in_progress);
            state.script.latency
        };
        let _in_progress = InProgress(self);
        self.hook(format!("before {words}")).await;
        sleep_for(latency / 2).await;
        let (answer, happens) = self.arrives(call, perform);
        self.hook(format!("after {words}")).await;
        if happens == Some(Happens::NeverAnswered) {
            return std::future::pending().await;
        }
        sleep_for(latency / 2).await;
        answer
    }

    fn arrives<T>(
        &self,
        call: &str,
        perform: impl Fn(&mut SystemState<R>, Instant) -> Result<T, OtherSystemError>,
    ) -> (Result<T, OtherSystemError>, Option<Happens>) {
        let (mut state, now) = (self.0.lock(), Instant::now());
        state.records.pass(now);
        let happens = match state.script.arrives(call, now) {
            Ok(happens) => happens,
            Err(error) => return (Err(error), None),
        };
        let mut answer = perform(&mut state, now);
        match happens {
            Some(Happens::Doubled) => answer = perform(&mut state, now),
            Some(Happens::AnswerLost) => answer = Err(OtherSystemError::NoAnswer),
            _ => {}
        }
        (answer, happens)
    }

    async fn hook(&self, words: String) {
        let hook = self.0.lock().hook.clone();
        if let Some(hook) = hook {
            hook(words).await;
        }
    }
}

/// What a test looks at. None of it is a call.
impl<R: Clone + Send + 'static> OtherSystem<R> {
    /// How many records were ever made with this token.
    #[must_use]
    pub fn made_for(&self, token: &str) -> usize {
        self.0.lock().records.all().iter().filter(|record| record.token == token).count()
    }

    /// All records that were ever made, in this order: id, token, and what it is now, whether or not reads show it; `None` once
    /// it is deleted.
    #[must_use]
    pub fn records(&self) -> Vec<(String, String, Option<R>)> {
        let mut state = self.0.lock();
        state.records.pass(Instant::now());
        let all = state.records.all().iter();
        all.map(|record| (record.id.clone(), record.token.clone(), record.body().cloned())).collect()
    }

    /// All calls, in the order in which they began: `create uid/node`, `get id-1`, …
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        self.0.lock().calls.clone()
    }

    /// The calls that no [`System`](crate::dependent::System) has permitted: those of a test itself. An operator makes none,
    /// because they would pass all limits.
    #[must_use]
    pub fn unpermitted(&self) -> Vec<String> {
        self.0.lock().unpermitted.clone()
    }

    /// The number of calls that were in progress at the same time, at most.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.0.lock().most_at_once
    }

    /// The part of the script about next calls that has not happened: a test with some of it has not tested what it claims.
    #[must_use]
    pub fn unfired(&self) -> Vec<String> {
        self.0.lock().script.unfired()
    }
}

impl<R: Clone> SystemState<R> {
    /// Whether no record with another token has this one's name.
    fn is_free(&self, token: &str, body: &R) -> Result<(), OtherSystemError> {
        let Some(name) = &self.name else { return Ok(()) };
        let Some(wanted) = name(body) else { return Ok(()) };
        let others = self.records.all().iter().filter(|record| record.token != token);
        match others.filter_map(|record| name(record.body()?)).any(|taken| taken == wanted) {
            true => Err(OtherSystemError::Refused(format!("the name {wanted} is taken"))),
            false => Ok(()),
        }
    }

    fn shown(&self, now: Instant, which: impl Fn(&SystemRecord<R>) -> bool) -> Vec<(String, R)> {
        self.records.shown(which, self.script.shows_after, now)
    }
}

/// Waits, but not for the next tick of the clock where there is nothing to wait for.
async fn sleep_for(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}

/// A call, until it ends or is dropped.
struct InProgress<'s, R>(&'s OtherSystem<R>);

impl<R> Drop for InProgress<'_, R> {
    fn drop(&mut self) {
        self.0.0.lock().in_progress -= 1;
    }
}

impl<R> Default for OtherSystem<R> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(SystemState {
            records: SystemRecords::default(),
            script: Script::default(),
            name: None,
            hook: None,
            calls: Vec::new(),
            unpermitted: Vec::new(),
            in_progress: 0,
            most_at_once: 0,
        })))
    }
}

impl<R> Clone for OtherSystem<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R> fmt::Debug for OtherSystem<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        let mut all = f.debug_struct("OtherSystem");
        all.field("calls", &state.calls.len()).field("script", &state.script).finish_non_exhaustive()
    }
}
