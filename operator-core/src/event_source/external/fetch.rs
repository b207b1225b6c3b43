//! The user's fetch functions, the protection against their failures, and the source's health.

use std::{future::Future, time::Duration};

use parking_lot::Mutex;

use crate::{
    environment::fenced_future,
    event_source::{
        SourceEvents,
        error::{BoxError, Error},
    },
    observe::{SourceHealth, error_chain},
};

/// How long a fetch may take by default.
pub(crate) const DEFAULT_FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Whether an answer from memory is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Yes, if something was fetched before.
    Known,
    /// No.
    Fresh,
    /// No, and only for a primary that should be polled.
    Polled,
}

/// Runs a fetch: a panic and a timeout are errors like any other.
pub(super) async fn guarded<T>(
    event_source: &str,
    timeout: Duration,
    fetch: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, Error> {
    let name = || event_source.to_owned();
    match tokio::time::timeout(timeout, fenced_future(fetch)).await {
        Ok(Ok(Ok(fetched))) => Ok(fetched),
        Ok(Ok(Err(source))) => Err(Error::Fetch { event_source: name(), source }),
        Ok(Err(_)) => Err(Error::Panicked { event_source: name() }),
        Err(_) => Err(Error::TimedOut { event_source: name(), timeout }),
    }
}

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
    let advice = format!("the resources fetched before are kept; the next fetch is in {again} s");
    SourceHealth::Unhealthy { reason: error_chain(error), advice: Some(advice) }
}
