//! Faults on request: what can go wrong between an operator and its API server, as a layer of the transport.
//!
//! ```text
//! operator ──▶ retry, deadline ──▶ Faults ──▶ any server: a real one, or one in the process
//!                                    │ rule: which requests, or which events of a watch
//!                                    └ fault: what happens to them
//! ```
//!
//! ```
//! use operator_core::testing::faults::{Faults, Rule, Verb};
//!
//! let faults = Faults::new([
//!     Rule::on(Verb::Apply).resource("configmaps").nth(1).answer_lost(),
//!     Rule::watch("deployments").nth(2).event(operator_core::testing::faults::LineFault::Duplicate),
//! ]);
//! // Operator::builder().transport(faults.hook()) …
//! # let never_happened = faults.unfired();
//! # assert_eq!(never_happened.len(), 2);
//! ```
//!
//! # Guarantees
//! - The same requests in the same order meet the same faults; time is tokio's, so that a test can pause it.
//! - The layer is below every retry and deadline: each attempt counts, and one that hangs is ended by its deadline.
//! - Each rule counts how often its fault has happened, so that a test can fail if a fault never happened.
//! - If the faults are switched off, requests and events pass as if there were no layer, and events that were held
//!   arrive.

mod effect;
mod fault;
mod lines;
mod replica;
mod rule;
mod target;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::future::{BoxFuture, pending};
use http::Request;
use kube::client::Body;
use parking_lot::{Mutex, RwLock};
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, Inner, TransportHook};

pub use fault::{Cut, End, Fault, LineFault, StatusAnswer};
pub use replica::LaggingReplica;
pub use rule::{Match, Rule};
pub use target::{RequestTarget, Verb};

pub(crate) use effect::Effect;
pub(super) use fault::gone_line;
use fault::{refused, reset};

/// Decides what happens to requests: a list of rules, or the tape of a simulation.
pub(crate) trait Director: Send + Sync {
    /// What happens to a request, in this order, and what to notify when it does.
    fn request(&self, target: &RequestTarget, head: &http::request::Parts) -> Vec<(Fault, Effect)>;

    /// What happens to an event of `watch` about `object`.
    fn line(&self, watch: &RequestTarget, object: &RequestTarget) -> Option<(LineFault, Effect)>;
}

/// A set of faults, and the switch for them. Cheap to clone; clones are the same set.
#[derive(Clone)]
pub struct Faults(Arc<FaultSet>);

struct FaultSet {
    rules: RwLock<Vec<Rule>>,
    director: Option<Arc<dyn Director>>,
    active: AtomicBool,
    /// Replaced whenever the faults are switched on; cancelled when they are switched off.
    off: Mutex<CancellationToken>,
    crash: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
}

impl Faults {
    /// These faults, switched on.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::of(rules.into_iter().collect(), None)
    }

    /// No faults yet.
    #[must_use]
    pub fn none() -> Self {
        Self::new([])
    }

    /// The faults that `director` decides on.
    pub(crate) fn directed(director: Arc<dyn Director>) -> Self {
        Self::of(Vec::new(), Some(director))
    }

    fn of(rules: Vec<Rule>, director: Option<Arc<dyn Director>>) -> Self {
        Self(Arc::new(FaultSet {
            rules: RwLock::new(rules),
            director,
            active: AtomicBool::new(true),
            off: Mutex::default(),
            crash: Mutex::default(),
        }))
    }

    /// Adds a rule. Watches that are already open may not use it.
    pub fn add(&self, rule: &Rule) {
        self.0.rules.write().push(rule.clone());
    }

    /// What a crash does. Without this, a rule that crashes leaves its request without an answer, and nothing else.
    pub fn on_crash(&self, crash: impl Fn() + Send + Sync + 'static) {
        *self.0.crash.lock() = Some(Arc::new(crash));
    }

    /// The hook for an operator's builder. It wraps the server's own, if there is one.
    #[must_use]
    pub fn hook(&self) -> TransportHook {
        let faults = self.clone();
        TransportHook::around(move |request, inner| faults.clone().pass(request, inner))
    }

    /// From now on no faults happen.
    pub fn off(&self) {
        self.0.active.store(false, Ordering::SeqCst);
        self.0.off.lock().cancel();
    }

    /// From now on faults happen again.
    pub fn on(&self) {
        *self.0.off.lock() = CancellationToken::new();
        self.0.active.store(true, Ordering::SeqCst);
    }

    /// Whether faults happen.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.active.load(Ordering::SeqCst)
    }

    /// How often each rule's fault has happened.
    #[must_use]
    pub fn fired(&self) -> Vec<(String, u64)> {
        self.0.rules.read().iter().map(|rule| (rule.to_string(), rule.fired())).collect()
    }

    /// The rules whose fault has never happened: a test with one of them has not tested what it claims.
    #[must_use]
    pub fn unfired(&self) -> Vec<String> {
        self.fired().into_iter().filter(|(_, times)| *times == 0).map(|(rule, _)| rule).collect()
    }

    fn token(&self) -> CancellationToken {
        self.0.off.lock().clone()
    }

    /// What happens to a request, and what to notify for each.
    fn chosen(&self, target: &RequestTarget, head: &http::request::Parts) -> Vec<(Fault, Effect)> {
        if !self.is_on() {
            return Vec::new();
        }
        let directed = self.0.director.iter().flat_map(|director| director.request(target, head));
        let mut chosen: Vec<_> = directed.collect();
        for rule in self.0.rules.read().iter() {
            chosen.extend(rule.request(target, head).map(|fault| (fault, Effect::Counted(rule.clone()))));
        }
        chosen
    }

    async fn pass(self, request: Request<Body>, inner: Inner) -> Answer {
        let Some(target) = RequestTarget::of(&request) else { return inner.send(request).await };
        let (head, content) = request.into_parts();
        let chosen = self.chosen(&target, &head);
        let request = Request::from_parts(head, content);
        let mut after = Vec::new();
        for (fault, effect) in chosen {
            if fault.is_about_the_answer() {
                after.push((fault, effect));
                continue;
            }
            effect.happens(false);
            match fault {
                Fault::Delay(delay) => tokio::time::sleep(delay).await,
                Fault::Meanwhile(action) => action(&target).await,
                Fault::Status(status) => return status.response(),
                Fault::Hang => return pending().await,
                Fault::Crash => return self.crash().await,
                _ => return Err(refused()),
            }
        }
        self.answer(&target, after, inner.send(request).await?).await
    }

    /// What happens to an answer.
    async fn answer(
        &self,
        target: &RequestTarget,
        faults: Vec<(Fault, Effect)>,
        mut response: http::Response<crate::client::ResponseBody>,
    ) -> Answer {
        let done = response.status().is_success();
        for (fault, effect) in faults {
            match fault {
                Fault::DelayAnswer(delay) => {
                    let _late = effect.happens_by_the_end(done);
                    tokio::time::sleep(delay).await;
                }
                Fault::Cut(after, end) => {
                    response = response.map(|content| lines::cut(content, after, end, effect));
                }
                instead => {
                    effect.happens(done);
                    return match instead {
                        Fault::StatusAfter(status) => status.response(),
                        Fault::HangAfter => pending().await,
                        Fault::CrashAfter => self.crash().await,
                        _ => Err(reset()),
                    };
                }
            }
        }
        let about_events = self.0.director.is_some() || self.0.rules.read().iter().any(Rule::is_about_events);
        if target.verb == Verb::Watch && response.status().is_success() && about_events {
            response = response.map(|content| lines::through(content, self.clone(), target.clone()));
        }
        Ok(response)
    }

    /// What happens to an event of a watch, and what to notify.
    fn line(&self, watch: &RequestTarget, object: &RequestTarget) -> Option<(LineFault, Effect)> {
        if !self.is_on() {
            return None;
        }
        let drawn = self.0.director.as_ref().and_then(|director| director.line(watch, object));
        drawn.or_else(|| {
            let rules = self.0.rules.read();
            rules.iter().find_map(|rule| Some((rule.line(watch, object)?, Effect::Counted(rule.clone()))))
        })
    }

    fn crash(&self) -> BoxFuture<'static, Answer> {
        let crash = self.0.crash.lock().clone();
        if let Some(crash) = crash {
            crash();
        }
        Box::pin(pending())
    }
}

impl Default for Faults {
    fn default() -> Self {
        Self::none()
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fired()).finish()
    }
}
