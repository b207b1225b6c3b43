//! The processor's handle, for other parts of the library.

use std::{sync::Arc, time::Duration};

use futures::stream::FuturesUnordered;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::task::ProcessorTask;
use crate::{
    environment::{Environment, Now},
    observe::Observers,
    processor::{Input, Machine, MachineConfig, Snapshot},
    resource::ObjectKey,
};

/// The messages in the one channel of a processor.
#[derive(Debug)]
pub(super) enum Message {
    /// For the machine.
    Input(Input),
    /// Answered when everything before it has been processed and its effects have been performed.
    Snapshot(oneshot::Sender<Snapshot>),
    /// Stops the machine; answered when no run is in progress.
    Drain(oneshot::Sender<()>),
}

/// The handle of one controller's processor. Cheap to clone; every clone sends through the same channel, which keeps
/// inputs in their order. JOSDK: `EventProcessor`.
///
/// Nothing happens before the [`ProcessorTask`] runs. When it has ended, inputs are dropped.
#[derive(Clone, Debug)]
pub(crate) struct Processor {
    sender: mpsc::UnboundedSender<Message>,
    machine: Arc<Mutex<Machine>>,
}

impl Processor {
    /// A stopped processor, and the task that drives it; `controller_name` is reported to the `observers`.
    pub(crate) fn new(
        config: MachineConfig,
        environment: Environment,
        observers: Observers,
        controller_name: Arc<str>,
    ) -> (Self, ProcessorTask) {
        // Unbounded, because an event must not be lost and its source must not wait. It stays short: the machine takes
        // in events faster than a watch delivers them.
        let (sender, receiver) = mpsc::unbounded_channel();
        let config = MachineConfig { jitter: Some(environment.jitter().clone()), ..config };
        let machine = Arc::new(Mutex::new(Machine::new(config)));
        let task = ProcessorTask {
            machine: Arc::clone(&machine),
            receiver,
            environment,
            observers,
            controller_name,
            runs: FuturesUnordered::new(),
            effects: Vec::new(),
            drains: Vec::new(),
        };
        (Self { sender, machine }, task)
    }

    /// Sends one input. Never blocks.
    pub(crate) fn send(&self, input: Input) {
        self.tell(Message::Input(input));
    }

    /// Lets runs of the primaries in `namespace`, or of all, start, unless another opening has begun since.
    pub(crate) fn open(&self, opening: u64, namespace: Option<&str>) {
        self.send(Input::Start { opening, namespace: namespace.map(Arc::from) });
    }

    /// Lets no more runs start and waits for those in progress, for at most `deadline` (a time from now). True if all
    /// have ended. Those that have not are cancelled by dropping the [`ProcessorTask`].
    pub(crate) async fn drain(&self, deadline: Duration) -> bool {
        let (reply, drained) = oneshot::channel();
        self.tell(Message::Drain(reply));
        matches!(tokio::time::timeout(deadline, drained).await, Ok(Ok(())))
    }

    /// The state of the processor in numbers. A barrier: the answer includes everything that was sent before through
    /// any clone of this handle. If the task has ended, the state at its end.
    pub(crate) async fn snapshot(&self) -> Snapshot {
        let (reply, snapshot) = oneshot::channel();
        self.tell(Message::Snapshot(reply));
        match snapshot.await {
            Ok(snapshot) => snapshot,
            Err(_) => self.machine.lock().snapshot(),
        }
    }

    /// Whether another run of `key` follows anyway: during a run, whether something has happened since it started.
    /// Inputs that are still in the channel are not seen. JOSDK: `isNextReconciliationImminent`.
    #[must_use]
    pub(crate) fn next_reconciliation_imminent(&self, key: &ObjectKey) -> bool {
        self.machine.lock().next_reconciliation_imminent(key)
    }

    /// How long the primary that has waited longest for a free place has waited; zero if none waits.
    pub(crate) fn longest_wait(&self, now: Now) -> Duration {
        self.machine.lock().oldest_waiting().map_or(Duration::ZERO, |since| now.since(since))
    }

    fn tell(&self, message: Message) {
        // The only error is that the task has ended. Then nobody is interested.
        let _ = self.sender.send(message);
    }
}
