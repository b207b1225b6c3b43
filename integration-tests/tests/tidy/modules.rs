//! Each folder of the library is on the book's map.

use std::collections::BTreeSet;

use crate::sources;

const PAGE: &str = "architecture.md";

/// The names in the second cells of the table: `| 1 | `error` | … |`.
fn rows(page: &str) -> BTreeSet<&str> {
    let (_, table) = page.split_once("## Modules of operator-core").expect("the page has the table");
    let rows =
        table.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| "));
    let names = rows.filter_map(|row| row.split(" | ").nth(1));
    names.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn each_module_of_the_library_has_a_row_in_the_book() {
    let pages = sources::all("docs/src");
    let page = pages.iter().find(|page| page.path == PAGE).expect("the book has the page");
    let rows = rows(&page.text);
    let sources = sources::rust("operator-core/src");
    let folders = sources.iter().filter_map(|source| source.path.split_once('/')).map(|(folder, _)| folder);
    let missing: BTreeSet<&str> = folders.filter(|folder| !rows.contains(folder)).collect();
    assert!(missing.is_empty(), "docs/src/{PAGE} has no row for {missing:?}");
}
