//! Settings of an operator that come from outside its code: YAML files, environment variables, the command line, and
//! sources of your own.
//!
//! ```text
//! file ─▶ yaml ───────────┐
//! environment ─▶ variables ┼─▶ entries ─▶ resolve ─▶ settings of the operator and of each controller
//! command line ───────────┤      (key, value, place)      └─▶ mistakes, all of them, each with its place
//! your own providers ─────┘
//! ```
//!
//! # Guarantees
//! - A later source takes precedence over an earlier one, and each source over the code.
//! - All mistakes of all sources are reported together, with the file and line, or the variable: unknown keys with the
//!   nearest known one, invalid values, a key that is set twice in one source, a key that has no meaning here.
//! - Nothing is ignored silently: an unknown or invalid setting keeps the operator from starting.
//!
//! # Assumptions
//! - Everything but `loader.rs` is pure: the same sources give the same settings and the same mistakes.

mod entry;
mod keys;
mod loader;
mod nearest;
mod refused;
mod resolve;
#[cfg(test)]
mod tests;
mod values;
mod variables;
mod yaml;

pub use entry::{ConfigEntry, ConfigProvider};
pub(crate) use keys::{ElectionSettings, OperatorSettings};
pub use loader::ConfigLoader;
pub(crate) use resolve::Resolved;
