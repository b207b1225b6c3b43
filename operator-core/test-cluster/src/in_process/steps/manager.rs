//! The controllers as a whole: their queue, and what a test has said to them.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde_json::Value;

use super::{
    ClusterController,
    events::Recorder,
    fates::Fates,
    queue::{Look, Pace, Queue},
};
use crate::in_process::{collector::Graph, controllers::Controllers, store::Path};

/// Hears of each object that has changed.
#[derive(Clone)]
pub(super) struct Listener(pub(super) Arc<Hears>);

/// At what time, its new state or its last one, and whether it is gone.
pub(super) type Hears = dyn Fn(Duration, &Value, bool) + Send + Sync;

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// A write that was refused.
#[derive(Clone, Debug, Default)]
pub(super) struct Failed {
    pub(super) why: String,
    /// In a row.
    pub(super) times: u32,
    /// The moment of the next attempt.
    pub(super) until: Duration,
}

/// What kube-controller-manager, kube-scheduler and kubelet are on a real cluster.
#[derive(Clone, Debug, Default)]
pub(in crate::in_process) struct ControllerManager {
    mode: Controllers,
    pub(super) queue: Queue,
    pub(super) graph: Graph,
    pub(super) fates: Fates,
    pub(super) events: Recorder,
    /// The certificate by which the server's socket is known, if there is one.
    pub(super) authority: String,
    /// The schedules of the CronJobs as they were last seen.
    pub(super) schedules: BTreeMap<Path, String>,
    /// Looks that have led to refused writes.
    pub(super) failed: BTreeMap<Look, Failed>,
    pub(super) listeners: Vec<Listener>,
}

impl ControllerManager {
    pub(in crate::in_process) fn new(mode: Controllers) -> Self {
        let mut manager = Self::default();
        manager.set_mode(mode);
        manager
    }

    /// When the controllers work from now on.
    pub(in crate::in_process) fn set_mode(&mut self, mode: Controllers) {
        self.mode = mode;
        self.queue.pace = match mode {
            Controllers::Within(most) => Pace::Within(most),
            _ => Pace::AtOnce,
        };
        if mode == Controllers::AtOnce {
            self.queue.hurry();
        }
    }

    /// The time that each step takes from now on.
    pub(in crate::in_process) fn set_pace(
        &mut self,
        choose: impl Fn(ClusterController) -> Duration + Send + Sync + 'static,
    ) {
        self.queue.pace = Pace::Chosen(Arc::new(choose));
    }

    /// Tells each change of an object to a listener, before the controllers see it.
    pub(in crate::in_process) fn tell(
        &mut self,
        listener: impl Fn(Duration, &Value, bool) + Send + Sync + 'static,
    ) {
        self.listeners.push(Listener(Arc::new(listener)));
    }

    /// A controller does nothing from now on.
    pub(in crate::in_process) fn hold(&mut self, controller: ClusterController) {
        self.queue.held.insert(controller);
    }

    /// A controller works again.
    pub(in crate::in_process) fn release(&mut self, controller: ClusterController) {
        self.queue.held.remove(&controller);
    }

    /// Keeps what a test has said to the server that continues from here.
    pub(in crate::in_process) fn obey(&mut self, said: &Self) {
        self.queue.pace = said.queue.pace.clone();
        self.queue.held.clone_from(&said.queue.held);
        self.fates = said.fates.clone();
        self.listeners.clone_from(&said.listeners);
    }

    /// Whether they work at all.
    pub(super) fn is_on(&self) -> bool {
        self.mode != Controllers::Off
    }

    /// Whether they work one step at a time.
    pub(super) fn is_stepwise(&self) -> bool {
        self.mode == Controllers::Stepwise
    }

    /// Whether they work without being told to.
    pub(super) fn works_alone(&self) -> bool {
        self.is_on() && !self.is_stepwise()
    }

    /// The present, since the server has started.
    pub(in crate::in_process) fn moment(&self) -> Duration {
        self.queue.moment
    }

    /// When the controllers have something to do next, if they work without being told to.
    pub(in crate::in_process) fn next_work(&self) -> Option<Duration> {
        self.queue.next_due().filter(|_| self.works_alone())
    }

    /// How many steps wait for more than time.
    pub(in crate::in_process) fn steps_left(&self) -> usize {
        self.queue.left()
    }
}
