//! A bundle: one node of a workflow whose objects are of several kinds, made by a generator, and its part of the status.
//!
//! ```text
//! primary ─▶ Settings ─▶ Generator ─▶ Objects ─▶ the node: applied in order, watched, pruned
//!                                                  │
//! stored BundleStatus ───────────────▶ course ◀────┴─ what the run has shown
//!                                        └─▶ BundleStatus
//! ```
//!
//! # Guarantees
//! - Objects are generated once for what they are made of; see [`RenderCache`](crate::generator::RenderCache).
//! - The size of the status depends on the number of kinds and on [`Bundle::inventory`], not on the number of objects.
//!
//! # Assumptions
//! - The names of a controller's bundles differ.

mod course;
mod declared;
mod settings;
mod shown;
mod status;
#[cfg(test)]
mod tests;

pub use declared::{Bundle, bundle};
pub use settings::Settings;
pub use status::{BundleState, BundleStatus, Count, HasBundle, Inventory, InventoryItem};
