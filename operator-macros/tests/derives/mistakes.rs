//! What the compiler says where the derive can't: wrong types, and what is missing.

use std::process::Command;

/// The compiler whose words are in `fail/*.stderr`; other versions choose other words.
///
/// For a newer one: `TRYBUILD=overwrite cargo test -p operator-macros --test derives`, read what has changed, and put the
/// version here.
const WORDS_OF: &str = "rustc 1.95.";

#[test]
fn mistakes_are_shown_at_their_place_with_advice() {
    let version = Command::new("rustc").arg("--version").output().expect("there is a compiler");
    if String::from_utf8_lossy(&version.stdout).starts_with(WORDS_OF) {
        trybuild::TestCases::new().compile_fail("tests/derives/fail/*.rs");
    }
}
