//! The exit codes of all commands.

use std::process::ExitCode;

use crate::operator::Exit;

/// How a command ended. One table for all commands; clap's own code for wrong use, 2, is not used for that, because 2
/// means "there is a difference".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitStatus {
    /// All went well.
    Success,
    /// The command failed: the cluster is out of reach, a request was refused.
    Failed,
    /// A generated file is not what the operator would generate now.
    Stale,
    /// Objects are not ready, and nothing that is known of would make them so.
    Waiting,
    /// Objects are in error.
    InError,
    /// There was no answer in time.
    TimedOut,
    /// The command line was used wrongly.
    Usage,
    /// The operator has led, and doesn't any more; it is to be started again.
    LeadershipLost,
    /// A right is missing that the operator needs from its start.
    Forbidden,
    /// The operator's declaration contradicts itself.
    Configuration,
    /// A second Ctrl-C came before the operator had stopped.
    Interrupted,
    /// The operator had not stopped when its time for that was over.
    Terminated,
}

impl ExitStatus {
    /// The process's exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
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
