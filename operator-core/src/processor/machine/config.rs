//! The configuration of a machine.

use std::{sync::Arc, time::Duration};

use crate::{
    environment::Jitter,
    processor::{GenericRetry, RateLimiter, Retry},
};

/// The default for the share by which regular delays are spread.
pub(crate) const DEFAULT_SPREAD: f64 = 0.1;

/// The settings of one controller's machine.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    /// The maximum number of concurrent runs; 50 by default, zero counts as one.
    pub max_concurrent: usize,
    /// When failed runs are retried; [`GenericRetry::default`] by default.
    pub retry: Arc<dyn Retry>,
    /// How often one primary may run; `None`, the default, for no limit.
    pub rate_limiter: Option<Arc<dyn RateLimiter>>,
    /// The longest time between the end of a run and the next one; ten hours by default, `None` for no such runs.
    pub max_reconciliation_interval: Option<Duration>,
    /// The share by which the maximum interval is randomly shortened and a reschedule lengthened, so runs that
    /// began together don't stay together; a tenth by default, 0 for exact delays.
    pub spread: f64,
    /// The randomness for that, and for the delays after failures of the server, which spreads the retries of runs that
    /// failed together; `None`, the default, spreads nothing.
    pub jitter: Option<Jitter>,
}

impl MachineConfig {
    /// A delay that is randomly shortened by at most this share of it.
    pub(super) fn at_most(&self, delay: Duration, share: f64) -> Duration {
        match &self.jitter {
            Some(jitter) if share > 0.0 => jitter.spread(delay.mul_f64(1.0 - share), share / (1.0 - share)),
            _ => delay,
        }
    }

    /// A delay that is randomly lengthened by at most this share of it.
    pub(super) fn at_least(&self, delay: Duration, share: f64) -> Duration {
        self.jitter.as_ref().map_or(delay, |jitter| jitter.spread(delay, share))
    }
}

impl Default for MachineConfig {
    fn default() -> Self {
        Self {
            max_concurrent: 50,
            retry: Arc::new(GenericRetry::default()),
            rate_limiter: None,
            max_reconciliation_interval: Some(Duration::from_secs(10 * 60 * 60)),
            spread: DEFAULT_SPREAD,
            jitter: None,
        }
    }
}
