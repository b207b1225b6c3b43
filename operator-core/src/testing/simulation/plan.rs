//! What goes wrong in a simulation, and how often.

use std::time::Duration;

use crate::testing::faults::Rule;

/// What goes wrong in the schedules of a simulation, and how often. The calm run meets none of it.
///
/// Even without any fault the tasks of the operator run in different orders, and requests take a few milliseconds: that
/// is not bad luck, but normal in every cluster.
#[derive(Clone, Debug)]
#[must_use = "give it to `Sim::faults`"]
pub struct FaultPlan {
    pub(super) request_one_in: u32,
    pub(super) event_one_in: u32,
    pub(super) crash_one_in: u32,
    pub(super) most_faults: u32,
    pub(super) most_crashes: u32,
    pub(super) watch_lag: Duration,
    pub(super) every_write: bool,
    pub(super) acts: bool,
    pub(super) pairs: bool,
    pub(super) rules: Vec<Rule>,
}

impl FaultPlan {
    /// Nothing goes wrong.
    pub fn none() -> Self {
        Self {
            request_one_in: 0,
            event_one_in: 0,
            crash_one_in: 0,
            most_faults: 8,
            most_crashes: 2,
            watch_lag: Duration::ZERO,
            every_write: false,
            acts: false,
            pairs: false,
            rules: Vec::new(),
        }
    }

    /// Much of what a cluster does on its worst days: one request in ten and one event in twelve meets a fault, up to
    /// eight of them in all, the process crashes up to twice, and watches lag. In five of seven schedules the controllers of
    /// the cluster have bad luck, too: readiness comes late, goes, or never comes.
    pub fn storm() -> Self {
        Self::none().requests(10).events(12).crashes(25, 2).watch_lag(Duration::from_millis(200))
    }

    /// One request in `one_in` is refused, lost, answered with an error, or hangs; 0 for none.
    pub fn requests(mut self, one_in: u32) -> Self {
        self.request_one_in = one_in;
        self
    }

    /// One event of a watch in `one_in` arrives twice or late, or its watch ends; 0 for none.
    pub fn events(mut self, one_in: u32) -> Self {
        self.event_one_in = one_in;
        self
    }

    /// The process crashes before or after one write in `one_in`, at most `most` times; 0 for never.
    pub fn crashes(mut self, one_in: u32, most: u32) -> Self {
        self.crash_one_in = one_in;
        self.most_crashes = most;
        self
    }

    /// At most `faults` faults of requests and events in one schedule.
    pub fn at_most(mut self, faults: u32) -> Self {
        self.most_faults = faults;
        self
    }

    /// Events of watches arrive late by up to this time, independently for each watch, so that caches disagree.
    pub fn watch_lag(mut self, up_to: Duration) -> Self {
        self.watch_lag = up_to;
        self
    }

    /// In addition to the other schedules there are two for each write of the calm run: a crash just before it, and one
    /// just after it, and nothing else goes wrong. The same for each call of an
    /// [`other_system`](super::Sim::other_system).
    pub fn crash_at_every_write(mut self) -> Self {
        self.every_write = true;
        self
    }

    /// In addition to the other schedules there is one for each request of the calm run that is about an object, and
    /// for each of these acts: just before the request is sent, someone deletes its object, deletes and recreates it,
    /// edits a value of its spec or its labels, removes a finalizer, or strips or edits what shows whose the object is:
    /// owner references, labels and the annotation of the marks; and the same with the primary whose run is in
    /// progress.
    ///
    /// Such an act changes the cluster. So the schedule is compared with a calm run in which the same is done when the
    /// operator has nothing more to do. A user whose object was deleted by the act gives up.
    ///
    /// By default a test runs some of these schedules, different ones each day; `SIM_SWEEPS=all` runs all.
    pub fn somebody_acts_before_every_request(mut self) -> Self {
        self.acts = true;
        self
    }

    /// In addition to the other schedules there is one for each request of the calm run and each fault that it could
    /// meet, and one for each pair of them: the second meets one of the requests that follow, those of the same run or
    /// of its retry.
    ///
    /// By default a test runs some of these schedules, different ones each day; `SIM_SWEEPS=all` runs all.
    pub fn pairs_of_faults(mut self) -> Self {
        self.pairs = true;
        self
    }

    /// Nothing goes wrong, and the calm run records what these sweeps need.
    pub(super) fn calmly(&self) -> Self {
        Self { every_write: self.every_write, acts: self.acts, pairs: self.pairs, ..Self::none() }
    }

    /// Whether requests, events and the process itself all meet bad luck.
    pub(super) fn is_storm(&self) -> bool {
        self.request_one_in > 0 && self.event_one_in > 0 && self.crash_one_in > 0
    }

    /// Adds a rule to each schedule. The calm run doesn't use it.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}
