//! The book's tables of faults and of the SDK's integration tests are made from the lists that the tests are compared with.

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
