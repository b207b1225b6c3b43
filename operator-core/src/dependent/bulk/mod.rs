//! Dependents of which a primary has any number, each known by a key.
//!
//! ```text
//! actual, desired ─▶ delete what is not desired ─▶ for each desired one: create, update, or match
//!                              └─────────── all at once, within a bound ──────────┘
//!                         an item that fails stops no other; the node fails with all errors and their keys, and its result
//!                         has them beside what was done
//! ```

mod several;

pub(super) use several::Several;
