//! An API server inside the process: the one of tests that need no Go, and of simulations.
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
//! - What it does not do it answers with 501 and the feature's name; never with something that is only nearly right.
//! - The same requests in the same order get the same answers: no clock, no chance and no iteration order of a hash map is
//!   in them.

mod fields;
