//! The part of the processor that runs.

use std::{panic::resume_unwind, sync::Arc};

use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::{handle::Message, run_task::RunTask};
use crate::{
    environment::{Environment, fenced_future},
    observe::{Observation, Observers},
    processor::{Effect, Input, Machine, Outcome, Run, Snapshot},
};

/// Performs runs. Provided by the controller: the processor knows neither dispatcher nor user code.
pub(crate) trait RunExecutor: Send + Sync {
    /// Performs one run. The future is polled in its own task, and can be dropped at any await. A panic counts as a
    /// retryable failure.
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome>;
}

/// The maximum number of messages that are processed in a row before runs that have ended are checked again.
const BATCH: usize = 256;

/// Drives one processor: owns its runs and its one sleep.
#[must_use = "a processor does nothing until its task runs"]
pub(crate) struct ProcessorTask {
    pub(super) machine: Arc<Mutex<Machine>>,
    pub(super) receiver: mpsc::UnboundedReceiver<Message>,
    pub(super) environment: Environment,
    pub(super) observers: Observers,
    pub(super) controller_name: Arc<str>,
    pub(super) runs: FuturesUnordered<RunTask>,
    pub(super) effects: Vec<Effect>,
    pub(super) drains: Vec<oneshot::Sender<()>>,
}

debug_of!(ProcessorTask: "ProcessorTask", |it| controller_name: it.controller_name);

impl ProcessorTask {
    /// Drives the processor until the last [`super::Processor`] is dropped; `executor` performs the runs. Runs still in
    /// progress at the end, or when this future is dropped, are cancelled.
    ///
    /// A panic of the user's retry or rate limiter ends it, and with it all runs of the controller.
    pub(crate) async fn run(self, executor: Arc<dyn RunExecutor>) {
        let controller = Arc::clone(&self.controller_name);
        if let Err(payload) = fenced_future(self.drive(executor)).await {
            tracing::error!(
                controller = &*controller,
                "the controller has stopped: its retry or rate limiter panicked; both must return for all arguments. Only \
                 a new start of the operator brings it back"
            );
            resume_unwind(payload);
        }
    }

    async fn drive(mut self, executor: Arc<dyn RunExecutor>) {
        let mut messages = Vec::with_capacity(BATCH);
        loop {
            let deadline = self.machine.lock().next_deadline();
            // In this order: the end of a run frees a place and has its primary's outcome, so it comes before
            // new events; timers come last, but can't be starved, because whatever wakes the task, due timers are fired.
            let ended = tokio::select! {
                biased;
                Some(ended) = self.runs.next() => Some(ended),
                count = self.receiver.recv_many(&mut messages, BATCH) => {
                    if count == 0 {
                        return;
                    }
                    None
                }
                () = self.environment.clock().sleep_until(deadline) => None,
            };
            // If runs end faster than they are processed, there is always one that has ended: other messages, a stop
            // for example, must not wait for the last one.
            while ended.is_some()
                && messages.len() < BATCH
                && let Ok(message) = self.receiver.try_recv()
            {
                messages.push(message);
            }
            let snapshots = self.take_in(ended, &mut messages);
            self.perform(&executor);
            for (reply, snapshot) in snapshots {
                // An error means that the asker has stopped waiting.
                let _ = reply.send(snapshot);
            }
            if self.runs.is_empty() {
                for reply in self.drains.drain(..) {
                    let _ = reply.send(());
                }
            }
        }
    }

    /// Passes inputs to the machine. Answers the requested snapshots, each at its place among the messages.
    fn take_in(
        &mut self,
        ended: Option<Input>,
        messages: &mut Vec<Message>,
    ) -> Vec<(oneshot::Sender<Snapshot>, Snapshot)> {
        let now = self.environment.now();
        let effects = &mut self.effects;
        let mut snapshots = Vec::new();
        let mut machine = self.machine.lock();
        if let Some(ended) = ended {
            machine.on(ended, now, effects);
        }
        machine.tick(now, effects);
        for message in messages.drain(..) {
            match message {
                Message::Input(input) => machine.on(input, now, effects),
                Message::Snapshot(reply) => snapshots.push((reply, machine.snapshot())),
                Message::Drain(reply) => {
                    machine.on(Input::Stop, now, effects);
                    self.drains.push(reply);
                }
            }
        }
        snapshots
    }

    /// Performs the machine's effects. The machine is not locked: observers and executors may query it.
    fn perform(&mut self, executor: &Arc<dyn RunExecutor>) {
        let controller = &*self.controller_name;
        let tell = |of: Observation<'_>| self.observers.observe(&of);
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Added(key) => tell(Observation::PrimaryAdded { controller, key: &key }),
                Effect::Forgotten(key) => tell(Observation::PrimaryGone { controller, key: &key }),
                Effect::Submitted { key, attempt } => {
                    tell(Observation::RunSubmitted { controller, key: &key, attempt })
                }
                Effect::Withdrawn(key) => tell(Observation::RunWithdrawn { controller, key: &key }),
                Effect::RetryScheduled { key, attempt, after } => {
                    tell(Observation::RetryScheduled { controller, key: &key, attempt, after })
                }
                Effect::RetriesExhausted(key) => {
                    tracing::error!(
                        controller, %key,
                        "no retry is left; the next event or the maximum interval leads to the next run"
                    );
                }
                Effect::Run(run) => {
                    let (executor, name) = (Arc::clone(executor), Arc::clone(&self.controller_name));
                    let observers = self.observers.clone();
                    self.runs.push(RunTask::spawn(run, executor, name, observers, &self.environment));
                }
            }
        }
    }
}

impl Drop for ProcessorTask {
    fn drop(&mut self) {
        let Snapshot { queued, keys: primaries, .. } = self.machine.lock().snapshot();
        let controller = &*self.controller_name;
        self.observers.observe(&Observation::ProcessingStopped { controller, queued, primaries });
    }
}
