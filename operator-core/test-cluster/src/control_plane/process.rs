//! The processes of a control plane, seen from their parent.
//!
//! ```text
//!   this process                      supervisor (own process group)
//!   ┌────────────┐  stdin: "start X"  ┌───────────┐── etcd
//!   │ Supervisor │───────────────────▶│ supervise │── kube-apiserver
//!   │   thread   │◀───────────────────│  FOLDER   │── …
//!   └────────────┘ stdout: "died X …" └───────────┘
//! ```
//!
//! # Guarantees
//! - When this process ends, however it ends, its end of the pipe closes; the supervisor then kills the parts and
//!   removes the folder. Nothing has to run in this process for that.
//! - A part that dies by itself ends all of them, and its last lines are in the error that waiting callers get.
//! - If the supervisor itself is killed, the parts end: those of this crate by their own pipe, the others by this
//!   process.
//! - Ctrl-C in a terminal reaches only this process, which can so drain against a live API server.
//!
//! # Assumptions
//! - No other process holds the write end of the pipe: Rust creates pipes that close when a child is executed.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::Part;
use crate::error::Error;

/// How long the end may take before the process group is killed without the supervisor.
const END: Duration = Duration::from_secs(10);

/// What the supervisor has reported.
#[derive(Debug, Default, Clone)]
struct Reports {
    /// The process of each running part.
    running: BTreeMap<String, u32>,
    paused: Vec<String>,
    /// The last lines of a part that is about to be reported dead.
    log: VecDeque<String>,
    /// The part that died, and how.
    died: Option<(String, String)>,
    ended: bool,
}

impl Reports {
    /// Processes one line. Unknown lines are ignored.
    fn take(&mut self, line: &str) {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (name, detail) = rest.split_once(' ').unwrap_or((rest, ""));
        match kind {
            "started" => {
                self.running.insert(name.to_owned(), detail.parse().unwrap_or_default());
            }
            "stopped" => {
                self.running.remove(name);
                self.paused.retain(|paused| paused != name);
            }
            "paused" => self.paused.push(name.to_owned()),
            "resumed" => self.paused.retain(|paused| paused != name),
            "log" => self.log.push_back(rest.to_owned()),
            "died" => {
                self.running.remove(name);
                self.died = Some((name.to_owned(), detail.to_owned()));
            }
            // A command that could not be obeyed, as in "start etcd: no such file".
            "failed" => self.died = Some((name.to_owned(), detail.to_owned())),
            _ => {}
        }
    }

    fn failure(&self) -> Option<Error> {
        let log = || self.log.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        match &self.died {
            Some((part, status)) => {
                Some(Error::Died { part: part.clone(), status: status.clone(), log: log() })
            }
            None => self.ended.then_some(Error::Ended),
        }
    }
}

/// A running supervisor. Dropping it ends the parts and waits for that.
#[derive(Debug)]
pub(super) struct Supervisor {
    stdin: Mutex<Option<ChildStdin>>,
    /// Its process, and the group of all parts.
    pid: u32,
    folder: PathBuf,
    reports: watch::Receiver<Reports>,
    /// Disconnected once the supervisor has ended.
    end: Mutex<mpsc::Receiver<()>>,
}

impl Supervisor {
    /// Starts `command` as the supervisor of `folder`, which it owns from then on.
    pub(super) fn start(mut command: Command, folder: &Path) -> Result<Self, Error> {
        let log = folder.join("logs").join("supervisor.log");
        let log = std::fs::File::create(&log).map_err(Error::io(format!("make {}", log.display())))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).process_group(0);
        let mut child = command.spawn().map_err(Error::io(format!("run {:?}", command.get_program())))?;
        let stdin = child.stdin.take();
        let pid = child.id();
        let (sender, reports) = watch::channel(Reports::default());
        let (guard, end) = mpsc::channel();
        // A thread, not a task: the processes outlive the runtime of the test that started them.
        let owned = folder.to_owned();
        std::thread::Builder::new()
            .name("control-plane".to_owned())
            .spawn(move || listen(child, owned, &sender, guard))
            .map_err(Error::io("start a thread"))?;
        Ok(Self { stdin: Mutex::new(stdin), pid, folder: folder.to_owned(), reports, end: Mutex::new(end) })
    }

    /// Starts a part. Its program and arguments are in the folder.
    pub(super) async fn start_part(&self, part: Part) -> Result<(), Error> {
        self.tell("start", part)?;
        self.wait(|reports| reports.running.contains_key(part.name())).await
    }

    /// Ends a part by SIGKILL; this doesn't end the others.
    pub(super) async fn kill_part(&self, part: Part) -> Result<(), Error> {
        self.tell("kill", part)?;
        self.wait(|reports| !reports.running.contains_key(part.name())).await
    }

    /// Stops a part's processes; its connections stay open.
    pub(super) async fn pause_part(&self, part: Part) -> Result<(), Error> {
        self.tell("pause", part)?;
        self.wait(|reports| reports.paused.iter().any(|name| name == part.name())).await
    }

    /// The opposite of a pause.
    pub(super) async fn resume_part(&self, part: Part) -> Result<(), Error> {
        self.tell("resume", part)?;
        self.wait(|reports| reports.paused.iter().all(|name| name != part.name())).await
    }

    /// The process of a running part.
    pub(super) fn process(&self, part: Part) -> Option<u32> {
        self.reports.borrow().running.get(part.name()).copied()
    }

    /// The supervisor's process.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Why the control plane has ended; waits as long as it runs.
    pub(super) async fn failed(&self) -> Error {
        match self.wait(|_| false).await {
            Ok(()) => Error::Ended,
            Err(error) => error,
        }
    }

    /// Ends the parts and waits until the folder is gone.
    pub(super) async fn stop(&self) {
        self.close();
        let mut reports = self.reports.clone();
        let ended = reports.wait_for(|reports| reports.ended);
        if tokio::time::timeout(END, ended).await.is_err() {
            kill_group(self.pid, &self.folder);
        }
    }

    fn tell(&self, verb: &str, part: Part) -> Result<(), Error> {
        let mut stdin = self.stdin.lock();
        let stdin = stdin.as_mut().ok_or(Error::Ended)?;
        // A supervisor that is gone reads nothing; why it is gone is in its reports, which the callers wait for.
        let _ = stdin.write_all(format!("{verb} {part}\n").as_bytes());
        Ok(())
    }

    async fn wait(&self, condition: impl Fn(&Reports) -> bool) -> Result<(), Error> {
        let mut reports = self.reports.clone();
        loop {
            let failure = {
                let current = reports.borrow_and_update();
                if condition(&current) {
                    return Ok(());
                }
                // The log's lines come before the death, so that the failure is complete.
                current.failure()
            };
            if let Some(failure) = failure {
                return Err(failure);
            }
            if reports.changed().await.is_err() {
                return Err(Error::Ended);
            }
        }
    }

    fn close(&self) {
        *self.stdin.lock() = None;
    }
}

/// The last resort, if the supervisor hangs or is killed. There is no safe function for it in the standard library.
fn kill_group(supervisor: u32, folder: &Path) {
    let _ = Command::new("/bin/sh")
        .args(["-c", &format!("kill -KILL -{supervisor}")])
        .stderr(Stdio::null())
        .status();
    let _ = std::fs::remove_dir_all(folder);
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.close();
        if self.end.lock().recv_timeout(END) == Err(mpsc::RecvTimeoutError::Timeout) {
            kill_group(self.pid, &self.folder);
        }
    }
}

/// Processes reports until the supervisor has ended. `_guard` is dropped then.
fn listen(mut child: Child, folder: PathBuf, reports: &watch::Sender<Reports>, _guard: mpsc::Sender<()>) {
    let stdout = child.stdout.take();
    // The end of its stdout doesn't tell: the children of a shell hold that, too.
    let end = std::thread::spawn(move || {
        let _ = child.wait();
        // Does nothing after a supervisor that has cleaned up, and its work after one that was killed.
        kill_group(child.id(), &folder);
    });
    for line in stdout.into_iter().flat_map(|out| BufReader::new(out).lines().map_while(Result::ok)) {
        reports.send_modify(|reports| reports.take(&line));
    }
    let _ = end.join();
    reports.send_modify(|reports| {
        reports.ended = true;
        reports.running.clear();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(lines: &[&str]) -> Reports {
        let mut reports = Reports::default();
        lines.iter().for_each(|line| reports.take(line));
        reports
    }

    #[test]
    fn a_death_is_told_with_the_last_lines() {
        let dead =
            reports(&["started etcd 7", "log one  line", "log", "log other", "died etcd exit status 1"]);
        let error = dead.failure().unwrap().to_string();
        assert!(error.contains("etcd ended by itself (exit status 1)"), "{error}");
        assert!(error.contains("one  line\n\nother"), "{error}");
        assert!(dead.running.is_empty());
    }

    #[test]
    fn a_part_that_was_stopped_on_purpose_is_no_failure() {
        let stopped =
            reports(&["started etcd 7", "started kwok 8", "paused kwok", "stopped kwok signal: killed"]);
        assert!(stopped.failure().is_none());
        assert_eq!(stopped.running.get("etcd"), Some(&7));
        assert!(stopped.paused.is_empty());
    }
}
