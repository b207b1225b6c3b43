//! An operator inside a test: started, waited for, counted, stopped.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;

use super::{ObjectRequest, request_log::recorder};
use crate::{
    observe::{Observation, Observer},
    operator::{
        Error, Operator, OperatorBuilder, SettleError, Settling, Stopped, StoppedSource, UnhealthySource,
    },
    resource::ObjectKey,
};

/// How long a start waits for the caches. A working start takes less, and a test must not hang.
const SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// Counts the runs of each primary.
#[derive(Debug, Default)]
struct RunCounter(Mutex<BTreeMap<ObjectKey, u32>>);

impl Observer for RunCounter {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RunStarted { key, .. } = observation {
            *self.0.lock().entry((*key).clone()).or_default() += 1;
        }
    }
}

/// What happened between two calls of [`TestOperator::settled`].
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// The number of runs that started, for each primary that had any.
    pub runs: BTreeMap<ObjectKey, u32>,
    /// The requests about single objects, in the order of their answers.
    pub requests: Vec<ObjectRequest>,
}

impl Settled {
    /// The number of runs of the primary that started.
    #[must_use]
    pub fn runs_of(&self, key: &ObjectKey) -> u32 {
        self.runs.get(key).copied().unwrap_or(0)
    }

    /// The requests that were meant to change something.
    pub fn writes(&self) -> impl Iterator<Item = &ObjectRequest> {
        self.requests.iter().filter(|request| request.is_write())
    }

    /// The writes, printed; for comparing and for messages.
    #[must_use]
    pub fn written(&self) -> Vec<String> {
        self.writes().map(ToString::to_string).collect()
    }
}

/// An operator inside a test. JOSDK's `LocallyRunOperatorExtension`.
///
/// It lives on the test's own runtime and ends with it at the latest.
#[derive(Debug)]
pub struct TestOperator {
    operator: Operator,
    requests: Arc<Mutex<Vec<ObjectRequest>>>,
    runs: Arc<RunCounter>,
}

impl TestOperator {
    /// Starts the operator and waits until its caches are synced.
    ///
    /// # Errors
    /// If the declaration is wrong or there is no cluster. If the caches aren't synced after a minute:
    /// [`Error::NotSynced`], which names the event sources and what is missing.
    pub async fn start(builder: OperatorBuilder) -> Result<Self, Error> {
        let operator = Self::start_unsynced(builder).await?;
        if tokio::time::timeout(SYNC_TIMEOUT, operator.operator.synced()).await.is_err() {
            let sources = operator.unhealthy_sources().await.into_iter().map(StoppedSource::from).collect();
            return Err(Error::NotSynced { timeout: SYNC_TIMEOUT, sources });
        }
        Ok(operator)
    }

    /// Starts the operator without waiting for its caches, for tests of what happens while they can't be filled.
    ///
    /// # Errors
    /// If the declaration is wrong or there is no cluster.
    pub async fn start_unsynced(builder: OperatorBuilder) -> Result<Self, Error> {
        let (requests, runs) = (Arc::default(), Arc::new(RunCounter::default()));
        let observer = Arc::clone(&runs) as Arc<dyn Observer>;
        let builder = builder.without_jitter().transport(recorder(&requests));
        let operator = builder.observer(observer).build()?;
        operator.start().await?;
        Ok(Self { operator, requests, runs })
    }

    /// The operator itself.
    #[must_use]
    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    /// Waits until nothing more happens, and returns what has happened since the last call.
    ///
    /// # Errors
    /// If it doesn't settle in time.
    pub async fn settled(&self) -> Result<Settled, SettleError> {
        self.settled_as(Settling::default()).await
    }

    /// The same with another definition of "settled".
    ///
    /// # Errors
    /// If it doesn't settle in time.
    pub async fn settled_as(&self, settling: Settling) -> Result<Settled, SettleError> {
        self.operator.settled(settling).await?;
        let (mut runs, mut requests) = (self.runs.0.lock(), self.requests.lock());
        Ok(Settled { runs: std::mem::take(&mut runs), requests: std::mem::take(&mut requests) })
    }

    /// The event sources that don't work.
    pub async fn unhealthy_sources(&self) -> Vec<UnhealthySource> {
        self.operator.unhealthy_sources().await
    }

    /// Stops the operator.
    pub async fn stop(&self) -> Stopped {
        self.operator.stop().await
    }
}
