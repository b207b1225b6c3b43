//! Dependents that are functions.
//!
//! ```text
//! fn web(&Page) -> Option<Deployment>
//!        │ Signature: a function, of Page
//!        ├─ PrimaryIs: Page is the workflow's primary     ─┐
//!        ├─ Args: what comes after it can be taken         ├─ each with words of its own where that isn't so
//!        ├─ Wanted: Option<Deployment> says what should be ─┘
//!        └─ Call ──▶ one small object ──▶ Ask ──▶ ObjectEngine: what is compiled for a function ends there
//! ```
//!
//! # Guarantees
//! - A function is called at most once in a run of its workflow.
//! - A function of the primary alone that isn't async is also called while the nodes that its node depends on aren't ready.
//!
//! # Assumptions
//! - A function has no side effects that matter.

#![expect(missing_debug_implementations, reason = "hidden, and nobody looks at it")]

mod argument;
mod change;
mod declared;
pub(crate) mod dependent;
mod forms;
mod kind;
mod names;
#[cfg(test)]
mod names_tests;
pub(crate) mod read;
mod signature;
pub(crate) mod wanted;

pub(crate) use super::want::Want;
pub use argument::{Arg, Args};
pub use change::{Change, Done};
pub use declared::Judged;
pub(crate) use declared::declare;
pub use dependent::{ByHand, Erased, Function, PrimaryIs};
pub(crate) use dependent::{Dependent, Usual};
pub use kind::{AtRunTime, KindAtRunTime, KindOf, OfType, SaysKind};
pub(crate) use names::{complete, name_for_key};
pub use read::{OnlyRead, OnlyReadSeveral};
pub use signature::{Answered, ByRef, Call, Given, Later, Owned, Signature, Then};
pub use wanted::{Failure, Fallible, Held, Optional, Plain, Several, Shape, ShapeOf, WantOf, Wanted};
