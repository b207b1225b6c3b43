//! The configuration of a machine.

use std::{sync::Arc, time::Duration};

use crate::{
    environment::Jitter,
    processor::{GenericRetry, RateLimiter, Retry},
};

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
    /// Spreads the delays after failures of the server, so that what failed together isn't retried together; `None`,
    /// the default, spreads nothing.
    pub jitter: Option<Jitter>,
}

impl Default for MachineConfig {
    fn default() -> Self {
        Self {
            max_concurrent: 50,
            retry: Arc::new(GenericRetry::default()),
            rate_limiter: None,
            max_reconciliation_interval: Some(Duration::from_secs(10 * 60 * 60)),
            jitter: None,
        }
    }
}
