//! Dependent resources: what should exist for a primary, and how it is created and maintained.
//!
//! A dependent is declared once and serves all primaries. The engine treats all of them alike, and runs the same
//! algorithm with the capabilities that the dependent has:
//!
//! ```text
//! read the resource ── absent ──▶ can create? ──▶ create(desired) ──▶ Created
//!        │
//!        └── present ──▶ can update? ──▶ matches(desired)? ── no ──▶ update ──▶ Updated
//!                                                 └── yes ───────────────────▶ Matched
//! ```
//!
//! - A function of the primary, or a value that implements [`Dependent`](crate::Dependent): objects in the cluster that should
//!   exist, or, by [`Read`], that others make.
//! - [`DependentResource`] with [`Creator`], [`Updater`], [`Deleter`]: anything else; and
//!   [`bulk::BulkDependentResource`] for any number of resources.
//!
//! # Guarantees
//! - The desired state is computed at most once for a dependent in a run of its workflow; a second run of the workflow
//!   in the same run of the primary computes it again.
//! - A dependent never does what it has no capability for.
//!
//! # Assumptions
//! - `desired` is a function of the primary and the context, without side effects.

mod ask;
pub mod bulk;
mod capabilities;
mod custom;
mod erased;
mod external;
mod facts;
#[doc(hidden)]
pub mod function;
mod items;
pub(crate) mod kubernetes;
pub mod matcher;
mod only_if;

pub use crate::reconciler::workflow::DependentError as Error;
pub(crate) use capabilities::Capabilities;
pub use custom::{Creator, CustomDependent, Deleter, Deletion, DependentResource, ExplicitState, Updater};
#[doc(hidden)]
pub use erased::DependentSource;
pub use erased::Standalone;
pub(crate) use erased::{AnyDependent, Asked, Engine, Pruning};
pub(crate) use facts::{Declaration, Objects, Reading};
#[cfg(feature = "testing")]
pub(crate) use function::complete;
pub(crate) use function::declare;
pub use function::read::Read;
pub use kubernetes::Adoption;
pub(crate) use kubernetes::{Settings, forget_departed, retired, settings};
pub(crate) use only_if::Wishes;
