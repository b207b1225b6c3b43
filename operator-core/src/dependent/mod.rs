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
//! - [`Records`] of a type that implements [`External`]: records in another system.
//!
//! # Guarantees
//! - The desired state is computed at most once for a dependent in a run of its workflow; a second run of the workflow
//!   in the same run of the primary computes it again.
//! - Owner and marks of an object are kept up, whatever the dependent does about its content.
//! - A dependent never does what it has no capability for.
//!
//! # Assumptions
//! - `desired` is a function of the primary and the context, without side effects.

mod capabilities;
mod deletion;
mod erased;
mod facts;
#[doc(hidden)]
pub mod function;
mod items;
mod lookups;
/// How a dependent is compared with its desired state.
pub mod matcher {
    pub use crate::operations::matcher::{Comparison, GenericMatcher, Match, Matcher};
}
pub(crate) mod object;
mod question;
pub(crate) mod record;
pub(crate) mod set;
mod system;
pub(crate) mod want;

pub use crate::results::DependentError as Error;
pub(crate) use capabilities::Capabilities;
pub use deletion::Deletion;
#[cfg(any(test, feature = "testing"))]
pub(crate) use erased::Deleted;
pub use erased::Standalone;
pub(crate) use erased::{AnyDependent, Asked, DependentSource, Engine, Gate, Pruning, Wishes};
pub(crate) use facts::{Declaration, OfKind, Reading, Unsound};
#[cfg(feature = "testing")]
pub(crate) use function::complete;
pub(crate) use function::declare;
pub use function::dependent::Usual;
pub use function::read::Read;
pub use lookups::Lookups;
pub use object::Adoption;
pub(crate) use object::{Changes, FromPrimary, Judge, ObjectSettings, forget_departed, retired, settings};
pub use record::{External, Found, NotMade, Pushes, Records, Token, Wants};
pub use set::objects::Pushed;
pub(crate) use set::{FormerSets, SetWords, declare_set};
#[cfg(feature = "testing")]
pub(crate) use system::PERMIT;
pub use system::System;
