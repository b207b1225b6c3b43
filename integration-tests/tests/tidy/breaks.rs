//! The breaks are few, and each fits the code.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use crate::{rows::tests_in, sources};

/// One for each guarantee in the documentation of a module: a break costs a build each night, and work with each change of the
/// lines around it.
const MOST: usize = 125;

#[test]
fn there_are_at_most_125_breaks_and_each_fits_the_code_and_names_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("breaks");
    let entries = fs::read_dir(&folder).expect("there are breaks");
    let patches: Vec<_> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    assert!((1..=MOST).contains(&patches.len()), "{} breaks, at most {MOST}", patches.len());
    let tests: BTreeSet<String> =
        sources::rust("").iter().flat_map(|source| tests_in(&source.code())).collect();
    for patch in patches {
        let text = fs::read_to_string(&patch).expect("a patch can be read");
        let test = text.lines().next().expect("its first line names a test").rsplit([':', ' ']);
        let is_there = test.filter(|part| !part.is_empty()).take(2).any(|name| tests.contains(name));
        assert!(is_there, "{} names no test that there is", patch.display());
        let mut check = Command::new("git");
        let checked = check.args(["apply", "--check"]).arg(&patch).current_dir(sources::root()).output();
        let checked = checked.expect("git can be run");
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{} doesn't fit the code: {said}", patch.display());
    }
}
