//! The crate above the library: it needs nothing but what users have, shows little, and decides purely.

use std::{collections::BTreeSet, fs};

use integration_tests::{product_lines, public_items};

use crate::{imports::flat, purity::IMPURE, sources};

const FOLDER: &str = "operator-core/component";

/// As many names as a page has room for.
const MOST_NAMES: usize = 75;
const MOST_LINES: usize = 6_500;

/// Its folders and files without runtime, client and clock.
const PURE: [&str; 6] = [
    "condition/",
    "feature/",
    "generator/digest.rs",
    "generator/templates/functions.rs",
    "generator/templates/render.rs",
    "health/",
];

/// The paths in the library that a file names, in imports and in the code.
fn of_the_library(code: &str) -> BTreeSet<String> {
    let is_of_a_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut all = BTreeSet::new();
    for (at, start) in code.match_indices("operator_core::") {
        let (before, rest) = (&code[..at], &code[at + start.len()..]);
        if before.ends_with("use ") {
            all.extend(flat("", rest.split(';').next().unwrap_or_default()));
        } else {
            let end = rest.find(|c| !is_of_a_path(c)).unwrap_or(rest.len());
            all.insert(rest[..end].trim_end_matches(':').to_owned());
        }
    }
    all.into_iter().map(|path| path.split(" as ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn it_names_nothing_of_the_library_that_is_hidden() {
    let list = fs::read_to_string(sources::root().join("operator-core/public-items.txt"));
    let list = list.expect("the list of public items");
    let hidden: BTreeSet<&str> =
        list.lines().filter_map(|line| line.strip_suffix(" (hidden)")?.split(' ').next()).collect();
    assert!(hidden.len() > 20, "{hidden:?}");
    let (mut wrong, mut names) = (Vec::new(), 0);
    for source in sources::rust(&format!("{FOLDER}/src")) {
        let named = of_the_library(&source.code());
        names += named.len();
        let wrong_here = named.iter().filter(|path| hidden.contains(path.as_str()));
        wrong.extend(wrong_here.map(|path| format!("{}: {path}", source.path)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(names > 10, "the check finds what there is: {names}");
}

#[test]
fn what_is_named_of_the_library_is_seen_in_imports_and_in_the_code() {
    let code = "use operator_core::{a::{B, c::D as E}, f};\nfn g() -> operator_core::h::I { operator_core::j::k(1) }";
    let named: Vec<String> = of_the_library(code).into_iter().collect();
    assert_eq!(named, ["a::B", "a::c::D", "f", "h::I", "j::k"]);
}

#[test]
fn it_shows_few_names_and_has_few_lines() {
    let items = public_items(&sources::root().join(FOLDER).join("src/lib.rs")).expect("the crate's source");
    assert!((1..=MOST_NAMES).contains(&items.len()), "{} names, {MOST_NAMES} at most", items.len());
    let lines = product_lines(&sources::root().join(FOLDER).join("src"), &[]).expect("the crate's source");
    assert!(lines <= MOST_LINES, "{lines} lines, {MOST_LINES} at most");
}

#[test]
fn what_it_decides_depends_on_arguments_alone() {
    let sources = sources::rust(&format!("{FOLDER}/src"));
    let mut wrong = Vec::new();
    for pure in PURE {
        let mut files = sources.iter().filter(|source| source.path.starts_with(pure)).peekable();
        assert!(files.peek().is_some(), "{pure} is gone; correct the list");
        for source in files.filter(|source| !source.is_test()) {
            let code = source.code_without_tests();
            let found = IMPURE.iter().filter(|word| code.contains(**word));
            wrong.extend(found.map(|word| format!("{} names `{word}`", source.path)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The features of three older frameworks, each with a test or with what is different.
#[test]
fn each_feature_of_the_seeds_has_a_test_or_a_difference() {
    let text =
        fs::read_to_string(sources::root().join("integration-tests/components.tsv")).expect("the list");
    let mut wrong = Vec::new();
    let mut ids = Vec::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, _, file, test, difference] = columns[..] else { panic!("not five columns: {line}") };
        ids.push(id.to_owned());
        let code = fs::read_to_string(sources::root().join(file)).unwrap_or_default();
        if !file.is_empty() && code.is_empty() {
            wrong.push(format!("{id}: {file} isn't there"));
        }
        if test.is_empty() && difference.is_empty() {
            wrong.push(format!("{id}: neither a test nor a difference"));
        }
        if !test.is_empty() && !code.contains(&format!("fn {test}(")) {
            wrong.push(format!("{id}: {file} has no test {test}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
    let numbered = |letter: char, last: usize| (1..=last).map(move |number| format!("{letter}{number:02}"));
    assert_eq!(ids, numbered('A', 37).chain(numbered('B', 33)).chain(numbered('D', 21)).collect::<Vec<_>>());
}
