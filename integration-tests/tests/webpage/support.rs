//! Waiting for things, and running the binary.

use std::process::{ExitStatus, Stdio};

use integration_tests::prelude::*;
use operator_core::testing::eventually;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
    sync::Mutex,
};

/// For tests that start a whole control plane: one after the other is quicker than all at once.
pub(crate) static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Tries again and again until there is an answer; `what` is waited for.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> anyhow::Result<T> {
    Ok(eventually(what, async || Ok(look().await)).await?)
}

/// The sample's binary.
pub(crate) fn webpage(arguments: &[&str]) -> Command {
    variant("", arguments)
}

/// The same with mistakes in its declaration.
pub(crate) fn wrong(arguments: &[&str]) -> Command {
    variant("wrong", arguments)
}

/// The sample with a finalizer, and with code that never comes to an end.
pub(crate) fn cleaning(arguments: &[&str]) -> Command {
    variant("cleaning", arguments)
}

fn variant(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_webpage-operator"));
    command
        .args(arguments)
        .env("VARIANT", name)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// A running binary whose stderr is read.
pub(crate) struct Running {
    child: Child,
    /// None where it goes somewhere else.
    stderr: Option<Lines<BufReader<ChildStderr>>>,
    /// The output so far.
    pub(crate) said: Vec<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().context("no stderr")?;
        Ok(Self { child, stderr: Some(BufReader::new(stderr).lines()), said: Vec::new() })
    }

    /// Starts it with the output that the command names.
    pub(crate) fn silent(command: &mut Command) -> anyhow::Result<Self> {
        Ok(Self { child: command.spawn()?, stderr: None, said: Vec::new() })
    }

    async fn next_line(&mut self) -> anyhow::Result<Option<String>> {
        match &mut self.stderr {
            Some(stderr) => Ok(stderr.next_line().await?),
            None => Ok(None),
        }
    }

    /// Reads on to the first line that contains `text`.
    pub(crate) async fn says(&mut self, text: &str) -> anyhow::Result<()> {
        let read = async {
            while let Some(line) = self.next_line().await? {
                self.said.push(line);
                if self.said.last().is_some_and(|line| line.contains(text)) {
                    return anyhow::Ok(true);
                }
            }
            Ok(false)
        };
        if !tokio::time::timeout(PATIENCE, read).await.unwrap_or(Ok(false))? {
            bail!("never said {text:?}, but:\n{}", self.said.join("\n"));
        }
        Ok(())
    }

    pub(crate) fn is_running(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Sends a signal, as in "INT".
    pub(crate) async fn signal(&self, name: &str) -> anyhow::Result<()> {
        let process = self.child.id().context("it has ended")?.to_string();
        let status = Command::new("kill").args(["-s", name, &process]).status().await?;
        anyhow::ensure!(status.success(), "kill -s {name} {process}: {status}");
        Ok(())
    }

    /// Stops the process, and waits until all of its threads stand still: on a busy machine they go on for a while after the
    /// signal was sent.
    pub(crate) async fn pause(&self) -> anyhow::Result<()> {
        let process = self.child.id().context("it has ended")?;
        self.signal("STOP").await?;
        until("its threads to stand still", async || {
            // Where there is no `/proc`, nobody can tell.
            let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Some(()) };
            let stands = |thread: std::fs::DirEntry| {
                let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
                status.lines().any(|line| line.starts_with("State:\tT"))
            };
            threads.flatten().all(stands).then_some(())
        })
        .await
    }

    /// Whether some signal was sent that the process has not taken yet; unknown, and false, where there is no `/proc`.
    pub(crate) fn has_pending_signals(&self) -> anyhow::Result<bool> {
        let process = self.child.id().context("it has ended")?;
        let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else { return Ok(false) };
        let masks = status
            .lines()
            .filter_map(|line| line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:")));
        Ok(masks.map(str::trim).any(|mask| mask.chars().any(|digit| digit != '0')))
    }

    /// Waits for the end. The rest of stderr is read, so nothing blocks.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<ExitStatus> {
        let end = async {
            while let Some(line) = self.next_line().await? {
                self.said.push(line);
            }
            anyhow::Ok(self.child.wait().await?)
        };
        tokio::time::timeout(PATIENCE, end).await.context("did not end")?
    }
}
