//! The page for those who come from the Java Operator SDK has each of its names once, and all that the source mentions.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use crate::sources;

const PAGE: &str = "from-josdk.md";

/// What a cell has in backticks.
fn in_backticks(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The names in the first cells of the tables.
fn first_cells(page: &str) -> Vec<&str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    rows.flat_map(|row| in_backticks(row.split(" | ").next().unwrap_or_default())).collect()
}

fn identifiers(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty())
}

/// Whether it looks like a name in Java, and not like a value.
fn is_name(text: &str) -> bool {
    let starts = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic());
    let part = |part: &str| starts(part) && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    text.trim_start_matches('@').split('.').all(part) && !matches!(text, "true" | "false")
}

/// The names that a paragraph says are the SDK's: `JOSDK: the X and Y`, each in backticks.
fn named(paragraph: &str) -> Vec<String> {
    let after = paragraph.split("JOSDK").skip(1);
    let said = after.filter_map(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix("'s ")));
    let names = said.flat_map(|said| {
        let (mut parts, mut names) = (said.split('`'), Vec::new());
        while let (Some(words), Some(name)) = (parts.next(), parts.next()) {
            if words.len() > 40 || words.contains(['.', ';', ':', '(']) {
                break;
            }
            names.push(name);
        }
        names
    });
    names.filter(|name| is_name(name)).map(str::to_owned).collect()
}

/// The paragraphs of the documentation in that file.
fn paragraphs(text: &str) -> Vec<String> {
    let (mut all, mut paragraph) = (Vec::new(), String::new());
    for line in text.lines().map(str::trim_start).chain([""]) {
        let words = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).unwrap_or_default();
        if words.trim().is_empty() {
            all.push(mem::take(&mut paragraph));
        }
        paragraph.push_str(words);
    }
    all
}

#[test]
fn names_are_found_in_documentation_and_tables() {
    let text = "/// A thing. JOSDK: the settings `one` and `Two.three` of\n/// `@Four`; `not`.\n///\n/// JOSDK says `no`.\nfn f() {}";
    let names: Vec<String> = paragraphs(text).iter().flat_map(|paragraph| named(paragraph)).collect();
    assert_eq!(names, ["one", "Two.three", "@Four"]);
    assert_eq!(named("JOSDK's `useSSA`, whose default is `false`."), ["useSSA"]);
    let page = "| Java | here |\n|---|---|\n| `A`, its `b` | `c` |\n| d `E.f()` | g |\n\ntext `h`";
    assert_eq!(first_cells(page), ["A", "b", "E.f()"]);
}

#[test]
fn no_name_has_two_rows_on_the_page() {
    let pages = sources::all("docs/src");
    let page = pages.iter().find(|page| page.path == PAGE).expect("the book has the page");
    let mut rows = BTreeMap::<&str, usize>::new();
    for name in first_cells(&page.text) {
        *rows.entry(name).or_default() += 1;
    }
    assert!(rows.len() > 100, "only {} names", rows.len());
    let twice: Vec<_> = rows.into_iter().filter(|(_, times)| *times > 1).collect();
    assert!(twice.is_empty(), "docs/src/{PAGE} has rows with different answers for {twice:?}");
}

#[test]
fn each_name_that_the_source_gives_as_the_sdks_is_on_the_page() {
    let pages = sources::all("docs/src");
    let page = pages.iter().find(|page| page.path == PAGE).expect("the book has the page");
    let known: BTreeSet<&str> = first_cells(&page.text).into_iter().flat_map(identifiers).collect();
    let mut missing = BTreeSet::new();
    for source in ["operator-core/src", "operator-macros/src"].into_iter().flat_map(sources::rust) {
        let names =
            paragraphs(&source.text).iter().flat_map(|paragraph| named(paragraph)).collect::<Vec<_>>();
        let unknown = names.into_iter().filter(|name| !identifiers(name).all(|part| known.contains(part)));
        missing.extend(unknown.map(|name| format!("{name} ({})", source.path)));
    }
    assert!(missing.is_empty(), "a row in docs/src/{PAGE} for {missing:#?}");
}
