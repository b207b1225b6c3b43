//! An API server inside the process: for tests without Go, and for simulations.
//!
//! ```text
//!  request ──▶ server: paths, verbs, lists, watches, Status errors
//!                 │                      │
//!                 ▼                      ▼
//!              fields                  store
//!   apply, managed fields, defaults    objects, one resourceVersion, event log
//! ```
//!
//! # Guarantees
//! - What it doesn't do it answers with 501 and the feature's name; it never does something only almost correctly.
//! - The same requests in the same order get the same answers: they depend on no clock, no randomness and no iteration
//!   order of a hash map.

mod access;
mod addresses;
mod admission;
mod aggregated;
mod audit;
mod back_door;
mod budgets;
mod cel;
mod collector;
mod controllers;
mod crd;
mod definitions;
mod deprecated;
mod discovery;
mod failure;
mod fields;
mod go;
mod identity;
mod kinds;
mod lenient;
mod list_options;
mod listen;
mod namespaces;
mod openapi;
mod paths;
mod pressure;
mod read;
mod request;
mod rights;
mod selector;
mod service;
mod sizes;
mod state;
mod steps;
mod store;
mod stream;
mod tables;
#[cfg(test)]
mod tests;
mod validate;
mod values;
mod warnings;
mod watch;
mod write;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    task::Waker,
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

pub use controllers::Controllers;
pub use listen::Listening;
pub use service::{InProcessServer, ResponseBody, Snapshot};
use state::State;
pub use steps::{ClusterController, Node, Pods};

use crate::audit::MemoryLog;

/// Returns the time that the server writes into objects.
type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// What all clones of a server share.
struct Shared {
    state: Mutex<State>,
    /// The watches that wait for the next event, in the order in which they were opened.
    watchers: Mutex<BTreeMap<u64, Waker>>,
    opened: AtomicU64,
    audit: MemoryLog,
    pressure: pressure::Pressure,
    clock: Clock,
    /// When the state had its moment.
    since: Mutex<(Instant, Duration)>,
}

impl Shared {
    fn new(clock: Clock, state: State) -> Self {
        Self {
            since: Mutex::new((Instant::now(), state.steps.moment)),
            state: Mutex::new(state),
            watchers: Mutex::default(),
            opened: AtomicU64::new(0),
            audit: MemoryLog::default(),
            pressure: pressure::Pressure::default(),
            clock,
        }
    }

    /// The present in tokio's time, counted from the start of the server.
    fn moment(&self) -> Duration {
        let (since, moment) = *self.since.lock();
        moment.saturating_add(Instant::now().saturating_duration_since(since))
    }

    /// Continues from another state, and obeys what it was told about its controllers.
    fn skip_to(&self, mut state: State) {
        let mut current = self.state.lock();
        state.steps.obey(&current.steps);
        *self.since.lock() = (Instant::now(), state.steps.moment);
        *current = state;
    }

    /// Does something with the present state: what has become due in the meantime was done before.
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let now = (self.clock)();
        let mut state = self.state.lock();
        let before = state.store.version();
        state.advance(now, self.moment());
        let done = work(&mut state);
        let changed = state.store.version() != before;
        drop(state);
        if changed {
            self.wake();
        }
        done
    }

    fn next_watcher(&self) -> u64 {
        self.opened.fetch_add(1, Ordering::Relaxed)
    }

    fn register(&self, watcher: u64, waker: &Waker) {
        self.watchers.lock().insert(watcher, waker.clone());
    }

    fn unregister(&self, watcher: u64) {
        self.watchers.lock().remove(&watcher);
    }

    /// Wakes all waiting watches, after a change.
    fn wake(&self) {
        let waiting = std::mem::take(&mut *self.watchers.lock());
        waiting.into_values().for_each(Waker::wake);
    }
}
