//! The visible progress of a build that takes minutes.

use std::io::Write;

/// Writes a line directly to stderr, because test runners hide what `eprintln!` writes until the test has failed.
pub(super) fn say(text: &str) {
    // Progress that cannot be shown is no reason to fail.
    let _ = std::io::stderr().write_all(format!("test-cluster: {text}\n").as_bytes());
}
