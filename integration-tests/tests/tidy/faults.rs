//! The list of faults and the tests of its rows agree.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{rows::tests_in, sources};

/// A line of `faults.tsv`.
struct Line {
    row: u32,
    file: String,
    test: String,
    ours: String,
}

fn listed() -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults.tsv");
    let text = fs::read_to_string(path).expect("the list can be read");
    let lines = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [row, file, test, expected, ours] = columns[..] else { panic!("not five columns: {line}") };
        assert!(!expected.is_empty(), "nothing is expected: {line}");
        let row = row.strip_prefix('F').and_then(|row| row.parse().ok());
        let row = row.filter(|row| (1..=42).contains(row)).unwrap_or_else(|| panic!("no row: {line}"));
        Line { row, file: file.to_owned(), test: test.to_owned(), ours: ours.to_owned() }
    });
    lines.collect()
}

fn tests_of(file: &str) -> BTreeSet<String> {
    let text =
        fs::read_to_string(sources::root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    tests_in(&text)
}

#[test]
fn every_named_test_of_a_fault_exists() {
    for line in listed() {
        if line.file.is_empty() {
            assert!(line.test.is_empty() && !line.ours.is_empty(), "F{}: no test, and no reason", line.row);
        } else {
            assert!(
                tests_of(&line.file).contains(&line.test),
                "F{}: {} is not in {}",
                line.row,
                line.test,
                line.file
            );
        }
    }
}

#[test]
fn every_row_of_the_matrix_is_listed() {
    let rows: BTreeSet<u32> = listed().into_iter().map(|line| line.row).collect();
    let missing: Vec<u32> = (1..=42).filter(|row| !rows.contains(row)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_test_that_is_called_like_a_row_is_listed_there() {
    let listed: BTreeSet<(u32, String)> = listed().into_iter().map(|line| (line.row, line.test)).collect();
    for source in sources::rust("integration-tests/tests") {
        for test in tests_in(&source.code()) {
            let row = test.strip_prefix('f').and_then(|test| test.split_once('_'));
            let Some(row) = row.and_then(|(row, _)| row.parse().ok()) else { continue };
            let is_listed = listed.contains(&(row, test.clone()));
            assert!(is_listed, "{}: {test} is in no line of F{row}", source.path);
        }
    }
}
