//! Logs when an event source stops working, and when it works again: once each, not at every attempt.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use crate::observe::{Observation, Observer, SourceHealth};

/// The sources, by controller and name, that were failing when last seen.
#[derive(Debug, Default)]
pub(super) struct HealthLog {
    failing: Mutex<BTreeSet<(String, String)>>,
}

impl Observer for HealthLog {
    fn observe(&self, observation: &Observation<'_>) {
        match observation {
            Observation::SourceStopped { controller, source, namespace, error } => {
                tracing::error!(controller, source, namespace, error, "event source has stopped for good");
            }
            Observation::SourceRemoved { controller, source } => {
                self.failing.lock().remove(&((*controller).to_owned(), (*source).to_owned()));
            }
            Observation::SourceHealth { controller, source, health } => {
                let id = ((*controller).to_owned(), (*source).to_owned());
                match health {
                    SourceHealth::Unhealthy { reason, advice } => {
                        if self.failing.lock().insert(id) {
                            let advice = advice.as_deref().unwrap_or("it is retried, with growing pauses");
                            tracing::warn!(controller, source, reason, advice, "event source does not work");
                        }
                    }
                    SourceHealth::Healthy => {
                        if self.failing.lock().remove(&id) {
                            tracing::info!(controller, source, "event source works again");
                        }
                    }
                    SourceHealth::Syncing => {}
                }
            }
            _ => {}
        }
    }
}
