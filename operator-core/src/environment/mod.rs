//! The environment of the library: time, wall-clock time, randomness, and tasks.
//!
//! Everything that isn't a function of its arguments comes through an [`Environment`], which lets a test pause time
//! and a simulation can replace all four. Decisions take [`Now`] as an argument and query nothing.

mod clock;
mod fence;
mod quota;
mod random;
mod shared;
mod tasks;

use std::{collections::BTreeMap, future::Future, sync::Arc};

use futures::FutureExt;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

pub(crate) use clock::{Clock, SystemClock};
pub use clock::{Now, WallClock};
pub(crate) use fence::{fenced, fenced_future};
pub(crate) use quota::{Quota, QuotaState};
pub(crate) use random::Jitter;
use shared::SharedValues;
pub(crate) use tasks::TaskHook;
use tasks::{Ordered, TaskNames};

/// The name of the task in which user code runs.
pub(crate) const RUN: &str = "run";

/// The name of the tasks that find out what the cluster serves: they begin when somebody asks, and end with the operator.
pub(crate) const DISCOVERY: &str = "discovery";

/// The environment of one operator, which can be replaced. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Environment {
    clock: Clock,
    wall_clock: Arc<dyn WallClock>,
    jitter: Jitter,
    tasks: TaskTracker,
    names: TaskNames,
    hook: Option<Arc<dyn TaskHook>>,
    host: Arc<str>,
    shared: SharedValues,
}

impl Environment {
    /// Real time and real randomness. Must be called inside a tokio runtime's context, whose clock it follows.
    #[must_use]
    pub fn real() -> Self {
        Self {
            clock: Clock::start(),
            wall_clock: Arc::new(SystemClock),
            jitter: Jitter::from_entropy(),
            tasks: TaskTracker::new(),
            names: TaskNames::default(),
            hook: None,
            host: std::env::var("HOSTNAME").unwrap_or_default().into(),
            shared: SharedValues::default(),
        }
    }

    /// The same environment with another wall clock.
    #[must_use]
    pub fn with_wall_clock(mut self, wall_clock: Arc<dyn WallClock>) -> Self {
        self.wall_clock = wall_clock;
        self
    }

    /// The same environment with randomness that repeats itself for one `seed`.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.jitter = Jitter::seeded(seed);
        self
    }

    /// The same environment, in which `hook` is notified of each task and may let others go first.
    #[cfg(feature = "testing")]
    pub(crate) fn with_task_hook(mut self, hook: Arc<dyn TaskHook>) -> Self {
        self.hook = Some(hook);
        self
    }

    /// The same environment on a machine, or in a pod, of that name.
    #[cfg(feature = "testing")]
    pub(crate) fn on_host(mut self, host: &str) -> Self {
        self.host = host.into();
        self
    }

    /// The name of the machine or the pod, for finding its logs; empty if unknown.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Time since the operator's start.
    #[must_use]
    pub fn now(&self) -> Now {
        self.clock.now()
    }

    /// The clock behind [`Environment::now`], which can also sleep.
    #[must_use]
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Wall-clock time, for transition times, Events and leases.
    #[must_use]
    pub fn wall_clock(&self) -> &dyn WallClock {
        &*self.wall_clock
    }

    /// Random spreads of delays.
    #[must_use]
    pub(crate) fn jitter(&self) -> &Jitter {
        &self.jitter
    }

    /// Starts a task. Together with `call_apart` the only code in the library that does so. Its name says what it is for, where
    /// tasks are counted.
    pub fn spawn<F>(&self, name: &'static str, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let begun = self.names.begin(name);
        let future = future.map(move |output| {
            drop(begun);
            output
        });
        let Some(hook) = &self.hook else { return self.tasks.spawn(future) };
        let task = hook.begins();
        let handle = self.tasks.spawn(Ordered::new(future, Arc::clone(hook), task));
        hook.started(task, handle.abort_handle());
        handle
    }

    /// Calls a function that may block, on its own thread; in a simulation in a task like any other, because it has one
    /// thread.
    pub(crate) fn call_apart(&self, call: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        match &self.hook {
            Some(_) => self.spawn("call", async { call() }),
            None => {
                let begun = self.names.begin("call");
                self.tasks.spawn_blocking(move || {
                    let _begun = begun;
                    call();
                })
            }
        }
    }

    /// The tasks that have been started and have not ended: how many there are of each name.
    #[must_use]
    pub fn tasks(&self) -> BTreeMap<&'static str, usize> {
        self.names.running()
    }

    /// Resolves when every task that was started has ended. A task that was aborted ends at its next await, so this
    /// waits until one that never awaits returns.
    pub async fn idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
