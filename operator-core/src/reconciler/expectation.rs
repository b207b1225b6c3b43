//! The expectations of reconcilers: a condition with a name and a time-out.
//!
//! ```text
//!            expect ─ met already ─▶ (nothing)
//!                   └ not yet ─────▶ Waiting ─ looked at: met ──────▶ Fulfilled, once; then (nothing)
//!                                       │    └ looked at: too late ─▶ TimedOut, until it is met or replaced
//!                                       └ the primary is gone ──────▶ (nothing)
//! ```
//!
//! # Guarantees
//! - A primary has at most one expectation: a new one replaces it.
//! - The condition is checked before the time.
//! - A successful run in which a primary waits is followed by another run when the time is up.
//! - Nothing is kept about a primary that is gone or was replaced, even if no run sees its end.
//!
//! # Assumptions
//! - A condition is quick, and reads only what it is given.

use std::{sync::Arc, time::Duration};

use super::{AnyContext, Context};
use crate::{environment::Now, error::Permanent, processor::Reschedule, resource::KubeObject};

/// The state of an expectation. JOSDK: `ExpectationResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The primary has no expectation of that name.
    None,
    /// It isn't met yet.
    Waiting {
        /// The time until it times out.
        left: Duration,
    },
    /// It is met, and was dropped: this is returned once.
    Fulfilled,
    /// It isn't met, and the time is up. It stays until it is met, or replaced.
    TimedOut,
}

type IsMet = Arc<dyn Fn(&Arc<AnyContext>) -> bool + Send + Sync>;

/// What is expected of a primary. JOSDK: `ExpectationManager`, `PeriodicCleanerExpectationManager`.
#[derive(Clone, Default)]
pub(crate) struct Expected(Option<Awaited>);

#[derive(Clone)]
struct Awaited {
    name: String,
    since: Now,
    within: Duration,
    is_met: IsMet,
    /// Whether a run was requested, or has seen, that the time is up.
    told: bool,
}

impl Awaited {
    fn left(&self, now: Now) -> Duration {
        self.within.saturating_sub(now - self.since)
    }
}

impl Expected {
    fn change(&mut self, like: &Awaited, change: impl FnOnce(&mut Awaited) -> bool) {
        if let Some(awaited) = &mut self.0
            && Arc::ptr_eq(&awaited.is_met, &like.is_met)
            && !change(awaited)
        {
            self.0 = None;
        }
    }

    /// When a primary that waits has to run at the latest; not again when its time is up.
    fn due(&mut self, now: Now) -> Option<Duration> {
        let awaited = self.0.as_mut().filter(|awaited| !awaited.told)?;
        let left = awaited.left(now);
        awaited.told = left.is_zero();
        Some(left)
    }

    /// The same expectation, moved from `then` as if `passed` had gone by since.
    #[cfg(feature = "testing")]
    pub(crate) fn later(self, then: Now, passed: Duration) -> Self {
        Self(self.0.map(|awaited| {
            let within = awaited.left(then).saturating_sub(passed);
            Awaited { since: Now::START, within, ..awaited }
        }))
    }
}

debug_of!(Expected: "Expected");

impl<P: KubeObject> Context<P> {
    /// Expects something of the primary, or of what belongs to it, within a time: `is_met` says whether it has come
    /// true. Returns whether it is waited for: if it is met already, it isn't. JOSDK: `checkAndSetExpectation`.
    ///
    /// Later runs call [`expectation`](Self::expectation) for its state. There is such a run when the time is up,
    /// without a reschedule, and the maximum interval applies until then. A primary has one expectation at a time: a new one replaces it. It is kept in memory, and
    /// is dropped with its primary, whatever triggers the reconciler; after a restart there is none.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
    /// use operator_core::{prelude::*, reconciler::Expectation};
    ///
    /// fn has_three(_: &Pod, cx: &Context<Pod>) -> bool {
    ///     let web = cx.secondary::<Deployment>().ok().flatten();
    ///     web.and_then(|web| web.status.as_ref()?.ready_replicas) == Some(3)
    /// }
    ///
    /// async fn reconcile(_: &Pod, cx: &mut Context<Pod>) -> Result<UpdateControl<Pod>> {
    ///     match cx.expectation("three replicas") {
    ///         Expectation::None => drop(cx.expect("three replicas", Duration::from_secs(30), has_three)?),
    ///         Expectation::Waiting { .. } => {}
    ///         Expectation::Fulfilled => println!("they are ready"),
    ///         Expectation::TimedOut => println!("they are still not ready"),
    ///     }
    ///     Ok(UpdateControl::no_update())
    /// }
    /// ```
    ///
    /// # Errors
    /// If it has no name, or no time-out: `within` is zero.
    pub fn expect(
        &self,
        name: &str,
        within: Duration,
        is_met: impl Fn(&P, &Self) -> bool + Send + Sync + 'static,
    ) -> Result<bool, Permanent> {
        if name.is_empty() {
            let words = "an expectation has no name; give it one, so later runs can ask for it";
            return Err(Permanent::new(words));
        }
        if within.is_zero() {
            let words = format!(
                "the expectation `{name}` has no time-out; say how long to wait, for example `Duration::from_secs(30)`"
            );
            return Err(Permanent::new(words));
        }
        let is_met: IsMet = Arc::new(move |any| {
            let primary = any.own_primary().and_then(|primary| primary.typed::<P>());
            primary.is_some_and(|primary| is_met(&primary, &Self::of_any(Arc::clone(any))))
        });
        Ok(self.any().expect(name, within, is_met))
    }

    /// The current state of the primary's expectation of that name. Once this has returned that it is met, it is
    /// dropped. JOSDK: `checkExpectation`, `ongoingExpectationPresent`.
    #[must_use]
    pub fn expectation(&self, name: &str) -> Expectation {
        self.any().expectation(name)
    }

    /// Forgets the primary's expectation, whatever its name. JOSDK: `removeExpectation`.
    pub fn forget_expectation(&self) {
        self.any().scope().forget::<Expected>();
    }
}

impl AnyContext {
    fn expect(self: &Arc<Self>, name: &str, within: Duration, is_met: IsMet) -> bool {
        if is_met(self) {
            return false;
        }
        let awaited = Awaited { name: name.to_owned(), since: self.now(), within, is_met, told: false };
        let before = self.scope().change(|expected: &mut Expected| expected.0.replace(awaited));
        before.is_some()
    }

    fn expectation(self: &Arc<Self>, name: &str) -> Expectation {
        let Some(awaited) = self.expected().0.filter(|awaited| awaited.name == name) else {
            return Expectation::None;
        };
        let change = |change: fn(&mut Awaited) -> bool| {
            let change = |expected: &mut Expected| expected.change(&awaited, change);
            self.scope().look(change);
        };
        if (awaited.is_met)(self) {
            change(|_| false);
            return Expectation::Fulfilled;
        }
        let left = awaited.left(self.now());
        if left.is_zero() {
            change(|awaited| {
                awaited.told = true;
                true
            });
            return Expectation::TimedOut;
        }
        Expectation::Waiting { left }
    }

    /// What is expected of the primary.
    pub(crate) fn expected(&self) -> Expected {
        self.scope().look(|expected: &mut Expected| expected.clone()).unwrap_or_default()
    }

    fn now(&self) -> Now {
        self.shared().writer.environment.now()
    }

    /// When the primary runs again, if user code requests `wanted`: earlier if something else is due before.
    pub(crate) fn again_after(&self, wanted: Option<Duration>) -> Option<Reschedule> {
        let due = |expected: &mut Expected| expected.due(self.now());
        let due = self.scope().look(due).flatten();
        let again = self.remembered().lock().again_in.into_iter().chain(due).min();
        Reschedule::earlier(wanted.map(Reschedule::After), again)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::reconciler::{Offline, OfflineParts};

    const WITHIN: Duration = Duration::from_secs(30);

    /// A run for a primary, and the switch on which its expectation depends.
    fn a_run() -> (Offline<ConfigMap>, Context<ConfigMap>, Arc<AtomicBool>) {
        let offline = Offline::new(OfflineParts::default());
        let mut map = ConfigMap::default();
        map.metadata.name = Some("one".to_owned());
        let context = offline.context(&map);
        (offline, context, Arc::default())
    }

    fn expect(context: &Context<ConfigMap>, name: &str, met: &Arc<AtomicBool>) -> bool {
        let met = Arc::clone(met);
        context.expect(name, WITHIN, move |_, _| met.load(Ordering::Relaxed)).expect("it is right")
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_met_already_is_not_waited_for() {
        let (_offline, context, met) = a_run();
        met.store(true, Ordering::Relaxed);
        assert!(!expect(&context, "ready", &met));
        assert_eq!(context.expectation("ready"), Expectation::None);
        assert_eq!(context.any().again_after(None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn it_waits_then_times_out_and_is_fulfilled_all_the_same_if_it_is_met_then() {
        let (_offline, context, met) = a_run();
        assert!(expect(&context, "ready", &met));
        assert_eq!(context.expectation("ready"), Expectation::Waiting { left: WITHIN });
        assert_eq!(context.expectation("other"), Expectation::None, "of another name");
        assert_eq!(context.any().again_after(None), Some(Reschedule::Within(WITHIN)));
        let wanted = Some(Reschedule::After(WITHIN / 2));
        assert_eq!(context.any().again_after(Some(WITHIN / 2)), wanted);
        tokio::time::advance(WITHIN).await;
        assert_eq!(context.expectation("ready"), Expectation::TimedOut);
        assert_eq!(context.any().again_after(None), None, "once is enough");
        assert_eq!(context.expectation("ready"), Expectation::TimedOut, "it stays");
        met.store(true, Ordering::Relaxed);
        assert_eq!(context.expectation("ready"), Expectation::Fulfilled, "that is looked at first");
        assert_eq!(context.expectation("ready"), Expectation::None, "told once");
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_that_is_up_unseen_leads_to_one_run() {
        let (_offline, context, met) = a_run();
        assert!(expect(&context, "ready", &met));
        tokio::time::advance(WITHIN * 2).await;
        assert_eq!(context.any().again_after(None), Some(Reschedule::Within(Duration::ZERO)));
        assert_eq!(context.any().again_after(None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_one_counts_and_it_goes_with_its_primary() {
        let (offline, context, met) = a_run();
        assert!(expect(&context, "first", &met));
        assert!(expect(&context, "second", &met));
        assert_eq!(context.expectation("first"), Expectation::None);
        context.forget_expectation();
        assert_eq!(context.expectation("second"), Expectation::None);

        assert!(expect(&context, "third", &met));
        offline.shared.scopes.gone(context.primary_key());
        assert_eq!(context.expectation("third"), Expectation::None);
        assert!(!expect(&context, "late", &met), "a run that outlives its primary leaves nothing");
        offline.shared.scopes.seen(context.primary_key(), context.any().run().uid.as_str());
        let mut other = ConfigMap::default();
        (other.metadata.name, other.metadata.uid) = (Some("one".to_owned()), Some("other".to_owned()));
        other.metadata.resource_version = Some("2".to_owned());
        assert!(expect(&context, "fourth", &met));
        let successor = offline.context(&other);
        assert_eq!(successor.expectation("fourth"), Expectation::None, "of its successor");
        assert!(!expect(&context, "fifth", &met), "a run that outlives its primary leaves nothing");
    }

    #[tokio::test]
    async fn one_without_a_time_out_or_a_name_is_refused() {
        let (_offline, context, _) = a_run();
        let no_time = context.expect("ready", Duration::ZERO, |_, _| true).expect_err("it has no time-out");
        assert!(no_time.to_string().contains("`ready` has no time-out"), "{no_time}");
        let no_name = context.expect("", WITHIN, |_, _| true).expect_err("it has no name");
        assert!(no_name.to_string().contains("has no name"), "{no_name}");
        assert_eq!(context.expectation("ready"), Expectation::None);
    }
}
