//! Runs of all controllers of an operator together, with a limit on how many may be in progress.
//!
//! ```text
//! machine of each controller ─run─▶ HandedOut ─▶ Permitted ─ a place is free ─▶ dispatcher
//!                                                    │ the operator stops
//!                                                    └──▶ Abandoned: it has never started
//! ```
//!
//! # Guarantees
//! - Places are given in the order in which runs asked, whatever their controllers. A controller with a long queue has
//!   no more runs waiting here than there are places, so it doesn't delay others.
//! - A run that waits hasn't started: it wasn't reported to anyone, and its deadline hasn't begun.
//! - Once the operator stops, no run that waits starts any more.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::Semaphore;

use crate::{
    observe::Observers,
    processor::{HandedOut, Outcome, Run, RunExecutor},
};

/// The places of all runs of an operator.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    /// The number of places.
    pub(super) all: usize,
}

impl Places {
    pub(crate) fn new(all: usize) -> Self {
        let all = all.clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(all)), all }
    }

    /// No run starts from now on.
    pub(crate) fn close(&self) {
        self.free.close();
    }
}

/// The runs of one controller, each of which needs a place.
pub(super) struct Permitted {
    pub(super) runs: Arc<dyn RunExecutor>,
    pub(super) places: Places,
    pub(super) controller: Arc<str>,
    pub(super) observers: Observers,
}

impl RunExecutor for Permitted {
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome> {
        let (runs, free) = (Arc::clone(&self.runs), Arc::clone(&self.places.free));
        let waiting = HandedOut::new(&run.key, &self.controller, self.observers.clone());
        async move {
            let Ok(_place) = free.acquire().await else { return Outcome::Abandoned };
            waiting.starts();
            runs.execute(run).await
        }
        .boxed()
    }
}
