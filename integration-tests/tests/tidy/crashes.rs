//! The table of what a crash can leak names existing tests.

use std::collections::BTreeSet;

use crate::{rows::tests_in, sources};

const PAGE: &str = "records.md";
const TESTS: &str = "integration-tests/tests/conformance/beyond/records";

/// What each row names as its test.
fn named(page: &str) -> Vec<&str> {
    let (_, after) = page.split_once("## What a crash can leak").expect("the page has the table");
    let rows =
        after.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| "));
    rows.skip(1).map(|row| row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default()).collect()
}

#[test]
fn each_row_of_the_table_of_crashes_names_a_test_that_is_there() {
    let pages = sources::all("docs/src");
    let page = pages.iter().find(|page| page.path == PAGE).expect("the book has the page");
    let tests: BTreeSet<String> =
        sources::rust(TESTS).iter().flat_map(|source| tests_in(&source.code())).collect();
    let named = named(&page.text);
    assert!(named.len() > 10, "only {} rows", named.len());
    let is_there = |cell: &&&str| **cell == "the same" || tests.contains(cell.trim_matches('`'));
    let missing: Vec<_> = named.iter().filter(|cell| !is_there(cell)).collect();
    assert!(missing.is_empty(), "docs/src/{PAGE} names tests that are not in {TESTS}: {missing:#?}");
}
