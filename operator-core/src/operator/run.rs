//! An operator as a process: from its start to the signal that ends it.

use tokio::signal::unix::{SignalKind, signal};

use super::{Error, Operator, Stopped};

/// How an operator's process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the process should end with this code"]
pub enum Exit {
    /// All runs ended by themselves after the signal.
    Clean,
    /// A run outlived the termination timeout and was dropped.
    DeadlinePassed,
    /// A second Ctrl-C came before all runs had ended.
    Interrupted,
    /// This replica was the leader and no longer is: the process has to be started again.
    LeadershipLost,
}

impl Exit {
    /// The exit code: 0, 143, 130 and 75.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::DeadlinePassed => 143,
            Self::Interrupted => 130,
            Self::LeadershipLost => 75,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Operator {
    /// Starts the operator and runs it until SIGTERM or Ctrl-C, then stops it: runs in progress have the termination
    /// timeout to end. A second Ctrl-C drops them at once; a second SIGTERM changes nothing, because some process
    /// managers send several.
    ///
    /// With a leader election it also ends when this replica was the leader and no longer is: with
    /// [`Exit::LeadershipLost`]: a new process takes part, whose caches and reconciler hold nothing from the
    /// old term.
    ///
    /// # Errors
    /// As [`Operator::start`], and if the process can't receive signals.
    pub async fn run(&self) -> Result<Exit, Error> {
        let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
        tokio::select! {
            biased;
            launched = Box::pin(self.launch()) => launched?,
            _ = terminate.recv() => return Ok(Exit::Clean),
            _ = interrupt.recv() => return Ok(Exit::Clean),
        }
        let failed = async {
            match self.failed_at_start().await {
                Some(error) => error,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
            _ = interrupt.recv() => tracing::info!("Ctrl-C: stopping; once more drops the runs in progress"),
            _ = self.leadership_lost() => {
                // Nothing is left to wait for: the runs are dropped.
                self.stop().await;
                return Ok(Exit::LeadershipLost);
            }
            error = failed => {
                self.stop().await;
                return Err(error);
            }
        }
        tokio::select! {
            biased;
            stopped = self.stop() => Ok(match stopped {
                Stopped::Drained | Stopped::NotRunning => Exit::Clean,
                Stopped::TimedOut => Exit::DeadlinePassed,
            }),
            _ = interrupt.recv() => Ok(Exit::Interrupted),
        }
    }
}
