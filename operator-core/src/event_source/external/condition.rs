//! The health of a source, reported when it changes.

use std::time::Duration;

use parking_lot::Mutex;

use crate::{
    event_source::{Error, SourceEvents},
    observe::{SourceHealth, error_chain},
};

/// The health of a source.
#[derive(Debug)]
pub(super) struct Condition(Mutex<SourceHealth>);

impl Condition {
    pub(super) fn new(health: SourceHealth) -> Self {
        Self(Mutex::new(health))
    }

    pub(super) fn get(&self) -> SourceHealth {
        self.0.lock().clone()
    }

    /// Records the source's current health, and reports it if it has changed.
    pub(super) fn set(&self, events: &SourceEvents, health: &SourceHealth) {
        let mut told = self.0.lock();
        if *told != *health {
            told.clone_from(health);
            drop(told);
            events.report(health);
        }
    }
}

/// A source whose fetch failed, and which tries again after `pause`.
pub(super) fn failing(error: &Error, pause: Duration) -> SourceHealth {
    let again = pause.as_secs_f32();
    let advice = format!("what was fetched before is kept, and it is fetched again in {again} s");
    SourceHealth::Unhealthy { reason: error_chain(error), advice: Some(advice) }
}
