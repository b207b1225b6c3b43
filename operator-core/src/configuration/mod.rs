//! Settings of an operator that come from outside its code: files of YAML, environment variables, the command line, and
//! whatever else a user asks.
//!
//! ```text
//! file ─▶ yaml ───────────┐
//! environment ─▶ variables ┼─▶ entries ─▶ resolve ─▶ settings of the operator and of each controller
//! command line ───────────┤      (key, value, place)      └─▶ mistakes, all of them, each with its place
//! providers of one's own ─┘
//! ```
//!
//! # Guarantees
//! - A later source wins over an earlier one, and each of them over what the code declares.
//! - Every mistake of every source is told at once, with the file and line, or the variable: unknown keys with the nearest
//!   known one, values that can't be, a key that is set twice in one source, a key that has no meaning here.
//! - Nothing is dropped without a word: what is not understood keeps the operator from starting.
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
