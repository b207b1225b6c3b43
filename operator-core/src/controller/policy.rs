//! What a controller accepts as its retry and its rate limiter.

use std::{any::Any, sync::Arc};

use crate::processor::{Error, GenericRetry, RateLimiter, Retry};

/// What a controller accepts as a retry: a [`Retry`], or the result of making one. Its mistakes are reported with all
/// others of the controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a retry",
    note = "give a `GenericRetry`, or implement `operator_core::processor::Retry`"
)]
pub trait IntoRetry {
    /// The retry.
    ///
    /// # Errors
    /// If its settings can't work.
    fn into_retry(self) -> Result<Arc<dyn Retry>, Error>;

    /// The same, if it is the library's own.
    fn generic(&self) -> Option<GenericRetry>;
}

impl<R: Retry + 'static> IntoRetry for R {
    fn into_retry(self) -> Result<Arc<dyn Retry>, Error> {
        Ok(Arc::new(self))
    }

    fn generic(&self) -> Option<GenericRetry> {
        (self as &dyn Any).downcast_ref().copied()
    }
}

impl<R: Retry + 'static> IntoRetry for Result<R, Error> {
    fn into_retry(self) -> Result<Arc<dyn Retry>, Error> {
        Ok(Arc::new(self?))
    }

    fn generic(&self) -> Option<GenericRetry> {
        self.as_ref().ok().and_then(IntoRetry::generic)
    }
}

/// What a controller accepts as a rate limiter: a [`RateLimiter`], or the result of making one. Its mistakes are
/// reported with all others of the controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate limiter",
    note = "give a `GovernorRateLimiter`, or implement `operator_core::processor::RateLimiter`"
)]
pub trait IntoRateLimiter {
    /// The rate limiter.
    ///
    /// # Errors
    /// If its settings can't work.
    fn into_rate_limiter(self) -> Result<Arc<dyn RateLimiter>, Error>;
}

impl<L: RateLimiter + 'static> IntoRateLimiter for L {
    fn into_rate_limiter(self) -> Result<Arc<dyn RateLimiter>, Error> {
        Ok(Arc::new(self))
    }
}

impl<L: RateLimiter + 'static> IntoRateLimiter for Result<L, Error> {
    fn into_rate_limiter(self) -> Result<Arc<dyn RateLimiter>, Error> {
        Ok(Arc::new(self?))
    }
}
