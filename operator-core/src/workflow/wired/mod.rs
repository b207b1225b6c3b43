//! Nodes that are functions or values, wired without names.
//!
//! ```text
//! web.after(html).ready(rolled_out)                        Wire: methods of functions and values
//!        │
//!      node(web): Node<Page, One<Deployment>>              what is said of it, with its types
//!        │ IntoNode
//!      AnyNode: the engine's node, with the types of those that it comes after as keys
//!        │ Nodes, in tuples
//!      check: keys become names, or all that is wrong ──▶ Graph
//! ```

#![expect(missing_debug_implementations, reason = "hidden, and nobody looks at it")]

mod check;
pub(crate) mod condition;
pub(crate) mod declared;
pub(crate) mod external;
mod nodes;
mod part;
pub(crate) mod reference;
mod results;
pub(crate) mod value;
pub(crate) mod wire;
mod wish;

#[cfg(test)]
mod tests;

pub use super::conditions::served::StaticKind;
pub use crate::reconciler::workflow::NodeKey;
pub(super) use check::{Resolved, resolve};
pub(crate) use condition::Condition;
pub use condition::{Answer, Child, ErasedCondition, OfCondition, OfPrimary, Subject};
pub(crate) use declared::{Node, node};
pub use external::{IsBulkCustom, IsCustom, IsExternal, ManyOf, OneOf, Resources};
pub use nodes::{AnyNodes, IntoNode, IsDependent, IsNode, Nodes};
pub use part::Part;
pub use reference::{NodeRef, The};
pub use value::Value;
pub use wish::{OrHold, OrHoldFallible, Wish, YesOrNo};
