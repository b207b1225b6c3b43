//! The exit codes of all commands.

use std::{
    io,
    process::{self, ExitCode},
    thread,
    time::Duration,
};

use tokio::{
    runtime,
    signal::unix::{Signal, SignalKind, signal},
};

use crate::operator::Exit;

/// How a command ended. One table for all commands; clap's own code for wrong use, 2, is not used for that, because 2
/// means "there is a difference".
#[cfg_attr(
    not(feature = "testing"),
    allow(dead_code, reason = "what becomes of objects is only judged by `dev`")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ExitStatus {
    /// The command succeeded.
    Success = 0,
    /// The command failed: the cluster is out of reach, a request was refused.
    Failed = 1,
    /// A generated file is not what the operator would generate now.
    Stale = 2,
    /// Objects are not ready, and no pending work would make them ready.
    Waiting = 3,
    /// Objects are in error.
    InError = 4,
    /// It timed out.
    TimedOut = 5,
    /// The command line is wrong.
    Usage = 64,
    /// The operator was the leader, and no longer is; it has to be started again.
    LeadershipLost = 75,
    /// A right is missing that the operator needs from its start.
    Forbidden = 77,
    /// The operator's declaration contradicts itself.
    Configuration = 78,
    /// A second Ctrl-C came before the operator had stopped.
    Interrupted = 130,
    /// The operator did not stop within its timeout.
    Terminated = 143,
}

impl ExitStatus {
    /// The process's exit code.
    const fn code(self) -> u8 {
        self as u8
    }
}

/// How long the runtime has to end by itself.
const LAST_MOMENT: Duration = Duration::from_secs(2);
/// How long a stop may take in addition to its runs: for callbacks, and for the lease.
const BESIDE_THE_RUNS: Duration = Duration::from_secs(10);

/// Ends the process soon, if it doesn't end by itself: the runtime waits for each thread that runs a task, and user
/// code may block its own forever. If no further thread can be started, the process has to be killed from outside.
pub(super) fn at_last(status: ExitStatus) {
    let end = move || {
        // Nothing wakes it: only the time ends this.
        thread::park_timeout(LAST_MOMENT);
        process::exit(status.code().into());
    };
    let _ = thread::Builder::new().name("end".to_owned()).spawn(end);
}

/// Ensures that a signal ends the process whatever happens to the operator's runtime, whose runs have this long to end:
/// user code that blocks the thread which waits for all others' events makes the whole runtime miss signals. So this
/// listens on its own thread.
pub(super) fn when_told(termination_timeout: Duration) {
    let listen = move || {
        let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Ok(mut signals) = Signals::listen() else { return };
            signals.any().await;
            tokio::time::sleep(termination_timeout + BESIDE_THE_RUNS).await;
            process::exit(ExitStatus::Terminated.code().into());
        });
    };
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(listen);
}

/// What asks a command to end.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(super) async fn any(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

impl From<Exit> for ExitStatus {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => Self::Success,
            Exit::DeadlinePassed => Self::Terminated,
            Exit::Interrupted => Self::Interrupted,
            Exit::LeadershipLost => Self::LeadershipLost,
        }
    }
}
