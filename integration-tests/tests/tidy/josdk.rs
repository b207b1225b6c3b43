//! The page for those who come from the Java Operator SDK has each of its names once, and all that the source mentions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, mem,
};

use crate::sources;

const PAGE: &str = "from-josdk.md";

/// The names of the manual and of version 5.6: annotations, interfaces, options and metrics.
const NAMES: &str = "docs/src/from-josdk.names";

/// A name that has no counterpart.
const NONE: &str = "–";

/// What a cell has in backticks.
fn in_backticks(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The cells of the tables' rows.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").collect())
}

/// The names in the first cells of the tables.
fn first_cells(page: &str) -> Vec<&str> {
    rows(page).flat_map(|row| in_backticks(row[0]).collect::<Vec<_>>()).collect()
}

/// What is wrong with a row: it has ours, or says that there is none, and one sentence.
fn mistake(row: &[&str], ours: &BTreeSet<&str>) -> Option<String> {
    let &[_, here, sentence] = row else { return Some(format!("{} cells", row.len())) };
    let unknown = in_backticks(here).flat_map(identifiers).find(|word| !ours.contains(word));
    let bare = sentence.split('`').step_by(2).collect::<String>();
    match unknown {
        Some(word) => Some(format!("the source has no `{word}`")),
        None if here != NONE && in_backticks(here).next().is_none() => Some("neither ours nor a dash".into()),
        None if !bare.ends_with('.') || bare.matches(". ").count() > 0 => Some("not one sentence".into()),
        None if sentence.split(' ').count() < 4 => Some("no sentence".into()),
        None => None,
    }
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
fn a_row_has_ours_or_a_dash_and_one_sentence() {
    let ours = BTreeSet::from(["run"]);
    let of = |here, sentence| mistake(&["`start`", here, sentence], &ours);
    assert_eq!(of("`.run()`", "It has `a. b` and ends."), None);
    assert_eq!(of("–", "Nothing has to be started."), None);
    assert_eq!(of("`.go()`", "It starts and ends.").as_deref(), Some("the source has no `go`"));
    assert_eq!(of("the same", "It starts and ends.").as_deref(), Some("neither ours nor a dash"));
    assert_eq!(of("–", "It starts. Then it ends.").as_deref(), Some("not one sentence"));
    assert_eq!(of("–", "It starts and ends").as_deref(), Some("not one sentence"));
    assert_eq!(of("–", "Not needed.").as_deref(), Some("no sentence"));
    assert_eq!(mistake(&["`start`", "`run`"], &ours).as_deref(), Some("2 cells"));
}

#[test]
fn each_name_of_the_list_has_a_row_with_ours_and_a_sentence() {
    let pages = sources::all("docs/src");
    let page = pages.iter().find(|page| page.path == PAGE).expect("the book has the page");
    let list = fs::read_to_string(sources::root().join(NAMES)).expect("the list can be read");
    let listed: BTreeSet<&str> = list.lines().collect();
    assert!(listed.len() > 400, "{} names", listed.len());
    let known: BTreeSet<&str> = first_cells(&page.text).into_iter().collect();
    let missing: Vec<_> = listed.difference(&known).collect();
    assert!(missing.is_empty(), "a row in docs/src/{PAGE} for {missing:#?}");
    let source: Vec<_> = ["operator-core/src", "operator-macros/src", "operator-core/test-cluster/src"]
        .into_iter()
        .flat_map(sources::rust)
        .collect();
    let ours: BTreeSet<&str> = source
        .iter()
        .flat_map(|file| identifiers(&file.text))
        .chain(["operator_core", "web", "per", "10s"])
        .collect();
    let wrong = rows(&page.text).skip_while(|row| row[0] != "Java Operator SDK");
    let wrong = wrong.filter(|row| in_backticks(row[0]).next().is_some());
    let wrong: Vec<_> =
        wrong.filter_map(|row| Some(format!("{}: {}", row[0], mistake(&row, &ours)?))).collect();
    assert!(wrong.is_empty(), "docs/src/{PAGE}: {wrong:#?}");
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
