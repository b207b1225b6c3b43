//! The names that the page for users of the Java Operator SDK gives as ours are in the source.

use std::collections::BTreeSet;

use crate::sources;

const PAGE: &str = "from-josdk.md";

/// What a cell has in backticks.
fn in_backticks(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn identifiers(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty())
}

#[test]
fn what_the_page_gives_as_ours_is_in_the_source() {
    let pages = sources::all("docs/src");
    let page = pages.iter().find(|page| page.path == PAGE).expect("the book has the page");
    let folders = ["operator-core/src", "operator-macros/src", "operator-core/test-cluster/src"];
    let source: Vec<_> = folders.into_iter().flat_map(sources::rust).collect();
    let words = source.iter().flat_map(|file| identifiers(&file.text));
    let ours: BTreeSet<&str> = words.chain(["operator_core", "web", "per", "10s"]).collect();
    let rows = page.text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let rows = rows.iter().skip_while(|row| row[0] != "Java Operator SDK");
    let mut given = 0;
    for row in rows.filter(|row| in_backticks(row[0]).next().is_some()) {
        given += 1;
        let unknown = in_backticks(row[1]).flat_map(identifiers).find(|word| !ours.contains(word));
        assert!(unknown.is_none(), "docs/src/{PAGE}, {}: the source has no {unknown:?}", row[0]);
    }
    assert!(given > 100, "only {given} rows");
}
