//! Nodes that are functions or values, wired without names.
//!
//! ```text
//! web.after(html).ready(rolled_out)                        Wire: methods of functions and values
//!        │
//!      node(web): Node<Page, One<Deployment>>              its settings, with its types
//!        │ IntoNode
//!      AnyNode: the engine's node, with the types of those that it comes after as keys
//!        │ Nodes, in tuples
//!      check: keys become names, or all that is wrong ──▶ Graph
//! ```

#![expect(missing_debug_implementations, reason = "hidden, and nobody looks at it")]

/// Calls a macro for each tuple of 1 to 16 types, with a marker for each.
macro_rules! each_tuple {
    ($with:ident) => {
        each_tuple!(
            $with [N1 M1] N2 M2 N3 M3 N4 M4 N5 M5 N6 M6 N7 M7 N8 M8
            N9 M9 N10 M10 N11 M11 N12 M12 N13 M13 N14 M14 N15 M15 N16 M16
        );
    };
    ($with:ident [$($done:ident $marker:ident),*]) => { $with!($($done $marker),*); };
    ($with:ident [$($done:ident $marker:ident),*] $next:ident $next_marker:ident $($rest:ident)*) => {
        $with!($($done $marker),*);
        each_tuple!($with [$($done $marker,)* $next $next_marker] $($rest)*);
    };
}

mod check;
pub(crate) mod condition;
pub(crate) mod declared;
pub(crate) mod group;
pub(crate) mod nodes;
mod part;
pub(crate) mod record;
pub(crate) mod reference;
mod results;
pub(crate) mod value;
pub(crate) mod wire;
mod wish;

pub(in crate::workflow) mod any_node;
pub(crate) mod builder;
pub(in crate::workflow) mod ending;
pub(crate) mod graph;
pub(in crate::workflow) mod into;
#[cfg(test)]
mod tests;

pub use super::conditions::served::StaticKind;
pub use crate::dependent::record::{ManyOf, OneOf, Resources};
pub(super) use check::{Resolved, Start, resolve};
pub(crate) use condition::Condition;
pub use condition::{Answer, Child, ErasedCondition, OfCondition, OfPrimary, Subject};
pub(crate) use declared::{Node, node};
pub(crate) use nodes::{AnyNodes, IntoNode, Nodes};
pub use nodes::{IsDependent, IsNode};
pub use part::Part;
pub use record::IsRecords;
pub(crate) use reference::Predecessor;
pub use reference::{NodeRef, The};
pub use wish::{OrHold, OrHoldFallible, Wish, YesOrNo};
