//! Reports the current state to the observers from time to time: ages and numbers that no event announces.
//!
//! `/metrics` does so itself when it is read. This is for operators whose metrics go elsewhere.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::MissedTickBehavior;
use tokio_util::task::AbortOnDropHandle;

use super::lifecycle::Running;
use crate::environment::Environment;

/// The default interval between two reports.
pub(super) const INTERVAL: Duration = Duration::from_secs(5);

/// The task that reports. Dropping it ends the task.
#[derive(Debug)]
pub(super) struct Telling(AbortOnDropHandle<()>);

impl Telling {
    pub(super) fn start(running: Weak<Running>, environment: &Environment, every: Duration) -> Self {
        Self(AbortOnDropHandle::new(environment.spawn("metrics", async move {
            let mut ticks = tokio::time::interval(every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                if let Some(running) = running.upgrade() {
                    running.tell_of_now();
                }
            }
        })))
    }

    pub(super) fn end(&self) {
        self.0.abort();
    }
}

impl Running {
    /// Reports the current state of all controllers to the observers.
    pub(super) fn tell_of_now(self: &Arc<Self>) {
        let now = self.environment.now();
        for controller in &self.controllers {
            controller.tell_of_now(&self.observers, now);
        }
    }
}
