//! The results, as a table.

use std::{
    io::{self, Write},
    time::Duration,
};

use anyhow::{Context, Result};

/// The results for a revision, in the order in which they were measured.
pub(crate) struct Measured {
    revision: String,
    rows: Vec<(String, String)>,
}

impl Measured {
    pub(crate) fn new(revision: &str) -> Self {
        Self { revision: revision.to_owned(), rows: Vec::new() }
    }

    pub(crate) fn seconds(&mut self, what: impl Into<String>, took: Duration) {
        self.rows.push((what.into(), format!("{:.0} s", took.as_secs_f64())));
    }

    pub(crate) fn number(&mut self, what: impl Into<String>, number: f64) {
        self.rows.push((what.into(), format!("{number:.1}")));
    }

    pub(crate) fn count(&mut self, what: impl Into<String>, count: usize) {
        self.rows.push((what.into(), count.to_string()));
    }

    pub(crate) fn bytes(&mut self, what: impl Into<String>, bytes: u64) {
        self.rows.push((what.into(), format!("{} MB", bytes / 1_000_000)));
    }

    fn of(&self, what: &str) -> Option<&str> {
        self.rows.iter().find(|(row, _)| row == what).map(|(_, value)| value.as_str())
    }
}

/// The maximum, by the row's name.
const BUDGETS: &[(&str, &str)] = &[
    ("conformance (tests): size", "120 MB"),
    ("conformance (tests): build, s", "50"),
    ("conformance (tests): peak memory of its build", "1800 MB"),
    ("conformance: copies of the dispatcher", "15"),
    ("cargo test --workspace --no-run, cold", "240 s"),
    ("the same after a change of a line of the core's machine", "a third of before"),
    (".ci/run, cold, with the control plane in its cache", "480 s"),
    ("cargo test --workspace, run only", "360 s"),
    ("exports of operator-core", "280"),
    ("second paths to one item", "0"),
    ("lines of operator-core", "69000"),
    ("lines of operator-core without testing and cli", "54000"),
    ("operator-core/src/operations: rooms", "16"),
    ("operator-core/src/operations: arrows", "45"),
];

/// Prints a table in Markdown.
pub(crate) fn print(before: Option<&Measured>, now: &Measured) -> Result<()> {
    let mut out = io::stdout().lock();
    let before_revision = before.map_or("before", |before| before.revision.as_str());
    let mut text =
        format!("| quantity | {before_revision} | {} | at most |\n|---|---|---|---|\n", now.revision);
    let only_before = before.into_iter().flat_map(|before| &before.rows);
    let names = now.rows.iter().chain(only_before.filter(|(what, _)| now.of(what).is_none()));
    for (what, _) in names {
        let before = before.and_then(|before| before.of(what)).unwrap_or("-");
        let budget = BUDGETS.iter().find(|(row, _)| row == what).map_or("", |(_, budget)| budget);
        text += &format!("| {what} | {before} | {} | {budget} |\n", now.of(what).unwrap_or("-"));
    }
    out.write_all(text.as_bytes()).context("print the table")
}
