//! The conformance list, the files of its rows, and the tests that really run agree.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use integration_tests::command;

use crate::sources;

/// Category and name.
type Row = (String, String);

/// The rows of `conformance.tsv`, and whether they are marked as done.
fn listed() -> BTreeMap<Row, bool> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance.tsv");
    let text = fs::read_to_string(path).expect("the list can be read");
    let rows = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [category, name, done, _asserts] = columns[..] else { panic!("not four columns: {line}") };
        assert!(matches!(done, "done" | ""), "neither done nor empty: {line}");
        ((category.to_owned(), name.to_owned()), done == "done")
    });
    rows.collect()
}

/// The tests of each row's file, by the names of their functions.
fn written() -> BTreeMap<Row, BTreeSet<String>> {
    let categories: BTreeSet<String> = listed().into_keys().map(|(category, _)| category).collect();
    let mut written = BTreeMap::new();
    for source in sources::rust("integration-tests/tests/conformance") {
        let Some((category, file)) = source.path.split_once('/') else { continue };
        if !categories.contains(category) || file.ends_with("mod.rs") {
            continue;
        }
        let name = file.strip_suffix(".rs").expect("a Rust file").to_owned();
        written.insert((category.to_owned(), name), tests_in(&source.code()));
    }
    written
}

/// The functions that follow a test attribute.
pub(crate) fn tests_in(code: &str) -> BTreeSet<String> {
    let mut lines = code.lines().map(str::trim);
    let mut tests = BTreeSet::new();
    while let Some(line) = lines.next() {
        let attributes = ["#[tokio::test", "#[operator_test", "#[sim_test", "#[test]"];
        if attributes.iter().any(|attribute| line.starts_with(attribute)) {
            let function =
                lines.by_ref().find_map(|line| line.split_once("fn ")).expect("a function follows").1;
            tests.insert(function.split(['(', '<']).next().unwrap_or_default().to_owned());
        }
    }
    tests
}

/// The tests that the runner of the conformance binary knows.
fn run() -> BTreeSet<String> {
    let listing = Command::new(conformance_binary()).arg("--list").output().expect("the binary can be run");
    let listing = String::from_utf8(listing.stdout).expect("names are text");
    listing.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// The conformance binary of this build. Cargo builds all tests of a package before it runs any of them, into one folder;
/// where only this one was asked for, it is asked for the other.
fn conformance_binary() -> PathBuf {
    let newest_source = sources_changed();
    let find = || newest_binary().filter(|(_, built)| *built >= newest_source).map(|(path, _)| path);
    find().unwrap_or_else(|| {
        let mut build = command(env!("CARGO"));
        // With the features that everything else is built with.
        build.args(["test", "--workspace", "--test", "conformance", "--no-run"]);
        let built = build.current_dir(sources::root()).status().expect("cargo can be run");
        assert!(built.success(), "the conformance tests don't build");
        newest_binary().expect("the conformance binary lies beside this one").0
    })
}

fn newest_binary() -> Option<(PathBuf, SystemTime)> {
    let own = env::current_exe().expect("a running test has a path");
    let folder = fs::read_dir(own.parent()?).expect("the folder of the tests can be read");
    let binaries = folder.flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("conformance-") && entry.path().extension() == own.extension()
    });
    binaries.map(|entry| (entry.path(), modified(&entry.path()))).max_by_key(|(_, built)| *built)
}

fn sources_changed() -> SystemTime {
    let folder = "integration-tests/tests/conformance";
    let paths =
        sources::rust(folder).into_iter().map(|source| sources::root().join(folder).join(source.path));
    paths.map(|path| modified(&path)).max().expect("there are conformance tests")
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|metadata| metadata.modified()).expect("a file has a time")
}

#[test]
fn the_list_has_all_132_rows() {
    let mut categories = BTreeMap::<String, usize>::new();
    for (category, _) in listed().into_keys() {
        *categories.entry(category).or_default() += 1;
    }
    let expected = [("base_api", 77), ("dependent", 39), ("workflow", 16)];
    assert_eq!(categories, expected.map(|(category, rows)| (category.to_owned(), rows)).into());
}

#[test]
fn what_is_marked_as_done_has_a_file_and_the_other_way_round() {
    let done: BTreeSet<Row> = listed().into_iter().filter(|(_, done)| *done).map(|(row, _)| row).collect();
    let files: BTreeSet<Row> = written().into_keys().collect();
    let without_file: Vec<&Row> = done.difference(&files).collect();
    assert!(without_file.is_empty(), "marked as done, but without a file: {without_file:?}");
    let not_marked: Vec<&Row> = files.difference(&done).collect();
    assert!(not_marked.is_empty(), "with a file, but not in the list or not marked as done: {not_marked:?}");
}

#[test]
fn the_runner_runs_every_test_of_every_row() {
    let runs = run();
    for ((category, name), tests) in written() {
        assert!(!tests.is_empty(), "{category}/{name}.rs holds no test");
        for test in tests {
            let path = format!("{category}::{name}::{test}");
            // One that runs on both servers is a module of two.
            let is_run = runs.contains(&path) || runs.contains(&format!("{path}::real"));
            assert!(is_run, "{path} is not run; is `mod {name};` in {category}/mod.rs?");
        }
    }
}
