//! The contents of the source and of the binaries.

use std::{collections::BTreeMap, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use integration_tests::{product_lines, public_items, rooms, second_paths};

use crate::{clone::Clone, table::Measured};

pub(crate) fn measure(clone: &Clone, measured: &mut Measured) -> Result<()> {
    let source = clone.path("operator-core/src");
    measured.count("lines of operator-core", product_lines(&source, &[])?);
    measured.count(
        "lines of operator-core without testing and cli",
        product_lines(&source, &["testing", "cli"])?,
    );
    let items = public_items(&source.join("lib.rs"))?;
    let second = second_paths(&items);
    measured.count("exports of operator-core", items.iter().filter(|item| !item.hidden).count());
    measured.count("exports of operator-core, hidden ones", items.iter().filter(|item| item.hidden).count());
    measured.count("second paths to one item", second.iter().map(|paths| paths.len() - 1).sum());
    Ok(())
}

/// The rooms of a folder of the library, and the arrows between them.
pub(crate) fn halls(clone: &Clone, folder: &str, measured: &mut Measured) -> Result<()> {
    let found = rooms(&clone.path("operator-core/src"), &clone.path(folder))?;
    measured.count(format!("{folder}: rooms"), found.rooms.len());
    measured.count(format!("{folder}: arrows"), found.arrows.len());
    Ok(())
}

/// The names of the functions in a binary, one for each copy.
pub(crate) fn functions(binary: &Path) -> Result<Vec<String>> {
    let output = Command::new("nm").args(["--demangle", "--defined-only"]).arg(binary).output();
    let output = output.context("start nm, which comes with the linker (binutils)")?;
    ensure!(output.status.success(), "nm: {}", String::from_utf8_lossy(&output.stderr));
    let symbols = String::from_utf8_lossy(&output.stdout);
    let functions = symbols.lines().filter_map(|line| {
        let (_, symbol) = line.split_once(' ')?;
        let (kind, name) = symbol.split_once(' ')?;
        matches!(kind, "t" | "T" | "w" | "W").then(|| name.to_owned())
    });
    Ok(functions.collect())
}

/// How many copies of the generic code a binary has: one for each primary type.
pub(crate) fn copies(binary: &Path, measured: &mut Measured) -> Result<()> {
    let functions = functions(binary)?;
    measured.count("conformance: functions", functions.len());
    measured.count(
        "conformance: copies of the dispatcher",
        copies_of(&functions, "operator_core::dispatcher::Dispatcher<"),
    );
    Ok(())
}

/// The most copies of one function whose name begins with `prefix`.
fn copies_of(functions: &[String], prefix: &str) -> usize {
    let mut copies: BTreeMap<&str, usize> = BTreeMap::new();
    for name in functions.iter().filter(|name| name.starts_with(prefix) && !name.contains("{{closure}}")) {
        *copies.entry(name).or_default() += 1;
    }
    copies.into_values().max().unwrap_or(0)
}
