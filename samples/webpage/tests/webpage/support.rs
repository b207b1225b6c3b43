//! Waiting for things, and running the binary.

use std::{
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

/// Looks again and again until there is an answer; `what` is waited for.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> anyhow::Result<T> {
    let wait = async {
        loop {
            if let Some(answer) = look().await {
                return answer;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.with_context(|| format!("waited in vain for: {what}"))
}

/// The sample's binary.
pub(crate) fn webpage(arguments: &[&str]) -> Command {
    binary(env!("CARGO_BIN_EXE_webpage"), arguments)
}

/// The same with mistakes in its declaration.
pub(crate) fn wrong(arguments: &[&str]) -> Command {
    binary(env!("CARGO_BIN_EXE_webpage-wrong"), arguments)
}

fn binary(path: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments).env_remove("RUST_LOG").stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// A running binary whose stderr is read.
pub(crate) struct Running {
    child: Child,
    stderr: Lines<BufReader<ChildStderr>>,
    /// What was read so far.
    pub(crate) said: Vec<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().context("no stderr")?;
        Ok(Self { child, stderr: BufReader::new(stderr).lines(), said: Vec::new() })
    }

    /// Reads on to the first line that contains `text`.
    pub(crate) async fn says(&mut self, text: &str) -> anyhow::Result<()> {
        let read = async {
            while let Some(line) = self.stderr.next_line().await? {
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

    /// Waits for the end. What is still on stderr is read, so that nothing blocks.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<ExitStatus> {
        let end = async {
            while let Some(line) = self.stderr.next_line().await? {
                self.said.push(line);
            }
            anyhow::Ok(self.child.wait().await?)
        };
        tokio::time::timeout(PATIENCE, end).await.context("did not end")?
    }
}
