//! Tests and checks, run as people run them.

use std::path::Path;

use anyhow::Result;

use crate::{clone::Clone, table::Measured};

/// The remaining time when everything is built.
pub(crate) fn tests(clone: &Clone, measured: &mut Measured) -> Result<()> {
    let root = clone.path("");
    clone.run(&root, "cargo", &["test", "--workspace", "--no-run"])?;
    let run = clone.run(&root, "cargo", &["test", "--workspace"])?;
    measured.seconds("cargo test --workspace, run only", run.took);
    measured.count("tests", passed(&run.stdout));
    Ok(())
}

/// In a clone of its own, with an empty target folder.
pub(crate) fn ci(revision: &str, scratch: &Path, measured: &mut Measured) -> Result<()> {
    let clone = Clone::new(revision, scratch)?;
    let run = clone.run(&clone.path(""), "env", &["CI=true", "bash", ".ci/run"])?;
    measured.seconds(".ci/run, cold, with the control plane in its cache", run.took);
    Ok(())
}

/// The sum of the test runners' summaries.
fn passed(output: &str) -> usize {
    let summaries = output.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    summaries.filter_map(|summary| summary.split(' ').next()?.parse::<usize>().ok()).sum()
}
