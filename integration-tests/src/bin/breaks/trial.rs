//! One break: whether its test finds it.

use std::{
    fmt,
    fs::{self, File},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use integration_tests::command;

use crate::{patch::Patch, tree::Tree};

/// The longest time that a test may take.
const LONGEST: Duration = Duration::from_secs(300);

/// What came of a break.
pub(crate) enum Verdict {
    /// The test failed by an assertion.
    Found,
    /// It doesn't compile, so that nothing is known about the tests.
    NotCompiled(String),
    /// The test took too long.
    TimedOut,
    /// There is no such test.
    NoTest,
    /// The test failed by something else than an assertion of its own.
    FailedOtherwise(String),
    /// The test is as content as before.
    Survived,
}

impl Verdict {
    pub(crate) fn is_found(&self) -> bool {
        matches!(self, Self::Found)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found => f.write_str("found"),
            Self::NotCompiled(error) => write!(f, "NOT COMPILED ({error})"),
            Self::TimedOut => write!(f, "TIMED OUT after {} s", LONGEST.as_secs()),
            Self::NoTest => f.write_str("NO SUCH TEST"),
            Self::FailedOtherwise(line) => write!(f, "FAILED WITHOUT AN ASSERTION ({line})"),
            Self::Survived => f.write_str("SURVIVED"),
        }
    }
}

/// Builds and runs the test of `patch` in the broken copy.
pub(crate) async fn run(tree: &Tree, scratch: &Path, patch: &Patch) -> Result<Verdict> {
    let (log, target) = (scratch.join("log"), scratch.join("target"));
    let cargo = |further: &[&str]| {
        let mut cargo = command(env!("CARGO"));
        cargo.current_dir(tree.path()).args(["test", "--quiet", "--workspace", "--target-dir"]).arg(&target);
        match patch.binary.as_str() {
            "lib" => cargo.arg("--lib"),
            binary => cargo.args(["--test", binary]),
        };
        cargo.args(further).env("RUST_BACKTRACE", "0");
        cargo
    };
    let (built, _) = wait(cargo(&["--no-run"]), &log, Duration::from_secs(1_800)).await?;
    if !built.is_some_and(|status| status.success()) {
        let text = fs::read_to_string(&log)?;
        let error = text.lines().find(|line| line.starts_with("error")).unwrap_or("no error was told");
        return Ok(Verdict::NotCompiled(error.to_owned()));
    }
    let (ended, text) = wait(cargo(&["--", "--exact", &patch.test]), &log, LONGEST).await?;
    let Some(status) = ended else { return Ok(Verdict::TimedOut) };
    if !text.contains("running 1 test\n") {
        return Ok(Verdict::NoTest);
    }
    if status.success() {
        return Ok(Verdict::Survived);
    }
    let mut panics = text.lines().filter_map(|line| line.split_once("panicked at ")).map(|(_, place)| place);
    let first = text.lines().find(|line| line.contains("panicked at ") || line.starts_with("Error: "));
    Ok(match panics.any(|place| is_in_a_test(tree, place)) {
        true => Verdict::Found,
        false => Verdict::FailedOtherwise(first.unwrap_or("nothing was told").to_owned()),
    })
}

/// Whether `src/file.rs:12:5:` is in a test. A test panics where it stands; a bug of the product's own that panics there is no
/// assertion of a test.
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

/// Whether this is a module, a file or a folder, that is compiled for tests only, whatever it is called.
fn is_for_tests_only(tree: &Tree, module: &Path) -> bool {
    let (Some(name), Some(folder)) = (module.file_stem(), module.parent()) else { return false };
    let declared = format!("#[cfg(test)]\nmod {};", name.display());
    [folder.join("mod.rs"), folder.join("lib.rs"), folder.with_extension("rs")]
        .iter()
        .any(|parent| fs::read_to_string(tree.path().join(parent)).is_ok_and(|code| code.contains(&declared)))
}

/// Waits for a program's end, for so long at most, and answers what it said. `None` where it had to be killed.
async fn wait(mut command: Command, log: &Path, longest: Duration) -> Result<(Option<ExitStatus>, String)> {
    let output = File::create(log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    // In a group of its own: the end of cargo ends none of the programs that it has started, such as a test that hangs.
    let mut child = tokio::process::Command::from(command)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .context("cargo can't be run")?;
    let group = child.id().context("it has just been started")?;
    let ended = tokio::select! {
        biased;
        ended = child.wait() => Some(ended?),
        () = tokio::time::sleep(longest) => None,
        // The terminal tells its own group only.
        told = tokio::signal::ctrl_c() => {
            told?;
            kill(group).await?;
            bail!("interrupted");
        }
    };
    if ended.is_none() {
        kill(group).await?;
        child.wait().await?;
    }
    Ok((ended, fs::read_to_string(log)?))
}

async fn kill(group: u32) -> Result<()> {
    let killed = tokio::process::Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
    ensure!(killed.await?.success(), "the programs of group {group} can't be ended");
    Ok(())
}
