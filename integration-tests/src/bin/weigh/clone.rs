//! A clone of the repository at one revision, with a target folder of its own.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use integration_tests::command;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::wrapper;

/// It is removed at the end.
pub(crate) struct Clone {
    folder: TempDir,
    revision: String,
}

/// The result of a command.
pub(crate) struct Done {
    pub(crate) took: Duration,
    pub(crate) stdout: String,
}

impl Clone {
    pub(crate) fn new(revision: &str, scratch: &Path) -> Result<Self> {
        fs::create_dir_all(scratch)?;
        let folder = tempfile::tempdir_in(scratch)?;
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let hash = git(&repository, ["rev-parse", "--short", &format!("{revision}^{{commit}}")])?;
        let into = folder.path().join("clone");
        git(&repository, [OsStr::new("clone"), "--quiet".as_ref(), ".".as_ref(), into.as_os_str()])?;
        git(&into, ["checkout", "--quiet", hash.trim()])?;
        Ok(Self { folder, revision: hash.trim().to_owned() })
    }

    pub(crate) fn revision(&self) -> &str {
        &self.revision
    }

    /// A path in the clone.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("clone").join(path)
    }

    /// A path beside it, which is removed with it.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Runs a command in `folder` to its successful end.
    pub(crate) fn run(&self, folder: &Path, program: &str, arguments: &[&str]) -> Result<Done> {
        let shown = format!("{program} {}", arguments.join(" "));
        say(&format!("{}: {shown}", self.revision))?;
        let mut command = command(program);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::inherit());
        command.env("CARGO_TARGET_DIR", folder.join("target")).env("CARGO_TERM_QUIET", "true");
        let started = Instant::now();
        let output = command.output().with_context(|| format!("start {shown}"))?;
        let took = started.elapsed();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "{shown} ended with {}:\n{stdout}", output.status);
        Ok(Done { took, stdout })
    }

    /// The same for a build, and each call of rustc in it.
    pub(crate) fn build(&self, folder: &Path, arguments: &[&str]) -> Result<(Done, Vec<wrapper::Unit>)> {
        let log = self.beside("rustc.log");
        if log.exists() {
            fs::remove_file(&log)?;
        }
        let program = env::current_exe()?;
        let program = program.to_str().context("the path of this program is text")?;
        let (name, log_text) = (wrapper::LOG, log.to_str().context("the path of the log is text")?);
        let settings = [format!("{name}={log_text}"), format!("RUSTC_WRAPPER={program}")];
        let arguments = [&[settings[0].as_str(), settings[1].as_str(), "cargo"], arguments].concat();
        let done = self.run(folder, "env", &arguments)?;
        Ok((done, wrapper::units(&log)?))
    }
}

/// Reports the progress on stderr.
pub(crate) fn say(what: &str) -> Result<()> {
    writeln!(io::stderr(), "weigh: {what}").context("write to stderr")
}

fn git<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Result<String> {
    let output = Command::new("git").current_dir(folder).args(arguments).output().context("start git")?;
    ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8(output.stdout)?)
}
