//! The tests that need the real API server are listed, with the reason, where users look for the limits of the other one.
//!
//! `operator_test` ensures that each of them does fail inside the process.

use std::collections::BTreeSet;

use crate::sources;

const PAGE: &str = "docs/src/in-process-server.md";

/// Test and reason, as the attributes say.
fn declared() -> BTreeSet<(String, String)> {
    let mut declared = BTreeSet::new();
    for source in sources::rust("integration-tests/tests").into_iter().chain(sources::rust("samples")) {
        let code = source.code();
        let mut lines = code.lines().map(str::trim);
        while let Some(line) = lines.next() {
            let Some(arguments) = line.strip_prefix("#[operator_test(real = \"") else { continue };
            let reason = arguments.split('"').next().unwrap_or_default();
            let name = lines.by_ref().find_map(|line| line.split_once("fn ")).expect("a function follows").1;
            let name = name.split(['(', '<']).next().unwrap_or_default();
            declared.insert((name.to_owned(), reason.to_owned()));
        }
    }
    declared
}

/// Test and reason, as the page says: the rows of its table that begin with a test's name.
fn listed() -> BTreeSet<(String, String)> {
    let pages = sources::all("docs/src");
    let page = pages.iter().find(|page| PAGE.ends_with(&page.path)).expect("there is the page");
    let (_, table) = page.text.split_once("## Tests that need the real server").expect("there is the table");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let rows = rows.filter_map(|row| row.split_once("` | "));
    rows.map(|(test, reason)| (test.to_owned(), reason.to_owned())).collect()
}

#[test]
fn the_page_lists_the_tests_that_need_the_real_server() {
    let declared = declared();
    assert!(!declared.is_empty(), "no exception at all: is the attribute spelled differently?");
    assert_eq!(listed(), declared, "left: {PAGE}, right: the attributes");
}
