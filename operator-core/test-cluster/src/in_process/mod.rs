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
mod aggregated;
mod audit;
mod cel;
mod collector;
mod controllers;
mod crd;
mod definitions;
mod discovery;
mod failure;
mod fields;
mod go;
mod kinds;
mod listen;
mod namespaces;
mod openapi;
mod read;
mod request;
mod selector;
mod service;
mod sizes;
mod state;
mod store;
mod stream;
mod tables;
#[cfg(test)]
mod tests;
mod validate;
mod values;
mod watch;
mod workloads;
mod write;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    task::Waker,
};

use parking_lot::Mutex;

pub use controllers::Controllers;
pub use listen::Listening;
pub use service::{InProcessServer, ResponseBody, Snapshot};
use state::State;

use crate::audit::MemoryLog;

/// What all clones of a server share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// The watches that wait for the next event, in the order in which they were opened.
    watchers: Mutex<BTreeMap<u64, Waker>>,
    opened: AtomicU64,
    audit: MemoryLog,
}

impl Shared {
    fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            watchers: Mutex::default(),
            opened: AtomicU64::new(0),
            audit: MemoryLog::default(),
        }
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
