//! Components: groups of nodes with the rules of a feature, and the condition that each has.
//!
//! ```text
//! component("web", (config, server)).suspended_if(…) ──▶ Group, which carries Rules ──▶ the workflow
//!                                                                      │
//! run.groups() ─ Rules, the nodes' results ─▶ parts ─▶ condition::judge ─▶ Components, in the status
//! ```
//!
//! # Guarantees
//! - It schedules nothing and writes nothing: a component is a group of the workflow, and its condition is a part of the status.
//! - What is stored is in the status alone, so another process goes on where this one ends.
//!
//! # Assumptions
//! - The controller's status function puts [`Components::of`] into the status in each run.

mod components;
mod declared;
mod parts;
mod rules;

pub use components::{Components, HasComponents};
pub use declared::{Component, component};
pub use rules::Answer;
