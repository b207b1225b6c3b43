//! One break: whether its test finds it.

use std::{fmt, fs, path::Path, time::Duration};

use anyhow::Result;

use crate::{
    cargo::{self, LONG, wait},
    patch::Patch,
    tree::Tree,
};

/// The longest time that a test may take.
const LONGEST: Duration = Duration::from_secs(300);

/// The result of a break.
pub(crate) enum Verdict {
    /// The test failed by an assertion, or an `ensure!`, with this message.
    Found(String),
    /// It doesn't compile, so nothing is known about the tests.
    NotCompiled(String),
    /// The test took too long.
    TimedOut,
    /// There is no such test.
    NoTest,
    /// The test failed by something other than an assertion of its own.
    FailedOtherwise(String),
    /// The test passed, as before.
    Survived,
}

impl Verdict {
    pub(crate) fn is_found(&self) -> bool {
        matches!(self, Self::Found(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(_) => f.write_str("found"),
            Self::NotCompiled(error) => write!(f, "NOT COMPILED ({error})"),
            Self::TimedOut => write!(f, "TIMED OUT after {} s", LONGEST.as_secs()),
            Self::NoTest => f.write_str("NO SUCH TEST"),
            Self::FailedOtherwise(line) => write!(f, "FAILED WITHOUT AN ASSERTION ({line})"),
            Self::Survived => f.write_str("SURVIVED"),
        }
    }
}

/// Builds the broken copy and runs the test of `patch` in it.
pub(crate) async fn of(tree: &Tree, scratch: &Path, patch: &Patch) -> Result<Verdict> {
    let mut build = cargo::test(tree, scratch, &patch.binary);
    build.args(["--quiet", "--no-run"]);
    let (built, text) = wait(build, scratch, LONG).await?;
    if !built.is_some_and(|status| status.success()) {
        let error = text.lines().find(|line| line.starts_with("error")).unwrap_or("no error was told");
        return Ok(Verdict::NotCompiled(error.to_owned()));
    }
    let mut run = cargo::test(tree, scratch, &patch.binary);
    run.args(["--quiet", "--", "--exact", &patch.test]);
    let (ended, text) = wait(run, scratch, LONGEST).await?;
    let Some(status) = ended else { return Ok(Verdict::TimedOut) };
    if !text.contains("running 1 test\n") {
        return Ok(Verdict::NoTest);
    }
    if status.success() {
        return Ok(Verdict::Survived);
    }
    let first = text.lines().find(|line| line.contains("panicked at ") || line.starts_with("Error: "));
    Ok(match asserted(tree, &text).or_else(|| ensured(&text)) {
        Some(words) => Verdict::Found(words),
        None => Verdict::FailedOtherwise(first.unwrap_or("nothing was told").to_owned()),
    })
}

/// The message of the first panic in a test, with the compared values.
fn asserted(tree: &Tree, text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.find(|line| line.split_once("panicked at ").is_some_and(|(_, place)| is_in_a_test(tree, place)))?;
    let mut words = lines.next()?.to_owned();
    for compared in lines.take(2).map(str::trim).take_while(|line| is_compared(line)) {
        words.push(' ');
        words.push_str(compared);
    }
    Some(words)
}

/// The error of a test that ended with one of `ensure!` or `bail!`: no others are made of a message, as the backtrace shows.
fn ensured(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Error: "));
    let error = lines.next()?;
    let made_by = lines.map(str::trim_start).find(|line| line.starts_with("0: "))?;
    made_by.ends_with("anyhow::Error>::msg").then(|| error.to_owned())
}

fn is_compared(line: &str) -> bool {
    line.starts_with("left: ") || line.starts_with("right: ")
}

/// Whether `src/file.rs:12:5:` is in a test. A test panics in its own file; a bug of the product that panics elsewhere
/// isn't an assertion of a test.
fn is_in_a_test(tree: &Tree, place: &str) -> bool {
    let mut parts = place.split(':');
    let (Some(file), Some(Ok(line))) = (parts.next(), parts.next().map(str::parse::<usize>)) else {
        return false;
    };
    if file.starts_with("integration-tests/") || file.starts_with("samples/") || file.contains("tests") {
        return true;
    }
    if Path::new(file).ancestors().any(|module| is_for_tests_only(tree, module)) {
        return true;
    }
    // Unit tests stand at the end of what they test.
    let code = fs::read_to_string(tree.path().join(file)).unwrap_or_default();
    code.lines().take(line).any(|line| line == "mod tests {")
}

/// Whether this is a module, a file or a folder, that is compiled for tests only, whatever its name.
fn is_for_tests_only(tree: &Tree, module: &Path) -> bool {
    let (Some(name), Some(folder)) = (module.file_stem(), module.parent()) else { return false };
    let declared = format!("#[cfg(test)]\nmod {};", name.display());
    [folder.join("mod.rs"), folder.join("lib.rs"), folder.with_extension("rs")]
        .iter()
        .any(|parent| fs::read_to_string(tree.path().join(parent)).is_ok_and(|code| code.contains(&declared)))
}
