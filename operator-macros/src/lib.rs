//! Macros of `operator-core`, which re-exports and documents them. Use them from there: their output names only
//! `operator_core`.
//!
//! A macro generates code that could be written by hand in a screenful, and nothing else.
//!
//! ```text
//! attribute ──entries──▶ keys and values ──form──▶ checked values ──▶ calls of the builder
//!                             │                        │
//!                             └───────── errors ◀──────┴── workflow::graph
//! ```
//!
//! # Guarantees
//! - All mistakes in one item are reported at once, each at its place, with what to write instead.
//! - An item with mistakes still gets its implementation. Its absence would cause further errors.

mod controller_configuration;
mod entries;
mod errors;
mod form;
mod literals;
mod operator_test;
mod policies;
mod sim_test;
mod target;
#[cfg(test)]
mod tests;
mod workflow;

use proc_macro::TokenStream;

#[expect(
    missing_docs,
    reason = "documented where it is re-exported, so that its examples can use the library"
)]
#[proc_macro_derive(ControllerConfiguration, attributes(controller, workflow))]
pub fn controller_configuration(item: TokenStream) -> TokenStream {
    controller_configuration::expand(item.into()).into()
}

#[expect(
    missing_docs,
    reason = "documented where it is re-exported, so that its examples can use the library"
)]
#[proc_macro_attribute]
pub fn sim_test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sim_test::expand(attribute.into(), item.into()).into()
}

#[expect(
    missing_docs,
    reason = "documented where it is re-exported, so that its examples can use the library"
)]
#[proc_macro_attribute]
pub fn operator_test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    operator_test::expand(arguments.into(), item.into()).into()
}
