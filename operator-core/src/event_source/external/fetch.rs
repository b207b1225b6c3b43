//! The user's fetch functions, and the protection against their failures.

use std::{future::Future, time::Duration};

use crate::{
    environment::fenced_future,
    event_source::error::{BoxError, Error},
};

/// How long a fetch may take by default.
pub(crate) const DEFAULT_FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Whether an answer from memory is acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// If there was one before.
    Known,
    /// No.
    Fresh,
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
