//! The names of tasks, and how a simulation controls tasks: it lets others go first, and ends them all at once.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use parking_lot::Mutex;
use tokio::task::AbortHandle;

/// How many tasks of each name run. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskNames(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl TaskNames {
    /// A task of this name begins; it has ended when the value is dropped.
    pub(super) fn begin(&self, name: &'static str) -> NamedTask {
        *self.0.lock().entry(name).or_default() += 1;
        NamedTask(self.clone(), name)
    }

    pub(super) fn running(&self) -> BTreeMap<&'static str, usize> {
        self.0
            .lock()
            .iter()
            .filter(|(_, number)| **number > 0)
            .map(|(name, number)| (*name, *number))
            .collect()
    }
}

/// A task that runs.
pub(super) struct NamedTask(TaskNames, &'static str);

impl Drop for NamedTask {
    fn drop(&mut self) {
        if let Some(number) = self.0.0.lock().get_mut(self.1) {
            *number -= 1;
        }
    }
}

/// Is notified of each task that an [`Environment`](super::Environment) starts, and may let others go first. For
/// simulations; without one, tasks are the runtime's own.
pub(crate) trait TaskHook: fmt::Debug + Send + Sync {
    /// A task is about to be started; the answer is its number in the other calls.
    fn begins(&self) -> u64;

    /// The task was started. Aborting it ends it at its next await.
    fn started(&self, task: u64, handle: AbortHandle);

    /// Called before each poll: whether all tasks that are ready now go first.
    fn yields(&self, task: u64) -> bool;

    /// The task panics.
    fn panics(&self, task: u64);
}

/// A future that lets others go first whenever the hook requests it.
pub(super) struct Ordered<F> {
    future: Pin<Box<F>>,
    hook: Arc<dyn TaskHook>,
    task: u64,
}

impl<F> Ordered<F> {
    pub(super) fn new(future: F, hook: Arc<dyn TaskHook>, task: u64) -> Self {
        Self { future: Box::pin(future), hook, task }
    }
}

impl<F: Future> Future for Ordered<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        if this.hook.yields(this.task) {
            // Back to the end of the queue of those that are ready.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let _noticing = Noticing(&*this.hook, this.task);
        this.future.as_mut().poll(context)
    }
}

/// Reports a panic that passes through to the hook.
struct Noticing<'a>(&'a dyn TaskHook, u64);

impl Drop for Noticing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.panics(self.1);
        }
    }
}
