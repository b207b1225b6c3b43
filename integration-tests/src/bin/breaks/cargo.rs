//! Cargo's builds and test runs in the copy of the tree.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use integration_tests::command;

use crate::tree::Tree;

/// The longest time that a build may take.
pub(crate) const LONG: Duration = Duration::from_secs(1_800);

/// A run of `cargo test` for this test binary; `lib` are the unit tests.
pub(crate) fn test(tree: &Tree, scratch: &Path, binary: &str) -> Command {
    let mut cargo = command(env!("CARGO"));
    cargo.current_dir(tree.path()).args(["test", "--workspace", "--target-dir"]).arg(scratch.join("target"));
    match binary {
        "lib" => cargo.arg("--lib"),
        binary => cargo.args(["--test", binary]),
    };
    // It shows where an error was made.
    cargo.env("RUST_BACKTRACE", "1");
    cargo
}

/// Waits for a program's end, for so long at most, and returns its output. `None` if it had to be killed.
pub(crate) async fn wait(
    mut command: Command,
    scratch: &Path,
    longest: Duration,
) -> Result<(Option<ExitStatus>, String)> {
    let log = scratch.join("log");
    let output = File::create(&log)?;
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
    // A test may print anything.
    Ok((ended, String::from_utf8_lossy(&fs::read(&log)?).into_owned()))
}

async fn kill(group: u32) -> Result<()> {
    let killed = tokio::process::Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
    ensure!(killed.await?.success(), "the programs of group {group} can't be ended");
    Ok(())
}
