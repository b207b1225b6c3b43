//! The breaks are few, and each fits the code.

use std::{fs, path::Path, process::Command};

use crate::sources;

/// One for each guarantee in the documentation of a module: a break costs a build each night, and work with each change of the
/// lines around it.
const MOST: usize = 80;

#[test]
fn there_are_at_most_80_breaks_and_each_fits_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("breaks");
    let entries = fs::read_dir(&folder).expect("there are breaks");
    let patches: Vec<_> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    assert!((1..=MOST).contains(&patches.len()), "{} breaks, at most {MOST}", patches.len());
    for patch in patches {
        let mut check = Command::new("git");
        let checked = check.args(["apply", "--check"]).arg(&patch).current_dir(sources::root()).output();
        let checked = checked.expect("git can be run");
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{} doesn't fit the code: {said}", patch.display());
    }
}
