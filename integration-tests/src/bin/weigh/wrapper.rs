//! Called instead of rustc: runs it, and notes its duration and its peak memory.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
    process::{Command, ExitCode},
    sync::mpsc,
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The variable that names the file for the notes. If it is set, this program is the wrapper.
pub(crate) const LOG: &str = "WEIGH_LOG";

/// The interval of the checks of the memory. The kernel keeps the peak, so only the last moments can be missed.
const LOOK: Duration = Duration::from_millis(20);

/// One call of rustc.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Unit {
    /// The crate's name, with underscores.
    pub(crate) name: String,
    /// Whether it is built as a test binary.
    pub(crate) test: bool,
    pub(crate) seconds: f64,
    /// The memory of rustc itself; its linker is another process. 0 if the system doesn't report it.
    pub(crate) peak_kib: u64,
}

pub(crate) fn run(log: &Path, arguments: &[OsString]) -> Result<ExitCode> {
    let (program, arguments) = arguments.split_first().context("cargo names the compiler")?;
    let mut child = Command::new(program).args(arguments).spawn().context("start rustc")?;
    let status = format!("/proc/{}/status", child.id());
    let started = Instant::now();
    let (ended, end) = mpsc::channel();
    let waits = thread::spawn(move || {
        let result = child.wait();
        // Nobody listens any more only where this process ends.
        let _ = ended.send(());
        result
    });
    let mut peak_kib = 0;
    while end.recv_timeout(LOOK).is_err() {
        peak_kib =
            fs::read_to_string(&status).ok().and_then(|status| peak(&status)).unwrap_or(0).max(peak_kib);
    }
    let exit = waits.join().map_err(|_| anyhow::anyhow!("waiting for rustc panicked"))??;
    let text = |argument: &OsString| argument.to_string_lossy().into_owned();
    let name = arguments.iter().position(|argument| argument == "--crate-name");
    if let Some(name) = name.and_then(|position| arguments.get(position + 1)).map(text)
        && name != "___"
    {
        let test = arguments.iter().any(|argument| argument == "--test");
        let unit = Unit { name, test, seconds: started.elapsed().as_secs_f64(), peak_kib };
        let line = serde_json::to_string(&unit)? + "\n";
        OpenOptions::new().create(true).append(true).open(log)?.write_all(line.as_bytes())?;
    }
    Ok(ExitCode::from(u8::try_from(exit.code().unwrap_or(1)).unwrap_or(1)))
}

/// The peak of the resident memory in Linux's status of a process.
fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The notes in `log`.
pub(crate) fn units(log: &Path) -> Result<Vec<Unit>> {
    if !log.exists() {
        return Ok(Vec::new());
    }
    let lines = fs::read_to_string(log)?;
    lines.lines().map(|line| serde_json::from_str(line).context("a note of the wrapper")).collect()
}
