//! The public items of a crate of the workspace, read from its source.
//!
//! ```text
//!  lib.rs ──parse──▶ modules, each with its entries ──walk from the root──▶ public paths
//!                    (definitions, modules, `use`)                          each with the place of its definition
//! ```
//!
//! # Guarantees
//! - Everything that is public from the root down is in the list, also behind a feature and under `#[doc(hidden)]`.
//! - A re-export is followed to the definition, which distinguishes two paths to one item from two items.
//!
//! # Assumptions
//! - Modules are where rustc looks for them by default. The output of a macro is seen where a `use` names it.
//! - Methods and fields are not listed: they come with their type.

mod parse;
mod walk;

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;

/// A public path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicItem {
    /// The path as users write it, without the crate's name.
    pub path: String,
    /// The keyword before the name in its definition, such as `struct`; `use` for another crate's item.
    pub kind: &'static str,
    /// Where it is defined: a path in the crate, or in another one.
    pub defined: String,
    /// Whether it, or a module around it, is not in the documentation.
    pub hidden: bool,
}

/// The public items of the crate whose root is `lib`, sorted by their paths.
///
/// # Errors
/// When a file is missing or isn't Rust.
pub fn public_items(lib: &Path) -> Result<Vec<PublicItem>> {
    let modules = parse::modules(lib)?;
    let mut items = walk::walk(&modules)?;
    items.sort();
    items.dedup();
    Ok(items)
}

/// The items to which more than one path leads, each with its paths.
#[must_use]
pub fn second_paths(items: &[PublicItem]) -> Vec<Vec<&str>> {
    let mut paths: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for item in items {
        paths.entry((&item.defined, item.kind)).or_default().push(&item.path);
    }
    paths.into_values().filter(|paths| paths.len() > 1).collect()
}
