//! One run in its own task.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio_util::task::AbortOnDropHandle;

use super::task::RunExecutor;
use crate::{
    environment::{Environment, RUN},
    observe::{Observation, Observers},
    processor::{FailureKind, Input, Outcome, Run, RunId},
    resource::ObjectKey,
};

/// One run in its own task, which contains its panics. Dropping it cancels the task, which then ends at its next await.
/// A `JoinSet` would do the same, but starts tasks itself, past the library's one spawn function.
pub(super) struct RunTask {
    id: RunId,
    key: ObjectKey,
    handle: AbortOnDropHandle<Outcome>,
    controller: Arc<str>,
}

impl RunTask {
    pub(super) fn spawn(
        run: Run,
        executor: Arc<dyn RunExecutor>,
        controller: Arc<str>,
        observers: Observers,
        environment: &Environment,
    ) -> Self {
        let (id, key) = (run.id, run.key.clone());
        let handed_out = HandedOut::new(&key, &controller, observers);
        // The executor is called inside the task, which also catches a panic of its synchronous part.
        let handle = environment.spawn(RUN, async move {
            handed_out.starts();
            executor.execute(run).await
        });
        Self { id, key, handle: AbortOnDropHandle::new(handle), controller }
    }
}

impl Future for RunTask {
    type Output = Input;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Input> {
        let outcome = match ready!(Pin::new(&mut self.handle).poll(context)) {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => {
                tracing::error!(controller = &*self.controller, key = %self.key, %error, "a run panicked");
                Outcome::Failed { kind: FailureKind::Retryable, not_before: None, again: None }
            }
            // The runtime is shutting down.
            Err(_) => Outcome::Abandoned,
        };
        Poll::Ready(Input::Finished { run: self.id, key: self.key.clone(), outcome })
    }
}

/// A run between the machine, which counts it as running, and the executor, which reports its start. A task that is
/// cancelled before it was ever polled doesn't get that far, nor does a run that waits for a place when the operator
/// stops, and then nothing else would report that the run no longer waits.
pub(crate) struct HandedOut {
    key: ObjectKey,
    controller: Arc<str>,
    observers: Observers,
    starts: bool,
}

impl HandedOut {
    pub(crate) fn new(key: &ObjectKey, controller: &Arc<str>, observers: Observers) -> Self {
        Self { key: key.clone(), controller: Arc::clone(controller), observers, starts: false }
    }

    /// From now on its start is reported, and then its end.
    pub(crate) fn starts(mut self) {
        self.starts = true;
    }
}

impl Drop for HandedOut {
    fn drop(&mut self) {
        if !self.starts {
            let (controller, key) = (&*self.controller, &self.key);
            self.observers.observe(&Observation::RunWithdrawn { controller, key });
        }
    }
}
