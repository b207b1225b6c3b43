//! Another system under the bad luck of a schedule: crashes before and after each of its calls, requests and answers that are
//! lost, refusals, outages.
//!
//! # Guarantees
//! - A schedule of the sweep of crashes is the calm run up to its moment: just before a call, or when it is done and no one
//!   knows yet.
//! - Once nothing goes wrong any more, nothing is left of what was about to happen.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{
    Sim,
    storm::{Class, Storm},
};
use crate::testing::OtherSystem;

/// The lane of a tape that selects the moment of a call at which there is a crash, counted from 1.
pub(super) const CRASH_AT_CALL: &str = "crash at a call";

const BEFORE: &str = "crash: before a call of another system";
const AFTER: &str = "crash: after a call of another system";

const FAULTS: [&str; 5] = [
    "call: request lost",
    "call: done and answer lost",
    "call: done and never answered",
    "call: refused",
    "call: outage",
];

/// How long an outage lasts.
const OUTAGE: Duration = Duration::from_secs(20);

/// All that can happen to a call.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    FAULTS.into_iter().chain([BEFORE, AFTER])
}

impl Storm {
    /// Whether there is a crash at this moment of a call: just before it, or when it is done.
    fn crashes_at_call(&self, words: &str, is_before: bool) -> bool {
        let moment = self.moments.fetch_add(1, Ordering::Relaxed) + 1;
        let (kind, plan) = (if is_before { BEFORE } else { AFTER }, self.plan());
        let one_in = if self.spares(Class::Crashes) { 0 } else { plan.crash_one_in };
        let crashes = u64::from(self.crash_moment) == moment
            || self.rare(kind, one_in, 1, &self.crashes, plan.most_crashes).is_some();
        if crashes {
            self.record.fault(kind, format_args!("{words}: crash"));
        }
        crashes
    }

    /// Something happens to the call that is about to be sent, or to the next one of its sort.
    fn disturb<R: Clone + Send + 'static>(&self, call: &str, words: &str, system: &OtherSystem<R>) {
        if self.spares_calls.load(Ordering::Relaxed) {
            return;
        }
        let plan = self.plan();
        let lane = format!("call {call}");
        let drawn = self.rare(&lane, plan.request_one_in, FAULTS.len(), &self.faults, plan.most_faults);
        let Some(kind) = drawn else { return };
        match kind {
            0 => system.lose_requests(1, call),
            1 => system.lose_answers(1, call),
            2 => system.never_answer(1, call),
            3 => system.refuse(1, call, "not now"),
            _ => system.down_for(OUTAGE),
        };
        self.record.fault(FAULTS[kind], format_args!("{words}: {}", FAULTS[kind]));
    }
}

impl Sim {
    /// Another system that the operator calls meets the same bad luck as the server does: crashes before and after each of its
    /// calls, which the sweep of crashes covers as well, and in storms requests and answers that are lost, refusals and
    /// outages, until [`Sim::settle`]. What the test itself says in its script stays. Uses its
    /// [`on_call`](OtherSystem::on_call).
    pub fn other_system<R: Clone + Send + 'static>(&self, system: &OtherSystem<R>) {
        let world = &self.world;
        let (storm, faults) = (Arc::clone(&world.storm), world.faults.clone());
        let (exclusive, this) = (Arc::clone(&world.exclusive), system.weakly());
        system.on_call(move |words| {
            let crashes = faults.is_on() && {
                let (when, call) = words.split_once(' ').unwrap_or_default();
                let is_before = when == "before";
                let crashes = storm.crashes_at_call(&words, is_before);
                if let Some(system) = this().filter(|_| is_before && !crashes) {
                    storm.disturb(call.split(' ').next().unwrap_or_default(), &words, &system);
                }
                crashes
            };
            if crashes {
                exclusive.crash();
            }
            async move {
                if crashes {
                    std::future::pending::<()>().await;
                }
            }
        });
        let system = system.clone();
        world.others.borrow_mut().push(Box::new(move || system.nothing_more_happens()));
    }
}
