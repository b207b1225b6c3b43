//! Macros of `operator-component`, which re-exports and documents them. Use them from there: their output names only
//! `operator_component`.
//!
//! ```text
//! "directory" ──directory──▶ files in the order of their paths ──check──▶ embedded: the value with all files
//!                  │                                              │
//!                  └──────────────── mistakes ◀───────────────────┘
//! ```
//!
//! # Guarantees
//! - All mistakes in the files of a directory are reported at once, each with its file and line.
//! - The code names files below the package's directory, so it is the same on each machine.
//!
//! # Assumptions
//! - The compiler runs again when a file has changed, because the code includes each of them. It doesn't notice an additional file.

mod check;
mod directory;
mod embedded;

use proc_macro::TokenStream;

use crate::embedded::Kind;

#[expect(
    missing_docs,
    reason = "documented where it is re-exported, so that its examples can use the library"
)]
#[proc_macro]
pub fn manifests(directory: TokenStream) -> TokenStream {
    embedded::expand(Kind::Manifests, directory.into()).into()
}

#[expect(
    missing_docs,
    reason = "documented where it is re-exported, so that its examples can use the library"
)]
#[proc_macro]
pub fn templates(directory: TokenStream) -> TokenStream {
    embedded::expand(Kind::Templates, directory.into()).into()
}
