//! What reconcilers wait for, by primary: a condition with a name and a time-out.
//!
//! ```text
//!            expect ─ met already ─▶ (nothing)
//!                   └ not yet ─────▶ Waiting ─ looked at: met ──────▶ Fulfilled, once; then (nothing)
//!                                       │    └ looked at: too late ─▶ TimedOut, until it is met or replaced
//!                                       └ the primary is gone ──────▶ (nothing)
//! ```
//!
//! # Guarantees
//! - A primary has at most one expectation: a new one takes the place of the one before.
//! - Whether it is met is looked at before the time is.
//! - A successful run in which a primary waits is followed by another one when the time is up.
//! - Nothing is kept about a primary that is gone or was replaced, whether a run sees its end or not.
//!
//! # Assumptions
//! - A condition is quick, and reads only what it is given.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;

use super::{AnyContext, Context};
use crate::{
    environment::Now,
    error::Permanent,
    event_source::PrimaryFollower,
    resource::{KubeObject, ObjectKey, Uid},
};

/// How an expectation stands. JOSDK: `ExpectationResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The primary has none of that name.
    None,
    /// It isn't met yet.
    Waiting {
        /// The time until it times out.
        left: Duration,
    },
    /// It is met, and was forgotten: this is told once.
    Fulfilled,
    /// It isn't met, and the time is up. It stays until it is met, or until there is another one.
    TimedOut,
}

type IsMet = Arc<dyn Fn(&Arc<AnyContext>) -> bool + Send + Sync>;

/// The expectations of one controller, by primary. JOSDK: `ExpectationManager`, `PeriodicCleanerExpectationManager`.
#[derive(Default)]
pub(crate) struct Expectations(Mutex<BTreeMap<ObjectKey, Expected>>);

#[derive(Clone)]
struct Expected {
    /// Of the primary: its successor doesn't inherit it.
    uid: Uid,
    name: String,
    since: Now,
    within: Duration,
    is_met: IsMet,
    /// Whether a run was asked for, or told, that the time is up.
    told: bool,
}

impl Expected {
    fn left(&self, now: Now) -> Duration {
        self.within.saturating_sub(now - self.since)
    }
}

impl Expectations {
    fn set(&self, primary: &ObjectKey, expected: Expected, exists: impl FnOnce() -> bool) -> bool {
        let mut all = self.0.lock();
        // Asked under the lock: what is added after the primary has gone would never go.
        let exists = exists();
        if exists {
            all.insert(primary.clone(), expected);
        }
        exists
    }

    /// That of this primary.
    fn of(&self, primary: &ObjectKey, uid: &Uid) -> Option<Expected> {
        self.0.lock().get(primary).filter(|expected| expected.uid == *uid).cloned()
    }

    fn change(&self, primary: &ObjectKey, like: &Expected, change: impl FnOnce(&mut Expected) -> bool) {
        let mut all = self.0.lock();
        if let Some(expected) = all.get_mut(primary)
            && Arc::ptr_eq(&expected.is_met, &like.is_met)
            && !change(expected)
        {
            all.remove(primary);
        }
    }

    /// When a primary that waits has to run at the latest; not again when its time is up.
    pub(super) fn due(&self, primary: &ObjectKey, uid: &Uid, now: Now) -> Option<Duration> {
        let mut all = self.0.lock();
        let expected = all.get_mut(primary).filter(|expected| expected.uid == *uid && !expected.told)?;
        let left = expected.left(now);
        expected.told = left.is_zero();
        Some(left)
    }

    /// The number of primaries that don't exist and have one.
    pub(crate) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.0.lock().keys().filter(|primary| !exists(primary)).count()
    }

    /// Takes over what others waited for at `then`, as if `passed` had gone by since.
    #[cfg(feature = "testing")]
    pub(crate) fn inherit(&self, others: &Self, then: Now, passed: Duration) {
        let others = others.0.lock().clone();
        self.0.lock().extend(others.into_iter().map(|(primary, expected)| {
            let within = expected.left(then).saturating_sub(passed);
            (primary, Expected { since: Now::START, within, ..expected })
        }));
    }
}

/// Forgets what was expected of a primary that is gone.
impl PrimaryFollower for Expectations {
    fn primary_gone(&self, primary: &ObjectKey) {
        self.0.lock().remove(primary);
    }
}

impl fmt::Debug for Expectations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expectations").finish_non_exhaustive()
    }
}

impl<P: KubeObject> Context<P> {
    /// Expects something of the primary, or of what belongs to it, within a time: `is_met` says whether it has come true.
    /// Returns whether that is waited for: if it is met already, nothing is. JOSDK: `checkAndSetExpectation`.
    ///
    /// Later runs ask [`expectation`](Self::expectation) how it stands. There is such a run when the time is up, without a
    /// reschedule. A primary has one expectation at a time: another one takes its place. It is kept in memory, and goes
    /// with its primary, whatever the reconciler is triggered by; after a restart there is none.
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
            let words = "an expectation has no name; give it one, by which later runs ask for it";
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

    /// How the primary's expectation of that name stands now. One that is met is forgotten when this has told so. JOSDK:
    /// `checkExpectation`, `ongoingExpectationPresent`.
    #[must_use]
    pub fn expectation(&self, name: &str) -> Expectation {
        self.any().expectation(name)
    }

    /// Forgets the primary's expectation, whatever its name. JOSDK: `removeExpectation`.
    pub fn forget_expectation(&self) {
        self.any().shared().expectations.primary_gone(self.primary_key());
    }
}

impl AnyContext {
    fn expect(self: &Arc<Self>, name: &str, within: Duration, is_met: IsMet) -> bool {
        if is_met(self) {
            return false;
        }
        let run = self.run();
        let (uid, since) = (run.uid.clone(), self.now());
        let expected = Expected { uid, name: name.to_owned(), since, within, is_met, told: false };
        self.shared().expectations.set(&run.key, expected, || self.primary().is_some())
    }

    fn expectation(self: &Arc<Self>, name: &str) -> Expectation {
        let (run, all) = (self.run(), &self.shared().expectations);
        let Some(expected) = all.of(&run.key, &run.uid).filter(|expected| expected.name == name) else {
            return Expectation::None;
        };
        if (expected.is_met)(self) {
            all.change(&run.key, &expected, |_| false);
            return Expectation::Fulfilled;
        }
        let left = expected.left(self.now());
        if left.is_zero() {
            all.change(&run.key, &expected, |expected| {
                expected.told = true;
                true
            });
            return Expectation::TimedOut;
        }
        Expectation::Waiting { left }
    }

    fn now(&self) -> Now {
        self.shared().writer.environment.now()
    }

    /// When the primary runs again, if user code asks for `wanted`: sooner, where something else is due before.
    pub(crate) fn again_after(&self, wanted: Option<Duration>) -> Option<Duration> {
        let run = self.run();
        let due = self.shared().expectations.due(&run.key, &run.uid, self.now());
        self.remembered().lock().again_after(wanted).into_iter().chain(due).min()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::reconciler::{Offline, OfflineParts};

    const WITHIN: Duration = Duration::from_secs(30);

    /// A run for a primary, and what its expectation hangs on.
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
        assert_eq!(context.any().again_after(None), Some(WITHIN));
        assert_eq!(context.any().again_after(Some(WITHIN / 2)), Some(WITHIN / 2));
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
        assert_eq!(context.any().again_after(None), Some(Duration::ZERO));
        assert_eq!(context.any().again_after(None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_one_counts_and_it_goes_with_its_primary() {
        let (offline, context, met) = a_run();
        assert!(expect(&context, "first", &met));
        assert!(expect(&context, "second", &met));
        assert_eq!(context.expectation("first"), Expectation::None);
        let all = &offline.shared.expectations;
        assert_eq!(all.leftovers(&|_| false), 1);
        context.forget_expectation();
        assert_eq!(context.expectation("second"), Expectation::None);

        assert!(expect(&context, "third", &met));
        all.primary_gone(context.primary_key());
        assert_eq!(all.leftovers(&|_| false), 0);
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
