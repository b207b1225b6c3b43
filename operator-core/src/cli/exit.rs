//! The exit codes of all commands.

use std::{
    process::{self, ExitCode},
    thread,
    time::Duration,
};

use tokio::{
    runtime,
    signal::unix::{SignalKind, signal},
};

use crate::operator::Exit;

/// How a command ended. One table for all commands; clap's own code for wrong use, 2, is not used for that, because 2
/// means "there is a difference".
#[cfg_attr(
    not(feature = "testing"),
    allow(dead_code, reason = "what becomes of objects is only judged by `dev`")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitStatus {
    /// The command succeeded.
    Success,
    /// The command failed: the cluster is out of reach, a request was refused.
    Failed,
    /// A generated file is not what the operator would generate now.
    Stale,
    /// Objects are not ready, and no pending work would make them ready.
    Waiting,
    /// Objects are in error.
    InError,
    /// It timed out.
    TimedOut,
    /// The command line is wrong.
    Usage,
    /// The operator was the leader, and no longer is; it has to be started again.
    LeadershipLost,
    /// A right is missing that the operator needs from its start.
    Forbidden,
    /// The operator's declaration contradicts itself.
    Configuration,
    /// A second Ctrl-C came before the operator had stopped.
    Interrupted,
    /// The operator did not stop within its timeout.
    Terminated,
}

impl ExitStatus {
    /// The process's exit code.
    const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Stale => 2,
            Self::Waiting => 3,
            Self::InError => 4,
            Self::TimedOut => 5,
            Self::Usage => 64,
            Self::LeadershipLost => 75,
            Self::Forbidden => 77,
            Self::Configuration => 78,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
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
        // Nobody wakes it, so that nothing but the time ends this.
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
            let (Ok(mut terminate), Ok(mut interrupt)) =
                (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
            else {
                return;
            };
            tokio::select! {
                biased;
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tokio::time::sleep(termination_timeout + BESIDE_THE_RUNS).await;
            process::exit(ExitStatus::Terminated.code().into());
        });
    };
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(listen);
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
