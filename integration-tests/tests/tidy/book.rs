//! The book's tables of faults, of the SDK's integration tests and of the features of components are made from the lists that the
//! tests are compared with.

use std::{fs, path::Path};

use crate::sources;

/// `UPDATE_BOOK=1 cargo test -p integration-tests --test tidy book` writes the tables.
const UPDATE: &str = "UPDATE_BOOK";

fn lines(list: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(list);
    let text = fs::read_to_string(path).expect("the list can be read");
    let lines = text.lines().skip(1);
    lines.map(|line| line.split('\t').map(|cell| cell.replace('|', "\\|")).collect()).collect()
}

/// Rows of a table, with its head.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | ")).replace("  |", " |");
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    row(&head) + &rule + &rows.map(|cells| row(&cells)).collect::<String>()
}

/// Holds what follows `heading` on a page, which is its last part, against `table`.
fn is_on(page: &str, heading: &str, table: &str) {
    let path = sources::root().join("docs/src").join(page);
    let text = fs::read_to_string(&path).expect("the book has the page");
    let (before, after) = text.split_once(heading).expect("the page has the heading");
    let (words, _) = after.split_once("\n| ").expect("a table follows");
    let wanted = format!("{before}{heading}{words}\n{table}");
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, &wanted).expect("the page can be written");
    } else {
        assert!(text == wanted, "docs/src/{page} isn't made from the list any more: set {UPDATE}=1");
    }
}

#[test]
fn the_table_of_faults_is_in_the_book() {
    let rows = lines("faults.tsv").into_iter().map(|line| {
        let [row, _, test, expected, ours] = &line[..] else { panic!("not five columns: {line:?}") };
        let test = if test.is_empty() { String::new() } else { format!("`{test}`") };
        vec![row.clone(), expected.clone(), ours.clone(), test]
    });
    let head = ["row", "expected", "ours, where it is another", "test"];
    is_on("faults.md", "## Each fault and its test\n", &table(&head, rows));
}

#[test]
fn the_table_of_the_sdks_integration_tests_is_in_the_book() {
    let rows = lines("conformance.tsv").into_iter().map(|line| {
        let [category, name, done, asserts] = &line[..] else { panic!("not four columns: {line:?}") };
        vec![category.clone(), format!("`{name}`"), asserts.clone(), done.clone()]
    });
    is_on(
        "conformance.md",
        "# The SDK's integration tests\n",
        &table(&["category", "test", "asserts", "here"], rows),
    );
}

#[test]
fn the_table_of_the_features_of_components_is_in_the_book() {
    let rows = lines("components.tsv").into_iter().map(|line| {
        let [id, says, file, test, difference] = &line[..] else { panic!("not five columns: {line:?}") };
        let here = if difference.is_empty() { "the same" } else { difference };
        let name = file.rsplit('/').next().unwrap_or_default();
        let shown = if test.is_empty() { name } else { test };
        vec![id.clone(), says.clone(), here.to_owned(), format!("[`{shown}`](../../{file})")]
    });
    is_on(
        "components-features.md",
        "# The features of earlier frameworks\n",
        &table(&["id", "feature", "here", "shown by"], rows),
    );
}

/// The start of the line before a block of code that stands in a file, too; the file's path follows, and, after a colon, the name
/// of the part of it between `// ANCHOR: name` and `// ANCHOR_END: name`.
const FROM: &str = "<!-- from ";

/// The code in a file, or a part of it, without the indentation that all its lines have.
fn code_of(of: &str) -> String {
    let (path, part) = of.split_once(':').unwrap_or((of, ""));
    let text =
        fs::read_to_string(sources::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let is_anchor = |line: &&str| line.trim_start().starts_with("// ANCHOR");
    let is_end = |line: &&str| line.trim() == format!("// ANCHOR_END: {part}");
    let lines: Vec<&str> = match part {
        "" => text.lines().filter(|line| !is_anchor(line)).collect(),
        _ => {
            let from = text.lines().skip_while(|line| line.trim() != format!("// ANCHOR: {part}")).skip(1);
            from.take_while(|line| !is_end(line)).filter(|line| !is_anchor(line)).collect()
        }
    };
    assert!(!lines.is_empty(), "{path} has no part `{part}`");
    let indented =
        lines.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len());
    let shared = indented.min().unwrap_or(0);
    lines.iter().map(|line| format!("{}\n", line.get(shared..).unwrap_or_default())).collect()
}

/// A page with the code as its files have it now, and the number of blocks.
fn with_code(page: &str) -> (String, usize) {
    let (mut made, mut blocks) = (String::new(), 0);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        made += &format!("{line}\n");
        let Some(of) = line.strip_prefix(FROM).and_then(|rest| rest.strip_suffix(" -->")) else { continue };
        let fence = lines.next().filter(|fence| fence.starts_with("```")).expect("a block follows");
        made += &format!("{fence}\n{}```\n", code_of(of));
        blocks += 1;
        lines.by_ref().find(|line| *line == "```").expect("the block ends");
    }
    (made, blocks)
}

/// A page is read on a code host as well, where nothing is put in.
#[test]
fn the_code_on_a_page_is_that_of_its_file() {
    let mut blocks = 0;
    for page in sources::all("docs/src").iter().filter(|page| page.path.ends_with(".md")) {
        assert!(
            !page.text.contains("{{#include"),
            "docs/src/{} leaves out code that its readers need",
            page.path
        );
        let (wanted, found) = with_code(&page.text);
        blocks += found;
        // Pages with tables are written by other tests at the same time.
        if std::env::var_os(UPDATE).is_some() && page.text != wanted {
            fs::write(sources::root().join("docs/src").join(&page.path), &wanted)
                .expect("the page can be written");
        } else {
            assert!(
                page.text == wanted,
                "docs/src/{} has other code than its file: set {UPDATE}=1",
                page.path
            );
        }
    }
    assert!(blocks > 10, "{blocks} blocks");
    let stale = format!(
        "{FROM}integration-tests/tests/simulation/planted.rs:simulation -->\n```rust,ignore\nold\n```\nend\n"
    );
    let (made, _) = with_code(&stale);
    assert!(
        made.contains("sim.settle().await") && made.ends_with("```\nend\n") && !made.contains("old"),
        "{made}"
    );
}
