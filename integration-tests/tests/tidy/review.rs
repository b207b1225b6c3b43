//! The points of the reviews, their tests, and the breaks that show that the tests bite, are one.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use crate::{rows::tests_in, sources};

/// A line of `review.tsv`.
struct Line {
    point: String,
    file: String,
    test: String,
    breaks: String,
}

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn listed() -> Vec<Line> {
    let text = read("review.tsv");
    let lines = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [point, file, test, asserts, breaks] = columns[..] else { panic!("not five columns: {line}") };
        assert!(!asserts.is_empty(), "nothing is asserted: {line}");
        let [point, file, test, breaks] = [point, file, test, breaks].map(str::to_owned);
        Line { point, file, test, breaks }
    });
    lines.collect()
}

/// The names of the breaks, of which each names a test.
fn breaks() -> BTreeSet<String> {
    let folder =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("breaks")).expect("there are breaks");
    let mut breaks = BTreeSet::new();
    for entry in folder.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let id = name.strip_suffix(".patch").unwrap_or_else(|| panic!("{name} is no break"));
        let text = read(&format!("breaks/{name}"));
        assert!(text.starts_with("test: "), "{name} names no test");
        breaks.insert(id.to_owned());
    }
    breaks
}

#[test]
fn every_test_of_a_point_exists() {
    for Line { point, file, test, .. } in listed() {
        let text =
            fs::read_to_string(sources::root().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        // Those of proptest have an attribute inside of a macro.
        assert!(tests_in(&text).contains(&test), "{point}: {test} is not in {file}");
    }
}

#[test]
fn every_break_of_a_point_exists_and_every_break_fits_the_code() {
    let breaks = breaks();
    let named: BTreeSet<String> =
        listed().into_iter().map(|line| line.breaks).filter(|name| !name.is_empty()).collect();
    let missing: Vec<&String> = named.iter().filter(|name| !breaks.contains(*name)).collect();
    assert!(missing.is_empty(), "there is no such break: {missing:?}");
    for id in breaks {
        let mut check = Command::new("git");
        check.args(["apply", "--check"]).arg(format!("integration-tests/breaks/{id}.patch"));
        let checked = check.current_dir(sources::root()).output().expect("git can be run");
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{id} doesn't fit the code any more; make it anew: {said}");
    }
}
